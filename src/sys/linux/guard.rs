//! A second process that outlives us by a moment: when we are killed it kills the group of the
//! running command. The parent-death signal reaches only the command itself, not what a shell has
//! started in it.
//!
//! It sleeps until we end, holds no file of ours, and belongs to init, so that it is no child to be
//! waited for. Where it cannot be made, the parent-death signal is all there is.

use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

use super::into;

/// The group of the run that is going on, or 0, in memory that the guard sees.
static GROUP: OnceLock<&'static AtomicI32> = OnceLock::new();

/// Makes the guard. Before orphans are adopted, lest it become ours.
pub(crate) fn begin() {
    if GROUP.get().is_some() {
        return;
    }
    let Some(word) = shared_word() else { return };
    let charge = Charge {
        ours: super::super::session::own_pid(),
        word,
    };
    let mut stack = [0_u128; 512];
    let top = stack.as_mut_ptr_range().end.cast();
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    let argument = (&raw const charge).cast_mut().cast();
    // SAFETY: no other thread exists yet. The child has our memory while we stand still, and a stack
    // of its own; it makes two system calls and ends.
    let child = unsafe { libc::clone(detach, top, flags, argument) };
    if child > 0 {
        let mut status = 0;
        // SAFETY: waits for our own child; the status is a local.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        let _ = GROUP.set(word);
    }
}

/// Whom the guard watches, and where it finds the group.
struct Charge {
    ours: i32,
    word: &'static AtomicI32,
}

/// From now on this group dies with us; 0 for none.
pub(crate) fn attend(group: i32) {
    if let Some(word) = GROUP.get() {
        word.store(group, Ordering::Relaxed);
    }
}

/// Where a process that begins a group of its own says so, before it does anything that can be seen:
/// we may be killed before we come to say it.
pub(super) fn place() -> Option<&'static AtomicI32> {
    GROUP.get().copied()
}

fn shared_word() -> Option<&'static AtomicI32> {
    let (read_write, shared) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_SHARED | libc::MAP_ANONYMOUS,
    );
    // SAFETY: a new mapping at a place of the kernel's choice.
    let page = unsafe { libc::mmap(std::ptr::null_mut(), 4096, read_write, shared, -1, 0) };
    if page == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the page is zeroed, aligned, and never unmapped; only atomic accesses follow.
    Some(unsafe { &*page.cast::<AtomicI32>() })
}

/// The child: leaves the guard behind, which is a copy of us, and ends.
extern "C" fn detach(charge: *mut c_void) -> i32 {
    // SAFETY: the parent stands still, and its `Charge` is where it was. Nothing of the library is
    // used before the copy is made: it would take us for the parent.
    unsafe {
        let Charge { ours, word } = *charge.cast::<Charge>();
        into::call(libc::SYS_setsid, [0; 5]);
        let flags = libc::SIGCHLD as usize;
        if into::call(libc::SYS_clone, [flags, 0, 0, 0, 0]) == 0 {
            watch(ours, word);
        }
        into::call(libc::SYS_exit_group, [0; 5]);
    }
    0
}

/// Sleeps until the process `ours` has ended, then ends the group it was running.
fn watch(ours: i32, word: &AtomicI32) -> ! {
    // SAFETY: async-signal-safe system calls on numbers, a literal and a local.
    unsafe {
        libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0);
        libc::chdir(c"/".as_ptr());
        let file = libc::syscall(libc::SYS_pidfd_open, ours, 0) as i32;
        if file >= 0 {
            let mut asked = libc::pollfd {
                fd: file,
                events: libc::POLLIN,
                revents: 0,
            };
            while libc::poll(&raw mut asked, 1, -1) < 0 {}
        } else if nix::errno::Errno::last_raw() != libc::ESRCH {
            libc::_exit(0);
        }
        // It has ended, maybe before we came to look.
        let group = word.load(Ordering::Relaxed);
        if group > 1 {
            libc::kill(-group, libc::SIGKILL);
        }
        libc::_exit(0)
    }
}
