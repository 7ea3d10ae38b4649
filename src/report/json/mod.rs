//! The union document: what readers of hyperfine 1 and 2 expect, and all of ours under `offbench`.
//!
//! `docs/format.md` describes every key. Values are written as they come, one run after the other,
//! so that a million runs need no memory of their own. Numbers that are not finite become `null`.

mod earlier;
mod hyperfine;
mod ours;
mod shallow;

use std::io::{self, Write};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::Document;
use crate::analysis::{Comparison, Verdict, Versus};
use crate::gate;
use crate::metric::WALL;
use crate::sample::Host;
use crate::sample::recording::SCHEMA;
use crate::stats::{Estimate, Interval};

pub(super) use hyperfine::{hyperfine_one, point};
pub(super) use ours::Ours;

/// Serialises an object from its keys and values, in that order.
macro_rules! object {
    ($serializer:expr, $($key:literal: $value:expr),+ $(,)?) => {{
        let mut map = $serializer.serialize_map(None)?;
        $(map.serialize_entry($key, &$value)?;)+
        map.end()
    }};
}
pub(super) use object;

/// Writes the union document.
///
/// # Errors
///
/// Those of the writer.
pub fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    let mut serializer =
        serde_json::Serializer::with_formatter(&mut *out, shallow::Shallow::default());
    Union(document).serialize(&mut serializer)?;
    out.write_all(b"\n")
}

struct Union<'a>(&'a Document<'a>);

impl Serialize for Union<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        object!(serializer,
            "schema_version": 2,
            "primary_metric": "time_wall_clock",
            "metadata": hyperfine::Metadata(self.0),
            "offbench": Top(self.0),
            "results": Results(self.0),
        )
    }
}

struct Results<'a>(&'a Document<'a>);

impl Serialize for Results<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let analysis = self.0.analysis;
        let subjects = analysis.subjects.iter().enumerate();
        serializer.collect_seq(subjects.map(|(place, subject)| hyperfine::Outcome {
            subject,
            is_reference: analysis.subjects.len() > 1 && analysis.reference == place,
            host: host(self.0),
        }))
    }
}

/// The machine of the first recording; others are written where they differ.
fn host<'a>(document: &Document<'a>) -> Option<&'a Host> {
    let first = document.analysis.subjects.first()?;
    Some(&first.recording.host)
}

/// What is said once for the whole invocation.
pub(super) struct Top<'a>(pub(super) &'a Document<'a>);

impl Serialize for Top<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (document, analysis) = (self.0, self.0.analysis);
        let settings = analysis.question.settings;
        object!(serializer,
            "schema": SCHEMA,
            "version": document.version,
            "command_line": document.command_line,
            "seed": settings.seed,
            "resamples": settings.resamples,
            "level": settings.level,
            "reference": analysis.reference,
            "practical_limit": analysis.question.practical_limit,
            "host": host(document),
            "comparisons": Comparisons(&analysis.comparisons),
            "conclusions": Conclusions(&analysis.comparisons),
            "baselines": earlier::Baselines(&analysis.baselines),
            "sessions": earlier::Merged(analysis),
            "gates": Gates(document.verdicts),
        )
    }
}

struct Comparisons<'a>(&'a [Versus]);

impl Serialize for Comparisons<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = self.0.iter().flat_map(|versus| {
            let failed = versus
                .metrics
                .is_empty()
                .then_some(Row { versus, one: None });
            let metrics = versus.metrics.iter();
            let metrics = metrics.map(move |one| Row {
                versus,
                one: Some(one),
            });
            failed.into_iter().chain(metrics)
        });
        serializer.collect_seq(rows)
    }
}

/// One metric of one comparison; no metric where a command failed.
struct Row<'a> {
    versus: &'a Versus,
    one: Option<&'a Comparison>,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pick = |pick: fn(&Comparison) -> Option<Estimate>| self.one.and_then(pick);
        let ratio = pick(|one| one.ratio);
        let (means, medians) = (
            pick(|one| one.ratio_of_means),
            pick(|one| one.ratio_of_medians),
        );
        object!(serializer,
            "reference": self.versus.reference,
            "command": self.versus.command,
            "metric": self.one.map_or(WALL, |one| one.metric.id),
            "ratio": ratio.map(|found| found.value),
            "interval": limits(ratio),
            "level": self.versus.level,
            "pairs": self.one.map_or(0, |one| one.pairs),
            "verdict": self.one.map_or(Verdict::Failed, |one| one.verdict).id(),
            "method": ratio.and_then(|found| found.interval).map(|found| found.method.id()),
            "ratio_of_means": means.map(|found| found.value),
            "ratio_of_means_interval": limits(means),
            "ratio_of_medians": medians.map(|found| found.value),
            "ratio_of_medians_interval": limits(medians),
            "few_slow_runs": self.one.is_some_and(|one| one.few_slow_runs),
        )
    }
}

struct Conclusions<'a>(&'a [Versus]);

impl Serialize for Conclusions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Conclusion))
    }
}

struct Conclusion<'a>(&'a Versus);

impl Serialize for Conclusion<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        object!(serializer,
            "reference": self.0.reference,
            "command": self.0.command,
            "text": self.0.sentence,
            "remarks": self.0.remarks,
        )
    }
}

struct Gates<'a>(&'a [gate::Verdict]);

impl Serialize for Gates<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Gate))
    }
}

/// One verdict of a gate.
pub(super) struct Gate<'a>(pub(super) &'a gate::Verdict);

impl Gate<'_> {
    /// Its keys, for objects that have others as well.
    pub(super) fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let verdict = self.0;
        map.serialize_entry("expression", &verdict.expression)?;
        map.serialize_entry("command", &verdict.command)?;
        map.serialize_entry("verdict", verdict.decision.id())?;
        map.serialize_entry("value", &verdict.value)?;
        map.serialize_entry("interval", &verdict.interval.map(pair))?;
        map.serialize_entry("needs_runs", &verdict.needs_runs)?;
        map.serialize_entry("text", &verdict.reason)
    }
}

impl Serialize for Gate<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.entries(&mut map)?;
        map.end()
    }
}

/// The limits of an estimate's interval.
pub(super) fn limits(estimate: Option<Estimate>) -> Option<[f64; 2]> {
    estimate.and_then(|found| found.interval).map(pair)
}

/// The limits of an interval.
pub(super) fn pair(interval: Interval) -> [f64; 2] {
    [interval.low, interval.high]
}

#[cfg(test)]
mod schema;
#[cfg(test)]
mod tests;
