//! What diagnostic runs add to a diagnosis: a line for each wait, the tier of idle time that a ratio
//! hides, and what remains unsaid. Pure.

use super::tier::{self, Grounds, Tier};
use super::words::waits as words;
use super::{CauseLine, Figures};
use crate::evidence::Cause;
use crate::sample::Attribution;

/// Idle share of wall from which waiting is a finding whatever the ratio.
const IDLE_SHARE: f64 = 0.25;
/// Idle seconds a run below which it is none.
const IDLE_FLOOR: f64 = 5e-3;
/// Idle share of wall below which its waits are not worth a line.
const WORTH_NAMING: f64 = 0.02;
/// Waits below this share of wall share one line.
const OWN_LINE: f64 = 0.01;
/// Lines of named waits.
const MOST_LINES: usize = 5;
/// Unnamed share of the idle time from which it is told.
const UNNAMED_SHARE: f64 = 0.05;
/// Share of what has a name from which the largest cause is the cause.
pub(super) const NAMED_ENOUGH: f64 = 0.3;
/// Difference in shares of wall from which two accounts of the same thing are told apart.
const APART: f64 = 0.1;
/// A lock that serialises threads: at most so many CPUs busy, …
const SERIALISED: f64 = 1.3;
/// … at least this share of the blocked time in locks, …
const MOSTLY_LOCKS: f64 = 0.8;
/// … in at least so many waits of each thread.
const HANDED_ON: u64 = 5;

/// Diagnostic runs shorter than this share of the measured ones did not meet what those waited for.
const SAME_RUN: f64 = 0.5;

/// What diagnostic runs found, as words.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// Where the wall time of the diagnostic runs went.
    pub summary: String,
    /// What to know beside it: the unnamed share, locks, how far the diagnosed wall is from the
    /// measured one, what was lost. One sentence each.
    pub remarks: Vec<String>,
}

/// Everything there is to say about diagnostic runs, `wall` being the measured mean and `off` its
/// share off the CPU by the accounts, where that is known.
pub(super) fn explained(attribution: &Attribution, wall: f64, off: Option<f64>) -> Explained {
    let idle_share = share(attribution.idle, attribution.wall);
    let mut remarks = Vec::new();
    if idle_share >= WORTH_NAMING {
        remarks.extend(unnamed(attribution));
    }
    if serialises(attribution) {
        let busy = attribution.threads_busy.unwrap_or(1.0);
        remarks.push(words::serialised(attribution.threads, busy));
    }
    let same = about(Some(attribution), wall).is_some();
    remarks.extend(off.filter(|_| same).and_then(|off| apart(attribution, off)));
    remarks.push(words::distance(
        attribution.runs,
        attribution.wall,
        wall,
        same,
    ));
    remarks.extend(attribution.limits.iter().cloned());
    Explained {
        summary: words::summary(
            share(attribution.busy, attribution.wall),
            share(attribution.queued, attribution.wall),
            idle_share,
        ),
        remarks,
    }
}

/// What diagnostic runs found, if it is about runs like the measured ones, which took `wall`: somebody
/// held a lock or the cache was cold only then, and shares of runs that did not wait say nothing.
pub(super) fn about(attribution: Option<&Attribution>, wall: f64) -> Option<&Attribution> {
    attribution.filter(|found| found.wall >= SAME_RUN * wall)
}

