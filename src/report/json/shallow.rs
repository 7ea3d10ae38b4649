//! Line breaks where people look and `diff` works, none inside a run: objects are spread over
//! lines down to the parts of a result, what lies deeper stays on one line.

use std::io::{self, Write};

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;

use crate::sample::recording::list::{self, Piece};
use crate::sample::{Phase, Samples};

/// Depth of objects down to which each key has a line.
const KEYS: usize = 4;
/// Depth of arrays whose elements have a line each: results, and the lists inside a result's
/// offbench part.
const ELEMENTS: [usize; 2] = [2, 5];

/// Text that is JSON already; only for a serializer whose formatter writes bytes as they are.
struct Fragment<'a>(&'a [u8]);

impl Serialize for Fragment<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

/// Between the elements of a list that has one line.
pub(super) const ONE_LINE: &str = ",";
/// Between runs, which have a line each.
pub(super) const LINE_EACH: &str = ",\n     ";

/// Writes the runs of a phase, or of all, each made of these pieces; `between` is what the layout
/// puts between two elements at that depth.
pub(super) fn runs<S: Serializer>(
    serializer: S,
    samples: &Samples,
    phase: Option<Phase>,
    pieces: Vec<Piece<'_>>,
    between: &str,
) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(None)?;
    list::write(samples, phase, pieces, between, |part| {
        list.serialize_element(&Fragment(part))
    })?;
    list.end()
}

/// The layout of the document.
#[derive(Debug, Default)]
pub(super) struct Shallow {
    depth: usize,
}

impl Shallow {
    fn line<W: ?Sized + Write>(&self, out: &mut W) -> io::Result<()> {
        out.write_all(b"\n")?;
        for _ in 0..self.depth {
            out.write_all(b" ")?;
        }
        Ok(())
    }

    fn end<W: ?Sized + Write>(&mut self, out: &mut W, spread: bool, end: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if spread {
            self.line(out)?;
        }
        out.write_all(end)
    }
}

impl Formatter for Shallow {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        out.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        let spread = ELEMENTS.contains(&self.depth);
        self.end(out, spread, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        if ELEMENTS.contains(&self.depth) {
            self.line(out)?;
        }
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        out.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        let spread = self.depth <= KEYS;
        self.end(out, spread, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        if self.depth <= KEYS {
            self.line(out)?;
        }
        Ok(())
    }

    /// Bytes are text that is JSON already ([`Fragment`]).
    fn write_byte_array<W: ?Sized + Write>(&mut self, out: &mut W, text: &[u8]) -> io::Result<()> {
        out.write_all(text)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(if self.depth <= KEYS { b": " } else { b":" })
    }
}
