//! The words of a comparison. A verdict is never stronger than its interval.

use super::Subject;
use super::comparison::{Comparison, Verdict, Versus, clocks_disagree, tier};
use crate::diagnose::Tier;
use crate::evidence::Cause;
use crate::metric::{CPU, WALL};
use crate::stats::{Estimate, Interval};
use crate::unit::{self, decimal_percent, percent};

/// Names of reference and command in a sentence.
pub(super) type Names = (usize, usize);

/// The one sentence of a comparison; `limit` is the practical limit.
pub(super) fn verdict(versus: &Versus, names: Names, limit: Option<f64>) -> String {
    if clocks_disagree(versus) {
        return disagreement(versus, names);
    }
    let Some(wall) = versus.metric(WALL) else {
        return "no ratio: a value is zero".into();
    };
    let Some(ratio) = wall.ratio else {
        return "no ratio".into();
    };
    let counted = if wall.pairs > 0 {
        format!("{} pairs", wall.pairs)
    } else {
        String::new()
    };
    let said = Said {
        ratio: &ratio,
        verdict: wall.verdict,
        level: versus.level,
        limit,
    };
    let text = said.sentence((&names.0.to_string(), &names.1.to_string()), &counted);
    match wall.verdict {
        Verdict::Slower => text + &by_cpu(versus.metric(CPU), "slower", limit),
        Verdict::Faster => text + &by_cpu(versus.metric(CPU), "faster", limit),
        _ => text,
    }
}

/// The sentence of a ratio made of `counted`, such as `5 sessions`.
pub(super) fn ratio_sentence(
    ratio: &Estimate,
    names: Names,
    (level, limit): (f64, Option<f64>),
    counted: &str,
) -> String {
    let said = Said {
        ratio,
        verdict: super::comparison::verdict(ratio, limit),
        level,
        limit,
    };
    said.sentence((&names.0.to_string(), &names.1.to_string()), counted)
}

/// A command against its baseline.
pub(super) struct Against<'a> {
    pub(super) wall: Option<&'a Comparison>,
    pub(super) cpu: Option<&'a Comparison>,
    pub(super) label: &'a str,
    pub(super) level: f64,
    pub(super) limit: Option<f64>,
}

/// `now is 1.034x slower than main.json (95% 1.012 to 1.056)`.
pub(super) fn against(found: &Against<'_>) -> String {
    let Some((wall, ratio)) = found.wall.and_then(|wall| Some((wall, wall.ratio?))) else {
        return format!("no ratio to {}", found.label);
    };
    let said = Said {
        ratio: &ratio,
        verdict: wall.verdict,
        level: found.level,
        limit: found.limit,
    };
    let text = said.sentence((found.label, "now"), "");
    match wall.verdict {
        Verdict::Slower => text + &by_cpu(found.cpu, "slower", found.limit),
        Verdict::Faster => text + &by_cpu(found.cpu, "faster", found.limit),
        Verdict::None if ratio.interval.is_some_and(|limits| limits.contains(1.0)) => {
            format!("{text} than {}", found.label)
        }
        _ => text,
    }
}

/// A ratio and what may be said about it.
struct Said<'a> {
    ratio: &'a Estimate,
    verdict: Verdict,
    level: f64,
    limit: Option<f64>,
}

