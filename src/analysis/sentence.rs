//! The words of a comparison. A verdict is never stronger than its interval.

use super::Subject;
use super::comparison::{Comparison, Verdict, Versus, clocks_disagree, tier};
use crate::diagnose::Tier;
use crate::evidence::Cause;
use crate::metric::{CPU, WALL};
use crate::stats::Interval;
use crate::unit::percent;

/// Names of reference and command in a sentence.
type Names = (usize, usize);

/// The one sentence of a comparison.
pub(super) fn verdict(versus: &Versus, names: Names) -> String {
    if clocks_disagree(versus) {
        return disagreement(versus, names);
    }
    let Some(wall) = versus.metric(WALL) else {
        return "no ratio: a value is zero".into();
    };
    match wall.verdict {
        Verdict::Slower | Verdict::Faster => difference(versus, wall, names),
        Verdict::Equal => {
            format!(
                "{} and {} are equal within the practical limit{}",
                names.1,
                names.0,
                pairs(wall)
            )
        }
        Verdict::None => none_shown(wall, names),
        Verdict::Failed => "no ratio: a command failed".into(),
    }
}

fn difference(versus: &Versus, wall: &Comparison, (a, b): Names) -> String {
    let Some(ratio) = wall.ratio else {
        return String::new();
    };
    let (factor, word, range) = if ratio.value < 1.0 {
        (
            1.0 / ratio.value,
            "faster",
            ratio.interval.map(|i| (1.0 / i.high, 1.0 / i.low)),
        )
    } else {
        (
            ratio.value,
            "slower",
            ratio.interval.map(|i| (i.low, i.high)),
        )
    };
    let level = (versus.level * 1000.0).round() / 10.0;
    let range = range
        .map(|(low, high)| format!("{level}% {low:.2} to {high:.2}"))
        .unwrap_or_default();
    let counted = if wall.pairs > 0 {
        format!(", {} pairs", wall.pairs)
    } else {
        String::new()
    };
    format!(
        "{b} is {factor:.2}x {word} than {a} ({range}{counted}){}",
        by_cpu(versus, word)
    )
}

/// The same difference by CPU time, if it is one.
fn by_cpu(versus: &Versus, word: &str) -> String {
    let Some(cpu) = versus.metric(CPU) else {
        return String::new();
    };
    let Some(ratio) = cpu.ratio else {
        return String::new();
    };
    let factor = if word == "faster" {
        1.0 / ratio.value
    } else {
        ratio.value
    };
    match cpu.verdict {
        Verdict::Slower | Verdict::Faster => format!("; by CPU time {factor:.2}x"),
        _ => "; no difference of CPU time is shown".into(),
    }
}

fn none_shown(wall: &Comparison, (a, b): Names) -> String {
    let Some(ratio) = wall.ratio else {
        return "no ratio".into();
    };
    match ratio.interval {
        None => format!("no verdict on {b} and {a}: too few runs{}", pairs(wall)),
        Some(found) if found.contains(1.0) => {
            format!(
                "no difference shown: {b} is between {}{}",
                between(&found),
                pairs(wall)
            )
        }
        Some(_) => format!(
            "{b} takes {:.4}x the time of {a}: a difference too small for a verdict{}",
            ratio.value,
            pairs(wall)
        ),
    }
}

/// `1.8% faster and 2.9% slower`.
fn between(interval: &Interval) -> String {
    let faster = (1.0 - interval.low) * 100.0;
    let slower = (interval.high - 1.0) * 100.0;
    format!("{faster:.1}% faster and {slower:.1}% slower")
}

fn pairs(comparison: &Comparison) -> String {
    if comparison.pairs > 0 {
        format!(" ({} pairs)", comparison.pairs)
    } else {
        String::new()
    }
}

fn disagreement(versus: &Versus, (_, b): Names) -> String {
    let change = |id: &str| {
        let ratio = versus.metric(id).and_then(|one| one.ratio);
        ratio.map_or(0.0, |ratio| ratio.value - 1.0)
    };
    let (wall, cpu) = (change(WALL), change(CPU));
    let finish = if wall < 0.0 { "sooner" } else { "later" };
    let burn = if cpu < 0.0 { "less" } else { "more" };
    let counted = versus.metric(WALL).map(pairs).unwrap_or_default();
    format!(
        "the clocks disagree: {b} finishes {} {finish} and burns {} {burn} CPU{counted}",
        percent(wall.abs()),
        percent(cpu.abs())
    )
}

/// What must be known with the verdict.
pub(super) fn remarks(
    versus: &Versus,
    names: Names,
    subjects: (&Subject<'_>, &Subject<'_>),
) -> Vec<String> {
    [
        super::pace::ratio_not_reached(
            (
                &subjects.0.recording.conditions,
                &subjects.1.recording.conditions,
            ),
            versus.metric(WALL).and_then(|wall| wall.ratio),
        ),
        cost(versus, names),
        few_slow_runs(versus),
        asymmetry(names, subjects),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn cost(versus: &Versus, (a, b): Names) -> Option<String> {
    if !clocks_disagree(versus) {
        return None;
    }
    let wall = versus.metric(WALL)?.ratio?;
    let (cheap, quick) = if wall.value < 1.0 { (a, b) } else { (b, a) };
    Some(format!(
        "both differences are certain; {cheap} costs less to run, {quick} costs less to wait for"
    ))
}

fn few_slow_runs(versus: &Versus) -> Option<String> {
    let wall = versus.metric(WALL)?;
    let means = wall.ratio_of_means?;
    wall.few_slow_runs.then(|| {
        format!(
            "few slow runs make the difference of the means, {:.2}x: most runs do not",
            means.value
        )
    })
}

/// One with a tier, one without.
fn asymmetry((a, b): Names, (first, second): (&Subject<'_>, &Subject<'_>)) -> Option<String> {
    let loud = |subject: &Subject<'_>| tier(subject) >= Tier::Warning;
    let (name, subject, other) = match (loud(first), loud(second)) {
        (true, false) if tier(second) == Tier::None => (a, first, b),
        (false, true) if tier(first) == Tier::None => (b, second, a),
        _ => return None,
    };
    let diagnosis = subject.diagnosis.as_ref()?;
    let cause = diagnosis.cause.unwrap_or(Cause::Unknown);
    let named = if cause == Cause::Unknown {
        String::new()
    } else {
        format!(" ({})", cause.row().title)
    };
    Some(format!(
        "{name} is {}, {other} is clean: the difference is waiting{named}, not work",
        diagnosis.tier.id()
    ))
}
