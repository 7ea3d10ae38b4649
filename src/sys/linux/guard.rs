//! A second process that outlives us by a moment: when we are killed it kills the group of the
//! running command. The parent-death signal reaches only the command itself, not what a shell has
//! started in it.
//!
//! It sleeps until we end, holds no file of ours, and belongs to init, so that it is no child to be
//! waited for. Where it cannot be made, the parent-death signal is all there is.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

/// The group of the run that is going on, or 0, in memory that the guard sees.
static GROUP: OnceLock<&'static AtomicI32> = OnceLock::new();

/// Makes the guard. Before orphans are adopted, lest it become ours.
pub(crate) fn begin() {
    if GROUP.get().is_some() {
        return;
    }
    let Some(word) = shared_word() else { return };
    let pid = super::super::session::own_pid();
    // SAFETY: no other thread exists yet, and the child calls only async-signal-safe functions.
    match unsafe { libc::fork() } {
        0 => detach(pid, word),
        child if child > 0 => {
            let mut status = 0;
            // SAFETY: waits for our own child; the status is a local.
            unsafe { libc::waitpid(child, &raw mut status, 0) };
            let _ = GROUP.set(word);
        }
        _ => {}
    }
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

/// The child: leaves the guard behind and ends.
fn detach(ours: i32, word: &AtomicI32) -> ! {
    // SAFETY: async-signal-safe system calls; nothing of the parent's is run.
    unsafe {
        libc::setsid();
        if libc::fork() == 0 {
            watch(ours, word);
        }
        libc::_exit(0)
    }
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
