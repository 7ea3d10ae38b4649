//! The table that Markdown, AsciiDoc and org-mode share: heads, cells, and sentences below it.
//! Cells are plain text; each format escapes for itself.

use std::io::{self, Write};

use super::Document;
use crate::analysis::Subject;
use crate::diagnose::Tier;
use crate::metric::{CPU, WALL};
use crate::stats::Summary;
use crate::unit::{
    TimeFormat, TimeUnit, bare_signed_percent, display_escaped, level, ratio, signed_percent,
};

/// A table with sentences.
pub(super) struct Markup {
    /// Names of the columns; the first is the command's, the others are numbers.
    pub(super) heads: Vec<String>,
    /// One row a command.
    pub(super) rows: Vec<Row>,
    /// What may be said, a sentence each.
    pub(super) sentences: Vec<String>,
}

/// One command.
pub(super) struct Row {
    /// `2. `, or nothing where there is one command.
    pub(super) number: String,
    /// Its name, without control characters.
    pub(super) command: String,
    /// A cell for each further column.
    pub(super) cells: Vec<String>,
}

impl Markup {
    /// The table of a document.
    pub(super) fn of(document: &Document<'_>) -> Self {
        let analysis = document.analysis;
        let unit = unit(document);
        let several = analysis.subjects.len() > 1;
        let name = unit.name(true);
        let level = level(analysis.question.settings.level);
        let mut heads = vec![
            "Command".to_owned(),
            format!("Median [{name}]"),
            format!("{level} interval [{name}]"),
            format!("Mean ± σ [{name}]"),
            format!("Min … max [{name}]"),
            format!("CPU [{name}]"),
            "Wall/CPU".to_owned(),
        ];
        if several {
            heads.push(format!("Wall vs {}", analysis.reference + 1));
        }
        heads.push("Remarks".to_owned());
        let rows = document
            .sort
            .places(document.analysis)
            .into_iter()
            .map(|place| {
                let subject = &analysis.subjects[place];
                let mut cells = cells(subject, unit);
                if several {
                    cells.push(change(document, place));
                }
                cells.push(remarks(subject));
                Row {
                    number: if several {
                        format!("{}. ", place + 1)
                    } else {
                        String::new()
                    },
                    command: display_escaped(subject.name().as_ref()).into_owned(),
                    cells,
                }
            });
        Self {
            heads,
            rows: rows.collect(),
            sentences: sentences(document),
        }
    }

    /// Rows with bars between their cells, and the sentences as a list below them.
    pub(super) fn rows(
        &self,
        out: &mut dyn Write,
        code: fn(&str) -> String,
        text: fn(&str) -> String,
    ) -> io::Result<()> {
        for row in &self.rows {
            let (command, cells) = (code(&row.command), row.cells.join(" | "));
            writeln!(out, "| {}{command} | {cells} |", row.number)?;
        }
        if !self.sentences.is_empty() {
            writeln!(out)?;
        }
        for sentence in &self.sentences {
            writeln!(out, "- {}", text(sentence))?;
        }
        out.flush()
    }
}

/// One unit for the whole table: the user's, or that of the first command.
fn unit(document: &Document<'_>) -> TimeUnit {
    let mut walls = document
        .analysis
        .subjects
        .iter()
        .filter_map(|one| one.median(WALL));
    let fitting = || TimeUnit::for_median(walls.next().unwrap_or(0.0));
    document.unit.unwrap_or_else(fitting)
}

fn cells(subject: &Subject<'_>, unit: TimeUnit) -> Vec<String> {
    let nothing = || "n/a".to_owned();
    let Some(wall) = subject.summary(WALL) else {
        return vec![nothing(); 6];
    };
    let format = format(wall, unit);
    let value = |id: &str| {
        wall.get(id)
            .map_or_else(nothing, |found| format.value(found.value))
    };
    let interval = wall.get("median").and_then(|found| found.interval);
    let interval = interval.map_or_else(nothing, |found| {
        format!("{} … {}", format.value(found.low), format.value(found.high))
    });
    let cpu = subject.summary(CPU).and_then(|cpu| {
        let median = cpu.get("median")?;
        Some(self::format(cpu, unit).value(median.value))
    });
    vec![
        value("median"),
        interval,
        format!("{} ± {}", value("mean"), value("stddev")),
        format!("{} … {}", value("min"), value("max")),
        cpu.unwrap_or_else(nothing),
        subject
            .ratio
            .map_or_else(nothing, |found| ratio(found.value)),
    ]
}

fn format(summary: &Summary, unit: TimeUnit) -> TimeFormat {
    let median = summary.get("median");
    let value = median.map_or(0.0, |found| found.value);
    let limits = median.and_then(|found| found.interval);
    TimeFormat::around(
        unit,
        value,
        limits.map(|found| (found.low, found.high)),
        true,
    )
}

fn change(document: &Document<'_>, place: usize) -> String {
    let versus = document
        .analysis
        .comparisons
        .iter()
        .find(|one| one.command == place);
    if place == document.analysis.reference {
        return "reference".to_owned();
    }
    let ratio = versus.and_then(|versus| versus.metric(WALL)?.ratio);
    let Some(found) = ratio else {
        return "n/a".to_owned();
    };
    let value = signed_percent(found.value - 1.0);
    let bare = |limit: f64| bare_signed_percent(limit - 1.0);
    match found.interval {
        Some(limits) => format!("{value} ({} to {})", bare(limits.low), bare(limits.high)),
        // Without an interval a difference says nothing, and would be read as a result.
        None => "n/a".to_owned(),
    }
}

fn remarks(subject: &Subject<'_>) -> String {
    let counts = subject.counts;
    let mut words = Vec::new();
    if let Some(found) = subject
        .diagnosis
        .as_ref()
        .filter(|found| found.tier > Tier::None)
    {
        let cause = found.cause.map(|cause| format!(" ({})", cause.id()));
        words.push(format!("{}{}", found.tier.id(), cause.unwrap_or_default()));
    }
    if counts.failed > 0 {
        words.push(format!("failed {} of {}", counts.failed, counts.measured));
    }
    if subject.recording.cut_short.is_some() {
        words.push("cut short".to_owned());
    }
    words.extend(subject.warnings.iter().map(|warning| warning.id.to_owned()));
    words.join(", ")
}

fn sentences(document: &Document<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    for versus in &document.analysis.comparisons {
        sentences.push(versus.sentence.clone());
        sentences.extend(versus.remarks.iter().cloned());
    }
    let several = document.analysis.subjects.len() > 1;
    for verdict in document.verdicts {
        let word = verdict.decision.word();
        let number = if several {
            format!("{} ", verdict.command + 1)
        } else {
            String::new()
        };
        sentences.push(format!(
            "gate {word}: {number}{} {}",
            verdict.expression, verdict.reason
        ));
    }
    sentences
}
