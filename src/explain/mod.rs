//! From switch records and looks at threads to an attribution of wall time: how long the command was
//! busy, queued and idle, and which wait the idle time is blamed on. Pure: reads nothing.

mod accounts;
pub mod blame;
pub mod calls;
pub mod log;
pub mod naming;
pub mod record;
mod requeue;
pub mod sampled;
pub mod timeline;

use std::collections::HashMap;
use std::time::Duration;

pub use calls::Arch;
pub use naming::Named;

use self::blame::blame;
use self::log::Log;
use self::sampled::Estimate;
use crate::evidence::{Cause, Depth};
use crate::sample::Attribution;
use crate::sample::attribution::Wait;

/// Idle ticks to aim for over all diagnostic runs: the error of a share is then about 7 points.
const WANTED_TICKS: f64 = 200.0;
/// Most diagnostic runs of one benchmark.
const MOST_RUNS: u64 = 20;

/// How a diagnostic run was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Many times a second.
    Ticks,
    /// At every switch: names short waits, disturbs most.
    Switches,
}

/// One diagnostic run, explained. Times in nanoseconds; busy + queued + idle = wall.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainedRun {
    /// How it was looked at.
    pub pass: Pass,
    /// How the intervals are known.
    pub depth: Depth,
    /// From just before exec to the collected exit.
    pub wall: f64,
    /// A thread on a CPU.
    pub busy: f64,
    /// None on a CPU, one ready.
    pub queued: f64,
    /// All blocked.
    pub idle: f64,
    /// On-CPU time of all threads.
    pub on_cpu: f64,
    /// Most threads at once.
    pub threads: u64,
    /// Idle time and number of waits (or ticks) by name.
    pub waits: Vec<(Named, f64, u64)>,
    /// Idle time without a name.
    pub unnamed: f64,
    /// Of that, in waits too short to read.
    pub too_short: f64,
    /// Thread time blocked by name, whatever the rest of the tree did.
    pub blocked: Vec<(Named, f64, u64)>,
    /// What was lost and why.
    pub limits: Vec<String>,
}

impl ExplainedRun {
    /// From a timeline of switch records. `period` is the time between ticks, `None` if every
    /// switch was looked at.
    #[must_use]
    pub fn from_log(log: &Log, period: Option<u64>) -> Self {
        let blamed = blame(log, period);
        let waits = named_rows(log, blamed.waits.iter().map(|(&id, &total)| (id, total)));
        let blocked = log
            .blocked
            .iter()
            .map(|(&id, &(time, count))| (id, (time as f64, count)));
        let mut limits = Vec::new();
        if log.lost > 0 {
            limits.push(format!(
                "the kernel dropped {} switch records: busy and idle time are rough",
                log.lost
            ));
        }
        Self {
            pass: if period.is_some() {
                Pass::Ticks
            } else {
                Pass::Switches
            },
            depth: Depth::Tracing,
            wall: log.wall as f64,
            busy: log.busy as f64,
            queued: log.queued as f64,
            idle: log.idle as f64,
            on_cpu: log.on_cpu as f64,
            threads: log.threads_most,
            waits,
            unnamed: blamed.unnamed,
            too_short: blamed.too_short,
            blocked: named_rows(log, blocked),
            limits,
        }
    }

    /// From the sampler alone.
    #[must_use]
    pub fn from_estimate(estimate: Estimate) -> Self {
        Self {
            pass: Pass::Ticks,
            depth: Depth::Sampling,
            wall: estimate.busy + estimate.queued + estimate.idle,
            busy: estimate.busy,
            queued: estimate.queued,
            idle: estimate.idle,
            on_cpu: estimate.on_cpu,
            threads: estimate.threads_most,
            waits: estimate.waits,
            unnamed: estimate.unnamed,
            too_short: 0.0,
            blocked: Vec::new(),
            limits: Vec::new(),
        }
    }
}

fn named_rows(
    log: &Log,
    totals: impl Iterator<Item = (usize, (f64, u64))>,
) -> Vec<(Named, f64, u64)> {
    totals
        .map(|(id, (time, count))| (log.names[id].clone(), time, count))
        .collect()
}

/// How many diagnostic runs to make: enough for 200 ticks in idle time, 1 to 20, and at most half
/// of the time measuring took. `idle` is what one run idles as far as known (wall minus CPU time).
#[must_use]
pub fn runs_wanted(idle: Duration, rate: f64, wall: Duration, measuring: Duration) -> u64 {
    let ticks = idle.as_secs_f64() * rate;
    let wanted = if ticks > 0.0 {
        (WANTED_TICKS / ticks).ceil()
    } else {
        MOST_RUNS as f64
    };
    let affordable = measuring.as_secs_f64() / 2.0 / wall.as_secs_f64().max(1e-6);
    wanted.min(affordable.floor()).clamp(1.0, MOST_RUNS as f64) as u64
}

