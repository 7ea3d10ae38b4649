//! Traces the blocking calls of a command and its children: a seccomp filter stops only those
//! calls, ptrace sees them begin and end. No privilege; `PTRACE_GET_SYSCALL_INFO` is Linux 5.3.

#![allow(
    clippy::cast_possible_wrap,
    reason = "process numbers and seconds stay below 2^31"
)]

use std::collections::HashSet;
use std::io;
use std::ptr;

use crate::sys::unix::Event;
use crate::sys::{Error, Stop, clock};

const SECCOMP_RET_ALLOW: u32 = 0x7fff_0000;
const SECCOMP_RET_TRACE: u32 = 0x7ff0_0000;
#[cfg(target_arch = "aarch64")]
const AUDIT_ARCH: u32 = 0xc000_00b7;
#[cfg(not(target_arch = "aarch64"))]
const AUDIT_ARCH: u32 = 0xc000_003e;
const BPF_LOAD_WORD: u16 = 0x20;
const BPF_JUMP_EQUAL: u16 = 0x15;
const BPF_RETURN: u16 = 0x06;

const PTRACE_CONT: u32 = 7;
const PTRACE_SYSCALL: u32 = 24;
const PTRACE_SEIZE: u32 = 0x4206;
const PTRACE_LISTEN: u32 = 0x4208;
const PTRACE_GET_SYSCALL_INFO: u32 = 0x420e;
const PTRACE_GETEVENTMSG: u32 = 0x4201;
const EVENT_EXEC: i32 = 4;
const EVENT_STOP: i32 = 128;
const EVENT_SECCOMP: i32 = 7;
const OPTIONS: usize = 0x1 // TRACESYSGOOD
    | 0x2 // TRACEFORK
    | 0x4 // TRACEVFORK
    | 0x8 // TRACECLONE
    | 0x10 // TRACEEXEC
    | 0x80 // TRACESECCOMP
    | 0x10_0000; // EXITKILL

/// `struct ptrace_syscall_info` as far as entry, exit and seccomp stops need it.
#[repr(C)]
#[derive(Default)]
struct SyscallInfo {
    op: u8,
    pad: [u8; 3],
    arch: u32,
    instruction: u64,
    stack: u64,
    body: [u64; 8],
}

/// A seccomp program that stops calls of some numbers and lets all others pass.
#[derive(Debug)]
pub(crate) struct Filter(Vec<libc::sock_filter>);

impl Filter {
    /// A filter that stops the calls of those numbers.
    pub(crate) fn stopping(numbers: &[i64]) -> Self {
        let row = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
        let mut rows = vec![
            row(BPF_LOAD_WORD, 0, 0, 4), // seccomp_data.arch
            row(BPF_JUMP_EQUAL, 1, 0, AUDIT_ARCH),
            row(BPF_RETURN, 0, 0, SECCOMP_RET_ALLOW),
            row(BPF_LOAD_WORD, 0, 0, 0), // seccomp_data.nr
        ];
        for &number in numbers {
            rows.push(row(BPF_JUMP_EQUAL, 0, 1, number as u32));
            rows.push(row(BPF_RETURN, 0, 0, SECCOMP_RET_TRACE));
        }
        rows.push(row(BPF_RETURN, 0, 0, SECCOMP_RET_ALLOW));
        Self(rows)
    }

    /// For `prctl`; valid while `self` is.
    pub(super) fn program(&self) -> libc::sock_fprog {
        libc::sock_fprog {
            len: self.0.len() as u16,
            filter: self.0.as_ptr().cast_mut(),
        }
    }
}

/// What to do with each stop: thread, time, and what it is.
pub(crate) type Each<'a> = &'a mut dyn FnMut(u32, u64, Stop);

/// Follows a process and everything it starts.
#[derive(Debug)]
pub(crate) struct Tracer {
    root: libc::pid_t,
    alive: HashSet<libc::pid_t>,
    /// The program itself runs: what was called before its exec was ours.
    begun: bool,
}

impl Tracer {
    /// Follows a process that has not called exec yet.
    ///
    /// # Errors
    /// Tracing is not permitted (Yama 3, a seccomp filter, another tracer).
    pub(crate) fn attach(pid: i32) -> io::Result<Self> {
        request(PTRACE_SEIZE, pid, 0, OPTIONS)?;
        Ok(Self {
            root: pid,
            alive: HashSet::from([pid]),
            begun: false,
        })
    }

    /// Waits for one stop or end of any thread and deals with it; the end of the process itself is
    /// only noticed, as with `sys::unix::wait`.
    ///
    /// # Errors
    /// There is nothing to wait for.
    pub(crate) fn wait(&mut self, each: Each<'_>) -> Result<Event, Error> {
        let Some((pid, ended)) = next()? else {
            return Ok(Event::Nothing);
        };
        let time = clock::now();
        if ended && pid == self.root {
            each(pid as u32, time, Stop::Gone);
            return Ok(Event::Ended);
        }
        let mut status = 0;
        // SAFETY: takes the report that was just seen; `status` is valid for the call.
        if unsafe { libc::waitpid(pid, &raw mut status, libc::__WALL | libc::WNOHANG) } != pid {
            return Ok(Event::Nothing);
        }
        if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) {
            self.alive.remove(&pid);
            each(pid as u32, time, Stop::Gone);
            return Ok(Event::Nothing);
        }
        self.alive.insert(pid);
        if status >> 16 == EVENT_EXEC {
            // The thread that calls exec takes the number of its process; nobody reports its end.
            let former = former_number(pid).filter(|former| *former != pid);
            former.map(|former| self.alive.remove(&former));
        }
        let signal = if self.begun {
            step(pid, status, time, each)
        } else {
            step(pid, status, time, &mut |_, _, _| {})
        };
        self.begun |= status >> 16 == EVENT_EXEC;
        let stopped = signal.filter(|_| pid == self.root);
        Ok(stopped.map_or(Event::Nothing, Event::Stopped))
    }
}

