//! The same benchmarks recorded in several sessions – days, machines, jobs of a matrix – analysed on
//! two levels: runs within a session, and sessions.
//!
//! Runs are never pooled over sessions: each session counts as one value.

use std::collections::BTreeMap;

use super::comparison::{self, Verdict};
use super::sentence::{Names, ratio_sentence};
use super::{Analysis, Question, Subject, summaries};
use crate::diagnose::words::time;
use crate::metric::{METRICS, Metric, WALL};
use crate::stats::session::{self, Sessions};
use crate::stats::verdict::level_against_reference;
use crate::stats::{Estimate, compare};
use crate::unit::{self, decimal_percent};

/// Several sessions of the same benchmarks.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// One entry a benchmark, in the order of the first session.
    pub benchmarks: Vec<MergedBenchmark>,
    /// Every benchmark but the first against the first, over sessions that have both.
    pub comparisons: Vec<MergedVersus>,
}

/// All sessions of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedBenchmark {
    /// Its name.
    pub name: String,
    /// Places of its subjects, with the file each is from.
    pub sessions: Vec<(usize, String)>,
    /// CPU time of a session is in nobody's account: no metric is computed from it.
    pub incomplete: bool,
    /// Every metric that all sessions have.
    pub metrics: Vec<(&'static Metric, Sessions)>,
    /// The one sentence.
    pub sentence: String,
}

impl MergedBenchmark {
    /// The merged medians of a metric.
    #[must_use]
    pub fn metric(&self, id: &str) -> Option<&Sessions> {
        let found = self.metrics.iter().find(|(metric, _)| metric.id == id);
        found.map(|(_, sessions)| sessions)
    }
}

/// One benchmark against the first, over sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedVersus {
    /// Place among the merged benchmarks.
    pub command: usize,
    /// How many sessions have both.
    pub sessions: usize,
    /// CPU time of one of them is in nobody's account: no metric is computed from it.
    pub incomplete: bool,
    /// Geometric mean over sessions of the ratio within each, with a t interval over sessions.
    pub ratios: Vec<(&'static Metric, Estimate)>,
    /// What may be said of wall time.
    pub verdict: Verdict,
    /// The one sentence.
    pub sentence: String,
}

/// Merges the subjects of an analysis if a benchmark is in several of the files; `files` names the
/// file of each subject. The comparisons between single subjects then give way to merged ones. If
/// none is, commands of two files are compared as what they are: measured apart.
pub fn merge(analysis: &mut Analysis<'_>, files: &[String]) {
    let groups = groups(analysis, files);
    if groups.iter().all(|(_, places)| places.len() < 2) {
        comparison::across_sessions(analysis, files);
        return;
    }
    let benchmarks: Vec<MergedBenchmark> = groups
        .into_iter()
        .map(|(first, sessions)| {
            benchmark(analysis.subjects[first].name().into(), sessions, analysis)
        })
        .collect();
    let level = level_against_reference(analysis.question.settings.level, benchmarks.len());
    let comparisons = (1..benchmarks.len())
        .map(|place| versus(&benchmarks, place, level, analysis))
        .collect();
    analysis.comparisons.clear();
    analysis.merged = Some(Merged {
        benchmarks,
        comparisons,
    });
}

/// A benchmark: the place of its first subject, and its subjects with their files.
type Group = (usize, Vec<(usize, String)>);

/// Subjects that are one benchmark, by name and parameters. Two results of one file are two
/// benchmarks, not two sessions: the second of a file goes to the second of that name.
fn groups(analysis: &Analysis<'_>, files: &[String]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut by_name: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    let mut in_file: BTreeMap<_, usize> = BTreeMap::new();
    for (place, (subject, file)) in analysis.subjects.iter().zip(files).enumerate() {
        if subject.counts.counted() == 0 {
            continue;
        }
        let recording = subject.recording;
        let benchmark = (recording.name(), &recording.conditions.parameters);
        let known = by_name.entry(benchmark).or_default();
        let before = in_file.entry((benchmark, file)).or_default();
        let entry = (place, file.clone());
        if let Some(group) = known.get(*before) {
            groups[*group].1.push(entry);
        } else {
            known.push(groups.len());
            groups.push((place, vec![entry]));
        }
        *before += 1;
    }
    groups
}

