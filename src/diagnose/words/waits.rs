//! The sentences about named waits.

use super::time;
use crate::diagnose::CauseLine;
use crate::evidence::Cause;
use crate::explain::blame::TOO_SHORT;
use crate::unit::{percent, thousands};

/// A diagnosed wall that is further than this from the measured one makes shares rough.
const FAR: f64 = 0.2;

/// Share of what has a cause from which one line is as good as all.
const NEARLY_ALL: f64 = 0.8;
/// The small waits together.
pub(in crate::diagnose) const OTHERS: &str = "other waits";

/// Where the wall time of diagnostic runs went.
pub(in crate::diagnose) fn summary(busy: f64, queued: f64, idle: f64) -> String {
    let queued = if queued >= 0.005 {
        format!("waiting for a CPU {}, ", percent(queued))
    } else {
        String::new()
    };
    format!(
        "a thread was running {} of the time, {queued}nothing ran {}",
        percent(busy),
        percent(idle)
    )
}

/// The last words of a cause line.
pub(in crate::diagnose) fn remark(cause: Cause, place: Option<&str>) -> String {
    let title = cause.row().title;
    place.map_or_else(|| title.to_owned(), |place| format!("{title} ({place})"))
}

/// Which share of the idle time has no name, how much of that was too short, and the call that
/// most of the rest was in.
pub(in crate::diagnose) fn unnamed(share: f64, short: f64, first: Option<(&str, f64)>) -> String {
    let rest = first
        .map(|(call, of)| format!("; of the named part, {call} {}", percent(of)))
        .unwrap_or_default();
    if short >= 0.5 * share {
        format!(
            "{} of the idle time is in waits shorter than {} \u{b5}s, too short to name by sampling{rest}",
            percent(short),
            TOO_SHORT / 1000
        )
    } else {
        format!("{} of the idle time got no name{rest}", percent(share))
    }
}

/// Threads that hand a lock on.
pub(in crate::diagnose) fn serialised(threads: u64, busy: f64) -> String {
    format!("{threads} threads, {busy:.1} busy on average: a lock serialises them")
}

/// How far the diagnosed wall time is from the measured one; `same` if it still tells what the
/// measured runs waited for.
pub(in crate::diagnose) fn distance(
    runs: u64,
    diagnosed: f64,
    measured: f64,
    same: bool,
) -> String {
    let by = if measured > 0.0 {
        diagnosed / measured - 1.0
    } else {
        0.0
    };
    let noun = if runs == 1 { "run" } else { "runs" };
    let far = if !same {
        ": they did not meet what the measured runs waited for"
    } else if by.abs() > FAR {
        ": the shares are rough"
    } else {
        ""
    };
    let word = if by < 0.0 { "below" } else { "above" };
    format!(
        "by {} diagnostic {noun} of {}, {} {word} the measured{far}",
        thousands(runs),
        time(diagnosed),
        percent(by.abs())
    )
}

/// Waiting that the ratio of wall to CPU hides.
pub(in crate::diagnose) fn hidden_wait(
    idle: f64,
    wall: f64,
    detail: &str,
    parallel: bool,
) -> String {
    let but = if parallel {
        "CPU exceeds wall, yet nothing"
    } else {
        "nothing"
    };
    format!("{but} ran for {} of {}: {detail}", time(idle), time(wall))
}

/// What the accounts of the measured runs and the diagnostic runs say about the same thing, where
/// that differs: shares of wall off the CPU.
pub(in crate::diagnose) fn apart(accounts: f64, seen: f64, parallel: bool) -> String {
    let (accounts, seen) = (percent(accounts), percent(seen));
    if parallel {
        format!(
            "wall less CPU is {accounts}, yet nothing ran {seen}: at other times threads ran at once"
        )
    } else {
        format!(
            "the measured runs were off the CPU {accounts}, the diagnostic ones {seen} of the time"
        )
    }
}

/// What it means to wait for that, where more can be said than that a faster program wins little.
/// `share` is that of all waits with this cause; if the line is not nearly all of it, there are
/// others of its kind.
pub(in crate::diagnose) fn meaning(line: &CauseLine, share: f64) -> Option<String> {
    let one = line.share >= NEARLY_ALL * share;
    let share = percent(share);
    let target = line.detail.split_once(' ').map(|(_, target)| target);
    let others = |target: &str| {
        if one {
            target.to_owned()
        } else {
            format!("{target} and others")
        }
    };
    let target = target.filter(|_| line.detail != OTHERS).map(others);
    let target = target.as_deref();
    Some(match line.cause {
        Cause::Sleep => format!("{share} is the command's own sleep or timeout"),
        Cause::Network => {
            let peer = target.unwrap_or("a peer");
            format!("{share} waits for {peer} to answer: the server is outside the benchmark")
        }
        Cause::LocalService => {
            let service = target.unwrap_or("unknown socket");
            format!("{share} waits for a local service ({service}): its CPU is not in user+sys")
        }
        Cause::FileLock => format!("{share} waits for a file lock on {}", target?),
        Cause::Stopped => format!(
            "the process was stopped (SIGSTOP or a debugger) for {}",
            time(line.seconds)
        ),
        Cause::DiskRead => format!(
            "{share} waits for disk reads of {} (cold cache)",
            target.filter(|_| one).unwrap_or("files")
        ),
        Cause::EventLoop => format!("{share} waits in its event loop for something to happen"),
        Cause::Pipe => format!("{share} waits for the other end of a pipe"),
        Cause::Child => format!("{share} waits for a process it started"),
        Cause::Terminal => format!("{share} waits for input from a terminal"),
        _ => return None,
    })
}
