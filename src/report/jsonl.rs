//! One JSON object a line, written as things happen, so that a crash loses at most a line.
//!
//! `type` tells what a line is: one `header`, then `run` by `run`, then a `summary` for each
//! command and a `gate` for each verdict.

use std::io::{self, Write};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::Document;
use super::json::{Gate, Ours, object};
use crate::analysis::Subject;
use crate::gate::Verdict;
use crate::sample::recording::{SCHEMA, run as object_of_run};
use crate::sample::{Conditions, Host, Sample};

/// What the first line tells; known before the first run.
#[derive(Debug, Clone, Copy)]
pub struct Header<'a> {
    /// The version of this program.
    pub version: &'a str,
    /// The arguments of this invocation.
    pub command_line: &'a [String],
    /// The machine.
    pub host: &'a Host,
}

/// Writes the whole file from a finished analysis.
///
/// # Errors
///
/// Those of the writer.
pub fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    let subjects = &document.analysis.subjects;
    let nobody = Host::default();
    let first = subjects
        .first()
        .map_or(&nobody, |subject| &subject.recording.host);
    let about = Header {
        version: document.version,
        command_line: document.command_line,
        host: first,
    };
    let conditions = subjects.iter().map(|subject| &subject.recording.conditions);
    header(out, &about, conditions)?;
    for (place, subject) in subjects.iter().enumerate() {
        for sample in &subject.recording.samples {
            run(out, place, &sample)?;
        }
    }
    for (place, subject) in subjects.iter().enumerate() {
        summary(out, place, subject)?;
    }
    for verdict in document.verdicts {
        gate(out, verdict)?;
    }
    Ok(())
}

/// Writes the first line, with what is asked of each command.
///
/// # Errors
///
/// Those of the writer.
pub fn header<'a>(
    out: &mut dyn Write,
    header: &Header<'_>,
    commands: impl IntoIterator<Item = &'a Conditions>,
) -> io::Result<()> {
    let commands: Vec<&Conditions> = commands.into_iter().collect();
    line(out, &First(header, &commands))
}

/// Writes the line of a run of the command at that place.
///
/// # Errors
///
/// Those of the writer.
pub fn run(out: &mut dyn Write, command: usize, sample: &Sample) -> io::Result<()> {
    line(out, &Run(command, sample))
}

/// Writes the line of what was computed about the command at that place.
///
/// # Errors
///
/// Those of the writer.
pub fn summary(out: &mut dyn Write, command: usize, subject: &Subject<'_>) -> io::Result<()> {
    line(out, &Summary(command, subject))
}

/// Writes the line of a gate's verdict.
///
/// # Errors
///
/// Those of the writer.
pub fn gate(out: &mut dyn Write, verdict: &Verdict) -> io::Result<()> {
    line(out, &Judged(verdict))
}

fn line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    // One write a line: a reader never sees half of one.
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    out.write_all(&text)
}

struct First<'a>(&'a Header<'a>, &'a [&'a Conditions]);

impl Serialize for First<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        object!(serializer,
            "type": "header",
            "schema": SCHEMA,
            "version": self.0.version,
            "command_line": self.0.command_line,
            "host": self.0.host,
            "commands": self.1,
        )
    }
}

struct Run<'a>(usize, &'a Sample);

impl Serialize for Run<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "run")?;
        map.serialize_entry("command", &self.0)?;
        map.serialize_entry("phase", self.1.phase.id())?;
        object_of_run::entries(self.1, &mut map)?;
        map.end()
    }
}

struct Summary<'a>(usize, &'a Subject<'a>);

impl Serialize for Summary<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "summary")?;
        map.serialize_entry("command", &self.0)?;
        Ours::summary(self.1, Some(&self.1.recording.host)).entries(&mut map)?;
        map.end()
    }
}

struct Judged<'a>(&'a Verdict);

impl Serialize for Judged<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "gate")?;
        Gate(self.0).entries(&mut map)?;
        map.end()
    }
}
