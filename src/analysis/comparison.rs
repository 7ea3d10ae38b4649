//! Comparing commands: the ratio of each metric with its interval, and what may be said.

use serde::{Deserialize, Serialize};

use super::{Analysis, Question, Reference, Subject};
use crate::diagnose::Tier;
use crate::metric::{CPU, METRICS, Metric, WALL};
use crate::sample::Recording;
use crate::stats::compare::{self, Pairing};
use crate::stats::verdict as verdict_rules;
use crate::stats::{Estimate, Series};

/// What may be said about a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The command is slower (or uses more) than the reference.
    Slower,
    /// The command is faster (or uses less).
    Faster,
    /// No difference is shown.
    None,
    /// The same within the practical limit.
    Equal,
    /// One of the two failed: there is no ratio.
    Failed,
}

impl Verdict {
    /// The stable identifier.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::None => "none",
            Self::Equal => "equal",
            Self::Failed => "failed",
        }
    }
}

/// The ratio of one metric, command over reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Which.
    pub metric: &'static Metric,
    /// Hodges–Lehmann ratio with its rank interval; `None` where a value is zero or one failed.
    pub ratio: Option<Estimate>,
    /// Ratio of the means.
    pub ratio_of_means: Option<Estimate>,
    /// Ratio of the medians.
    pub ratio_of_medians: Option<Estimate>,
    /// Pairs it is made of; 0 when the runs were taken apart.
    pub pairs: usize,
    /// Few slow runs make the difference of the means.
    pub few_slow_runs: bool,
    /// What may be said.
    pub verdict: Verdict,
}

/// One command against the reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Versus {
    /// Place of the reference.
    pub reference: usize,
    /// Place of the command.
    pub command: usize,
    /// Confidence level of each interval, so that all together hold.
    pub level: f64,
    /// Every metric both have, in table order.
    pub metrics: Vec<Comparison>,
    /// The one sentence.
    pub sentence: String,
    /// What must be known with it, one sentence each.
    pub remarks: Vec<String>,
}

impl Versus {
    /// The comparison of a metric.
    #[must_use]
    pub fn metric(&self, id: &str) -> Option<&Comparison> {
        self.metrics.iter().find(|one| one.metric.id == id)
    }
}

/// Compares every command with the reference; with nothing where that has not been measured yet.
pub(super) fn compare_all(
    subjects: &[Subject<'_>],
    reference: usize,
    question: &Question,
) -> Vec<Versus> {
    if reference >= subjects.len() {
        return Vec::new();
    }
    let level = match question.reference {
        Reference::Command(_) => {
            verdict_rules::level_against_reference(question.settings.level, subjects.len())
        }
        Reference::Fastest => {
            verdict_rules::level_against_fastest(question.settings.level, subjects.len())
        }
    };
    let terms = Terms {
        level,
        question,
        together: true,
    };
    let others = (0..subjects.len()).filter(|place| *place != reference);
    others
        .map(|command| versus(subjects, (reference, command), &terms))
        .collect()
}

/// Compares anew what is of two sessions, by the file of each subject.
pub(super) fn across_sessions(analysis: &mut Analysis<'_>, files: &[String]) {
    for found in &mut analysis.comparisons {
        let places = (found.reference, found.command);
        if files.get(places.0) == files.get(places.1) {
            continue;
        }
        let terms = Terms {
            level: found.level,
            question: &analysis.question,
            together: false,
        };
        *found = versus(&analysis.subjects, places, &terms);
        if !found.metrics.is_empty() {
            found.remarks.push(format!(
                "{} and {} are of two sessions: shifts of 1-2% between sessions are common and not in this interval",
                places.0 + 1,
                places.1 + 1
            ));
        }
    }
}

/// How two commands are compared.
struct Terms<'q> {
    level: f64,
    question: &'q Question,
    /// They were measured in one session, so that their rounds may be pairs.
    together: bool,
}

