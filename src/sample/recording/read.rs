//! Reading recordings back: our own documents completely, those of hyperfine as far as they tell.
//!
//! A file is foreign: its size and depth are bounded, every number is checked, and nothing in it
//! is ever executed or opened. Text in it may hold anything; reports escape what they print.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{CutShort, MachineCounters, Recording, SCHEMA};
use crate::sample::host::Stamp;
use crate::sample::{Attribution, Conditions, Host, Outcome, Sample, Samples, Trace, Unaccounted};

/// Largest file that is read.
pub const MOST_BYTES: usize = 1 << 30;

/// Longest time that is read, 30 years: as much as our own files can hold.
const MOST_SECONDS: f64 = super::run::MOST / 1e9;

/// Why a file is no recording; fits after "cannot read …: ".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file is too large.
    #[error("{bytes} bytes are more than the {MOST_BYTES} that are read")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// It is not what it should be at that place.
    #[error("line {line}, column {column}: {what}")]
    Malformed {
        /// 1-based line.
        line: usize,
        /// 1-based column.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// It is of a version that this program does not know.
    #[error("it has the unknown format {found}")]
    UnknownFormat {
        /// The version's name.
        found: String,
    },
    /// Its result of that number lacks something.
    #[error("result {number} {what}")]
    Incomplete {
        /// 1-based number of the result.
        number: usize,
        /// What is missing, as `has no runs`.
        what: &'static str,
    },
}

impl From<serde_json::Error> for ReadError {
    fn from(error: serde_json::Error) -> Self {
        let text = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        Self::Malformed {
            line: error.line(),
            column: error.column(),
            what: text.strip_suffix(&place).unwrap_or(&text).to_owned(),
        }
    }
}

/// Which program wrote it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Ours,
    Hyperfine1,
    Hyperfine2,
}

/// The keys that tell who wrote a file.
#[derive(Deserialize)]
struct Head {
    schema_version: Option<u64>,
    offbench: Option<OurHead>,
}

#[derive(Deserialize)]
struct OurHead {
    schema: String,
    #[serde(default)]
    host: Host,
}

#[derive(Deserialize)]
struct File {
    results: Vec<Entry>,
}

/// One result of any origin.
#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    command: String,
    name: Option<String>,
    #[serde(default)]
    parameters: BTreeMap<String, Parameter>,
    times: Option<Vec<f64>>,
    exit_codes: Option<Vec<Option<i64>>>,
    memory_usage_byte: Option<Vec<f64>>,
    measurements: Option<Measurements>,
    offbench: Option<Ours>,
}

/// Our part of a result.
#[derive(Deserialize)]
struct Ours {
    conditions: Conditions,
    host: Option<Host>,
    #[serde(default)]
    machine: MachineCounters,
    explain: Option<Attribution>,
    trace: Option<Trace>,
    cut_short: Option<CutShort>,
    #[serde(default)]
    notes: Vec<String>,
    runs: Runs,
}

impl Ours {
    /// Whether all numbers beside those of the runs, which are checked one by one, are of a size that
    /// can be computed with and printed.
    fn is_bounded(&self) -> bool {
        fn bounded(value: &Value) -> bool {
            match value {
                Value::Number(number) => number.as_f64().is_some_and(|n| n.abs() <= 1e18),
                Value::Array(all) => all.iter().all(bounded),
                Value::Object(all) => all.values().all(bounded),
                _ => true,
            }
        }
        fn all(part: &impl serde::Serialize) -> bool {
            serde_json::to_value(part).is_ok_and(|value| bounded(&value))
        }
        let conditions = Conditions {
            // Any number is a seed.
            seed: 0,
            ..self.conditions.clone()
        };
        all(&conditions) && all(&self.machine) && all(&self.explain) && all(&self.trace)
    }
}

/// hyperfine 1 has the value, hyperfine 2 an object around it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Parameter {
    Plain(String),
    Object { value: String },
}

