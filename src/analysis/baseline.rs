//! Commands against what was saved of them earlier: one session or several.
//!
//! Runs of another session are never paired with those of this one, and what another machine
//! measured decides nothing.

use super::comparison::{self, Comparison, Verdict};
use super::{Analysis, Question, Subject, summaries};
use crate::diagnose::is_incomplete;
use crate::metric::{CPU, METRICS, Metric, WALL};
use crate::sample::host::Stamp;
use crate::sample::{Host, Recording};
use crate::stats::compare::{self, Pairing};
use crate::stats::{Estimate, session};
use crate::unit::decimal_percent;

use super::sentence::{Against as Words, against};

/// One saved file as far as it could be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Saved {
    /// Its name, for people.
    pub file: String,
    /// What it holds, or why it holds nothing: `is missing`.
    pub recordings: Result<Vec<Recording>, String>,
}

/// One command against its baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Against {
    /// Place of the command.
    pub command: usize,
    /// The baseline in few words: `main.json`, `5 sessions`.
    pub label: String,
    /// Why there is nothing to compare with.
    pub missing: Option<String>,
    /// What differs between the machines or in what a run is; if anything does, nothing is decided and no verdict given.
    pub unlike: Vec<String>,
    /// CPU time of one of them is in nobody's account: no metric is computed from it.
    pub incomplete: bool,
    /// Every metric that both have, new over old.
    pub metrics: Vec<Comparison>,
    /// Several sessions: the medians of each metric.
    pub sessions: Vec<Medians>,
    /// The one sentence.
    pub sentence: String,
    /// What must be known with it, one sentence each.
    pub remarks: Vec<String>,
}

/// A median and those of earlier sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct Medians {
    /// Of which metric.
    pub metric: &'static Metric,
    /// This session's.
    pub now: f64,
    /// One of each earlier session.
    pub earlier: Vec<f64>,
}

impl Against {
    /// The comparison of a metric.
    #[must_use]
    pub fn metric(&self, id: &str) -> Option<&Comparison> {
        self.metrics.iter().find(|one| one.metric.id == id)
    }

    /// The medians of a metric in several sessions.
    #[must_use]
    pub fn medians(&self, id: &str) -> Option<&Medians> {
        self.sessions.iter().find(|one| one.metric.id == id)
    }
}

/// Compares every command with its baseline.
pub fn compare_with(analysis: &mut Analysis<'_>, saved: &[Saved]) {
    let several = analysis.subjects.len() > 1;
    let subjects = analysis.subjects.iter().enumerate();
    let all = subjects.map(|(command, subject)| {
        let mut found = one(subject, saved, &analysis.question);
        found.command = command;
        if several {
            found.sentence = format!("{}: {}", command + 1, found.sentence);
        }
        found
    });
    analysis.baselines = all.collect();
}

fn one(subject: &Subject<'_>, saved: &[Saved], question: &Question) -> Against {
    let (mut same, mut other) = (Vec::new(), Vec::new());
    for file in saved {
        if let Some(recording) = matching(subject, file) {
            let differences = differences(recording, subject.recording);
            if differences.is_empty() {
                same.push((file, recording));
            } else {
                other.push((file, recording, differences));
            }
        }
    }
    // A single file is told in the sentence.
    let alone = same.is_empty() && other.len() == 1;
    let mut remarks: Vec<String> = other
        .iter()
        .filter(|_| !alone)
        .map(|(file, _, differences)| {
            format!("{}: not comparable: {}", file.file, differences.join("; "))
        })
        .collect();
    let unlike = if same.is_empty() {
        each_once(other.iter().flat_map(|(_, _, differences)| differences))
    } else {
        if !other.is_empty() {
            remarks.push("sessions that are not comparable are left out".into());
        }
        Vec::new()
    };
    if same.is_empty() {
        same = other
            .iter()
            .map(|(file, found, _)| (*file, *found))
            .collect();
    }
    let label = match same.as_slice() {
        [(file, _)] => file.file.clone(),
        [] => saved
            .first()
            .map_or_else(String::new, |one| one.file.clone()),
        _ => format!("{} sessions", same.len()),
    };
    let recordings: Vec<&Recording> = same.iter().map(|(_, recording)| *recording).collect();
    let mut found = Against {
        command: 0,
        label,
        missing: missing(subject, saved, &recordings),
        unlike,
        incomplete: subject.incomplete() || recordings.iter().any(|one| is_incomplete(one)),
        metrics: Vec::new(),
        sessions: Vec::new(),
        sentence: String::new(),
        remarks,
    };
    fill(&mut found, subject.recording, &recordings, question);
    found
}

fn each_once<'a>(differences: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for difference in differences {
        if !all.contains(difference) {
            all.push(difference.clone());
        }
    }
    all
}

