//! Gates: conditions for CI on an analysis. Parse, evaluate, give a verdict.
//!
//! The question is put to the interval, not to the point: a gate fails only if the whole interval
//! is past the limit, and is ok only if none of it is. It computes no estimate of its own.

pub mod expression;
pub mod regression;

use crate::analysis::sessions::MergedBenchmark;
use crate::analysis::{Analysis, LEAST_CPU, Merged, Subject};
use crate::diagnose::Tier;
use crate::metric::{CPU, OFF_CPU, WALL, WALL_CPU};
use crate::stats::decision::{self, RunsToDecide};
use crate::stats::statistic::Statistic;
use crate::stats::{Estimate, Interval};
use crate::unit::{
    TimeFormat, TimeUnit, Unit, bare_ratio, human_bytes, human_duration, percent, ratio,
};

pub use crate::stats::decision::Decision;
pub use expression::{Expression, GateError};
pub use regression::{Regression, RegressionError};

/// A condition for CI.
#[derive(Debug, Clone, PartialEq)]
pub enum Gate {
    /// A metric past a limit.
    Expression(Expression),
    /// An off-CPU tier at least this loud.
    Tier(Tier),
    /// More than its baseline, or than the reference, by a limit.
    Regression(Regression),
}

impl Gate {
    /// The condition as text.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Expression(expression) => expression.to_string(),
            Self::Tier(tier) => format!("off-CPU {}", tier.id()),
            Self::Regression(regression) => regression.text(),
        }
    }
}

/// What a gate says about one command.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The condition as text.
    pub expression: String,
    /// Place of the command.
    pub command: usize,
    /// The decision.
    pub decision: Decision,
    /// The value looked at, in base units.
    pub value: Option<f64>,
    /// Its interval, if it has one.
    pub interval: Option<Interval>,
    /// About how many would decide; set only when more can. Sessions where several are merged or
    /// compared with, runs otherwise.
    pub needs_runs: Option<usize>,
    /// Why: `is 9.7 [9.4, 10.0]`.
    pub reason: String,
}

/// Puts every gate to every command.
#[must_use]
pub fn evaluate(gates: &[Gate], analysis: &Analysis<'_>) -> Vec<Verdict> {
    let all = gates.iter();
    all.flat_map(|gate| judge(gate, analysis)).collect()
}

fn judge(gate: &Gate, analysis: &Analysis<'_>) -> Vec<Verdict> {
    let each = |judge: &dyn Fn(&Subject<'_>) -> Verdict| -> Vec<Verdict> {
        let subjects = analysis.subjects.iter().enumerate();
        subjects
            .map(|(command, subject)| Verdict {
                expression: gate.text(),
                command,
                ..judge(subject)
            })
            .collect()
    };
    match gate {
        Gate::Expression(expression) => match &analysis.merged {
            Some(merged) if merges(expression) => of_sessions(expression, merged),
            _ => each(&|subject| by_expression(expression, subject)),
        },
        Gate::Tier(tier) => each(&|subject| by_tier(*tier, subject)),
        Gate::Regression(regression) => regression.judge(analysis),
    }
}

/// Fewest sessions that have a common interval.
const FEWEST_TO_MERGE: usize = 2;

/// Whether sessions have a common value of it: medians do.
fn merges(expression: &Expression) -> bool {
    expression.statistic == "median"
        && expression.metric.id != WALL_CPU
        && !expression.share_of_wall
}

/// By the interval over sessions, one verdict a benchmark.
fn of_sessions(expression: &Expression, merged: &Merged) -> Vec<Verdict> {
    let one = |found: &MergedBenchmark| {
        let verdict = match found.metric(expression.metric.id) {
            None if found.incomplete && expression.metric.counts_cpu() => incomplete(),
            None => {
                let reason = format!("has no value: {} is zero or missing", expression.metric.id);
                blank(Decision::Unsure, reason)
            }
            Some(sessions) => {
                let basis = Basis {
                    count: sessions.medians.len(),
                    noun: "session",
                    fewest: Some(FEWEST_TO_MERGE),
                };
                decide(expression, &sessions.typical, &basis)
            }
        };
        Verdict {
            expression: expression.to_string(),
            command: found.sessions.first().map_or(0, |(place, _)| *place),
            ..verdict
        }
    };
    merged.benchmarks.iter().map(one).collect()
}