/// Whether the idle time needs the pass that looks at every switch: less than half of it has a
/// name, and it is worth naming.
#[must_use]
pub fn needs_switch_pass(runs: &[ExplainedRun]) -> bool {
    let with_records = runs.iter().all(|run| run.depth == Depth::Tracing);
    let idle: f64 = runs.iter().map(|run| run.idle).sum();
    let wall: f64 = runs.iter().map(|run| run.wall).sum();
    let unnamed: f64 = runs.iter().map(|run| run.unnamed).sum();
    with_records && idle > 0.02 * wall && unnamed > 0.5 * idle
}

/// What all diagnostic runs together say; `None` without any. Times come from the runs that were
/// looked at in ticks, which are disturbed less; if a run was looked at at every switch, the shares
/// of the waits come from there.
#[must_use]
pub fn attribute(runs: &[ExplainedRun]) -> Option<Attribution> {
    let of = |pass| {
        runs.iter()
            .filter(|run| run.pass == pass)
            .collect::<Vec<_>>()
    };
    let (ticks, switches) = (of(Pass::Ticks), of(Pass::Switches));
    let timed = if ticks.is_empty() { &switches } else { &ticks };
    let named = if switches.is_empty() {
        &ticks
    } else {
        &switches
    };
    if timed.is_empty() {
        return None;
    }
    let wall = mean(timed, |run| run.wall);
    let (busy, queued, idle) = (
        mean(timed, |run| run.busy),
        mean(timed, |run| run.queued),
        mean(timed, |run| run.idle),
    );
    let idle_named = mean(named, |run| run.idle);
    let scale = if idle_named > 0.0 {
        idle / idle_named
    } else {
        0.0
    };
    let depth = timed
        .iter()
        .map(|run| run.depth)
        .min()
        .unwrap_or(Depth::Sampling);
    let on_cpu = mean(timed, |run| run.on_cpu);
    let unnamed = mean(named, |run| run.unnamed) * scale;
    Some(Attribution {
        runs: runs.len() as u64,
        depth,
        wall,
        busy,
        queued,
        idle,
        threads_busy: (busy > 0.0 && depth == Depth::Tracing).then(|| on_cpu / busy),
        threads: timed.iter().map(|run| run.threads).max().unwrap_or(1),
        named: if idle > 0.0 {
            (1.0 - unnamed / idle).clamp(0.0, 1.0)
        } else {
            1.0
        },
        too_short: mean(named, |run| run.too_short) * scale,
        tree_cpu: (depth == Depth::Tracing).then_some(on_cpu),
        waits: merged(named, |run| &run.waits, scale),
        blocked: merged(timed, |run| &run.blocked, 1.0),
        limits: limits(runs),
    })
}

fn mean(runs: &[&ExplainedRun], of: impl Fn(&ExplainedRun) -> f64) -> f64 {
    runs.iter().map(|run| of(run)).sum::<f64>() / runs.len() as f64 / 1e9
}

fn limits(runs: &[ExplainedRun]) -> Vec<String> {
    let mut limits: Vec<String> = Vec::new();
    for limit in runs.iter().flat_map(|run| &run.limits) {
        if !limits.contains(limit) {
            limits.push(limit.clone());
        }
    }
    limits
}

type Rows = Vec<(Named, f64, u64)>;
type Places<'a> = HashMap<Option<&'a str>, f64>;

/// The same call on the same thing is one wait, wherever in the kernel it slept; its place is where
/// it slept longest. Largest first.
fn merged(runs: &[&ExplainedRun], of: impl Fn(&ExplainedRun) -> &Rows, scale: f64) -> Vec<Wait> {
    let mut totals: HashMap<(Cause, &str), (f64, u64, Places<'_>)> = HashMap::new();
    for (named, time, count) in runs.iter().flat_map(|run| of(run)) {
        let total = totals.entry((named.cause, &named.detail)).or_default();
        total.0 += time;
        total.1 += count;
        *total.2.entry(named.place.as_deref()).or_default() += time;
    }
    let mut waits: Vec<Wait> = totals
        .into_iter()
        .map(|((cause, detail), (time, count, places))| Wait {
            cause,
            detail: detail.to_string(),
            place: places
                .into_iter()
                .max_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)))
                .and_then(|(place, _)| place.map(str::to_string)),
            seconds: time * scale / runs.len() as f64 / 1e9,
            count,
        })
        .collect();
    waits.sort_by(|a, b| {
        b.seconds
            .total_cmp(&a.seconds)
            .then_with(|| a.detail.cmp(&b.detail))
    });
    waits
}

#[cfg(test)]
mod tests;
