//! Starts a process directly inside a control group.
//!
//! A process that enters a group by writing to `cgroup.procs` waits for an RCU grace period
//! (`cgroup_threadgroup_rwsem`, Linux 4.2), 5 to 15 ms unless somebody did the same just before.
//! `CLONE_INTO_CGROUP` (Linux 5.7) needs no such wait.

use std::ffi::c_void;

/// What the child does: returns its exit code if it cannot execute.
pub(super) type Obey = extern "C" fn(*mut c_void) -> i32;

/// Whether a child that shares our memory can be started in a group here. Elsewhere it gets a copy,
/// whose end costs the command 30 µs after its stamp.
pub(super) const SHARES: bool = cfg!(target_arch = "x86_64");

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

impl Arguments {
    fn new(folder: i32, flags: i32) -> Self {
        Self {
            flags: INTO_GROUP | flags as u64,
            exit_signal: libc::SIGCHLD as u64,
            cgroup: folder as u64,
            ..Self::default()
        }
    }
}

/// Clones a process with a copy of our memory into the group of an open folder; it does `obey` and
/// ends. Its process id, or a negative error number. Unless it is held, we stand still until it has
/// executed or ended.
///
/// # Safety
/// `obey` must be sound with `argument` in a copy of our memory, with only this thread left.
pub(super) unsafe fn clone_copy(folder: i32, held: bool, obey: Obey, argument: *mut c_void) -> i32 {
    let arguments = Arguments::new(folder, if held { 0 } else { libc::CLONE_VFORK });
    let size = size_of::<Arguments>();
    // SAFETY: the kernel reads `arguments`, which is that large; without CLONE_VM the child
    // continues here in its own copy of our memory and stack.
    let pid = unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size) };
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

/// The same with our memory, on a stack of its own, while we stand still.
///
/// # Safety
/// `obey` must be sound with `argument` in our memory while this thread stands still, and `stack`
/// be the lower end of that many unused bytes, a multiple of 16.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn clone_sharing(
    folder: i32,
    (stack, size): (*mut c_void, usize),
    obey: Obey,
    argument: *mut c_void,
) -> i32 {
    let mut arguments = Arguments::new(folder, libc::CLONE_VM | libc::CLONE_VFORK);
    (arguments.stack, arguments.stack_size) = (stack as u64, size as u64);
    let pid: isize;
    // SAFETY: the kernel reads `arguments`. The child begins at the top of `stack`, calls `obey` with
    // the C convention, and ends the process if that returns; it never reaches the label. We go on
    // there with all registers as they were but those the system call changes.
    unsafe {
        std::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r13",
            "call r12",
            "mov edi, eax",
            "mov eax, {exit}",
            "syscall",
            "ud2",
            "2:",
            exit = const libc::SYS_exit_group,
            inlateout("rax") libc::SYS_clone3 as isize => pid,
            in("rdi") &raw const arguments,
            in("rsi") size_of::<Arguments>(),
            in("r12") obey,
            in("r13") argument,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    pid as i32
}

/// Not written for this architecture; see [`SHARES`].
///
/// # Safety
/// Does nothing.
#[cfg(not(target_arch = "x86_64"))]
pub(super) unsafe fn clone_sharing(
    _folder: i32,
    _stack: (*mut c_void, usize),
    _obey: Obey,
    _argument: *mut c_void,
) -> i32 {
    -libc::ENOSYS
}
