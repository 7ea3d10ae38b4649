//! JSON exactly as hyperfine 1 writes it: no key more, none less.

use std::io::{self, Write};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::Document;
use super::json::hyperfine_one;
use crate::analysis::Subject;

/// Writes the file.
pub(super) fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    serde_json::to_writer_pretty(&mut out, &File(document))?;
    out.write_all(b"\n")?;
    out.flush()
}

struct File<'a>(&'a Document<'a>);

impl Serialize for File<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("results", &Results(self.0))?;
        map.end()
    }
}

struct Results<'a>(&'a Document<'a>);

impl Serialize for Results<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.analysis.subjects.iter().map(One))
    }
}

struct One<'a>(&'a Subject<'a>);

impl Serialize for One<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (subject, recording) = (self.0, self.0.recording);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("command", recording.name())?;
        hyperfine_one(&mut map, subject)?;
        if !recording.conditions.parameters.is_empty() {
            map.serialize_entry("parameters", &recording.conditions.parameters)?;
        }
        map.end()
    }
}
