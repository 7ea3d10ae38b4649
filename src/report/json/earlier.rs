//! Other sessions in the document: commands against their baselines, and sessions merged.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{limits, object};
use crate::analysis::sessions::{MergedBenchmark, MergedVersus};
use crate::analysis::{Against, Analysis, Comparison};
use crate::metric::Metric;
use crate::stats::Estimate;
use crate::stats::session::Sessions;

/// Every command against its baseline; empty where none was asked for.
pub(super) struct Baselines<'a>(pub(super) &'a [Against]);

impl Serialize for Baselines<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Baseline))
    }
}

struct Baseline<'a>(&'a Against);

impl Serialize for Baseline<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows: Vec<Ratio<'_>> = self.0.metrics.iter().map(Ratio::of).collect();
        object!(serializer,
            "command": self.0.command,
            "baseline": self.0.label,
            "missing": self.0.missing,
            "unlike": self.0.unlike,
            "ratios": rows,
            "text": self.0.sentence,
            "remarks": self.0.remarks,
        )
    }
}

/// The ratio of one metric.
struct Ratio<'a> {
    metric: &'a Metric,
    estimate: Option<Estimate>,
    verdict: Option<&'static str>,
}

impl<'a> Ratio<'a> {
    fn of(comparison: &'a Comparison) -> Self {
        Self {
            metric: comparison.metric,
            estimate: comparison.ratio,
            verdict: Some(comparison.verdict.id()),
        }
    }
}

impl Serialize for Ratio<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let method = self.estimate.and_then(|found| found.interval);
        object!(serializer,
            "metric": self.metric.id,
            "ratio": self.estimate.map(|found| found.value),
            "interval": limits(self.estimate),
            "verdict": self.verdict,
            "method": method.map(|found| found.method.id()),
        )
    }
}

/// The same benchmarks in several sessions; `null` where there is one.
pub(super) struct Merged<'a>(pub(super) &'a Analysis<'a>);

impl Serialize for Merged<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(merged) = &self.0.merged else {
            return serializer.serialize_none();
        };
        let benchmarks: Vec<_> = merged.benchmarks.iter().map(Benchmark).collect();
        let versus: Vec<_> = merged.comparisons.iter().map(Versus).collect();
        object!(serializer, "benchmarks": benchmarks, "comparisons": versus)
    }
}

struct Benchmark<'a>(&'a MergedBenchmark);

impl Serialize for Benchmark<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let places: Vec<usize> = self.0.sessions.iter().map(|(place, _)| *place).collect();
        let files: Vec<&str> = self
            .0
            .sessions
            .iter()
            .map(|(_, file)| file.as_str())
            .collect();
        let metrics: Vec<_> = self.0.metrics.iter().map(Typical).collect();
        object!(serializer,
            "name": self.0.name,
            "results": places,
            "files": files,
            "medians": metrics,
            "text": self.0.sentence,
        )
    }
}

struct Typical<'a>(&'a (&'static Metric, Sessions));

impl Serialize for Typical<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (metric, sessions) = self.0;
        object!(serializer,
            "metric": metric.id,
            "median": sessions.typical.value,
            "interval": limits(Some(sessions.typical)),
            "between": sessions.between,
            "within": sessions.within,
        )
    }
}

struct Versus<'a>(&'a MergedVersus);

impl Serialize for Versus<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ratios = self.0.ratios.iter().map(|(metric, ratio)| Ratio {
            metric,
            estimate: Some(*ratio),
            verdict: None,
        });
        let ratios: Vec<_> = ratios.collect();
        object!(serializer,
            "benchmark": self.0.command,
            "sessions": self.0.sessions,
            "ratios": ratios,
            "verdict": self.0.verdict.id(),
            "text": self.0.sentence,
        )
    }
}