/// Seconds a measured run of `wall` had none of its threads on a CPU and one ready for it.
pub(super) fn queued(attribution: &Attribution, wall: f64) -> f64 {
    share(attribution.queued, attribution.wall) * wall
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// That the accounts say something else. Threads that run at once have more CPU than wall time,
/// which hides waiting elsewhere.
fn apart(attribution: &Attribution, off: f64) -> Option<String> {
    let seen = share(attribution.idle, attribution.wall);
    let queued = share(attribution.queued, attribution.wall);
    let threads = attribution.threads > 1;
    let parallel = attribution
        .threads_busy
        .map_or(threads, |busy| busy >= 1.05);
    if seen - off >= APART && parallel {
        return Some(words::apart(off, seen, true));
    }
    ((seen + queued - off).abs() >= APART).then(|| words::apart(off, seen + queued, false))
}

/// Which part of the idle time has no name, and why.
fn unnamed(attribution: &Attribution) -> Option<String> {
    let unnamed = 1.0 - attribution.named;
    if unnamed < UNNAMED_SHARE {
        return None;
    }
    let short = share(attribution.too_short, attribution.idle).min(unnamed);
    let named: f64 = attribution.waits.iter().map(|wait| wait.seconds).sum();
    let first = attribution.waits.first().map(|wait| {
        let call = wait.detail.split(' ').next().unwrap_or_default();
        let of_call = attribution.waits.iter().filter(|other| {
            other.cause == wait.cause && other.detail.split(' ').next() == Some(call)
        });
        let seconds: f64 = of_call.map(|wait| wait.seconds).sum();
        (call, share(seconds, named))
    });
    Some(words::unnamed(unnamed, short, first))
}

/// Whether threads hand a lock from one to the next, so that hardly more than one runs.
fn serialises(attribution: &Attribution) -> bool {
    let Some(busy) = attribution.threads_busy else {
        return false;
    };
    let all: f64 = attribution.blocked.iter().map(|wait| wait.seconds).sum();
    let locks = || {
        let waits = attribution.blocked.iter();
        waits.filter(|wait| wait.cause == Cause::Lock)
    };
    let seconds: f64 = locks().map(|wait| wait.seconds).sum();
    let count: u64 = locks().map(|wait| wait.count).sum();
    let each = count / attribution.runs.max(1) / attribution.threads.max(1);
    attribution.threads >= 3
        && busy <= SERIALISED
        && attribution.idle < 0.1 * attribution.wall
        && seconds >= MOSTLY_LOCKS * all
        && each >= HANDED_ON
}

/// How loud the idle time is, which a ratio of parallel work hides: as a single thread that is busy
/// and idle for so long would be, and at least a note.
pub(super) fn idle_tier(attribution: &Attribution, figures: &Figures) -> Tier {
    let idle = share(attribution.idle, attribution.wall);
    let seconds = idle * figures.wall;
    if idle < IDLE_SHARE || seconds < IDLE_FLOOR {
        return Tier::None;
    }
    let grounds = Grounds {
        ratio: 1.0 / (1.0 - idle).max(1e-9),
        off_cpu: seconds,
        wall: figures.wall,
        runs: figures.runs,
        backed: true,
    };
    tier::by_ratio(&grounds).max(Tier::Note)
}

/// A line for each wait, largest first, the small ones together in one. Diagnostic runs may be
/// slower than measured ones: their shares carry over, not their times.
pub(super) fn lines(attribution: &Attribution, wall: f64) -> Vec<CauseLine> {
    let line = |cause: Cause, seconds: f64, detail: String, remark: String| {
        let share = share(seconds, attribution.wall);
        CauseLine {
            cause,
            share,
            seconds: share * wall,
            at_least: false,
            detail,
            remark,
            depth: attribution.depth,
        }
    };
    let own = attribution.waits.iter().take(MOST_LINES);
    let own = own.take_while(|wait| wait.seconds >= OWN_LINE * attribution.wall);
    let mut lines: Vec<CauseLine> = own
        .map(|wait| {
            let remark = words::remark(wait.cause, wait.place.as_deref());
            line(wait.cause, wait.seconds, wait.detail.clone(), remark)
        })
        .collect();
    let rest = &attribution.waits[lines.len()..];
    let mut titles: Vec<&str> = Vec::new();
    for title in rest.iter().map(|wait| wait.cause.row().title) {
        if titles.len() < 3 && !titles.contains(&title) {
            titles.push(title);
        }
    }
    let seconds: f64 = rest.iter().map(|wait| wait.seconds).sum();
    // The cause of several small waits is that of the largest.
    if let Some(first) = rest.first() {
        lines.push(line(
            first.cause,
            seconds,
            words::OTHERS.into(),
            titles.join(", "),
        ));
    }
    lines
}

/// The cause that most of the named waiting has: of several lines their sum counts.
pub(super) fn main_cause(lines: &[CauseLine]) -> Option<Cause> {
    let total = |cause: Cause| -> f64 {
        let of = lines.iter().filter(|line| line.cause == cause);
        of.map(|line| line.seconds).sum()
    };
    let all: f64 = lines.iter().map(|line| line.seconds).sum();
    let unnamed = total(Cause::Unknown);
    let named = lines.iter().filter(|line| line.cause != Cause::Unknown);
    let largest = named
        .map(|line| line.cause)
        .max_by(|a, b| total(*a).total_cmp(&total(*b)))?;
    (all - unnamed >= NAMED_ENOUGH * all).then_some(largest)
}

#[cfg(test)]
#[path = "explained_tests.rs"]
mod tests;
