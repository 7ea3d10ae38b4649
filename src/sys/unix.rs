//! Waiting for the end of a process without reaping it, reaping it with its account, and sending
//! signals: what every Unix does alike.

use std::time::Duration;

use crate::sample::{Outcome, Usage};

use super::{Error, platform};

/// On which CPUs commands run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cpus {
    /// The affinity we were started with.
    Original,
    /// The one we are on.
    Ours,
    /// These.
    List(Vec<usize>),
}

#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "only our own start uses it")
)]
/// How a new process is started, besides what was prepared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Launch {
    /// Descriptors for input, output and error; a negative one leaves ours.
    pub(crate) stdio: [i32; 3],
    /// An open `cgroup.procs` of the group to enter, or a negative number.
    pub(crate) cgroup: i32,
    /// The open folder of that group, to be started in it instead; or a negative number.
    pub(crate) folder: i32,
    /// Wait before exec until released, so that counters can be opened on the process.
    pub(crate) held: bool,
    /// Do not start if a signal has asked us to stop.
    pub(crate) unless_stopped: bool,
}

/// What became known about a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// It ended; it can still be looked at until it is reaped.
    Ended,
    /// A signal stopped it; the report is consumed.
    Stopped(i32),
    /// It goes on after a stop; the report is consumed.
    Continued,
    /// Nothing: a signal of ours ended the wait, or nothing happened yet.
    Nothing,
}

/// Waits until a process ends, stops or goes on, or a signal arrives, without reaping.
///
/// # Errors
/// It is not our child.
pub(crate) fn wait(pid: i32) -> Result<Event, Error> {
    await_event(pid, 0)
}

/// The same without waiting.
///
/// # Errors
/// It is not our child.
pub(crate) fn look(pid: i32) -> Result<Event, Error> {
    await_event(pid, libc::WNOHANG)
}

fn await_event(pid: i32, flags: i32) -> Result<Event, Error> {
    let flags = flags | libc::WEXITED | libc::WSTOPPED | libc::WCONTINUED | libc::WNOWAIT;
    let Some((code, status)) = wait_id(pid, flags)? else {
        return Ok(Event::Nothing);
    };
    if code == libc::CLD_CONTINUED {
        wait_id(pid, libc::WCONTINUED | libc::WNOHANG)?;
        return Ok(Event::Continued);
    }
    if code != libc::CLD_STOPPED && code != libc::CLD_TRAPPED {
        return Ok(Event::Ended);
    }
    // Without this the next wait would report the same stop again at once.
    wait_id(pid, libc::WSTOPPED | libc::WNOHANG)?;
    Ok(Event::Stopped(status))
}

/// `waitid(2)` for one process: code and status, or nothing yet (or interrupted).
fn wait_id(pid: i32, flags: i32) -> Result<Option<(i32, i32)>, Error> {
    // SAFETY: all zero is a valid siginfo_t, and means "nothing" to the check below.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: `info` outlives the call, which writes nothing else.
    let result = unsafe { libc::waitid(libc::P_PID, pid as libc::id_t, &raw mut info, flags) };
    if result < 0 {
        let error = std::io::Error::last_os_error();
        if error.kind() == std::io::ErrorKind::Interrupted {
            return Ok(None);
        }
        return Err(Error::Call {
            call: "waitid",
            source: error,
        });
    }
    // SAFETY: waitid succeeded, so the fields of a child's signal are set, or zero as above.
    let (child, status) = unsafe { (info.si_pid(), info.si_status()) };
    Ok((child != 0).then_some((info.si_code, status)))
}

/// What a reaped process leaves: the kernel's account and how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ended {
    /// The account of it and the children it waited for.
    pub(crate) usage: Usage,
    /// How it ended.
    pub(crate) outcome: Outcome,
}

/// What became of our children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Brood {
    /// This one has ended and can be looked at.
    Ended(i32),
    /// There are some, and none has ended.
    Alive,
    /// There are none.
    None,
}

/// Reaps a process that has ended.
///
/// # Errors
/// It is not our child.
pub(crate) fn reap(pid: i32) -> Result<Ended, Error> {
    loop {
        match wait4(pid, 0) {
            Ok(Some(ended)) => return Ok(ended),
            Ok(None) => {}
            Err(source) if source.kind() == std::io::ErrorKind::Interrupted => {}
            Err(source) => {
                return Err(Error::Call {
                    call: "wait4",
                    source,
                });
            }
        }
    }
}

/// Looks for any child that has ended: what a run left behind comes to us. Reaps nothing.
pub(crate) fn look_any() -> Brood {
    any_child(libc::WNOHANG)
}

/// The same, but waits until one has ended or a signal arrives.
pub(crate) fn await_any() -> Brood {
    any_child(0)
}

fn any_child(flags: i32) -> Brood {
    let flags = flags | libc::WEXITED | libc::WNOWAIT;
    // SAFETY: all zero is a valid siginfo_t, with the child 0.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: `info` outlives the call; its child is 0 or was set by the call.
    let (result, child) = unsafe {
        let result = libc::waitid(libc::P_ALL, 0, &raw mut info, flags);
        (result, info.si_pid())
    };
    match (result, child) {
        (0, 0) => Brood::Alive,
        (0, child) => Brood::Ended(child),
        _ if nix::errno::Errno::last() == nix::errno::Errno::EINTR => Brood::Alive,
        _ => Brood::None,
    }
}

