//! Every form in which results leave: the terminal, and one file per export format.
//!
//! A report reads an [`Analysis`] and the verdicts of gates; it computes no number of its own.

pub mod annotations;
mod asciidoc;
mod csv;
mod csv_runs;
mod date;
#[cfg(test)]
pub(crate) mod fixture;
mod github_action_benchmark;
mod hyperfine_v1;
pub mod json;
pub mod jsonl;
mod junit;
mod markdown;
mod markup;
mod openmetrics;
mod orgmode;
mod selection;
mod style;
pub mod terminal;

use std::io::{self, Write};

use crate::analysis::Analysis;
use crate::gate::Verdict;
use crate::unit::TimeUnit;

pub use selection::{Choice, ChosenUnit, Selection};
pub use style::{Kind, Sort, Style, Tone};
#[cfg(feature = "cli")]
pub(crate) use style::{columns, cut, wrap};

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
    /// The unit the user wants times in, where a format is for people.
    pub unit: Option<TimeUnit>,
    /// Order of rows, where a format is for people.
    pub sort: Sort,
}

impl<'a> Document<'a> {
    /// A document of this program's version, units and order by default.
    #[must_use]
    pub fn new(
        analysis: &'a Analysis<'a>,
        verdicts: &'a [Verdict],
        command_line: &'a [String],
    ) -> Self {
        Self {
            analysis,
            verdicts,
            command_line,
            version: env!("CARGO_PKG_VERSION"),
            unit: None,
            sort: Sort::Auto,
        }
    }
}

/// One form of a file.
#[derive(Debug)]
pub struct Format {
    /// Stable identifier in kebab case; `--export-<id>` writes it.
    pub id: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// Writes the whole file, in parts small and large: the writer is to buffer, and is not flushed.
    pub write: fn(&mut dyn Write, &Document<'_>) -> io::Result<()>,
}

/// Every form of a file.
pub static FORMATS: &[Format] = &[
    Format {
        id: "json",
        help: "Everything: readable as hyperfine 1 and 2, complete under the offbench keys",
        write: json::write,
    },
    Format {
        id: "hyperfine-v1",
        help: "JSON exactly as hyperfine 1 writes it",
        write: hyperfine_v1::write,
    },
    Format {
        id: "jsonl",
        help: "One JSON object a line: header, runs, summaries, gates",
        write: jsonl::write,
    },
    Format {
        id: "csv",
        help: "One row a command; the first columns are those of hyperfine",
        write: csv::write,
    },
    Format {
        id: "csv-runs",
        help: "One row a run",
        write: csv_runs::write,
    },
    Format {
        id: "markdown",
        help: "Markdown table with verdicts",
        write: markdown::write,
    },
    Format {
        id: "asciidoc",
        help: "AsciiDoc table with verdicts",
        write: asciidoc::write,
    },
    Format {
        id: "orgmode",
        help: "Emacs org-mode table with verdicts",
        write: orgmode::write,
    },
    Format {
        id: "junit",
        help: "JUnit XML: a test case for each command and gate",
        write: junit::write,
    },
    Format {
        id: "openmetrics",
        help: "OpenMetrics text for Prometheus and others",
        write: openmetrics::write,
    },
    Format {
        id: "github-action-benchmark",
        help: "JSON for github-action-benchmark, smaller is better",
        write: github_action_benchmark::write,
    },
];

impl Format {
    /// The format of that identifier.
    #[must_use]
    pub fn from_id(id: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.id == id)
    }
}

#[cfg(test)]
mod tests;