/// Ratios, medians and words.
fn fill(found: &mut Against, now: &Recording, earlier: &[&Recording], question: &Question) {
    if let Some(reason) = &found.missing {
        found.sentence = format!("no baseline: {reason}");
        return;
    }
    let incomplete = found.incomplete;
    let told = |metric: &&Metric| !(incomplete && metric.counts_cpu());
    for metric in METRICS.iter().filter(told) {
        match earlier {
            [old] => found.metrics.extend(ratio(metric, old, now, question)),
            _ => {
                if let Some((medians, comparison)) = predicted(metric, earlier, now, question) {
                    found.sessions.push(medians);
                    found.metrics.push(comparison);
                }
            }
        }
    }
    if !found.unlike.is_empty() {
        for one in &mut found.metrics {
            one.verdict = Verdict::None;
        }
        let why = found.unlike.join("; ");
        found.sentence = format!("not comparable with {}: {why}", found.label);
        return;
    }
    found.sentence = against(&Words {
        wall: found.metric(WALL),
        cpu: found.metric(CPU),
        label: &found.label,
        level: question.settings.level,
        limit: question.practical_limit,
    });
    found.remarks.extend(cautions(earlier, now));
    if earlier.len() == 1 {
        found.remarks.push(
            "the baseline is another session: shifts of 1-2% between sessions are common and not in this interval"
                .into(),
        );
    } else {
        found.remarks.extend(spread(earlier, question));
    }
}

/// `between sessions 1.2%, within a session 0.3%`.
fn spread(earlier: &[&Recording], question: &Question) -> Option<String> {
    let wall = Metric::from_id(WALL)?;
    let all: Option<Vec<_>> = earlier
        .iter()
        .map(|one| summaries::series(one, wall))
        .collect();
    let merged = session::merge(&all?, question.settings.level)?;
    Some(format!(
        "wall between the {} sessions {}, within one {}; the interval is for one more session",
        earlier.len(),
        decimal_percent(merged.between?),
        decimal_percent(merged.within?)
    ))
}

/// The recording of the same benchmark: by name, or else by command.
fn matching<'s>(subject: &Subject<'_>, saved: &'s Saved) -> Option<&'s Recording> {
    let all = saved.recordings.as_ref().ok()?;
    let command = &subject.recording.conditions.command;
    let parameters = &subject.recording.conditions.parameters;
    let by_name = all.iter().find(|one| {
        one.name() == subject.name()
            && (one.conditions.parameters == *parameters || one.name() == *command)
    });
    by_name
        .or_else(|| all.iter().find(|one| one.name() == subject.name()))
        .or_else(|| all.iter().find(|one| one.conditions.command == *command))
}

fn missing(subject: &Subject<'_>, saved: &[Saved], found: &[&Recording]) -> Option<String> {
    if let Some(bad) = found.iter().find(|one| one.failed() > 0) {
        return Some(format!(
            "`{}` failed {} times in it",
            bad.name(),
            bad.failed()
        ));
    }
    if subject.counts.failed > 0 || subject.counts.counted() == 0 {
        let counts = subject.counts;
        return Some(format!("failed {} of {}", counts.failed, counts.measured));
    }
    if found.iter().any(|one| one.measured().next().is_none()) {
        return Some("it holds no run".into());
    }
    if !found.is_empty() {
        return None;
    }
    let unread = saved
        .iter()
        .filter_map(|one| Some(format!("{} {}", one.file, one.recordings.as_ref().err()?)));
    let unread: Vec<String> = unread.collect();
    if unread.is_empty() {
        let files: Vec<&str> = saved.iter().map(|one| one.file.as_str()).collect();
        let files = files.join(", ");
        return Some(format!("{files} has no benchmark of that name or command"));
    }
    Some(unread.join(", "))
}

/// What may make the times of comparable recordings differ.
fn cautions(earlier: &[&Recording], now: &Recording) -> Vec<String> {
    let here = &now.conditions.placement;
    let others = earlier.iter().map(|one| &one.conditions.placement);
    let mut told: Vec<String> = Vec::new();
    for there in others.filter(|there| *there != here) {
        let text = format!("the commands ran on {there} there, on {here} here");
        if !told.contains(&text) {
            told.push(text);
        }
    }
    told
}

/// What makes the times of two recordings not comparable.
fn differences(there: &Recording, here: &Recording) -> Vec<String> {
    let mut found = Vec::new();
    let (old, new): (&Host, &Host) = (&there.host, &here.host);
    if old.kernel.is_none() && old.cpu_model.is_none() && old.cpus.is_none() {
        found.push("the file does not say on what machine it was made".to_owned());
    } else {
        let text = |value: Option<&String>| value.map_or("unknown", String::as_str).to_owned();
        let cpus = |value: Option<u64>| value.map_or("unknown".into(), |n| n.to_string());
        let facts = [
            (
                "CPU model",
                text(old.cpu_model.as_ref()),
                text(new.cpu_model.as_ref()),
            ),
            ("number of CPUs", cpus(old.cpus), cpus(new.cpus)),
            (
                "kernel",
                text(old.kernel.as_ref()),
                text(new.kernel.as_ref()),
            ),
        ];
        let unlike = facts.into_iter().filter(|(_, old, new)| old != new);
        found.extend(unlike.map(|(what, old, new)| format!("{what} {old} there, {new} here")));
    }
    if there.conditions.wait_descendants != here.conditions.wait_descendants {
        let place = if there.conditions.wait_descendants {
            "there"
        } else {
            "here"
        };
        found.push(format!("{place} a run ends only with all its processes"));
    }
    if there.conditions.stamp != here.conditions.stamp {
        let place = if there.conditions.stamp == Stamp::BeforeSpawn {
            "there"
        } else {
            "here"
        };
        found.push(format!("{place} times include creating the process"));
    }
    found
}

