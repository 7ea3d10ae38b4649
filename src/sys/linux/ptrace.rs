//! Traces the blocking calls of a command and its children: a seccomp filter stops only those
//! calls, ptrace sees them begin and end. No privilege; `PTRACE_GET_SYSCALL_INFO` is Linux 5.3.

#![allow(unsafe_code, reason = "ptrace has no safe wrapper in use here")]
#![allow(
    clippy::cast_possible_wrap,
    reason = "process numbers and seconds stay below 2^31"
)]

use std::collections::HashSet;
use std::io;
use std::ptr;

use super::held::{Held, now};

const SECCOMP_RET_ALLOW: u32 = 0x7fff_0000;
const SECCOMP_RET_TRACE: u32 = 0x7ff0_0000;
#[cfg(target_arch = "aarch64")]
const AUDIT_ARCH: u32 = 0xc000_00b7;
#[cfg(not(target_arch = "aarch64"))]
const AUDIT_ARCH: u32 = 0xc000_003e;
const BPF_LOAD_WORD: u16 = 0x20;
const BPF_JUMP_EQUAL: u16 = 0x15;
const BPF_RETURN: u16 = 0x06;

const PTRACE_SEIZE: u32 = 0x4206;
const PTRACE_LISTEN: u32 = 0x4208;
const PTRACE_GET_SYSCALL_INFO: u32 = 0x420e;
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

/// A stop of a traced thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It is about to make this call.
    Enter {
        /// Number of the call.
        number: i64,
        /// Its arguments.
        args: [u64; 6],
    },
    /// The call it made has returned.
    Leave,
    /// It ended.
    Gone,
}

/// A filter that stops the calls of those numbers and lets all others pass.
pub(crate) fn filter(numbers: &[i64]) -> Vec<libc::sock_filter> {
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
    rows
}

/// Traces a held child until it has ended; `each` hears of every stop with thread and time.
/// Returns the raw status of the child and when it ended. Processes it left behind are killed:
/// without a tracer the filter would fail their calls.
///
/// # Errors
/// Tracing is not permitted (Yama 3, a seccomp filter).
pub(crate) fn trace(
    held: &mut Held,
    mut each: impl FnMut(u32, u64, Stop),
) -> io::Result<(i32, u64)> {
    let root = held.pid() as libc::pid_t;
    request(PTRACE_SEIZE, root, 0, OPTIONS)?;
    held.release();
    let mut alive = HashSet::from([root]);
    let mut end = None;
    while !alive.is_empty() {
        let (pid, status) = wait()?;
        let time = now();
        if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) {
            alive.remove(&pid);
            if end.is_none() {
                each(pid as u32, time, Stop::Gone);
            }
            if pid == root {
                held.forget();
                end = Some((status, time));
            }
        } else if end.is_none() {
            alive.insert(pid);
            step(pid, status, time, &mut each);
        }
        if end.is_some() {
            for &left in &alive {
                // SAFETY: a tracee that has not been waited for, so the number is still its own.
                unsafe { libc::kill(left, libc::SIGKILL) };
            }
        }
    }
    end.ok_or_else(|| io::Error::from_raw_os_error(libc::ECHILD))
}

/// The next stop or end of a tracee of this thread.
fn wait() -> io::Result<(libc::pid_t, i32)> {
    loop {
        let mut status = 0;
        // SAFETY: waits for tracees of this thread only; `status` is valid for the call.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL | libc::__WNOTHREAD) };
        if pid >= 0 {
            return Ok((pid, status));
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINTR) {
            return Err(error);
        }
    }
}

/// Handles one stop and lets the thread go on.
fn step(pid: libc::pid_t, status: i32, time: u64, each: &mut impl FnMut(u32, u64, Stop)) {
    let signal = libc::WSTOPSIG(status);
    let event = status >> 16;
    let (verb, inject) = if event == EVENT_SECCOMP {
        if let Some((number, args)) = syscall_info(pid) {
            each(pid as u32, time, Stop::Enter { number, args });
        }
        (libc::PTRACE_SYSCALL, 0)
    } else if signal == libc::SIGTRAP | 0x80 {
        each(pid as u32, time, Stop::Leave);
        (libc::PTRACE_CONT, 0)
    } else if event == EVENT_STOP && signal != libc::SIGTRAP {
        (PTRACE_LISTEN, 0) // stopped by a signal: it stays stopped until it is continued
    } else if event != 0 {
        (libc::PTRACE_CONT, 0)
    } else {
        (libc::PTRACE_CONT, signal) // a signal on its way to the command
    };
    // A thread that is already gone cannot be continued; its end is reported by itself.
    request(verb, pid, 0, inject as usize).ok();
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
