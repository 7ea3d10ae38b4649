//! `--max-regression`: how much slower (or larger) a command may be than its baseline, or than the
//! reference of the same session.

use super::{Verdict, blank};
use crate::analysis::{Against, Analysis, Comparison};
use crate::metric::{METRICS, Metric, WALL};
use crate::stats::Estimate;
use crate::stats::decision::{self, Decision, FEWEST_SESSIONS, LEAST_REGRESSION, RunsToDecide};
use crate::unit::{
    UnitError, bare_signed_percent, decimal_percent, display_escaped, parse_percent, signed_percent,
};

/// A limit on new over old.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Regression {
    /// Of which metric.
    pub metric: &'static Metric,
    /// How much more is allowed, as a fraction: 0.05 is 5%.
    pub limit: f64,
}

/// Why a limit on regressions cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegressionError {
    /// The metric is not in the table.
    #[error("unknown metric `{word}`")]
    UnknownMetric {
        /// The word.
        word: String,
        /// A metric with a similar name.
        suggestion: Option<String>,
    },
    /// The limit is no percentage.
    #[error("{0}")]
    BadValue(UnitError),
    /// The limit is too small to mean anything.
    #[error("{} is below {}: layout and session alone shift times that much", decimal_percent(*limit), decimal_percent(LEAST_REGRESSION))]
    TooSmall {
        /// The refused limit.
        limit: f64,
    },
}

impl RegressionError {
    /// What to write instead.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::UnknownMetric {
                suggestion: Some(word),
                ..
            } => Some(format!("did you mean `{word}`?")),
            Self::UnknownMetric { .. } => {
                let all: Vec<&str> = METRICS.iter().map(|metric| metric.id).collect();
                Some(format!("metrics: {}", all.join(" ")))
            }
            Self::BadValue(_) => Some("write a percentage, such as 5% or cpu=3%".into()),
            Self::TooSmall { .. } => Some(format!(
                "write {} or more",
                decimal_percent(LEAST_REGRESSION)
            )),
        }
    }
}

impl Regression {
    /// Reads `5%` or `cpu=3%`.
    ///
    /// # Errors
    /// An unknown metric, no percentage, or one below [`LEAST_REGRESSION`].
    pub fn parse(text: &str) -> Result<Self, RegressionError> {
        let (name, value) = text.split_once('=').unwrap_or((WALL, text));
        let metric = Metric::from_id(name.trim()).ok_or_else(|| {
            let known = METRICS.iter().map(|metric| metric.id);
            RegressionError::UnknownMetric {
                word: display_escaped(name.as_ref()).into_owned(),
                suggestion: super::expression::closest(name, known),
            }
        })?;
        let limit = parse_percent(value.trim()).map_err(RegressionError::BadValue)?;
        if limit < LEAST_REGRESSION {
            return Err(RegressionError::TooSmall { limit });
        }
        Ok(Self { metric, limit })
    }

