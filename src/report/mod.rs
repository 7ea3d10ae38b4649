//! Every form in which results leave: the terminal, and one file per export format.
//!
//! A report reads an [`Analysis`] and the verdicts of gates; it computes no number of its own.

#[cfg(test)]
pub(crate) mod fixture;
mod selection;
mod style;
pub mod terminal;

use crate::analysis::Analysis;
use crate::gate::Verdict;

pub use selection::{Choice, ChosenUnit, Selection};
pub(crate) use style::columns;
pub use style::{Kind, Sort, Style, Tone};

/// Everything a report may show.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// What was computed.
    pub analysis: &'a Analysis<'a>,
    /// What the gates say.
    pub verdicts: &'a [Verdict],
    /// The arguments of this invocation, escaped for display.
    pub command_line: &'a [String],
    /// The version of this program.
    pub version: &'a str,
}

/// One export format.
#[derive(Debug)]
pub struct Format {
    /// The option is `--export-<id>`.
    pub id: &'static str,
    /// What it writes.
    pub help: &'static str,
    /// Writes a document.
    pub write: fn(&mut dyn std::io::Write, &Document<'_>) -> std::io::Result<()>,
}

/// Every export format.
pub static FORMATS: &[Format] = &[];
