//! Findings that stand beside the ratio: the environment disturbed the runs, or the account of CPU
//! time is incomplete. Thresholds are those of the definition, with a floor so that the cost of
//! starting a process never counts as one.

use std::time::Duration;

use super::balance::Slices;
use super::machine::{ALL_CPUS, Machine};
use super::tier::Tier;
use super::{Figures, words};
use crate::evidence::{Cause, Class};
use crate::sample::{Outcome, Recording, Sample, signal};

/// One finding.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// How loud it is by itself.
    pub tier: Tier,
    /// What it is about; `None` for remarks without a cause.
    pub cause: Option<Cause>,
    /// The sentence.
    pub text: String,
    /// Whether the ratio's tier must not be given beside it.
    pub replaces_tier: bool,
}

impl Finding {
    pub(super) fn new(tier: Tier, cause: Cause, text: String) -> Self {
        Self {
            tier,
            cause: Some(cause),
            text,
            replaces_tier: false,
        }
    }
}

/// Share of wall above which waiting for a CPU is a finding whatever the ratio.
const QUEUED_SHARE: f64 = 0.05;
/// Share of wall above which a quota is a finding.
const THROTTLED_SHARE: f64 = 0.01;
/// Time stopped, mean seconds a run, from which it is worth a word.
const STOPPED_FLOOR: f64 = 1e-3;
/// From so many CPUs busy on average a command can queue behind itself.
const SEVERAL_CPUS: f64 = 1.05;
/// Share of one CPU that others must have used to make them the cause.
const OTHERS: f64 = 0.1;
/// Mean seconds a run below which queueing is the ordinary cost of starting.
const QUEUED_FLOOR: f64 = 300e-6;
/// CPU of background processes below which nobody needs to know.
const HIDDEN_FLOOR: f64 = 1e-3;
const HIDDEN_SHARE: f64 = 0.01;
/// Where CPU time is missing in fewer of the runs than this, the ratio can still be trusted.
const FEW_RUNS: f64 = 0.1;

/// Counts over the runs that findings need.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Counts {
    runs: usize,
    queued: usize,
    throttled: usize,
    leftovers: usize,
    most_leftovers: u64,
    auto_reaped: usize,
    tree_known: usize,
    quota: (u64, u64),
    stopped: usize,
    timed_out: usize,
    killed: Option<u8>,
    all: usize,
}

impl Counts {
    /// Keys of the fields that are counted.
    pub(super) const FIELDS: &'static [&'static str] = &[
        "wall_s",
        "stopped_s",
        "leftovers",
        "auto_reaps",
        "tree_cpu_s",
        "throttled_s",
        "throttled_periods",
        "quota_periods",
    ];

    /// Counts how a measured run ended.
    pub(super) fn end(&mut self, outcome: Outcome) {
        self.all += 1;
        match outcome {
            Outcome::TimedOut => self.timed_out += 1,
            Outcome::Signaled { signal, .. } => self.killed = Some(signal),
            Outcome::Exited(_) => {}
        }
    }

    /// Counts a run that counts, with what its `queued` says.
    pub(super) fn add(&mut self, sample: &Sample, queued: Option<Duration>) {
        let readings = &sample.readings;
        let wall = sample.wall.as_secs_f64();
        let share =
            |time: Option<Duration>| time.map_or(0.0, |time| time.as_secs_f64() / wall.max(1e-9));
        self.runs += 1;
        self.queued += usize::from(share(queued) >= QUEUED_SHARE);
        self.throttled += usize::from(share(readings.throttled) >= THROTTLED_SHARE);
        let stopped = readings.stopped.map_or(0.0, |time| time.as_secs_f64());
        self.stopped += usize::from(stopped >= STOPPED_FLOOR);
        let left = readings.leftovers.unwrap_or(0);
        self.leftovers += usize::from(left > 0);
        self.most_leftovers = self.most_leftovers.max(left);
        self.auto_reaped += usize::from(readings.auto_reaps == Some(1));
        self.tree_known += usize::from(readings.tree_cpu.is_some());
        let sum = |one: u64, other: Option<u64>| one.saturating_add(other.unwrap_or(0));
        self.quota.0 = sum(self.quota.0, readings.throttled_periods);
        self.quota.1 = sum(self.quota.1, readings.quota_periods);
    }
}

/// Everything to be said beside the tier, in order of weight.
pub(super) fn findings(
    recording: &Recording,
    counts: &Counts,
    slices: &Slices,
    figures: &Figures,
) -> Vec<Finding> {
    [
        incomplete(counts),
        hidden(slices, figures),
        quota(recording, counts, slices),
        queue(recording, counts, slices, figures),
        stopped(counts, slices),
        timed_out(counts),
        killed(recording, counts),
        figures.stalls.clone().map(|text| Finding {
            tier: Tier::Note,
            cause: None,
            text,
            replaces_tier: false,
        }),
    ]
    .into_iter()
    .flatten()
    .chain(Machine::new(recording, slices).findings())
    .collect()
}

