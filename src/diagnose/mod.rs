//! From the evidence of many runs to slices of wall time per cause, a tier, and words.
//!
//! Pure: it reads a recording and the ratio that `analysis` computed, and judges. It prints
//! nothing and computes no interval of its own.

pub mod balance;
mod explained;
mod finding;
mod machine;
pub mod tier;
pub mod words;

use crate::evidence::{Cause, Class, Depth};
use crate::sample::{Attribution, Phase, Recording};
use crate::stats::Estimate;

pub use balance::Slices;
use balance::Sums;
pub use explained::Explained;
use finding::Counts;
pub use finding::Finding;
use tier::Grounds;
pub use tier::Tier;

/// One cause with the wall time it stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct CauseLine {
    /// Why nothing ran.
    pub cause: Cause,
    /// Share of wall, 0 to 1.
    pub share: f64,
    /// Seconds a run.
    pub seconds: f64,
    /// Whether the amount is only a lower bound.
    pub at_least: bool,
    /// What exactly: `fsync ./wal`.
    pub detail: String,
    /// A few words more: `disk flush (journal commit 74%)`.
    pub remark: String,
    /// How it is known.
    pub depth: Depth,
}

/// What share of the spread of wall times each slice explains, 0 to 1, and may exceed it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Variance {
    /// CPU time.
    pub cpu: f64,
    /// Waiting for a CPU.
    pub queued: f64,
    /// Waiting for anything else.
    pub waiting: f64,
}

/// What `analysis` has computed about a recording and a diagnosis needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// Measured runs that count.
    pub runs: usize,
    /// Wall over tree CPU of the sums; `None` without any CPU time.
    pub ratio: Option<Estimate>,
    /// Median wall time, seconds.
    pub wall: f64,
    /// Median of wall minus tree CPU, seconds; negative for parallel commands.
    pub off_cpu: f64,
    /// Median wall time without queueing, and half its interval, as words.
    pub without_queueing: Option<String>,
    /// Intermittent stalls, as words.
    pub stalls: Option<String>,
    /// Who explains the spread, where there is one.
    pub variance: Option<Variance>,
}

/// Whether, and on what, a command waited.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// How loud the finding is, tone applied.
    pub tier: Tier,
    /// Wall over CPU.
    pub ratio: Option<Estimate>,
    /// Share of wall off the CPU, 0 to 1; `None` where CPU exceeds wall.
    pub off_share: Option<f64>,
    /// Where the wall time went.
    pub slices: Slices,
    /// The cause that most of the waiting has, if any is named.
    pub cause: Option<Cause>,
    /// The sentence after the tier's word.
    pub headline: Option<String>,
    /// How loud that sentence is; findings beside it may be louder.
    pub headline_tier: Tier,
    /// Waits by cause, largest first.
    pub causes: Vec<CauseLine>,
    /// What the tier means.
    pub consequence: Option<String>,
    /// What to do, one sentence each.
    pub help: Vec<String>,
    /// Findings that stand beside the tier: environment, accounting, stalls.
    pub findings: Vec<Finding>,
    /// Average number of CPUs busy, where more than one was.
    pub cpus_busy: Option<f64>,
    /// Who explains the spread.
    pub variance: Option<Variance>,
    /// What diagnostic runs add, where there were any.
    pub explained: Option<Explained>,
    /// How many times as long the traced run took, where there was one.
    pub trace_slowdown: Option<f64>,
    /// CPU time is in nobody's account: what would be computed from it is left out, not told wrong.
    pub incomplete: bool,
}

/// Whether CPU time of a recording is in nobody's account, so that it decides nothing.
#[must_use]
pub fn is_incomplete(recording: &Recording) -> bool {
    finding::is_incomplete(&tally(recording).1)
}