fn versus(
    subjects: &[Subject<'_>],
    (reference, command): (usize, usize),
    terms: &Terms<'_>,
) -> Versus {
    let Terms {
        level, question, ..
    } = *terms;
    let (a, b) = (&subjects[reference], &subjects[command]);
    let failed = a.counts.failed > 0
        || b.counts.failed > 0
        || a.counts.counted() == 0
        || b.counts.counted() == 0;
    let metrics: Vec<Comparison> = METRICS
        .iter()
        .filter(|_| !failed)
        .filter(|metric| !(metric.counts_cpu() && (a.incomplete() || b.incomplete())))
        .filter_map(|metric| one_metric(metric, (a, b), terms))
        .collect();
    let mut versus = Versus {
        reference,
        command,
        level,
        metrics,
        sentence: String::new(),
        remarks: Vec::new(),
    };
    let names = (reference + 1, command + 1);
    if failed {
        versus.sentence = failure_sentence(names, (a, b));
    } else {
        versus.sentence = super::sentence::verdict(&versus, names, question.practical_limit);
        versus.remarks = super::sentence::remarks(&versus, names, (a, b));
    }
    versus
}

fn failure_sentence(
    (a_name, b_name): (usize, usize),
    (a, b): (&Subject<'_>, &Subject<'_>),
) -> String {
    let both = [(b_name, b.counts), (a_name, a.counts)];
    let failed = both.iter().find(|(_, counts)| counts.failed > 0);
    if let Some((name, counts)) = failed {
        return format!(
            "no ratio: {name} failed {} of {}",
            counts.failed, counts.measured
        );
    }
    let empty = both.iter().find(|(_, counts)| counts.counted() == 0);
    let name = empty.map_or(b_name, |(name, _)| *name);
    format!("no ratio: {name} has no measured run")
}

fn one_metric(
    metric: &'static Metric,
    (a, b): (&Subject<'_>, &Subject<'_>),
    terms: &Terms<'_>,
) -> Option<Comparison> {
    let (pairing, first, second) = series(metric, (a.recording, b.recording), terms.together)?;
    let question = terms.question;
    let settings = question.settings.at_level(terms.level);
    let found = compare::compare(&first, &second, pairing, &settings).ok()?;
    let enough = first.runs() > 1 && second.runs() > 1;
    Some(Comparison {
        metric,
        ratio: Some(found.ratio),
        ratio_of_means: Some(found.ratio_of_means),
        ratio_of_medians: Some(found.ratio_of_medians),
        pairs: if pairing == Pairing::Paired {
            first.runs()
        } else {
            0
        },
        few_slow_runs: found.few_slow_runs,
        verdict: if enough {
            verdict(&found.ratio, question.practical_limit)
        } else {
            Verdict::None
        },
    })
}

/// What may be said about a ratio.
pub(super) fn verdict(ratio: &Estimate, limit: Option<f64>) -> Verdict {
    match verdict_rules::Verdict::of(ratio, limit) {
        verdict_rules::Verdict::Slower => Verdict::Slower,
        verdict_rules::Verdict::Faster => Verdict::Faster,
        verdict_rules::Verdict::Equal => Verdict::Equal,
        _ => Verdict::None,
    }
}

/// The values of both: of the rounds that both have when they were taken in rounds together, of all
/// runs otherwise.
pub(super) fn series(
    metric: &Metric,
    (a, b): (&Recording, &Recording),
    together: bool,
) -> Option<(Pairing, Series, Series)> {
    let read = |recording: &Recording| -> Option<Vec<(u64, f64)>> {
        recording
            .measured_fields(&[&["round"], metric.fields].concat())
            .map(|s| (metric.read)(&s).map(|value| (s.round, value)))
            .collect()
    };
    let (a_values, b_values) = (read(a)?, read(b)?);
    let paired = together && a.conditions.paired && b.conditions.paired;
    if !paired {
        let plain = |values: Vec<(u64, f64)>| {
            Series::new(values.into_iter().map(|(_, v)| v).collect()).ok()
        };
        return Some((Pairing::Separate, plain(a_values)?, plain(b_values)?));
    }
    let (first, second) = compare::common_rounds(&a_values, &b_values);
    Some((
        Pairing::Paired,
        Series::new(first).ok()?,
        Series::new(second).ok()?,
    ))
}

/// Whether wall and CPU time differ with certainty in opposite directions, both enough for a
/// verdict.
pub(super) fn clocks_disagree(versus: &Versus) -> bool {
    let verdict = |id: &str| versus.metric(id).map(|one| one.verdict);
    matches!(
        (verdict(WALL), verdict(CPU)),
        (Some(Verdict::Slower), Some(Verdict::Faster))
            | (Some(Verdict::Faster), Some(Verdict::Slower))
    )
}

/// The tier of a subject.
pub(super) fn tier(subject: &Subject<'_>) -> Tier {
    subject
        .diagnosis
        .as_ref()
        .map_or(Tier::None, |diagnosis| diagnosis.tier)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::analysis::{analyze, sessions};
    use crate::sample::{Conditions, Host, Sample};

    fn recording(name: &str, wall_ms: u64, cpu_ms: u64, paired: bool) -> Recording {
        let conditions = Conditions {
            name: Some(name.into()),
            paired,
            ..Conditions::default()
        };
        let mut recording = Recording::new(Host::default(), conditions);
        for round in 0..10 {
            let more = |ms| Duration::from_millis(ms) + Duration::from_micros(10 * round);
            let mut sample = Sample {
                wall: more(wall_ms),
                round,
                ..Sample::default()
            };
            sample.usage.user = more(cpu_ms);
            recording.samples.push(&sample);
        }
        recording
    }

    /// The first waits and the second computes.
    fn opposed(paired: bool) -> [Recording; 2] {
        [
            recording("waits", 200, 20, paired),
            recording("works", 100, 90, paired),
        ]
    }

    #[test]
    fn only_pairs_make_both_differences_certain() {
        let remarks = |paired| {
            let all = opposed(paired);
            let analysis = analyze(&all, &Question::default());
            analysis.comparisons[0].remarks.join("\n")
        };
        let (pairs, apart) = (remarks(true), remarks(false));
        let cost = "1 costs less to run, 2 costs less to wait for";
        assert!(pairs.contains(&format!("both differences are certain; {cost}")));
        assert!(!apart.contains("certain"), "{apart}");
        assert!(
            apart.contains(cost) && apart.contains("no pairs"),
            "{apart}"
        );
    }

    #[test]
    fn rounds_of_two_sessions_are_no_pairs() {
        let all = opposed(true);
        let compared = |files: [&str; 2]| {
            let mut analysis = analyze(&all, &Question::default());
            sessions::merge(&mut analysis, &files.map(str::to_owned));
            let versus = analysis.comparisons.remove(0);
            (versus.metric(WALL).unwrap().pairs, versus.remarks.concat())
        };
        assert_eq!(compared(["a", "a"]).0, 10);
        let (pairs, remarks) = compared(["a", "b"]);
        assert_eq!(pairs, 0);
        assert!(remarks.contains("two sessions"), "{remarks}");
    }
}