/// Reads a document of any version that is known.
///
/// # Errors
///
/// [`ReadError`] with the place in the file.
pub fn read(bytes: &[u8]) -> Result<Vec<Recording>, ReadError> {
    if bytes.len() > MOST_BYTES {
        return Err(ReadError::TooLarge { bytes: bytes.len() });
    }
    looks_like_one(bytes)?;
    let head: Head = serde_json::from_slice(bytes)?;
    let origin = origin(&head)?;
    let file: File = serde_json::from_slice(bytes)?;
    let host = head.offbench.map(|ours| ours.host).unwrap_or_default();
    let entries = file.results.into_iter().enumerate();
    entries
        .map(|(place, entry)| {
            let number = place + 1;
            match origin {
                Origin::Ours => ours(entry, &host, number),
                Origin::Hyperfine1 => theirs(entry, 1, number),
                Origin::Hyperfine2 => theirs(entry, 2, number),
            }
        })
        .collect()
}

/// Whether the beginning of a file can be that of a document; lists and other text cannot.
///
/// # Errors
///
/// [`ReadError::Malformed`] with what it is instead.
pub fn looks_like_one(bytes: &[u8]) -> Result<(), ReadError> {
    let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let before: Vec<u8> = bytes.iter().take_while(blank).copied().collect();
    let what = match bytes.get(before.len()) {
        Some(b'{') if bytes[before.len()..].starts_with(b"{\"type\":\"header\"") => {
            "it is JSON Lines; a session is what --export-json writes"
        }
        Some(b'{') => return Ok(()),
        None => "it is empty",
        Some(b'[') => "it is a list; a session is an object that holds `results`",
        Some(_) => "it is no JSON object",
    };
    let mut lines = before.rsplit(|byte| *byte == b'\n');
    let last = lines.next().map_or(0, <[u8]>::len);
    Err(ReadError::Malformed {
        line: 1 + lines.count(),
        column: 1 + last,
        what: what.into(),
    })
}

fn origin(head: &Head) -> Result<Origin, ReadError> {
    let unknown = |found: String| Err(ReadError::UnknownFormat { found });
    match (&head.offbench, head.schema_version) {
        (Some(ours), _) if ours.schema == SCHEMA => Ok(Origin::Ours),
        (Some(ours), _) => unknown(ours.schema.chars().take(40).collect()),
        (None, None) => Ok(Origin::Hyperfine1),
        (None, Some(2)) => Ok(Origin::Hyperfine2),
        (None, Some(other)) => unknown(format!("hyperfine {other}")),
    }
}

fn ours(entry: Entry, host: &Host, number: usize) -> Result<Recording, ReadError> {
    let ours = entry.offbench.ok_or(ReadError::Incomplete {
        number,
        what: "has no offbench part",
    })?;
    if !ours.is_bounded() {
        let what = "has a number that is out of range";
        return Err(ReadError::Incomplete { number, what });
    }
    Ok(Recording {
        host: ours.host.unwrap_or_else(|| host.clone()),
        conditions: ours.conditions,
        samples: ours.runs.0,
        machine: ours.machine,
        attribution: ours.explain,
        trace: ours.trace,
        cut_short: ours.cut_short,
        notes: ours.notes,
    })
}

fn theirs(entry: Entry, version: u8, number: usize) -> Result<Recording, ReadError> {
    let incomplete = |what| ReadError::Incomplete { number, what };
    let samples = match (&entry.measurements, &entry.times) {
        (Some(_), _) => entry.measurements.map(|found| found.0).unwrap_or_default(),
        (None, Some(times)) => from_times(times, &entry).map_err(incomplete)?,
        (None, None) => return Err(incomplete("has no times of single runs")),
    };
    let parameters = entry
        .parameters
        .into_iter()
        .map(|(name, value)| match value {
            Parameter::Plain(value) | Parameter::Object { value } => (name, value),
        });
    let conditions = Conditions {
        command: entry.command,
        name: entry.name,
        parameters: parameters.collect(),
        stamp: Stamp::BeforeSpawn,
        ..Conditions::default()
    };
    let mut recording = Recording::new(Host::default(), conditions);
    recording.samples = samples;
    recording.notes.push(match version {
        1 => "read from a hyperfine 1 file, which has no CPU time of single runs".into(),
        other => format!("read from a hyperfine {other} file"),
    });
    Ok(recording)
}

fn from_times(times: &[f64], entry: &Entry) -> Result<Samples, &'static str> {
    let mut samples = Samples::new();
    for (place, seconds) in times.iter().enumerate() {
        let mut sample = foreign(*seconds, place)?;
        if let Some(codes) = &entry.exit_codes {
            sample.outcome = ended(codes.get(place).copied().flatten());
        }
        let memory = entry.memory_usage_byte.as_ref();
        if let Some(bytes) = memory.and_then(|all| all.get(place)) {
            sample.usage.max_rss = *bytes as u64;
            sample.readings.unaccounted.memory = false;
        }
        samples.push(&sample);
    }
    Ok(samples)
}