/// Judges one benchmark. `None` without a measured run that counts.
#[must_use]
pub fn diagnose(recording: &Recording, figures: &Figures) -> Option<Diagnosis> {
    let (sums, counts) = tally(recording);
    let slices = sums.slices()?;
    let causes = causes(recording, &slices);
    let attribution = explained::about(recording.attribution.as_ref(), slices.wall);
    let cause = match attribution {
        Some(_) => explained::main_cause(&causes),
        None => causes.first().map(|line| line.cause),
    };
    let cause = cause.filter(|cause| *cause != Cause::Unknown);
    let findings = finding::findings(recording, &counts, &slices, figures);
    let incomplete = findings.iter().any(|found| found.replaces_tier);
    let class = if incomplete {
        Class::Accounting
    } else {
        main_class(&causes, cause.filter(|_| attribution.is_some()))
    };
    let by_ratio = tier::by_ratio(&grounds(&slices, figures, cause.is_some()));
    let by_idle = attribution.map_or(Tier::None, |found| explained::idle_tier(found, figures));
    let expect_wait = recording.conditions.expect_wait;
    let toned = tier::toned(by_ratio.max(by_idle), class, expect_wait);
    let loudest = findings.iter().map(|found| found.tier).max();
    let mut diagnosis = Diagnosis {
        tier: toned.max(loudest.unwrap_or_default()),
        ratio: figures.ratio,
        off_share: off_share(&slices),
        cause,
        headline: None,
        headline_tier: toned,
        causes,
        consequence: None,
        help: Vec::new(),
        findings,
        cpus_busy: cpus_busy(figures),
        variance: figures.variance,
        explained: recording
            .attribution
            .as_ref()
            .map(|found| explained::explained(found, slices.wall, off_share(&slices))),
        trace_slowdown: recording
            .trace
            .as_ref()
            .map(|t| t.wall / slices.wall.max(1e-9)),
        incomplete,
        slices,
    };
    if incomplete {
        diagnosis.forget_cpu();
    }
    diagnosis.speak(recording, by_idle > by_ratio);
    Some(diagnosis)
}

/// Adds up and counts the runs, in one go: there may be very many.
fn tally(recording: &Recording) -> (Sums, Counts) {
    let keys = [&["phase", "outcome"], Sums::FIELDS, Counts::FIELDS].concat();
    tally_of(recording, Some(&keys))
}

/// The same from these fields of each run, or from all.
fn tally_of(recording: &Recording, keys: Option<&[&str]>) -> (Sums, Counts) {
    let (mut sums, mut counts) = (Sums::default(), Counts::default());
    recording.samples.visit(keys, |sample| {
        if sample.phase != Phase::Measured {
            return;
        }
        counts.end(sample.outcome);
        if sample.outcome.success() {
            let queued = sample.queued();
            sums.add(sample, queued);
            counts.add(sample, queued);
        }
    });
    (sums, counts)
}

fn grounds(slices: &Slices, figures: &Figures, named: bool) -> Grounds {
    let ratio = figures.ratio.map_or(f64::INFINITY, |ratio| {
        ratio.interval.map_or(ratio.value, |interval| interval.low)
    });
    // The time stopped by a quota is part of the time queued.
    let queued = slices.queued.or(slices.throttled);
    let known = [queued, slices.disk].into_iter().flatten().sum::<f64>();
    Grounds {
        ratio,
        off_cpu: figures.off_cpu,
        wall: figures.wall,
        runs: figures.runs,
        backed: named || known >= 0.5 * figures.off_cpu.max(0.0),
    }
}

/// The class of the cause that diagnostic runs named, or the one that holds most of the off-CPU
/// time.
fn main_class(causes: &[CauseLine], named: Option<Cause>) -> Class {
    if let Some(named) = named {
        return named.class();
    }
    let classes = [
        Class::Environment,
        Class::Program,
        Class::Intended,
        Class::Unknown,
    ];
    let of = |class: Class| -> f64 {
        causes
            .iter()
            .filter(|line| line.cause.class() == class)
            .map(|line| line.seconds)
            .sum()
    };
    classes
        .into_iter()
        .max_by(|a, b| of(*a).total_cmp(&of(*b)))
        .filter(|c| of(*c) > 0.0)
        .unwrap_or(Class::Unknown)
}

/// The share of wall time off the CPU.
fn off_share(slices: &Slices) -> Option<f64> {
    let waiting = slices.waiting?;
    (slices.wall > 0.0).then(|| (waiting + slices.queued.unwrap_or(0.0)) / slices.wall)
}

fn cpus_busy(figures: &Figures) -> Option<f64> {
    let ratio = figures.ratio?;
    (ratio.value > 0.0 && ratio.value < 0.95).then(|| 1.0 / ratio.value)
}