fn blank(decision: Decision, reason: String) -> Verdict {
    Verdict {
        expression: String::new(),
        command: 0,
        decision,
        value: None,
        interval: None,
        needs_runs: None,
        reason,
    }
}

fn incomplete() -> Verdict {
    blank(Decision::Unsure, "cannot be told: CPU is incomplete".into())
}

fn by_tier(wanted: Tier, subject: &Subject<'_>) -> Verdict {
    let Some(diagnosis) = &subject.diagnosis else {
        if subject.counts.counted() == 0 {
            return no_runs(subject);
        }
        let reason = "has no tier: no CPU time was measured".into();
        return blank(Decision::Unsure, reason);
    };
    let cause = diagnosis
        .cause
        .map(|cause| format!(" ({})", cause.id()))
        .unwrap_or_default();
    let reason = format!("is {}{cause}", diagnosis.tier.id());
    let failed = wanted != Tier::None && diagnosis.tier >= wanted;
    // The ratio, which could be louder, is not known.
    if diagnosis.incomplete && !failed {
        return incomplete();
    }
    blank(if failed { Decision::Fail } else { Decision::Ok }, reason)
}

fn no_runs(subject: &Subject<'_>) -> Verdict {
    let reason = format!(
        "has no value: {} of {} runs failed",
        subject.counts.failed, subject.counts.measured
    );
    blank(Decision::Unsure, reason)
}

fn by_expression(expression: &Expression, subject: &Subject<'_>) -> Verdict {
    if subject.counts.counted() == 0 {
        return no_runs(subject);
    }
    if expression.metric.counts_cpu() && subject.incomplete() {
        return incomplete();
    }
    let estimate = match estimate(expression, subject) {
        Ok(estimate) => estimate,
        Err(reason) => return blank(Decision::Unsure, reason),
    };
    if expression.metric.id == WALL_CPU && estimate.interval.is_none() {
        if let Some(verdict) = by_bound(expression, subject, &estimate) {
            return verdict;
        }
    }
    let basis = Basis {
        count: subject.counts.counted(),
        noun: "run",
        fewest: fewest_runs(expression),
    };
    decide(expression, &estimate, &basis)
}

/// What an estimate is made of.
struct Basis {
    /// How many.
    count: usize,
    /// What one of them is.
    noun: &'static str,
    /// How many an interval needs; `None` where there never is one.
    fewest: Option<usize>,
}

/// A command with less CPU time than the kernel's account is good for has no interval of wall/CPU,
/// but a certain bound: with 1 ms of CPU it would be at least this.
fn by_bound(
    expression: &Expression,
    subject: &Subject<'_>,
    estimate: &Estimate,
) -> Option<Verdict> {
    let mean = |id: &str| subject.summary(id).and_then(|summary| summary.get("mean"));
    let (wall, cpu) = (mean(WALL)?, mean(CPU)?);
    if cpu.value >= LEAST_CPU {
        return None;
    }
    // Few, spread runs have an interval that reaches below zero: that bounds nothing.
    let bound = Some(wall.interval?.low / LEAST_CPU).filter(|bound| *bound > 0.0)?;
    let reach = Interval {
        low: bound,
        high: f64::INFINITY,
        ..wall.interval?
    };
    let (limit, past) = (expression.strict_limit(), expression.operator.past);
    let decision = decision::by_interval(Some(&reach), limit, past);
    let value = Some(estimate.value).filter(|value| value.is_finite());
    let least = human_duration(LEAST_CPU, true);
    let known = format!(
        "is at least {}: CPU time is below {least} and counts as {least}",
        ratio(bound)
    );
    Some(Verdict {
        value,
        ..blank(decision, known)
    })
}

