//! The `customSmallerIsBetter` input of github-action-benchmark. Units are fixed, because it
//! compares values of different days by name.

use std::io::{self, Write};

use serde::Serialize;

use super::Document;
use crate::analysis::Subject;
use crate::metric::{CPU, WALL};
use crate::stats::Estimate;

/// One series of its chart.
#[derive(Serialize)]
struct Entry {
    name: String,
    unit: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

/// The metrics that are worth a chart: id, word, unit, and how many of the unit a base unit has.
const CHARTS: [(&str, &str, &str, f64); 3] = [
    (WALL, "wall", "ms", 1e3),
    (CPU, "CPU", "ms", 1e3),
    ("rss", "peak RSS", "KiB", 1.0 / 1024.0),
];

/// Writes the file.
pub(super) fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    let subjects = &document.analysis.subjects;
    let entries: Vec<Entry> = subjects
        .iter()
        .flat_map(|subject| CHARTS.iter().filter_map(|chart| entry(subject, *chart)))
        .collect();
    serde_json::to_writer_pretty(&mut *out, &entries)?;
    out.write_all(b"\n")?;
    out.flush()
}

fn entry(
    subject: &Subject<'_>,
    (id, word, unit, scale): (&str, &str, &'static str, f64),
) -> Option<Entry> {
    let summary = subject.summary(id)?;
    let median = summary.get("median")?;
    Some(Entry {
        name: format!("{} ({word})", subject.name()),
        unit,
        value: median.value * scale,
        range: range(median, scale),
        extra: format!("median of {} runs", summary.runs),
    })
}

/// The longer side of the interval, as its charts expect.
fn range(median: Estimate, scale: f64) -> Option<String> {
    let limits = median.interval?;
    let half = (limits.high - median.value).max(median.value - limits.low) * scale;
    Some(format!("± {half:.3}"))
}