/// Lines per cause: named waits where there are any, and what the accounts tell.
fn causes(recording: &Recording, slices: &Slices) -> Vec<CauseLine> {
    let attribution = explained::about(recording.attribution.as_ref(), slices.wall);
    let mut lines = attribution.map_or_else(Vec::new, |a| explained::lines(a, slices.wall));
    let mut named: f64 = lines.iter().map(|line| line.seconds).sum();
    if let Some(waiting) = slices.waiting.filter(|waiting| named > *waiting) {
        // The accounts are exact where one thread runs at a time, and queueing is told beside.
        let alone = |found: &Attribution| found.threads_busy.is_none_or(|busy| busy < 1.05);
        if attribution.is_some_and(alone) && waiting > 0.8 * named {
            let by = waiting / named;
            for line in &mut lines {
                (line.seconds, line.share) = (line.seconds * by, line.share * by);
            }
            named = waiting;
        }
    }
    if let Some(waiting) = slices.waiting {
        if let Some(found) = attribution {
            let tree_queued = explained::queued(found, slices.wall);
            lines.extend(unnamed(slices, waiting - named, tree_queued));
        } else {
            lines.extend(queues(slices, 0.0));
            lines.extend(accounted_waits(recording, slices, waiting));
        }
    }
    lines.retain(|line| line.share >= 0.005);
    lines.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    lines
}

/// What is left beside named waits. Diagnostic runs saw the whole tree queue for that long.
fn unnamed(slices: &Slices, rest: f64, tree_queued: f64) -> Vec<CauseLine> {
    // Queueing of other threads looks like waiting in the accounts.
    let main = slices.queued.unwrap_or(0.0);
    let others = (tree_queued - main).clamp(0.0, rest.max(0.0));
    let mut lines = queues(slices, others);
    lines.push(CauseLine {
        detail: "waits without a name".into(),
        ..accounted(Cause::Unknown, rest - others, slices.wall)
    });
    lines
}

/// A line from the kernel's accounts.
fn accounted(cause: Cause, seconds: f64, wall: f64) -> CauseLine {
    CauseLine {
        cause,
        share: if wall > 0.0 { seconds / wall } else { 0.0 },
        seconds,
        at_least: false,
        detail: cause.row().title.to_string(),
        remark: String::new(),
        depth: Depth::Accounting,
    }
}

/// Time ready to run: for want of a CPU, or because of a quota; that of `others` is known beside
/// the slices.
fn queues(slices: &Slices, others: f64) -> Vec<CauseLine> {
    let queued = slices.queued.unwrap_or(0.0) + others;
    let throttled = slices.throttled.unwrap_or(0.0).min(queued);
    let queue = CauseLine {
        at_least: slices.queued_at_least,
        ..accounted(Cause::CpuQueue, queued - throttled, slices.wall)
    };
    vec![queue, accounted(Cause::CpuQuota, throttled, slices.wall)]
}

/// What counters can say about the rest: stopped, swap, disk, each at least so much.
fn accounted_waits(recording: &Recording, slices: &Slices, waiting: f64) -> Vec<CauseLine> {
    let wall = slices.wall;
    let stopped = slices.stopped.unwrap_or(0.0).min(waiting);
    let mut rest = waiting - stopped;
    let mut lines = vec![accounted(Cause::Stopped, stopped, wall)];
    let mut at_least = |cause: Cause, seconds: f64, rest: &mut f64| {
        let seconds = seconds.min(*rest);
        *rest -= seconds;
        lines.push(CauseLine {
            at_least: true,
            ..accounted(cause, seconds, wall)
        });
    };
    let machine = machine::Machine::new(recording, slices);
    let mut disk = slices.disk.unwrap_or(0.0);
    if machine.swapped().is_some() {
        let mut swap = slices.memory_stall.unwrap_or(0.0);
        if machine.reads_swap() {
            swap = swap.max(disk);
        }
        at_least(Cause::Swap, swap, &mut rest);
        disk -= swap;
    }
    let disk = disk.max(0.0);
    at_least(Cause::Disk, disk, &mut rest);
    if machine.swapped().is_none() {
        // A stall is spent in the kernel, on the disk, or asleep until there is room.
        let stalled = slices.memory_stall.unwrap_or(0.0);
        let asleep = stalled - slices.system - disk;
        at_least(Cause::MemoryPressure, asleep.max(0.0), &mut rest);
    }
    let unknown = CauseLine {
        remark: disk_traffic(recording),
        ..accounted(Cause::Unknown, rest, wall)
    };
    lines.push(unknown);
    lines
}