/// A run of which only the wall time is known.
fn foreign(seconds: f64, place: usize) -> Result<Sample, &'static str> {
    let wall = Some(seconds)
        .filter(|seconds| *seconds <= MOST_SECONDS)
        .and_then(|seconds| std::time::Duration::try_from_secs_f64(seconds).ok())
        .ok_or("has a time that is out of range")?;
    let mut sample = Sample {
        index: place as u64,
        round: place as u64,
        wall,
        ..Sample::default()
    };
    sample.readings.unaccounted = Unaccounted::ALL;
    Ok(sample)
}

/// No code means that a signal ended the run; which one is not told.
fn ended(code: Option<i64>) -> Outcome {
    match code.map(u8::try_from) {
        Some(Ok(code)) => Outcome::Exited(code),
        _ => Outcome::Signaled {
            signal: 0,
            core: false,
        },
    }
}

/// A run of hyperfine 2.
#[derive(Deserialize)]
struct Measurement {
    time_wall_clock: Time,
    time_user: Option<Time>,
    time_system: Option<Time>,
    #[serde(alias = "peak_memory_usage")]
    memory_peak_resident: Option<Size>,
    exit_code: Option<i64>,
}

#[derive(Deserialize)]
struct Time {
    value: f64,
    #[serde(rename = "unit")]
    _unit: Second,
}

#[derive(Deserialize)]
enum Second {
    #[serde(rename = "second")]
    Second,
}

#[derive(Deserialize)]
struct Size {
    value: f64,
    #[serde(rename = "unit")]
    _unit: Byte,
}

#[derive(Deserialize)]
enum Byte {
    #[serde(rename = "byte")]
    Byte,
}

impl Measurement {
    fn sample(&self, place: usize) -> Result<Sample, &'static str> {
        let mut sample = foreign(self.time_wall_clock.value, place)?;
        sample.outcome = ended(self.exit_code);
        if let (Some(user), Some(system)) = (&self.time_user, &self.time_system) {
            sample.usage.user = foreign(user.value, 0)?.wall;
            sample.usage.system = foreign(system.value, 0)?.wall;
            sample.readings.unaccounted.cpu = false;
        }
        if let Some(memory) = &self.memory_peak_resident {
            sample.usage.max_rss = memory.value as u64;
            sample.readings.unaccounted.memory = false;
        }
        Ok(sample)
    }
}

/// Runs of our own, read one by one into columns.
#[derive(Default)]
struct Runs(Samples);

impl<'de> Deserialize<'de> for Runs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Runs;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of runs")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut runs: A) -> Result<Runs, A::Error> {
                let mut samples = Samples::new();
                while let Some(sample) = runs.next_element::<Sample>()? {
                    samples.push(&sample);
                }
                Ok(Runs(samples))
            }
        }
        deserializer.deserialize_seq(All)
    }
}

/// Runs of hyperfine 2, read one by one into columns.
struct Measurements(Samples);