/// Decides by interval where the statistic can have one, by the point where it never has.
fn decide(expression: &Expression, estimate: &Estimate, basis: &Basis) -> Verdict {
    let (limit, past) = (expression.strict_limit(), expression.operator.past);
    let never = basis.fewest.is_none();
    let decision = if never {
        decision::by_point(estimate.value, limit, past)
    } else {
        decision::by_interval(estimate.interval.as_ref(), limit, past)
    };
    let (needs_runs, rest) = if never {
        (None, ", by the point: it has no interval".to_string())
    } else if decision == Decision::Unsure {
        undecided(expression, estimate, basis)
    } else {
        (None, String::new())
    };
    let shown = shown(estimate, expression.unit());
    Verdict {
        value: Some(estimate.value).filter(|value| value.is_finite()),
        interval: estimate.interval,
        needs_runs,
        ..blank(decision, format!("is {shown}{rest}"))
    }
}

fn estimate(expression: &Expression, subject: &Subject<'_>) -> Result<Estimate, String> {
    let id = expression.metric.id;
    if id == WALL_CPU {
        let unknown = subject.summary(CPU).map(|_| Estimate::point(f64::NAN));
        return subject
            .ratio
            .or(unknown)
            .ok_or_else(|| "has no value: no CPU time was measured".to_string());
    }
    let found = if expression.share_of_wall {
        subject.share_of_wall(id, expression.statistic)
    } else {
        let summary = subject.summary(id);
        summary.and_then(|summary| summary.get(expression.statistic))
    };
    found.ok_or_else(|| unknown(expression, subject))
}

/// Why there is no estimate.
fn unknown(expression: &Expression, subject: &Subject<'_>) -> String {
    let id = expression.metric.id;
    let Some(summary) = subject.summary(id) else {
        // It is not defined there, however well it was measured.
        return if id == OFF_CPU && subject.summary(CPU).is_some() {
            "has no value: CPU time exceeds wall time in a run".into()
        } else {
            format!("has no value: {id} was not measured in every run")
        };
    };
    let shortest = subject.summary(WALL).and_then(|wall| wall.get("min"));
    if expression.share_of_wall && shortest.is_some_and(|wall| wall.value <= 0.0) {
        return "has no share of wall: the wall time of a run is 0".into();
    }
    match summary.runs {
        1 => "has no value: 1 run is too few".into(),
        _ => "has no value: the mean is 0".into(),
    }
}

/// Fewest runs for an interval of what is looked at.
fn fewest_runs(expression: &Expression) -> Option<usize> {
    if expression.metric.id == WALL_CPU || expression.is_share_of_sums() {
        return Some(crate::stats::ratio::FEWEST_RUNS);
    }
    Statistic::named(expression.statistic).and_then(Statistic::fewest_runs)
}

/// What would decide.
fn undecided(
    expression: &Expression,
    estimate: &Estimate,
    basis: &Basis,
) -> (Option<usize>, String) {
    let Basis { count, noun, .. } = *basis;
    if estimate.interval.is_none() {
        let plural = if count == 1 { "" } else { "s" };
        return match basis.fewest.filter(|fewest| *fewest > count) {
            Some(fewest) => (
                Some(fewest),
                format!(", {count} {noun}{plural}, an interval needs {fewest}"),
            ),
            None => (None, ", without an interval".to_string()),
        };
    }
    match decision::runs_to_decide(estimate, expression.limit, count) {
        Some(RunsToDecide::About(needed)) => (
            Some(needed),
            format!(", about {needed} {noun}s would decide"),
        ),
        _ => (None, ", cannot be decided in reasonable time".to_string()),
    }
}

/// `46.9ms [46.2, 47.5]`.
fn shown(estimate: &Estimate, unit: Unit) -> String {
    let limits = estimate.interval.map(|i| (i.low, i.high));
    let one = |value: f64, within: bool| -> String {
        match unit {
            Unit::Time => {
                let scale = TimeUnit::for_median(estimate.value);
                let format = TimeFormat::around(scale, value, limits, true);
                if within {
                    format.value(value)
                } else {
                    format.with_unit(value).replace(' ', "")
                }
            }
            Unit::Bytes => human_bytes(value),
            Unit::Ratio if within => bare_ratio(value),
            Unit::Ratio => ratio(value),
            Unit::Percent => percent(value),
            Unit::Count => crate::unit::fixed(value, 0),
        }
    };
    match limits {
        Some((low, high)) => {
            format!(
                "{} [{}, {}]",
                one(estimate.value, false),
                one(low, true),
                one(high, true)
            )
        }
        None => one(estimate.value, false),
    }
}

#[cfg(test)]
mod tests;