/// Does nothing for a while; a signal ends it early.
pub(crate) fn pause(duration: Duration) {
    let time = nix::sys::time::TimeSpec::from_duration(duration);
    // SAFETY: a time that outlives the call; what remains of it is not wanted.
    unsafe { libc::nanosleep(time.as_ref(), std::ptr::null_mut()) };
}

fn wait4(pid: i32, flags: i32) -> std::io::Result<Option<Ended>> {
    let mut status = 0;
    // SAFETY: all zero is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both places outlive the call, which writes nothing else.
    let child = unsafe { libc::wait4(pid, &raw mut status, flags, &raw mut usage) };
    match child {
        0 => Ok(None),
        child if child < 0 => Err(std::io::Error::last_os_error()),
        _ => Ok(Some(Ended {
            usage: usage_of(&usage),
            outcome: outcome_of(status),
        })),
    }
}

fn usage_of(raw: &libc::rusage) -> Usage {
    let count = |value: libc::c_long| u64::try_from(value).unwrap_or_default();
    Usage {
        user: duration_of(raw.ru_utime),
        system: duration_of(raw.ru_stime),
        max_rss: count(raw.ru_maxrss) * platform::MAX_RSS_UNIT,
        minor_faults: count(raw.ru_minflt),
        major_faults: count(raw.ru_majflt),
        blocks_in: count(raw.ru_inblock),
        blocks_out: count(raw.ru_oublock),
        voluntary_switches: count(raw.ru_nvcsw),
        involuntary_switches: count(raw.ru_nivcsw),
    }
}

fn duration_of(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let micros = u64::try_from(time.tv_usec).unwrap_or_default();
    Duration::from_secs(seconds) + Duration::from_micros(micros)
}

fn outcome_of(status: i32) -> Outcome {
    if libc::WIFSIGNALED(status) {
        Outcome::Signaled {
            signal: libc::WTERMSIG(status) as u8,
            core: libc::WCOREDUMP(status),
        }
    } else {
        Outcome::Exited(libc::WEXITSTATUS(status) as u8)
    }
}

/// Sends a signal to a whole process group, and wakes what of it is stopped so that it can obey.
/// A group that is gone is fine.
pub(crate) fn signal_group(group: i32, signal: i32) {
    send(group, signal, false);
    send(group, libc::SIGCONT, false);
}

/// The same to the group of a run; `unreaped`, the run itself gets the signal where it has not come
/// to making its group yet.
pub(crate) fn signal_run(pid: i32, signal: i32, unreaped: bool) {
    send(pid, signal, unreaped);
    send(pid, libc::SIGCONT, unreaped);
}

/// One signal to a group, or to the process of its number if that is not known to be gone and there
/// is no such group. Async-signal-safe.
pub(super) fn send(group: i32, signal: i32, unreaped: bool) {
    if group > 1 {
        // SAFETY: plain system calls without memory.
        unsafe {
            if libc::kill(-group, signal) < 0 && unreaped {
                libc::kill(group, signal);
            }
        }
    }
}

/// Sends a signal to one process. One that is gone is fine.
pub(crate) fn signal_process(pid: i32, signal: i32) {
    if pid > 1 {
        // SAFETY: a plain system call without memory.
        unsafe { libc::kill(pid, signal) };
    }
}

/// Kills one process.
pub(crate) fn kill(pid: i32) {
    signal_process(pid, libc::SIGKILL);
}

/// The process group of a process that has not been reaped; ours for 0.
pub(crate) fn group_of(pid: i32) -> Option<i32> {
    // SAFETY: a plain system call without memory.
    let group = unsafe { libc::getpgid(pid) };
    (group > 0).then_some(group)
}

/// The session of a process that has not been reaped; ours for 0.
pub(crate) fn session_of(pid: i32) -> Option<i32> {
    // SAFETY: a plain system call without memory.
    let session = unsafe { libc::getsid(pid) };
    (session > 0).then_some(session)
}

/// Whether a group has a member.
pub(crate) fn group_exists(group: i32) -> bool {
    // SAFETY: a plain system call without memory; signal 0 reaches nobody.
    group > 1 && unsafe { libc::kill(-group, 0) } == 0
}

/// A limit of ours, if one is set.
#[allow(clippy::unnecessary_cast, reason = "signed on FreeBSD")]
pub(crate) fn limit(resource: nix::sys::resource::Resource) -> Option<u64> {
    let (soft, _) = nix::sys::resource::getrlimit(resource).ok()?;
    (soft != libc::RLIM_INFINITY).then_some(soft as u64)
}

/// Numbers of signals, for those who send or tell them.
pub(crate) mod number {
    use nix::sys::signal::Signal;

    pub(crate) const INT: i32 = Signal::SIGINT as i32;
    #[cfg(feature = "cli")]
    pub(crate) const PIPE: i32 = Signal::SIGPIPE as i32;
    pub(crate) const TERM: i32 = Signal::SIGTERM as i32;
    pub(crate) const KILL: i32 = Signal::SIGKILL as i32;
    pub(crate) const CONT: i32 = Signal::SIGCONT as i32;
    pub(crate) const TSTP: i32 = Signal::SIGTSTP as i32;
    pub(crate) const TTIN: i32 = Signal::SIGTTIN as i32;
    pub(crate) const TTOU: i32 = Signal::SIGTTOU as i32;
}