impl Said<'_> {
    fn sentence(&self, (a, b): (&str, &str), counted: &str) -> String {
        let brackets = if counted.is_empty() {
            String::new()
        } else {
            format!(" ({counted})")
        };
        match (self.verdict, self.ratio.interval) {
            (Verdict::Failed, _) => "no ratio: a command failed".into(),
            (_, None) => format!("no verdict on {b} and {a}: too few runs{brackets}"),
            (Verdict::Slower | Verdict::Faster, Some(found)) => {
                self.difference((a, b), &found, counted)
            }
            (Verdict::Equal, _) => {
                let within = decimal_percent(self.limit.unwrap_or_default());
                format!("{a} and {b} are equal within {within}{brackets}")
            }
            (Verdict::None, Some(found)) if found.contains(1.0) => format!(
                "no difference shown: {b} is between {}{brackets}",
                between(&found)
            ),
            (Verdict::None, Some(_)) => format!(
                "{b} takes {:.4}x the time of {a}: a difference too small for a verdict{brackets}",
                self.ratio.value
            ),
        }
    }

    fn difference(&self, (a, b): (&str, &str), interval: &Interval, counted: &str) -> String {
        let faster = self.verdict == Verdict::Faster;
        let (factor, low, high, word) = if faster {
            let turned = (1.0 / interval.high, 1.0 / interval.low);
            (1.0 / self.ratio.value, turned.0, turned.1, "faster")
        } else {
            (self.ratio.value, interval.low, interval.high, "slower")
        };
        let level = unit::level(self.level);
        let comma = if counted.is_empty() { "" } else { ", " };
        let digits = digits(factor.min(low));
        format!(
            "{b} is {factor:.digits$}x {word} than {a} ({level} {low:.digits$} to {high:.digits$}{comma}{counted})"
        )
    }
}

/// Decimals of a factor: near 1 more, so that an interval without 1 does not show it.
fn digits(factor: f64) -> usize {
    match (factor - 1.0).abs() {
        distance if distance < 0.005 => 4,
        distance if distance < 0.095 => 3,
        _ => 2,
    }
}

/// The same difference by CPU time, if it is one.
fn by_cpu(cpu: Option<&Comparison>, word: &str, limit: Option<f64>) -> String {
    let Some(cpu) = cpu else {
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
    let digits = digits(factor);
    match (cpu.verdict, ratio.interval) {
        (Verdict::Slower | Verdict::Faster, _) => format!("; by CPU time {factor:.digits$}x"),
        (_, None) => "; too few runs for a verdict on CPU time".into(),
        (Verdict::Equal, _) => {
            let within = decimal_percent(limit.unwrap_or_default());
            format!("; CPU time is equal within {within}")
        }
        (_, Some(found)) if found.contains(1.0) => "; no difference of CPU time is shown".into(),
        _ => format!("; by CPU time {factor:.4}x, too little for a verdict"),
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
    let wall = versus.metric(WALL)?;
    let (cheap, quick) = if wall.ratio?.value < 1.0 {
        (a, b)
    } else {
        (b, a)
    };
    // An interval of runs apart knows nothing of a drift between the two.
    let sure = if wall.pairs > 0 {
        "both differences are certain"
    } else {
        "both differences are shown, of runs that are no pairs: a drift would look the same"
    };
    Some(format!(
        "{sure}; {cheap} costs less to run, {quick} costs less to wait for"
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Metric;
    use crate::stats::Method;

    fn cpu(value: f64, limits: Option<(f64, f64)>, limit: Option<f64>) -> String {
        let interval = limits.map(|(low, high)| Interval {
            low,
            high,
            level: 0.95,
            method: Method::LogDelta,
        });
        let ratio = Estimate { value, interval };
        let comparison = Comparison {
            metric: Metric::from_id(CPU).unwrap(),
            ratio: Some(ratio),
            ratio_of_means: None,
            ratio_of_medians: None,
            pairs: 0,
            few_slow_runs: false,
            verdict: crate::analysis::comparison::verdict(&ratio, limit),
        };
        by_cpu(Some(&comparison), "slower", limit)
    }

    #[test]
    fn no_difference_is_said_only_of_an_interval_that_includes_it() {
        let none = "; no difference of CPU time is shown";
        assert_eq!(cpu(1.01, Some((0.99, 1.03)), None), none);
        assert_eq!(cpu(1.2, Some((1.1, 1.3)), None), "; by CPU time 1.20x");
        let few = "; too few runs for a verdict on CPU time";
        assert_eq!(cpu(1.2, None, None), few);
        let equal = "; CPU time is equal within 5%";
        assert_eq!(cpu(1.02, Some((1.01, 1.03)), Some(0.05)), equal);
        let slight = "; by CPU time 1.0030x, too little for a verdict";
        assert_eq!(cpu(1.003, Some((1.002, 1.004)), None), slight);
    }
}