/// Whether so much CPU time is in nobody's account that nothing computed from it is true.
pub(super) fn is_incomplete(counts: &Counts) -> bool {
    incomplete(counts).is_some_and(|found| found.replaces_tier)
}

/// CPU time that is in nobody's account: the ratio cannot be trusted.
fn incomplete(counts: &Counts) -> Option<Finding> {
    let complete = counts.tree_known == counts.runs;
    let (cause, text) = if counts.leftovers > 0 {
        let hit = (counts.leftovers, counts.runs);
        let text = words::leftovers(counts.most_leftovers, hit, complete);
        (Cause::Leftovers, text)
    } else if counts.auto_reaped > 0 && !complete {
        (Cause::AutoReaped, words::auto_reaped())
    } else {
        return None;
    };
    debug_assert_eq!(cause.class(), Class::Accounting);
    Some(Finding {
        replaces_tier: !complete && cause_hits(counts) > counts.runs as f64 * FEW_RUNS,
        ..Finding::new(Tier::Note, cause, text)
    })
}

/// In how many runs CPU time is missing.
fn cause_hits(counts: &Counts) -> f64 {
    counts.leftovers.max(counts.auto_reaped) as f64
}

fn hidden(slices: &Slices, figures: &Figures) -> Option<Finding> {
    let missed = slices.hidden_cpu?;
    if missed < HIDDEN_FLOOR || missed < HIDDEN_SHARE * slices.wall {
        return None;
    }
    let counted = slices.user + slices.system + missed;
    let text = words::hidden_work(missed, counted, figures.ratio.map(|ratio| ratio.value));
    Some(Finding::new(Tier::Note, Cause::HiddenCpu, text))
}

fn quota(recording: &Recording, counts: &Counts, slices: &Slices) -> Option<Finding> {
    let throttled = slices.throttled?;
    if throttled < THROTTLED_SHARE * slices.wall || counts.throttled == 0 {
        return None;
    }
    let cpus = recording.machine.get("quota_cpus").copied();
    let text = words::quota((throttled, slices.wall), counts.quota, cpus);
    Some(Finding::new(Tier::Warning, Cause::CpuQuota, text))
}

fn queue(
    recording: &Recording,
    counts: &Counts,
    slices: &Slices,
    figures: &Figures,
) -> Option<Finding> {
    let queued = slices.queued? - slices.throttled.unwrap_or(0.0);
    if queued < QUEUED_SHARE * slices.wall || queued < QUEUED_FLOOR {
        return None;
    }
    // A command that has all CPUs to itself queues behind itself.
    let cpu = slices.user + slices.system + slices.hidden_cpu.unwrap_or(0.0);
    let cpus = recording.host.cpus.unwrap_or(u64::MAX) as f64;
    if cpu >= ALL_CPUS * cpus * slices.wall
        || queues_behind_itself(recording, counts, cpu / slices.wall)
    {
        return None;
    }
    let without = figures.without_queueing.as_deref();
    let text = words::queueing(queued / slices.wall, counts.queued, counts.runs, without);
    Some(Finding::new(Tier::Warning, Cause::CpuQueue, text))
}

/// Whether a command that keeps several CPUs busy had them to itself: the machine ran nothing else
/// worth naming meanwhile.
fn queues_behind_itself(recording: &Recording, counts: &Counts, cpus_busy: f64) -> bool {
    let counter = |key: &str| recording.machine.get(key).copied();
    let (Some(busy), Some(observed)) = (counter("busy_s"), counter("observed_s")) else {
        return false;
    };
    let own: f64 = recording
        .measured_fields(Sample::TREE_CPU)
        .map(|sample| sample.tree_cpu().as_secs_f64())
        .sum();
    counts.runs == counts.all && cpus_busy >= SEVERAL_CPUS && busy - own < OTHERS * observed
}

fn stopped(counts: &Counts, slices: &Slices) -> Option<Finding> {
    let time = slices.stopped?;
    if counts.stopped == 0 {
        return None;
    }
    let each = time * counts.runs as f64 / counts.stopped as f64;
    let text = words::stopped(each, counts.stopped, counts.runs);
    Some(Finding::new(Tier::Warning, Cause::Stopped, text))
}

fn timed_out(counts: &Counts) -> Option<Finding> {
    let text = words::timed_out(counts.timed_out, counts.all)?;
    Some(Finding::new(Tier::Note, Cause::TimedOut, text))
}

fn killed(recording: &Recording, counts: &Counts) -> Option<Finding> {
    let name = signal::name(counts.killed?, recording.host.kernel.as_deref());
    Some(Finding::new(
        Tier::Note,
        Cause::Killed,
        words::killed(&name),
    ))
}
