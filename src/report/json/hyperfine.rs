//! The parts of the document that readers of hyperfine's files expect, in its shapes and units.
//!
//! Lists of single runs hold every measured run, failed ones with their exit codes; summaries hold
//! only the runs that count.

use std::time::Duration;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::shallow::fragments;
use super::{Ours, object};
use crate::analysis::Subject;
use crate::metric::{Metric, WALL};
use crate::report::Document;
use crate::sample::recording::text;
use crate::sample::{self, Host, Phase, Sample};
use crate::stats::Summary;
use crate::unit::Unit;

/// Point estimates of one metric.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::report) struct Point {
    pub(in crate::report) count: usize,
    pub(in crate::report) mean: Option<f64>,
    pub(in crate::report) stddev: Option<f64>,
    pub(in crate::report) median: Option<f64>,
    pub(in crate::report) min: Option<f64>,
    pub(in crate::report) max: Option<f64>,
}

/// The point estimates of a metric; all absent where it was not measured.
pub(in crate::report) fn point(subject: &Subject<'_>, metric: &str) -> Point {
    let Some(summary) = subject.summary(metric) else {
        return Point::default();
    };
    let value = |id: &str| Summary::get(summary, id).map(|found| found.value);
    Point {
        count: summary.runs,
        mean: value("mean"),
        stddev: value("stddev"),
        median: value("median"),
        min: value("min"),
        max: value("max"),
    }
}

/// One result: hyperfine 1, hyperfine 2 and ours at the same level.
pub(super) struct Outcome<'a> {
    pub(super) subject: &'a Subject<'a>,
    pub(super) is_reference: bool,
    pub(super) host: Option<&'a Host>,
}

/// What hyperfine 1 tells of a command, between its name and its parameters.
///
/// # Errors
/// Those of the map.
pub(in crate::report) fn hyperfine_one<M: SerializeMap>(
    map: &mut M,
    subject: &Subject<'_>,
) -> Result<(), M::Error> {
    let recording = subject.recording;
    let wall = point(subject, WALL);
    map.serialize_entry("mean", &wall.mean)?;
    map.serialize_entry("stddev", &wall.stddev)?;
    map.serialize_entry("median", &wall.median)?;
    map.serialize_entry("user", &point(subject, "user").mean)?;
    map.serialize_entry("system", &point(subject, "sys").mean)?;
    map.serialize_entry("min", &wall.min)?;
    map.serialize_entry("max", &wall.max)?;
    map.serialize_entry("times", &Times(recording))?;
    map.serialize_entry("memory_usage_byte", &Sizes(recording))?;
    map.serialize_entry("exit_codes", &Codes(recording))
}

impl Serialize for Outcome<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let subject = self.subject;
        let recording = subject.recording;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("command", &recording.conditions.command)?;
        if let Some(name) = &recording.conditions.name {
            map.serialize_entry("name", name)?;
        }
        hyperfine_one(&mut map, subject)?;
        if !recording.conditions.parameters.is_empty() {
            map.serialize_entry("parameters", &Parameters(recording))?;
        }
        if self.is_reference {
            map.serialize_entry("is_reference", &true)?;
        }
        map.serialize_entry("measurements", &Measurements(recording))?;
        map.serialize_entry("summary", &Summaries(subject))?;
        map.serialize_entry("offbench", &Ours::whole(subject, self.host))?;
        map.end()
    }
}

/// The measured runs with these fields.
fn fields<'a>(
    recording: &'a sample::Recording,
    keys: &[&str],
) -> impl Iterator<Item = Sample> + use<'a> {
    let keys = [&["phase"], keys].concat();
    let runs = recording.samples.fields(&keys);
    runs.filter(|run| run.phase == Phase::Measured)
}

/// Wall times, in seconds.
pub(in crate::report) struct Times<'a>(pub(in crate::report) &'a sample::Recording);

impl Serialize for Times<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let runs = fields(self.0, &["wall_s"]);
        serializer.collect_seq(runs.map(|run| run.wall.as_secs_f64()))
    }
}

/// Peak memory, in bytes.
pub(in crate::report) struct Sizes<'a>(pub(in crate::report) &'a sample::Recording);

impl Serialize for Sizes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let runs = fields(self.0, &["rss_bytes"]);
        let known = runs.filter(|run| !run.readings.unaccounted.memory);
        serializer.collect_seq(known.map(|run| run.usage.max_rss))
    }
}

