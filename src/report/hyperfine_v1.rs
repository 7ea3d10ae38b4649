//! JSON exactly as hyperfine 1 writes it: no key more, none less.

use std::io::{self, Write};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::ser::{Formatter, PrettyFormatter};

use super::Document;
use super::json::hyperfine_one;
use crate::analysis::Subject;

/// Writes the file.
pub(super) fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, Pretty::default());
    File(document).serialize(&mut serializer)?;
    out.write_all(b"\n")
}

/// Between two runs, each on a line of its own.
const BETWEEN: &str = ",\n        ";

/// The usual layout, but bytes are text that is JSON already.
#[derive(Default)]
struct Pretty(PrettyFormatter<'static>);

/// Hands calls on to the usual layout.
macro_rules! as_usual {
    ($($name:ident($($argument:ident: $kind:ty)?);)+) => {$(
        fn $name<W: ?Sized + Write>(&mut self, out: &mut W $(, $argument: $kind)?) -> io::Result<()> {
            self.0.$name(out $(, $argument)?)
        }
    )+};
}

impl Formatter for Pretty {
    as_usual! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        begin_object_value();
        end_object_value();
    }

    fn write_byte_array<W: ?Sized + Write>(&mut self, out: &mut W, text: &[u8]) -> io::Result<()> {
        out.write_all(text)
    }
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
        hyperfine_one(&mut map, subject, BETWEEN)?;
        if !recording.conditions.parameters.is_empty() {
            map.serialize_entry("parameters", &recording.conditions.parameters)?;
        }
        map.end()
    }
}
