//! Every form in which results leave: the terminal, and one file per export format.
//!
//! A report reads an [`Analysis`] and the verdicts of gates; it computes no number of its own.

#[cfg(test)]
pub(crate) mod fixture;
mod style;
pub mod terminal;

use crate::analysis::Analysis;
use crate::gate::Verdict;

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
