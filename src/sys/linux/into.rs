//! Starts a process directly inside a control group, for runs that are far apart.
//!
//! A process that enters a group by writing to `cgroup.procs` waits for an RCU grace period
//! (`cgroup_threadgroup_rwsem`, Linux 4.2), 5 to 15 ms unless somebody did the same just before.
//! `CLONE_INTO_CGROUP` (Linux 5.7) needs no such wait. The child gets a copy of our memory, which
//! costs 0.1 ms; between short runs writing is therefore cheaper.

use std::ffi::c_void;

/// `CLONE_INTO_CGROUP` of `linux/sched.h`.
const INTO_GROUP: u64 = 0x2_0000_0000;

/// `struct clone_args` of `linux/sched.h`, as of Linux 5.7.
#[repr(C)]
#[derive(Default)]
struct Arguments {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

/// Clones a process into the group of an open folder; it does `obey` and ends. Its process id, or a
/// negative error number. Unless it is held, we stand still until it has executed or ended.
///
/// # Safety
/// `obey` must be sound with `argument` in a copy of our memory, with only this thread left.
pub(super) unsafe fn clone_into(
    folder: i32,
    held: bool,
    obey: extern "C" fn(*mut c_void) -> i32,
    argument: *mut c_void,
) -> i32 {
    let waiting = if held { 0 } else { libc::CLONE_VFORK as u64 };
    let arguments = Arguments {
        flags: INTO_GROUP | waiting,
        exit_signal: libc::SIGCHLD as u64,
        cgroup: folder as u64,
        ..Arguments::default()
    };
    // SAFETY: the kernel reads `arguments`, which is that large; without CLONE_VM the child
    // continues here in its own copy of our memory and stack.
    let pid = unsafe {
        libc::syscall(
            libc::SYS_clone3,
            &raw const arguments,
            size_of::<Arguments>(),
        )
    };
    if pid == 0 {
        let code = obey(argument);
        // SAFETY: a plain system call; nothing of ours runs at the end.
        unsafe { libc::_exit(code) };
    }
    if pid < 0 {
        return -nix::errno::Errno::last_raw();
    }
    pid as i32
}
