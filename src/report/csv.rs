//! One row a command. The first eight columns are those of hyperfine, in seconds; ours carry their
//! unit in their name. Every statistic of wall time and the median of every other metric follow
//! their tables. What is not known is empty.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};

use super::Document;
use super::json::point;
use crate::analysis::Subject;
use crate::metric::{METRICS, WALL, WALL_CPU};
use crate::stats::{Estimate, STATISTICS};
use crate::unit::Unit;

/// Writes the file.
pub(super) fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    let subjects = &document.analysis.subjects;
    let parameters: BTreeSet<&str> = subjects
        .iter()
        .flat_map(|subject| subject.recording.conditions.parameters.keys())
        .map(String::as_str)
        .collect();
    for (place, subject) in subjects.iter().enumerate() {
        let row = row(subject, &parameters);
        if place == 0 {
            record(out, row.iter().map(|(head, _)| head.as_ref()))?;
        }
        record(out, row.iter().map(|(_, value)| value.as_str()))?;
    }
    Ok(())
}

/// Cells with the heads of their columns.
type Row = Vec<(Cow<'static, str>, String)>;

fn row(subject: &Subject<'_>, parameters: &BTreeSet<&str>) -> Row {
    let wall = point(subject, WALL);
    let mut row: Row = Vec::new();
    row.push(("command".into(), harmless(subject.name())));
    let hyperfine = [
        ("mean", wall.mean),
        ("stddev", wall.stddev),
        ("median", wall.median),
        ("user", point(subject, "user").mean),
        ("system", point(subject, "sys").mean),
        ("min", wall.min),
        ("max", wall.max),
    ];
    row.extend(hyperfine.map(|(head, value)| (head.into(), number(value))));
    for name in parameters {
        let value = subject.recording.conditions.parameters.get(*name);
        let value = value.map(|value| harmless(value)).unwrap_or_default();
        row.push((format!("parameter_{name}").into(), value));
    }
    row.push(("runs".into(), subject.counts.measured.to_string()));
    row.push(("failed".into(), subject.counts.failed.to_string()));
    row.push((
        "partial".into(),
        subject.recording.cut_short.is_some().to_string(),
    ));
    statistics(subject, &mut row);
    medians(subject, &mut row);
    interval("wall_cpu_ratio", "", subject.ratio, &mut row);
    let diagnosis = subject.diagnosis.as_ref();
    let tier = diagnosis.map_or("", |found| found.tier.id());
    let cause = diagnosis
        .and_then(|found| found.cause)
        .map_or("", |cause| cause.id());
    row.push(("tier".into(), tier.to_owned()));
    row.push(("cause".into(), cause.to_owned()));
    row
}

fn statistics(subject: &Subject<'_>, row: &mut Row) {
    let wall = subject.summary(WALL);
    for statistic in &STATISTICS {
        let found = wall.and_then(|wall| wall.get(statistic.id));
        let unit = if statistic.id == "cv" { "" } else { "_s" };
        let head = format!("wall_{}", statistic.id);
        if statistic.fewest_runs().is_some() {
            interval(&head, unit, found, row);
        } else {
            let value = number(found.map(|found| found.value));
            row.push((format!("{head}{unit}").into(), value));
        }
    }
}

fn medians(subject: &Subject<'_>, row: &mut Row) {
    for metric in METRICS
        .iter()
        .filter(|metric| metric.id != WALL && metric.id != WALL_CPU)
    {
        let found = subject
            .summary(metric.id)
            .and_then(|found| found.get("median"));
        let unit = match metric.unit {
            Unit::Time => "_s",
            Unit::Bytes => "_bytes",
            _ => "",
        };
        interval(&format!("{}_median", metric.key), unit, found, row);
    }
}

/// A value and its limits.
fn interval(head: &str, unit: &str, found: Option<Estimate>, row: &mut Row) {
    let limits = found.and_then(|found| found.interval);
    row.push((
        format!("{head}{unit}").into(),
        number(found.map(|found| found.value)),
    ));
    row.push((
        format!("{head}_low{unit}").into(),
        number(limits.map(|limits| limits.low)),
    ));
    row.push((
        format!("{head}_high{unit}").into(),
        number(limits.map(|limits| limits.high)),
    ));
}

/// A number with all its digits, or nothing.
pub(super) fn number(value: Option<f64>) -> String {
    let value = value.filter(|value| value.is_finite());
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Text that no spreadsheet takes for a formula: an apostrophe before `=`, `+`, `-` or `@`.
pub(super) fn harmless(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

/// Writes a record, quoted as RFC 4180 says.
pub(super) fn record<'a>(
    out: &mut dyn Write,
    cells: impl Iterator<Item = &'a str>,
) -> io::Result<()> {
    for (place, cell) in cells.enumerate() {
        if place > 0 {
            out.write_all(b",")?;
        }
        if cell.contains(['"', ',', '\n', '\r']) {
            write!(out, "\"{}\"", cell.replace('"', "\"\""))?;
        } else {
            out.write_all(cell.as_bytes())?;
        }
    }
    out.write_all(b"\n")
}