fn ratio(
    metric: &'static Metric,
    old: &Recording,
    new: &Recording,
    question: &Question,
) -> Option<Comparison> {
    let (first, second) = (
        summaries::series(old, metric)?,
        summaries::series(new, metric)?,
    );
    let found = compare::compare(&first, &second, Pairing::Separate, &question.settings).ok()?;
    Some(Comparison {
        metric,
        ratio: Some(found.ratio),
        ratio_of_means: Some(found.ratio_of_means),
        ratio_of_medians: Some(found.ratio_of_medians),
        pairs: 0,
        few_slow_runs: found.few_slow_runs,
        verdict: comparison::verdict(&found.ratio, question.practical_limit),
    })
}

/// The new median over what one more session would have.
fn predicted(
    metric: &'static Metric,
    earlier: &[&Recording],
    now: &Recording,
    question: &Question,
) -> Option<(Medians, Comparison)> {
    let medians: Option<Vec<f64>> = earlier
        .iter()
        .map(|one| summaries::series(one, metric).map(|series| series.median()))
        .collect();
    let (earlier, now) = (medians?, summaries::series(now, metric)?.median());
    let ratio: Estimate = session::one_more(now, &earlier, question.settings.level)?;
    let comparison = Comparison {
        metric,
        ratio: Some(ratio),
        ratio_of_means: None,
        ratio_of_medians: None,
        pairs: 0,
        few_slow_runs: false,
        verdict: comparison::verdict(&ratio, question.practical_limit),
    };
    Some((
        Medians {
            metric,
            now,
            earlier,
        },
        comparison,
    ))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::analysis::analyze;
    use crate::sample::{Conditions, Placement, Sample};

    fn recording(wall_ms: u64, cpus: u64) -> Recording {
        let host = Host {
            cpus: Some(cpus),
            ..Host::default()
        };
        let mut recording = Recording::new(host, Conditions::default());
        for run in 0..10 {
            recording.samples.push(&Sample {
                wall: Duration::from_millis(wall_ms) + Duration::from_micros(run),
                ..Sample::default()
            });
        }
        recording
    }

    fn against_saved(now: &Recording, saved: &[Recording]) -> Against {
        let saved: Vec<Saved> = saved
            .iter()
            .map(|one| Saved {
                file: "old.json".into(),
                recordings: Ok(vec![one.clone()]),
            })
            .collect();
        let now = [now.clone()];
        let mut analysis = analyze(&now, &Question::default());
        compare_with(&mut analysis, &saved);
        analysis.baselines.remove(0)
    }

    #[test]
    fn another_machine_gives_no_verdict() {
        let found = against_saved(&recording(200, 4), &[recording(100, 8)]);
        let why = "not comparable with old.json: number of CPUs 8 there, 4 here";
        assert_eq!(found.sentence, why);
        let wall = found.metric(WALL).unwrap();
        assert!(wall.verdict == Verdict::None && wall.ratio.is_some());
        assert_eq!(found.remarks, Vec::<String>::new());
        let found = against_saved(&recording(200, 4), &[recording(100, 8), recording(100, 8)]);
        let why = "not comparable with 2 sessions: number of CPUs 8 there, 4 here";
        assert_eq!(found.sentence, why);
        let found = against_saved(&recording(200, 4), &[recording(100, 4)]);
        assert_eq!(found.metric(WALL).unwrap().verdict, Verdict::Slower);
    }

    #[test]
    fn other_conditions_are_told() {
        let mut waits = recording(100, 4);
        waits.conditions.wait_descendants = true;
        let found = against_saved(&recording(200, 4), &[waits]);
        assert_eq!(
            found.unlike,
            ["there a run ends only with all its processes"]
        );
        let mut pinned = recording(100, 4);
        pinned.conditions.placement = Placement::Cpus(vec![2]);
        let found = against_saved(&recording(200, 4), &[pinned]);
        assert_eq!(found.metric(WALL).unwrap().verdict, Verdict::Slower);
        let told = "the commands ran on CPU 2 there, on any CPU here";
        assert!(
            found.remarks.contains(&told.to_owned()),
            "{:?}",
            found.remarks
        );
    }
}