/// Exit codes; 128 and the signal's number for a run that a signal ended, as shells count.
pub(in crate::report) struct Codes<'a>(pub(in crate::report) &'a sample::Recording);

impl Serialize for Codes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let runs = fields(self.0, &["outcome"]);
        serializer.collect_seq(runs.map(|run| code(&run)))
    }
}

fn code(run: &Sample) -> Option<u16> {
    match run.outcome {
        sample::Outcome::Exited(code) => Some(u16::from(code)),
        sample::Outcome::Signaled { signal, .. } => Some(128 + u16::from(signal)),
        sample::Outcome::TimedOut => None,
    }
}

struct Parameters<'a>(&'a sample::Recording);

impl Serialize for Parameters<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Parameter<'a> {
            value: &'a str,
        }
        let all = self.0.conditions.parameters.iter();
        serializer.collect_map(all.map(|(name, value)| (name, Parameter { value })))
    }
}

struct Measurements<'a>(&'a sample::Recording);

impl Serialize for Measurements<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = [
            "phase",
            "outcome",
            "wall_s",
            "user_s",
            "system_s",
            "rss_bytes",
        ];
        fragments(serializer, &self.0.samples, Some(&keys), |out, run| {
            if run.phase == Phase::Measured {
                measurement(out, run);
            }
        })
    }
}

fn measurement(out: &mut Vec<u8>, run: &Sample) {
    let time = |out: &mut Vec<u8>, key: &str, duration: Duration| {
        out.extend_from_slice(key.as_bytes());
        out.extend_from_slice(b":{\"value\":");
        text::seconds(out, nanoseconds(duration), 9);
        out.extend_from_slice(b",\"unit\":\"second\"}");
    };
    let unaccounted = run.readings.unaccounted;
    time(out, "{\"time_wall_clock\"", run.wall);
    if !unaccounted.cpu {
        time(out, ",\"time_cpu\"", run.usage.cpu());
        time(out, ",\"time_user\"", run.usage.user);
        time(out, ",\"time_system\"", run.usage.system);
    }
    if !unaccounted.memory {
        out.extend_from_slice(b",\"memory_peak_resident\":{\"value\":");
        text::whole(out, run.usage.max_rss);
        out.extend_from_slice(b",\"unit\":\"byte\"}");
    }
    out.extend_from_slice(b",\"exit_code\":");
    match code(run) {
        Some(code) => text::whole(out, u64::from(code)),
        None => out.extend_from_slice(b"null"),
    }
    out.push(b'}');
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

struct Summaries<'a>(&'a Subject<'a>);

impl Serialize for Summaries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, metric) in Metric::of_hyperfine() {
            let unit = match metric.unit {
                Unit::Time => "second",
                Unit::Bytes => "byte",
                _ => continue,
            };
            if self.0.summary(metric.id).is_some() {
                map.serialize_entry(key, &Statistics(point(self.0, metric.id), unit))?;
            }
        }
        map.end()
    }
}

struct Statistics(Point, &'static str);

impl Serialize for Statistics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let point = self.0;
        object!(serializer,
            "unit": self.1,
            "count": point.count,
            "mean": point.mean,
            "stddev": point.stddev,
            "median": point.median,
            "min": point.min,
            "max": point.max,
        )
    }
}

/// Who wrote it, when and where.
pub(super) struct Metadata<'a>(pub(super) &'a Document<'a>);

impl Serialize for Metadata<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let first = self
            .0
            .analysis
            .subjects
            .first()
            .map(|subject| subject.recording);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("generator", &format!("offbench {}", self.0.version))?;
        if let Some(started) = first.and_then(|first| first.conditions.started_unix_s) {
            map.serialize_entry("start_time", &crate::report::date::utc(started))?;
        }
        map.serialize_entry("platform", &Platform(first.map(|first| &first.host)))?;
        map.end()
    }
}

struct Platform<'a>(Option<&'a Host>);

impl Serialize for Platform<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(host) = self.0 {
            let kernel = host
                .kernel
                .as_deref()
                .and_then(|name| name.split(' ').next());
            if let Some(os) = kernel {
                map.serialize_entry("os", os)?;
            }
            if let Some(architecture) = host.facts.get("architecture") {
                map.serialize_entry("architecture", architecture)?;
            }
        }
        map.end()
    }
}
