//! The parts of the document that readers of hyperfine's files expect, in its shapes and units.
//!
//! Lists of single runs hold every measured run, failed ones with their exit codes; summaries hold
//! only the runs that count.

use std::time::Duration;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::shallow::{self, ONE_LINE};
use super::{Ours, object};
use crate::analysis::Subject;
use crate::metric::{Metric, WALL};
use crate::report::Document;
use crate::sample::recording::list::{Piece, whole_or_null};
use crate::sample::recording::text::{Literal, Text};
use crate::sample::{self, Host, Phase};
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

/// What hyperfine 1 tells of a command, between its name and its parameters; `between` is what the
/// layout puts between two runs.
///
/// # Errors
/// Those of the map.
pub(in crate::report) fn hyperfine_one<M: SerializeMap>(
    map: &mut M,
    subject: &Subject<'_>,
    between: &str,
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
    let runs = |pieces: fn() -> Vec<Piece<'static>>| Measured {
        recording,
        pieces,
        between,
    };
    map.serialize_entry("times", &runs(time))?;
    map.serialize_entry("memory_usage_byte", &runs(size))?;
    map.serialize_entry("exit_codes", &runs(exit_code))
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
        hyperfine_one(&mut map, subject, ONE_LINE)?;
        if !recording.conditions.parameters.is_empty() {
            map.serialize_entry("parameters", &Parameters(recording))?;
        }
        if self.is_reference {
            map.serialize_entry("is_reference", &true)?;
        }
        let measurements = Measured {
            recording,
            pieces: measurement,
            between: ONE_LINE,
        };
        map.serialize_entry("measurements", &measurements)?;
        map.serialize_entry("summary", &Summaries(subject))?;
        map.serialize_entry("offbench", &Ours::whole(subject, self.host))?;
        map.end()
    }
}

/// A list of the measured runs.
struct Measured<'a> {
    recording: &'a sample::Recording,
    /// What is told of each; one for which nothing is told is left out.
    pieces: fn() -> Vec<Piece<'static>>,
    between: &'a str,
}

impl Serialize for Measured<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (samples, pieces) = (&self.recording.samples, (self.pieces)());
        shallow::runs(
            serializer,
            samples,
            Some(Phase::Measured),
            pieces,
            self.between,
        )
    }
}

/// Wall time in seconds; from one second on the sum of whole seconds and the rest, which may differ
/// from the nearest number in the last digit.
fn time() -> Vec<Piece<'static>> {
    vec![Piece::new(&["wall_s"], |out, values| {
        match values[0].unwrap_or_default() {
            wall if wall < 1_000_000_000 => out.seconds(wall),
            wall => out.number(Duration::from_nanos(wall).as_secs_f64()),
        }
    })]
}

/// Peak memory in bytes, where it is known.
fn size() -> Vec<Piece<'static>> {
    vec![Piece::new(&["rss_bytes"], |out, values| {
        if let Some(bytes) = bytes(values) {
            out.whole(bytes);
        }
    })]
}

/// The exit code; 128 and the signal's number for a run that a signal ended, as shells count.
fn exit_code() -> Vec<Piece<'static>> {
    vec![Piece::new(&["outcome"], |out, values| {
        let outcome = sample::Outcome::from_raw(values[0].unwrap_or_default());
        let code = outcome.signal().map(|signal| 128 + u64::from(signal));
        whole_or_null(out, code.or(outcome.code().map(u64::from)));
    })]
}

/// What hyperfine 2 tells of a run.
fn measurement() -> Vec<Piece<'static>> {
    let literal = |text: &'static str| Piece::new(&[], |out, _| out.put(text.as_bytes()));
    let time = |key, fields: &[&str], read| quantity((key, "second"), fields, read, Text::seconds);
    let mut pieces = vec![
        time("{\"time_wall_clock\"", &["wall_s"], nanoseconds),
        time(",\"time_cpu\"", &["user_s", "system_s"], micros),
        time(",\"time_user\"", &["user_s"], micros),
        time(",\"time_system\"", &["system_s"], micros),
        quantity(
            (",\"memory_peak_resident\"", "byte"),
            &["rss_bytes"],
            bytes,
            Text::whole,
        ),
        literal(",\"exit_code\":"),
    ];
    pieces.extend(exit_code());
    pieces.push(literal("}"));
    pieces
}

/// Nanoseconds of a time that is kept so.
fn nanoseconds(values: &[Option<u64>]) -> Option<u64> {
    values[0]
}

/// Nanoseconds of the sum of times that are kept in microseconds.
fn micros(values: &[Option<u64>]) -> Option<u64> {
    let sum = values
        .iter()
        .try_fold(0_u64, |sum, value| Some(sum.saturating_add((*value)?)));
    sum.map(|sum| sum.saturating_mul(1_000))
}

/// Bytes of a size that is kept in KiB.
fn bytes(values: &[Option<u64>]) -> Option<u64> {
    values[0].map(|kibibytes| kibibytes.saturating_mul(1_024))
}

/// A quantity of a run in the shape of hyperfine 2; nothing where it is not known.
fn quantity(
    (key, unit): (&str, &str),
    fields: &[&str],
    read: fn(&[Option<u64>]) -> Option<u64>,
    write: fn(&mut Text, u64),
) -> Piece<'static> {
    let begin = Literal::new(format!("{key}:{{\"value\":").as_bytes());
    let end = Literal::new(format!(",\"unit\":\"{unit}\"}}").as_bytes());
    Piece::new(fields, move |out, values| {
        if let Some(value) = read(values) {
            out.literal(&begin);
            write(out, value);
            out.literal(&end);
        }
    })
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