fn benchmark(
    name: String,
    sessions: Vec<(usize, String)>,
    analysis: &Analysis<'_>,
) -> MergedBenchmark {
    let level = analysis.question.settings.level;
    let subjects: Vec<&Subject<'_>> = sessions
        .iter()
        .map(|(place, _)| &analysis.subjects[*place])
        .collect();
    let incomplete = subjects.iter().any(|one| one.incomplete());
    let metrics: Vec<(&'static Metric, Sessions)> = METRICS
        .iter()
        .filter(|metric| !(incomplete && metric.counts_cpu()))
        .filter_map(|metric| {
            let series = subjects
                .iter()
                .map(|one| summaries::series(one.recording, metric));
            let series: Option<Vec<_>> = series.collect();
            Some((metric, session::merge(&series?, level)?))
        })
        .collect();
    let mut found = MergedBenchmark {
        name,
        sessions,
        incomplete,
        metrics,
        sentence: String::new(),
    };
    found.sentence = sentence(&found, level);
    found
}

/// `105 ms (95% 101 ms to 109 ms, 5 sessions); between sessions 2.1%, within one 0.4%`.
fn sentence(found: &MergedBenchmark, level: f64) -> String {
    let count = found.sessions.len();
    let Some(wall) = found.metric(WALL) else {
        return format!("{count} sessions without a common wall time");
    };
    let level = unit::level(level);
    let range = wall.typical.interval.map_or_else(
        || " (1 session: no interval)".to_owned(),
        |i| {
            format!(
                " ({level} {} to {}, {count} sessions)",
                time(i.low),
                time(i.high)
            )
        },
    );
    let spread = match (wall.between, wall.within) {
        (Some(between), Some(within)) => format!(
            "; between sessions {}, within one {}",
            decimal_percent(between),
            decimal_percent(within)
        ),
        _ => String::new(),
    };
    format!("wall {}{range}{spread}", time(wall.typical.value))
}

fn versus(
    benchmarks: &[MergedBenchmark],
    command: usize,
    level: f64,
    analysis: &Analysis<'_>,
) -> MergedVersus {
    let (first, second) = (&benchmarks[0], &benchmarks[command]);
    let pairs: Vec<(usize, usize)> = first
        .sessions
        .iter()
        .filter_map(|(place, file)| {
            let other = second.sessions.iter().find(|(_, other)| other == file)?;
            Some((*place, other.0))
        })
        .collect();
    let failed = pairs.iter().any(|(a, b)| {
        analysis.subjects[*a].counts.failed + analysis.subjects[*b].counts.failed > 0
    });
    let incomplete = pairs
        .iter()
        .any(|(a, b)| analysis.subjects[*a].incomplete() || analysis.subjects[*b].incomplete());
    let ratios: Vec<(&'static Metric, Estimate)> = METRICS
        .iter()
        .filter(|_| !failed)
        .filter(|metric| !(incomplete && metric.counts_cpu()))
        .filter_map(|metric| {
            let each = pairs.iter().map(|(a, b)| {
                within(
                    metric,
                    &analysis.subjects[*a],
                    &analysis.subjects[*b],
                    &analysis.question,
                )
            });
            let each: Option<Vec<f64>> = each.collect();
            Some((metric, session::combine(&each?, level)?))
        })
        .collect();
    let wall = ratios.iter().find(|(metric, _)| metric.id == WALL);
    let limit = analysis.question.practical_limit;
    let names: Names = (1, command + 1);
    let (verdict, sentence) = match wall {
        None if failed => (Verdict::Failed, "no ratio: a command failed".to_owned()),
        None => (Verdict::None, "no ratio: no session has both".to_owned()),
        Some((_, ratio)) => (
            comparison::verdict(ratio, limit),
            ratio_sentence(ratio, names, (level, limit), &sessions(pairs.len())),
        ),
    };
    MergedVersus {
        command,
        sessions: pairs.len(),
        incomplete,
        ratios,
        verdict,
        sentence,
    }
}

fn sessions(count: usize) -> String {
    if count == 1 {
        "1 session".into()
    } else {
        format!("{count} sessions")
    }
}

/// The ratio within one session.
fn within(
    metric: &'static Metric,
    a: &Subject<'_>,
    b: &Subject<'_>,
    question: &Question,
) -> Option<f64> {
    let (pairing, first, second) = comparison::series(metric, (a.recording, b.recording), true)?;
    let level = question.settings.level;
    let found = match pairing {
        compare::Pairing::Paired => compare::paired(&first, &second, level),
        compare::Pairing::Separate => compare::separate(&first, &second, level),
    };
    found.ok().map(|ratio| ratio.value)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::sample::{Conditions, Host, Recording, Sample};

    fn recording(name: &str, threads: &str) -> Recording {
        let mut recording = Recording::new(Host::default(), Conditions::default());
        recording.conditions.name = Some(name.into());
        let parameters = &mut recording.conditions.parameters;
        parameters.insert("threads".into(), threads.into());
        for run in 0..10 {
            let wall = Duration::from_millis(100 + run);
            recording.samples.push(&Sample {
                wall,
                ..Sample::default()
            });
        }
        recording
    }

    /// Places of the subjects of each merged benchmark.
    fn merged(all: &[(&str, &str, &str)]) -> Option<Vec<Vec<usize>>> {
        let recordings: Vec<Recording> = all.iter().map(|(_, n, t)| recording(n, t)).collect();
        let files: Vec<String> = all.iter().map(|(file, ..)| (*file).to_owned()).collect();
        let mut analysis = crate::analysis::analyze(&recordings, &Question::default());
        merge(&mut analysis, &files);
        let places = |one: &MergedBenchmark| one.sessions.iter().map(|(place, _)| *place).collect();
        analysis
            .merged
            .map(|found| found.benchmarks.iter().map(places).collect())
    }

    #[test]
    fn two_results_of_one_file_are_no_two_sessions() {
        let twice = [("a", "x", "1"), ("a", "x", "1")];
        assert_eq!(merged(&twice), None);
        let again = [("b", "x", "1"), ("b", "x", "1")];
        let found = merged(&[twice, again].concat());
        assert_eq!(found, Some(vec![vec![0, 2], vec![1, 3]]));
    }

    #[test]
    fn other_parameters_are_another_benchmark() {
        let found = merged(&[
            ("a", "x", "1"),
            ("a", "x", "2"),
            ("b", "x", "2"),
            ("c", "x", "1"),
        ]);
        assert_eq!(found, Some(vec![vec![0, 3], vec![1, 2]]));
    }
}