/// What the runs fetched from the disk, if anything: a hint where no name is known.
fn disk_traffic(recording: &Recording) -> String {
    let (mut runs, mut faults, mut blocks) = (0_u64, 0_u64, 0_u64);
    recording.visit_measured(Some(&["major_faults", "blocks_in"]), |sample| {
        runs += 1;
        faults = sample.usage.major_faults.saturating_add(faults);
        blocks = sample.usage.blocks_in.saturating_add(blocks);
    });
    words::disk_traffic(
        faults / runs.max(1),
        (blocks / runs.max(1)).saturating_mul(512),
    )
}

impl Diagnosis {
    /// Takes out what needs a complete account of CPU time.
    fn forget_cpu(&mut self) {
        (self.ratio, self.off_share, self.cpus_busy) = (None, None, None);
        self.slices.waiting = None;
        self.variance = None;
        self.causes.retain(|line| line.cause != Cause::Unknown);
    }

    /// Whether there is a warning about waiting that nothing has named.
    #[must_use]
    pub fn wants_name(&self) -> bool {
        let unnamed = |line: &CauseLine| {
            let by_account = line.cause == Cause::Disk && line.depth == Depth::Accounting;
            line.cause == Cause::Unknown || by_account
        };
        self.headline_tier >= Tier::Warning && self.causes.first().is_none_or(unnamed)
    }

    /// The lines of waits that diagnostic runs named.
    pub fn named(&self) -> impl Iterator<Item = &CauseLine> {
        let lines = self.causes.iter();
        lines.filter(|line| line.depth > Depth::Accounting)
    }

    /// Puts the finding into words once it is known how loud it is.
    fn speak(&mut self, recording: &Recording, by_idle: bool) {
        if self.headline_tier == Tier::None {
            return;
        }
        let hidden = recording.attribution.as_ref().filter(|_| by_idle);
        let cpu_share = if let Some(found) = hidden {
            let detail = found.waits.first().map_or("waiting", |wait| &wait.detail);
            let parallel = self.slices.waiting.is_none();
            let (idle, wall) = (found.idle, found.wall);
            self.headline = Some(words::waits::hidden_wait(idle, wall, detail, parallel));
            1.0 - idle / wall.max(1e-9)
        } else {
            let share = self.off_share.unwrap_or(0.0);
            let point = self.ratio.map_or(f64::INFINITY, |ratio| ratio.value);
            let interval = self.ratio.and_then(|ratio| ratio.interval);
            let limits = interval.map(|interval| (interval.low, interval.high));
            self.headline = Some(words::headline(point, limits, share));
            1.0 - share
        };
        self.advise(cpu_share, recording.conditions.explaining);
    }

    /// What the finding means and what to do; diagnostic runs are no advice to who wanted them.
    fn advise(&mut self, cpu_share: f64, explaining: bool) {
        let cause = self.cause.unwrap_or(Cause::Unknown);
        let of_cause = || self.causes.iter().filter(|line| line.cause == cause);
        let named = of_cause().find(|line| line.depth > Depth::Accounting);
        let share = of_cause().map(|line| line.share).sum();
        let meaning = named.and_then(|line| words::waits::meaning(line, share));
        self.consequence = meaning.or_else(|| words::consequence(Some(cause), cpu_share));
        if cause != Cause::Unknown || !(explaining || self.explained.is_some()) {
            self.help.push(cause.row().advice.to_string());
        }
        if cause.class() == Class::Program {
            self.help.extend(gate_on_cpu(self, cause));
        }
    }
}

/// How to gate the code and not what it waits for.
fn gate_on_cpu(diagnosis: &Diagnosis, cause: Cause) -> Option<String> {
    let slices = &diagnosis.slices;
    let cpu = slices.user + slices.system + slices.hidden_cpu.unwrap_or(0.0);
    words::gate_on_cpu(cause, cpu)
}

#[cfg(test)]
mod tests;
