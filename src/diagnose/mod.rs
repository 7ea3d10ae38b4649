//! From the evidence of many runs to slices of wall time per cause, a tier, and words.
//!
//! Pure: it reads a recording and the ratio that `analysis` computed, and judges. It prints
//! nothing and computes no interval of its own.

pub mod balance;
mod finding;
pub mod tier;
pub mod words;

use crate::evidence::{Cause, Class, Depth};
use crate::sample::Recording;
use crate::stats::Estimate;

pub use balance::Slices;
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
}

/// Judges one benchmark. `None` without a measured run that counts.
#[must_use]
pub fn diagnose(recording: &Recording, figures: &Figures) -> Option<Diagnosis> {
    let slices = balance::slices(recording)?;
    let causes = causes(recording, &slices);
    let cause = causes
        .first()
        .filter(|line| line.cause != Cause::Unknown)
        .map(|line| line.cause);
    let findings = finding::findings(recording, &slices, figures);
    let incomplete = findings.iter().any(|found| found.replaces_tier);
    let expect_wait = recording.conditions.expect_wait;
    let class = if incomplete {
        Class::Accounting
    } else {
        main_class(&causes)
    };
    let by_ratio = tier::by_ratio(&grounds(&slices, figures, cause.is_some()));
    let toned = tier::toned(by_ratio, class, expect_wait);
    let loudest = findings
        .iter()
        .map(|found| found.tier)
        .max()
        .unwrap_or_default();
    let off_share = off_share(&slices);
    let mut diagnosis = Diagnosis {
        tier: toned.max(loudest),
        ratio: figures.ratio,
        off_share,
        slices,
        cause,
        headline: None,
        headline_tier: toned,
        causes,
        consequence: None,
        help: Vec::new(),
        findings,
        cpus_busy: cpus_busy(figures),
        variance: figures.variance,
    };
    speak(&mut diagnosis, toned);
    Some(diagnosis)
}

fn grounds(slices: &Slices, figures: &Figures, named: bool) -> Grounds {
    let ratio = figures.ratio.map_or(f64::INFINITY, |ratio| {
        ratio.interval.map_or(ratio.value, |interval| interval.low)
    });
    let known = [slices.queued, slices.throttled, slices.disk]
        .into_iter()
        .flatten()
        .sum::<f64>();
    Grounds {
        ratio,
        off_cpu: figures.off_cpu,
        wall: figures.wall,
        runs: figures.runs,
        backed: named || known >= 0.5 * figures.off_cpu.max(0.0),
    }
}

/// The class that holds most of the off-CPU time.
fn main_class(causes: &[CauseLine]) -> Class {
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

/// Lines per cause: named waits first where there are any, otherwise what the accounts tell.
fn causes(recording: &Recording, slices: &Slices) -> Vec<CauseLine> {
    let Some(waiting) = slices.waiting else {
        return named(recording, slices.wall);
    };
    let mut lines = named(recording, slices.wall);
    let share = |seconds: f64| {
        if slices.wall > 0.0 {
            seconds / slices.wall
        } else {
            0.0
        }
    };
    let mut account = |cause: Cause, seconds: f64, at_least: bool| {
        lines.push(CauseLine {
            cause,
            share: share(seconds),
            seconds,
            at_least,
            detail: cause.row().title.to_string(),
            remark: String::new(),
            depth: Depth::Accounting,
        });
    };
    let throttled = slices
        .throttled
        .unwrap_or(0.0)
        .min(slices.queued.unwrap_or(0.0));
    if let Some(queued) = slices.queued {
        account(Cause::CpuQueue, queued - throttled, false);
    }
    account(Cause::CpuQuota, throttled, false);
    let explained: f64 = recording.attribution.as_ref().map_or(0.0, |a| {
        a.waits.iter().map(|wait| wait.seconds).sum::<f64>()
    });
    if explained == 0.0 {
        let disk = slices.disk.unwrap_or(0.0).min(waiting);
        account(Cause::Disk, disk, true);
        account(Cause::Unknown, waiting - disk, false);
    } else {
        account(Cause::Unknown, (waiting - explained).max(0.0), false);
    }
    lines.retain(|line| line.share >= 0.005);
    lines.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    lines
}

/// The waits that diagnostic runs named.
fn named(recording: &Recording, wall: f64) -> Vec<CauseLine> {
    let Some(attribution) = &recording.attribution else {
        return Vec::new();
    };
    // Diagnostic runs may be slower than measured ones: their shares carry over, not their times.
    let scale = if attribution.wall > 0.0 {
        wall / attribution.wall
    } else {
        1.0
    };
    let lines = attribution.waits.iter().map(|wait| CauseLine {
        cause: wait.cause,
        share: if wall > 0.0 {
            wait.seconds * scale / wall
        } else {
            0.0
        },
        seconds: wait.seconds * scale,
        at_least: false,
        detail: wait.detail.clone(),
        remark: wait.place.as_ref().map_or_else(
            || wait.cause.row().title.to_string(),
            |place| format!("{} ({place})", wait.cause.row().title),
        ),
        depth: attribution.depth,
    });
    lines.collect()
}

/// Puts the finding into words once it is known how loud it is.
fn speak(diagnosis: &mut Diagnosis, toned: Tier) {
    if toned == Tier::None {
        return;
    }
    let share = diagnosis.off_share.unwrap_or(0.0);
    let point = diagnosis.ratio.map_or(f64::INFINITY, |ratio| ratio.value);
    let interval = diagnosis
        .ratio
        .and_then(|ratio| ratio.interval)
        .map(|i| (i.low, i.high));
    diagnosis.headline = Some(words::headline(point, interval, share));
    let main = diagnosis.cause.or(Some(Cause::Unknown));
    diagnosis.consequence = words::consequence(main, 1.0 - share);
    if let Some(cause) = main {
        diagnosis.help.push(cause.row().advice.to_string());
        if cause.class() == Class::Program {
            diagnosis.help.extend(gate_on_cpu(diagnosis, cause));
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