impl Drop for Tracer {
    /// Kills what is left besides the process itself: without a tracer the filter would fail its
    /// calls.
    fn drop(&mut self) {
        self.alive.remove(&self.root);
        for &left in &self.alive {
            kill_and_wait(left);
        }
        // What those had just started is ours as well, and stands still.
        while let Some(newcomer) = stopped_newcomer() {
            kill_and_wait(newcomer);
        }
    }
}

/// Kills a tracee and waits for its end.
fn kill_and_wait(pid: libc::pid_t) {
    let mut status = 0;
    // SAFETY: a tracee that has not been waited for, so the number is still its own.
    unsafe { libc::kill(pid, libc::SIGKILL) };
    loop {
        // SAFETY: `status` is valid for the call.
        let waited = unsafe { libc::waitpid(pid, &raw mut status, libc::__WALL) };
        let again = waited < 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted;
        if !again && (waited != pid || libc::WIFEXITED(status) || libc::WIFSIGNALED(status)) {
            return;
        }
    }
}

/// A tracee that stopped and has not been heard of.
fn stopped_newcomer() -> Option<libc::pid_t> {
    let flags = libc::__WALL | libc::__WNOTHREAD | libc::WNOHANG | libc::WSTOPPED;
    // SAFETY: all zero is a valid siginfo_t, with the child 0.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: `info` outlives the call; its child is 0 or was set by the call.
    let pid = unsafe {
        libc::waitid(libc::P_ALL, 0, &raw mut info, flags);
        info.si_pid()
    };
    (pid > 0 && info.si_code == libc::CLD_TRAPPED).then_some(pid)
}

/// The number a thread had before its exec.
fn former_number(pid: libc::pid_t) -> Option<libc::pid_t> {
    let mut former: libc::c_ulong = 0;
    request(PTRACE_GETEVENTMSG, pid, 0, (&raw mut former) as usize).ok()?;
    Some(former as libc::pid_t)
}

/// The thread that stopped or ended next, and whether it ended; not yet reaped. Nothing if a signal
/// ended the wait.
fn next() -> Result<Option<(libc::pid_t, bool)>, Error> {
    let flags = libc::WEXITED | libc::WSTOPPED | libc::WNOWAIT | libc::__WALL | libc::__WNOTHREAD;
    // SAFETY: all zero is a valid siginfo_t.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: `info` outlives the call, which writes nothing else.
    if unsafe { libc::waitid(libc::P_ALL, 0, &raw mut info, flags) } < 0 {
        let source = io::Error::last_os_error();
        if source.kind() == io::ErrorKind::Interrupted {
            return Ok(None);
        }
        return Err(Error::Call {
            call: "waitid",
            source,
        });
    }
    let ended = matches!(
        info.si_code,
        libc::CLD_EXITED | libc::CLD_KILLED | libc::CLD_DUMPED
    );
    // SAFETY: waitid succeeded, so the fields of a child's signal are set.
    Ok(Some((unsafe { info.si_pid() }, ended)))
}

/// Handles one stop and lets the thread go on; the signal, if one has stopped it for longer.
fn step(pid: libc::pid_t, status: i32, time: u64, each: Each<'_>) -> Option<i32> {
    let signal = libc::WSTOPSIG(status);
    let event = status >> 16;
    let (verb, inject) = if event == EVENT_SECCOMP {
        if let Some((number, args)) = syscall_info(pid) {
            each(pid as u32, time, Stop::Enter { number, args });
        }
        (PTRACE_SYSCALL, 0)
    } else if signal == libc::SIGTRAP | 0x80 {
        each(pid as u32, time, Stop::Leave);
        (PTRACE_CONT, 0)
    } else if event == EVENT_STOP && signal != libc::SIGTRAP {
        (PTRACE_LISTEN, 0) // stopped by a signal: it stays stopped until it is continued
    } else if event != 0 {
        (PTRACE_CONT, 0)
    } else {
        (PTRACE_CONT, signal) // a signal on its way to the command
    };
    // A thread that is already gone cannot be continued; its end is reported by itself.
    request(verb, pid, 0, inject as usize).ok();
    (verb == PTRACE_LISTEN).then_some(signal)
}

/// Number and arguments of the call at a seccomp stop.
fn syscall_info(pid: libc::pid_t) -> Option<(i64, [u64; 6])> {
    let mut info = SyscallInfo::default();
    let size = size_of::<SyscallInfo>();
    request(PTRACE_GET_SYSCALL_INFO, pid, size, (&raw mut info) as usize).ok()?;
    let [number, args @ .., _] = info.body;
    Some((number as i64, args))
}

fn request(verb: u32, pid: libc::pid_t, address: usize, data: usize) -> io::Result<()> {
    // SAFETY: `data` is a number or, for GET_SYSCALL_INFO, a live structure of the given size.
    let result = unsafe {
        let address: *mut libc::c_void = ptr::without_provenance_mut(address);
        libc::ptrace(
            verb as _,
            pid,
            address,
            ptr::with_exposed_provenance_mut::<libc::c_void>(data),
        )
    };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
