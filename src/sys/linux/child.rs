//! The child between clone and exec: system calls on memory prepared before, in the memory of a parent
//! that may go on meanwhile. No allocation, no lock, and nothing that is kept per thread.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use nix::sys::signal::SigSet;

use super::into;
use super::memory::{ACCOUNT, Report};
use crate::sys::clock;

/// What the child does, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(super) enum Step {
    Streams = 1,
    Parent,
    Directory,
    Affinity,
    Cgroup,
    Hold,
    Filter,
    Exec,
}

impl Step {
    pub(super) const ALL: [(Self, &'static str); 8] = [
        (Self::Streams, "dup3"),
        (Self::Parent, "prctl"),
        (Self::Directory, "chdir"),
        (Self::Affinity, "sched_setaffinity"),
        (Self::Cgroup, "write cgroup.procs"),
        (Self::Hold, "read"),
        (Self::Filter, "prctl(PR_SET_SECCOMP)"),
        (Self::Exec, "execve"),
    ];
}

/// Everything the child needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Orders {
    pub(super) stdio: [i32; 3],
    pub(super) parent: i32,
    pub(super) directory: *const libc::c_char,
    pub(super) cpus: (usize, *const u64),
    /// The CPUs were asked for, and are not only what we had.
    pub(super) cpus_matter: bool,
    pub(super) cgroup: i32,
    pub(super) hold: i32,
    /// The parent goes on; let it, before anything is done.
    pub(super) beside: bool,
    /// Where the guard looks for our group; null without a guard.
    pub(super) guard: *const AtomicI32,
    pub(super) filter: *const libc::sock_fprog,
    pub(super) mask: libc::sigset_t,
    pub(super) path: *const libc::c_char,
    pub(super) argv: *const *const libc::c_char,
    pub(super) envp: *const *const libc::c_char,
    pub(super) report: *const Report,
}

impl Default for Orders {
    fn default() -> Self {
        Self {
            stdio: [-1; 3],
            parent: 0,
            directory: ptr::null(),
            cpus: (0, ptr::null()),
            cpus_matter: false,
            cgroup: -1,
            hold: -1,
            beside: false,
            guard: ptr::null(),
            filter: ptr::null(),
            mask: *SigSet::empty().as_ref(),
            path: ptr::null(),
            argv: ptr::null(),
            envp: ptr::null(),
            report: ptr::null(),
        }
    }
}

/// The life of the child until exec, in the memory of a parent that may go on meanwhile.
pub(super) extern "C" fn obey(orders: *mut c_void) -> i32 {
    // SAFETY: the parent leaves its `Orders` unchanged until we have executed or ended.
    let orders = unsafe { &*orders.cast::<Orders>() };
    // SAFETY: as `Orders` promises.
    let (step, errno) = match unsafe { steps(orders) } {
        Ok(()) => (0, 0),
        Err((step, errno)) => (step as i32, errno),
    };
    // SAFETY: `report` is mapped as long as the spawner lives.
    let report = unsafe { &*orders.report };
    report.errno.store(errno, Ordering::Relaxed);
    report.step.store(step, Ordering::Release);
    // SAFETY: ends only the child; nothing of the parent is run.
    unsafe { system(libc::SYS_exit_group, [127, 0, 0, 0]) };
    127
}

/// A system call: its result, or a negative error number.
///
/// # Safety
/// As the call itself demands.
unsafe fn system(number: libc::c_long, arguments: [usize; 4]) -> isize {
    let [first, second, third, fourth] = arguments;
    // SAFETY: the caller's promise.
    unsafe { into::call(number, [first, second, third, fourth, 0]) }
}

/// CPU time of this thread so far, in nanoseconds; 0 if it cannot be read.
fn cpu() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let clock = libc::CLOCK_THREAD_CPUTIME_ID as usize;
    let place = &raw mut time as usize;
    // SAFETY: a time that outlives the call.
    if unsafe { system(libc::SYS_clock_gettime, [clock, place, 0, 0]) } != 0 {
        return 0;
    }
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Leaves our own `schedstat` in the report. What fails here fails no run.
///
/// # Safety
/// `report` is valid.
unsafe fn read_account(report: *const Report) {
    let path = c"/proc/self/schedstat".as_ptr() as usize;
    let flags = (libc::O_RDONLY | libc::O_CLOEXEC) as usize;
    // SAFETY: the file is opened, read and closed here; the array is larger than what is read, and
    // only this process writes it until the parent reads.
    unsafe {
        let file = system(libc::SYS_openat, [libc::AT_FDCWD as usize, path, flags, 0]);
        let Ok(file) = usize::try_from(file) else {
            return;
        };
        let room = (*report).account.as_ptr().cast::<u8>().cast_mut();
        let length = system(libc::SYS_read, [file, room as usize, ACCOUNT - 1, 0]);
        *room.add(usize::try_from(length).unwrap_or(0).min(ACCOUNT - 1)) = 0;
        system(libc::SYS_close, [file, 0, 0, 0]);
    }
}

/// `struct sigaction` of the kernel that means the default, with room for every architecture.
const DEFAULT_ACTION: [u64; 4] = [0; 4];
/// Bytes of the kernel's set of signals.
const SIGNALS: usize = 8;