    /// `wall +5%`.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{} +{}", self.metric.id, decimal_percent(self.limit))
    }

    fn text_against(&self, old: &str) -> String {
        let limit = decimal_percent(self.limit);
        format!("{} {old} +{limit}", self.metric.id)
    }

    /// One verdict for each command that has something to be compared with.
    pub(super) fn judge(self, analysis: &Analysis<'_>) -> Vec<Verdict> {
        if let Some(merged) = analysis
            .merged
            .as_ref()
            .filter(|_| analysis.baselines.is_empty())
        {
            return merged
                .comparisons
                .iter()
                .map(|versus| {
                    let found = versus
                        .ratios
                        .iter()
                        .find(|(metric, _)| metric == &self.metric);
                    let ratio = found.map(|(_, ratio)| *ratio);
                    let place = merged.benchmarks[versus.command].sessions.first();
                    let command = place.map_or(0, |(place, _)| *place);
                    let count = (versus.sessions, "sessions");
                    let verdict = self.by_ratio(ratio, count, versus.incomplete);
                    self.verdict("vs 1", command, verdict)
                })
                .collect();
        }
        if !analysis.baselines.is_empty() {
            let all = analysis.baselines.iter();
            return all.map(|found| self.against(found, analysis)).collect();
        }
        let name = format!("vs {}", analysis.reference + 1);
        let all = analysis.comparisons.iter();
        all.map(|versus| {
            let found = versus.metric(self.metric.id);
            let pairs = found.map_or(0, |found| runs(found, versus.command, analysis));
            let verdict = if versus.metrics.is_empty() {
                blank(Decision::Unsure, versus.sentence.clone())
            } else {
                let incomplete = [versus.reference, versus.command]
                    .iter()
                    .any(|place| analysis.subjects[*place].incomplete());
                let ratio = found.and_then(|found| found.ratio);
                self.by_ratio(ratio, (pairs, "runs"), incomplete)
            };
            self.verdict(&name, versus.command, verdict)
        })
        .collect()
    }

    fn verdict(&self, old: &str, command: usize, verdict: Verdict) -> Verdict {
        Verdict {
            expression: self.text_against(old),
            command,
            ..verdict
        }
    }

    fn against(&self, found: &Against, analysis: &Analysis<'_>) -> Verdict {
        let verdict = if let Some(reason) = &found.missing {
            blank(Decision::Unsure, format!("has no baseline: {reason}"))
        } else {
            let comparison = found.metric(self.metric.id);
            let ratio = comparison.and_then(|one| one.ratio);
            let runs = comparison.map_or(0, |one| runs(one, found.command, analysis));
            let verdict = match found.medians(self.metric.id) {
                Some(medians) if medians.earlier.len() >= FEWEST_SESSIONS => {
                    self.by_sessions(ratio, medians, analysis.question.settings.level)
                }
                Some(medians) => self.by_few_sessions(ratio, medians.earlier.len()),
                None => self.by_ratio(ratio, (runs, "runs"), found.incomplete),
            };
            undecidable(verdict, &found.unlike)
        };
        self.verdict(&found.label, found.command, verdict)
    }

    /// By the whole interval of the ratio of so many runs or sessions.
    fn by_ratio(
        &self,
        ratio: Option<Estimate>,
        (runs, what): (usize, &str),
        incomplete: bool,
    ) -> Verdict {
        let Some(ratio) = ratio else {
            if incomplete && self.metric.counts_cpu() {
                return super::incomplete();
            }
            let reason = format!("has no ratio: {} is zero or not measured", self.metric.id);
            return blank(Decision::Unsure, reason);
        };
        let limit = 1.0 + self.limit;
        let decision = decision::max_regression(&ratio, self.limit);
        let needed = match decision {
            Decision::Unsure => decision::runs_to_decide(&ratio, limit, runs),
            _ => None,
        };
        let (needs_runs, rest) = match (decision, ratio.interval, needed) {
            (Decision::Unsure, None, _) if runs == 1 => (
                None,
                format!(", 1 {} is too few", what.trim_end_matches('s')),
            ),
            (Decision::Unsure, None, _) => (None, format!(", {runs} {what} are too few")),
            (Decision::Unsure, _, Some(RunsToDecide::About(needed))) => (
                Some(needed),
                format!(", about {needed} {what} would decide"),
            ),
            (Decision::Unsure, ..) => (None, ", cannot be decided in reasonable time".into()),
            _ => (None, String::new()),
        };
        Verdict {
            value: Some(ratio.value),
            interval: ratio.interval,
            needs_runs,
            ..blank(decision, format!("is {}{rest}", shown(&ratio)))
        }
    }

    /// Two to four sessions: by the interval of one more session.
    fn by_few_sessions(&self, ratio: Option<Estimate>, sessions: usize) -> Verdict {
        let mut verdict = self.by_ratio(ratio, (sessions, "sessions"), false);
        if verdict.decision == Decision::Unsure && ratio.is_some() {
            verdict.needs_runs = None;
            let shown = ratio.map(|ratio| shown(&ratio)).unwrap_or_default();
            verdict.reason =
                format!("is {shown}, {sessions} sessions: {FEWEST_SESSIONS} show what is usual");
        }
        verdict
    }

    /// Five sessions or more: past what one more session would show, and past the limit.
    fn by_sessions(
        &self,
        ratio: Option<Estimate>,
        medians: &crate::analysis::Medians,
        level: f64,
    ) -> Verdict {
        let earlier = &medians.earlier;
        let decision = decision::against_sessions(medians.now, earlier, self.limit, level);
        let text = ratio.map(|ratio| shown(&ratio)).unwrap_or_default();
        Verdict {
            value: ratio.map(|ratio| ratio.value),
            interval: ratio.and_then(|ratio| ratio.interval),
            ..blank(
                decision,
                format!("is {text} among {} sessions", earlier.len()),
            )
        }
    }
}

/// Runs behind a ratio: its pairs, or the runs of the command.
fn runs(comparison: &Comparison, command: usize, analysis: &Analysis<'_>) -> usize {
    match comparison.pairs {
        0 => analysis.subjects[command].counts.counted(),
        pairs => pairs,
    }
}

/// Nothing is decided between unlike machines.
fn undecidable(mut verdict: Verdict, unlike: &[String]) -> Verdict {
    if let Some(first) = unlike.first() {
        verdict.decision = Decision::Unsure;
        verdict.needs_runs = None;
        let value = verdict.value.map(|value| signed_percent(value - 1.0));
        let value = value.map(|value| format!("is {value}, but "));
        verdict.reason = format!("{}not comparable: {first}", value.unwrap_or_default());
    }
    verdict
}

/// `+4.1% [-0.8, +9.3]`.
fn shown(ratio: &Estimate) -> String {
    let change = |value: f64| signed_percent(value - 1.0);
    let bare = |value: f64| bare_signed_percent(value - 1.0);
    match ratio.interval {
        Some(found) => format!(
            "{} [{}, {}]",
            change(ratio.value),
            bare(found.low),
            bare(found.high)
        ),
        None => change(ratio.value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read() {
        let found = Regression::parse("5%").unwrap();
        assert_eq!((found.metric.id, found.text()), ("wall", "wall +5%".into()));
        let found = Regression::parse("rss=12.5%").unwrap();
        assert_eq!((found.metric.id, found.limit), ("rss", 0.125));
    }

    #[test]
    fn senseless_limits_are_refused_with_the_reason() {
        let error = Regression::parse("0.5%").unwrap_err();
        assert_eq!(
            error.to_string(),
            "0.5% is below 1%: layout and session alone shift times that much"
        );
        let error = Regression::parse("wal=5%").unwrap_err();
        assert_eq!(error.help().as_deref(), Some("did you mean `wall`?"));
        for text in ["", "wall=", "wall=x", "-5%", "nan%", "5 ms", "wall=0%"] {
            assert!(Regression::parse(text).is_err(), "{text}");
        }
    }
}
