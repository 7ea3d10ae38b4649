//! Starts a process by `clone3(2)`: directly inside a control group, and without standing still.
//!
//! A process that enters a group by writing to `cgroup.procs` waits for an RCU grace period
//! (`cgroup_threadgroup_rwsem`, Linux 4.2), 5 to 15 ms unless somebody did the same just before.
//! `CLONE_INTO_CGROUP` (Linux 5.7) needs no such wait.
//!
//! A parent that stands still until exec (`CLONE_VFORK`) is woken by it on the CPU of the child: the
//! child waits for two switches in the middle of its exec, and an idle CPU takes it away meanwhile.
//! A parent that goes on to wait for the end instead leaves the child alone on its CPU.

use std::ffi::c_void;
use std::ptr;

/// What the child does: returns its exit code if it cannot execute.
pub(super) type Obey = extern "C" fn(*mut c_void) -> i32;

/// `CLONE_INTO_CGROUP` of `linux/sched.h`.
const INTO_GROUP: u64 = 0x2_0000_0000;
/// `CLONE_CLEAR_SIGHAND` of `linux/sched.h` (Linux 5.5): handlers become the default, so that none of
/// ours runs in a child in our memory.
const CLEAR_HANDLERS: u64 = 0x1_0000_0000;

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
    /// With a negative folder the child stays in our group.
    fn new(folder: i32, flags: u64) -> Self {
        let (into, cgroup) = u64::try_from(folder).map_or((0, 0), |folder| (INTO_GROUP, folder));
        Self {
            flags: into | flags,
            exit_signal: libc::SIGCHLD as u64,
            cgroup,
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
    let arguments = Arguments::new(folder, if held { 0 } else { libc::CLONE_VFORK as u64 });
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

/// Clones a process that does `obey` in our memory, on a stack of its own, while we go on. Its process
/// id, or a negative error number. `folder` is that of its group, or negative.
///
/// # Safety
/// Until the child has executed or ended, `argument` and whatever `obey` reads through it stay valid
/// and unchanged, and nobody else uses `stack`, the lower end of that many bytes, a multiple of 16.
/// `obey` must be sound beside this thread: no lock, no allocation, nothing that is kept per thread
/// (both have the same, `errno` included).
pub(super) unsafe fn clone_beside(
    folder: i32,
    (stack, size): (*mut c_void, usize),
    obey: Obey,
    argument: *mut c_void,
) -> i32 {
    let mut arguments = Arguments::new(folder, CLEAR_HANDLERS | libc::CLONE_VM as u64);
    (arguments.stack, arguments.stack_size) = (stack as u64, size as u64);
    // SAFETY: the caller's promise.
    unsafe { beside(&arguments, obey, argument) as i32 }
}

/// The call itself, written for each architecture.
///
/// # Safety
/// As for [`clone_beside`]; the arguments hold a stack.
#[cfg(target_arch = "x86_64")]
unsafe fn beside(arguments: &Arguments, obey: Obey, argument: *mut c_void) -> isize {
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
            in("rdi") ptr::from_ref(arguments),
            in("rsi") size_of::<Arguments>(),
            in("r12") obey,
            in("r13") argument,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    pid
}

/// The same for this architecture.
///
/// # Safety
/// As above.
#[cfg(target_arch = "aarch64")]
unsafe fn beside(arguments: &Arguments, obey: Obey, argument: *mut c_void) -> isize {
    let pid: isize;
    // SAFETY: as above; a system call changes no register but the one of its result.
    unsafe {
        std::arch::asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x30, xzr",
            "mov x0, x21",
            "blr x20",
            "mov x8, {exit}",
            "svc 0",
            "brk 1",
            "2:",
            exit = const libc::SYS_exit_group,
            inlateout("x0") ptr::from_ref(arguments) as isize => pid,
            in("x1") size_of::<Arguments>(),
            in("x8") libc::SYS_clone3,
            in("x20") obey,
            in("x21") argument,
        );
    }
    pid
}

/// Not written for this architecture: refused, as by a kernel that does not have it.
///
/// # Safety
/// Does nothing.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn beside(_arguments: &Arguments, _obey: Obey, _argument: *mut c_void) -> isize {
    -(libc::ENOSYS as isize)
}

/// A system call that leaves `errno` alone: its result, or a negative error number.
///
/// # Safety
/// As the call itself demands.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn call(number: libc::c_long, arguments: [usize; 5]) -> isize {
    let result: isize;
    let [first, second, third, fourth, fifth] = arguments;
    // SAFETY: the convention of `syscall(2)` on this architecture.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") first,
            in("rsi") second,
            in("rdx") third,
            in("r10") fourth,
            in("r8") fifth,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    result
}

/// The same for this architecture.
///
/// # Safety
/// As the call itself demands.
#[cfg(target_arch = "aarch64")]
pub(super) unsafe fn call(number: libc::c_long, arguments: [usize; 5]) -> isize {
    let result: isize;
    let [first, second, third, fourth, fifth] = arguments;
    // SAFETY: the convention of `syscall(2)` on this architecture.
    unsafe {
        std::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") first as isize => result,
            in("x1") second,
            in("x2") third,
            in("x3") fourth,
            in("x4") fifth,
        );
    }
    result
}

/// The same by the C library, where no child runs beside us in our memory.
///
/// # Safety
/// As the call itself demands.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) unsafe fn call(number: libc::c_long, arguments: [usize; 5]) -> isize {
    let [first, second, third, fourth, fifth] = arguments;
    // SAFETY: the caller's promise.
    let result = unsafe { libc::syscall(number, first, second, third, fourth, fifth) };
    if result < 0 {
        return -(nix::errno::Errno::last_raw() as isize);
    }
    result as isize
}