impl<'de> Deserialize<'de> for Measurements {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Measurements;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of measurements")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut runs: A) -> Result<Measurements, A::Error> {
                let mut samples = Samples::new();
                while let Some(found) = runs.next_element::<Measurement>()? {
                    let sample = found.sample(samples.len());
                    samples.push(&sample.map_err(serde::de::Error::custom)?);
                }
                Ok(Measurements(samples))
            }
        }
        deserializer.deserialize_seq(All)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = r#"{"results": [{"command": "sleep 1", "mean": 1.0, "stddev": null,
        "median": 1.0, "user": 0.1, "system": 0.1, "min": 1.0, "max": 1.5,
        "times": [1.0, 1.5], "memory_usage_byte": [2048, 4096], "exit_codes": [0, 1],
        "parameters": {"n": "1"}}]}"#;
    const TWO: &str = r#"{"schema_version": 2, "primary_metric": "time_wall_clock",
        "metadata": {"hyperfine_version": "2.0.0"}, "results": [{"command": "true",
        "name": "nothing", "measurements": [{"time_wall_clock": {"value": 0.5, "unit": "second"},
        "time_user": {"value": 0.25, "unit": "second"},
        "time_system": {"value": 0.125, "unit": "second"},
        "memory_peak_resident": {"value": 1048576.0, "unit": "byte"}, "exit_code": 0}],
        "parameters": {"n": {"value": "7"}}, "summary": {}}]}"#;

    #[test]
    fn hyperfine_one_tells_wall_times_only() {
        let all = read(ONE.as_bytes()).unwrap();
        let runs: Vec<Sample> = all[0].samples.iter().collect();
        assert_eq!(all[0].name(), "sleep 1");
        assert_eq!(all[0].conditions.parameters["n"], "1");
        assert_eq!(runs[1].wall.as_millis(), 1500);
        assert_eq!(runs[1].outcome, Outcome::Exited(1));
        assert_eq!(runs[0].usage.max_rss, 2048);
        assert!(runs[0].readings.unaccounted.cpu && !runs[0].readings.unaccounted.memory);
        assert_eq!(all[0].failed(), 1);
    }

    #[test]
    fn hyperfine_two_tells_more() {
        let all = read(TWO.as_bytes()).unwrap();
        let run = all[0].samples.get(0);
        assert_eq!(all[0].name(), "nothing");
        assert_eq!(all[0].conditions.parameters["n"], "7");
        assert_eq!(run.usage.cpu().as_millis(), 375);
        assert_eq!(run.usage.max_rss, 1 << 20);
        assert!(!run.readings.unaccounted.cpu && run.readings.unaccounted.events);
        let other = TWO.replacen("\"second\"", "\"minute\"", 1);
        assert!(read(other.as_bytes()).is_err());
    }

    #[test]
    fn unknown_versions_are_refused_by_name() {
        let newer = r#"{"offbench": {"schema": "offbench/2"}, "results": "elsewhere"}"#;
        let error = read(newer.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "it has the unknown format offbench/2");
        let newer = r#"{"schema_version": 3, "results": {}}"#;
        let error = read(newer.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "it has the unknown format hyperfine 3");
    }

    #[test]
    fn numbers_beside_the_runs_are_bounded_too() {
        let ours = |elapsed: &str, steal: &str, seed: u64| {
            let text = format!(
                r#"{{"offbench": {{"schema": "offbench/1"}}, "results": [{{"command": "x",
                "offbench": {{"conditions": {{"command": "x", "seed": {seed}, "elapsed_s": {elapsed}}},
                "machine": {{"steal_s": {steal}}}, "runs": []}}}}]}}"#
            );
            read(text.as_bytes()).map_err(|error| error.to_string())
        };
        assert!(ours("1", "0.5", u64::MAX).is_ok());
        let what = Err("result 1 has a number that is out of range".to_owned());
        assert_eq!(ours("1e308", "0.5", 1), what);
        assert_eq!(ours("1", "-1e300", 1), what);
    }

    #[test]
    fn errors_name_the_place() {
        let error = read(b"{\n  \"results\": [1]}").unwrap_err();
        assert!(
            matches!(error, ReadError::Malformed { line: 2, .. }),
            "{error}"
        );
        let error = read(br#"{"results": [{"command": "x", "mean": 1}]}"#).unwrap_err();
        assert_eq!(error.to_string(), "result 1 has no times of single runs");
        for time in ["-1", "1e10", "1e308"] {
            let text = format!(r#"{{"results": [{{"times": [{time}]}}]}}"#);
            let error = read(text.as_bytes()).unwrap_err();
            let what = "result 1 has a time that is out of range";
            assert_eq!(error.to_string(), what);
        }
        for (text, what) in [
            (" \n", "line 2, column 1: it is empty"),
            (
                "\n [1]",
                "line 2, column 2: it is a list; a session is an object that holds `results`",
            ),
            ("\0", "line 1, column 1: it is no JSON object"),
            (
                "{\"type\":\"header\",\"schema\":\"offbench/1\"}\n{\"type\":\"run\"}",
                "line 1, column 1: it is JSON Lines; a session is what --export-json writes",
            ),
        ] {
            assert_eq!(read(text.as_bytes()).unwrap_err().to_string(), what);
        }
        for text in ["", "[", "7", "{}", "{\"results\": 7}", "\u{0}"] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
        let deep = "[".repeat(100_000);
        assert!(read(deep.as_bytes()).is_err());
        let deep = format!("{{\"results\": {deep}");
        assert!(read(deep.as_bytes()).is_err());
    }
}