/// What becomes of a step: nothing, or what failed and its error number.
type Done = Result<(), (Step, i32)>;

/// A system call of a step: its result, or the step and the error number.
///
/// # Safety
/// As the call itself demands.
unsafe fn attempt(
    step: Step,
    number: libc::c_long,
    arguments: [usize; 4],
) -> Result<usize, (Step, i32)> {
    // SAFETY: the caller's promise.
    let result = unsafe { system(number, arguments) };
    usize::try_from(result).map_err(|_| (step, -result as i32))
}

/// Does every step.
///
/// # Safety
/// Every pointer in `orders` is null where that is allowed, or valid.
unsafe fn steps(orders: &Orders) -> Done {
    // SAFETY: the caller's promise.
    unsafe {
        if orders.beside {
            // The parent wants to be asleep first: of two that are ready to run on one CPU, one is
            // taken away.
            system(libc::SYS_sched_yield, [0; 4]);
        }
        prepare(orders)?;
        place(orders)?;
        execute(orders)
    }
}

/// Streams, signals, group, parent and folder.
///
/// # Safety
/// As for [`steps`].
unsafe fn prepare(orders: &Orders) -> Done {
    // SAFETY: calls on numbers and on memory valid by the contract.
    unsafe {
        for (target, &source) in (0..).zip(&orders.stdio) {
            if source >= 0 && source != target {
                let ends = [source as usize, target as usize, 0, 0];
                attempt(Step::Streams, libc::SYS_dup3, ends)?;
            }
        }
        // The language's runtime ignores it in us; ignored signals stay so across exec.
        let action = DEFAULT_ACTION.as_ptr() as usize;
        let pipe = [libc::SIGPIPE as usize, action, 0, SIGNALS];
        system(libc::SYS_rt_sigaction, pipe);
        system(libc::SYS_setpgid, [0; 4]);
        if !orders.guard.is_null() {
            let own = system(libc::SYS_getpid, [0; 4]);
            (*orders.guard).store(own as i32, Ordering::Relaxed);
        }
        let death = [
            libc::PR_SET_PDEATHSIG as usize,
            libc::SIGKILL as usize,
            0,
            0,
        ];
        attempt(Step::Parent, libc::SYS_prctl, death)?;
        if attempt(Step::Parent, libc::SYS_getppid, [0; 4])? != orders.parent as usize {
            // It died before we asked to be told.
            return Err((Step::Parent, libc::ESRCH));
        }
        if !orders.directory.is_null() {
            let folder = [orders.directory as usize, 0, 0, 0];
            attempt(Step::Directory, libc::SYS_chdir, folder)?;
        }
    }
    Ok(())
}

/// CPUs, control group, and waiting until we are let go.
///
/// # Safety
/// As for [`steps`].
unsafe fn place(orders: &Orders) -> Done {
    let (bytes, cpus) = orders.cpus;
    // SAFETY: calls on numbers and on memory valid by the contract.
    unsafe {
        if !cpus.is_null() {
            let mask = [0, bytes, cpus as usize, 0];
            let set = attempt(Step::Affinity, libc::SYS_sched_setaffinity, mask);
            if orders.cpus_matter {
                set?;
            }
        }
        if orders.cgroup >= 0 {
            let word = [orders.cgroup as usize, c"0".as_ptr() as usize, 1, 0];
            attempt(Step::Cgroup, libc::SYS_write, word)?;
        }
        if orders.hold >= 0 {
            let mut word = 0_u8;
            let read = [orders.hold as usize, &raw mut word as usize, 1, 0];
            if attempt(Step::Hold, libc::SYS_read, read)? != 1 {
                return Err((Step::Hold, 0));
            }
        }
    }
    Ok(())
}

/// Filter and signal mask, the stamp, and the command.
///
/// # Safety
/// As for [`steps`].
unsafe fn execute(orders: &Orders) -> Done {
    // SAFETY: calls on numbers and on memory valid by the contract; `report` is valid.
    unsafe {
        if !orders.filter.is_null() {
            let privileges = [libc::PR_SET_NO_NEW_PRIVS as usize, 1, 0, 0];
            attempt(Step::Filter, libc::SYS_prctl, privileges)?;
            let kind = libc::SECCOMP_MODE_FILTER as usize;
            let filter = [
                libc::PR_SET_SECCOMP as usize,
                kind,
                orders.filter as usize,
                0,
            ];
            attempt(Step::Filter, libc::SYS_prctl, filter)?;
        }
        let mask = &raw const orders.mask as usize;
        let how = libc::SIG_SETMASK as usize;
        system(libc::SYS_rt_sigprocmask, [how, mask, 0, SIGNALS]);
        // In this order: reading the CPU time brings the account of a running thread up to date.
        (*orders.report).cpu.store(cpu(), Ordering::Relaxed);
        read_account(orders.report);
        (*orders.report)
            .stamp
            .store(clock::now(), Ordering::Release);
        let words = [orders.path, orders.argv.cast(), orders.envp.cast()];
        let [path, argv, envp] = words.map(|pointer: *const libc::c_char| pointer as usize);
        attempt(Step::Exec, libc::SYS_execve, [path, argv, envp, 0]).map(|_| ())
    }
}
