//! The block of one command: how often it ran, its table, and where its time went.

use super::layout::{Column, centered, columns_of, cut, left, right, table, table_width, wrap};
use super::{histogram, measures};
use crate::analysis::{Counts, Subject, no_interval};
use crate::metric::{METRICS, Metric};
use crate::report::{ChosenUnit, Style, Tone};
use crate::sample::recording::CutShort;
use crate::stats::Summary;
use crate::unit::{TimeFormat, TimeUnit, Unit, human_duration, level, thousands};

/// Most digits of a time where there is room for them, and where there is not.
pub(super) const DIGITS: [usize; 2] = [5, 4];

/// The header of a command's block.
pub(super) fn header(style: &Style, subject: &Subject<'_>, number: Option<usize>) -> Vec<String> {
    let number = number
        .map(|number| format!("{number} "))
        .unwrap_or_default();
    let via = style.text(&via_shell(subject));
    let counts = counts(
        style,
        subject.counts,
        subject.recording.conditions.elapsed_s,
    );
    let width = style.line();
    let taken = columns_of(&number) + columns_of(&via);
    let least = (columns_of(subject.name()) + taken).min(24);
    let mut lines = Vec::new();
    if !style.narrow() && least + 2 + columns_of(&counts) <= width {
        let room = width - columns_of(&counts) - 2 - taken;
        let name = cut(style, &style.text(subject.name()), room);
        let blanks = width - taken - columns_of(&name) - columns_of(&counts);
        let name = style.paint(Tone::Strong, &name);
        lines.push(format!("{number}{name}{via}{}{counts}", " ".repeat(blanks)));
    } else {
        let name = cut(
            style,
            &style.text(subject.name()),
            width.saturating_sub(taken),
        );
        lines.push(format!("{number}{}{via}", style.paint(Tone::Strong, &name)));
        lines.extend(wrap("", &counts, width));
    }
    if let Some(text) = cut_short(subject) {
        lines.extend(wrap("  ", &style.text(&text), width));
    }
    lines
}

/// ` (via sh)` for a command that a shell runs.
pub(super) fn via_shell(subject: &Subject<'_>) -> String {
    let shell = subject.recording.conditions.shell.as_deref();
    let word = shell.and_then(|line| line.split_whitespace().next());
    word.map_or_else(String::new, |word| {
        format!(" (via {})", word.rsplit('/').next().unwrap_or(word))
    })
}

/// `60 runs, 1 warm-up, 3.2 s`.
pub(super) fn counts(style: &Style, counts: Counts, elapsed: f64) -> String {
    let many = |count: usize, one: &str, more: &str| {
        let word = if count == 1 { one } else { more };
        format!("{} {word}", thousands(count as u64))
    };
    let mut parts = vec![many(counts.measured, "run", "runs")];
    if counts.failed > 0 {
        parts.push(format!("failed {} of {}", counts.failed, counts.measured));
    }
    if counts.warmup > 0 {
        parts.push(many(counts.warmup, "warm-up", "warm-ups"));
    }
    if elapsed > 0.0 {
        parts.push(style.text(&human_duration(elapsed, true)));
    }
    parts.join(", ")
}

/// `cut short after 7 runs: interrupted`.
pub(super) fn cut_short(subject: &Subject<'_>) -> Option<String> {
    let recording = subject.recording;
    let why = match recording.cut_short.as_ref()? {
        // That no measured run is missing, and what is, is told below.
        CutShort::Interrupted if recording.lacks_diagnosis_only() => return None,
        CutShort::Interrupted => "interrupted",
        CutShort::Failed(sentence) => sentence,
    };
    let runs = subject.counts.measured;
    let word = if runs == 1 { "run" } else { "runs" };
    Some(format!("cut short after {runs} {word}: {why}"))
}

/// Everything below the header but remarks.
pub(super) fn body(style: &Style, subject: &Subject<'_>) -> Vec<String> {
    let rows = rows(style, subject, DIGITS[0]);
    if subject.counts.counted() == 0 {
        return vec![format!("  {}", measures::no_numbers(style, subject))];
    }
    let Some(first) = rows.first() else {
        let mut lines = measures::lines(style, subject);
        lines.extend(histogram::lines(style, subject));
        return lines;
    };
    let mut lines = if style.narrow() {
        vertical(style, &rows)
    } else {
        horizontal(style, subject)
    };
    lines.extend(measures::lines(style, subject));
    let wall = first.summary;
    if let Some(text) = no_interval(wall.runs, wall.settings.level) {
        lines.extend(wrap("  ", &text, style.line()));
    }
    lines.extend(histogram::lines(style, subject));
    lines
}

/// One metric with the way its times are printed.
pub(super) struct Row<'a> {
    pub(super) label: String,
    pub(super) summary: &'a Summary,
    pub(super) format: TimeFormat,
    /// Whether its unit goes without saying.
    pub(super) bare: bool,
}

/// The rows of the table on the terminal.
pub(super) fn rows<'a>(style: &Style, subject: &'a Subject<'_>, digits: usize) -> Vec<Row<'a>> {
    let sampled = subject.split_is_sampled() == Some(true);
    let mut rows: Vec<Row<'a>> = Vec::new();
    for (metric, unit) in shown_times(style) {
        let Some(summary) = subject.summary(metric.id) else {
            continue;
        };
        let first = rows.first().map(|row| row.format);
        let style = Style { unit, ..*style };
        let format = row_format(&style, summary, first, digits);
        rows.push(Row {
            label: label(metric, sampled),
            summary,
            format,
            bare: false,
        });
    }
    let unit = rows.first().map(|row| row.format.unit);
    let same = rows.iter().all(|row| Some(row.format.unit) == unit);
    for row in rows.iter_mut().skip(1) {
        row.bare = same;
    }
    rows
}

/// The times in the table, each with the unit that was asked for.
fn shown_times(style: &Style) -> Vec<(&'static Metric, Option<TimeUnit>)> {
    if style.metrics.is_empty() {
        let usual = METRICS.iter().filter(|metric| metric.headline);
        return usual.map(|metric| (metric, style.unit)).collect();
    }
    let times = style
        .metrics
        .iter()
        .filter(|one| one.metric.unit == Unit::Time);
    times
        .map(|one| match one.unit {
            ChosenUnit::Time(unit) => (one.metric, Some(unit)),
            _ => (one.metric, style.unit),
        })
        .collect()
}

fn label(metric: &Metric, sampled: bool) -> String {
    let split = metric.id == "user" || metric.id == "sys";
    let mark = if sampled && split { "~" } else { "" };
    format!("{}{mark}", metric.label)
}

/// Rounded to the first two digits of the interval, but no finer than the first row of the same
/// unit unless the value is small.
pub(super) fn row_format(
    style: &Style,
    summary: &Summary,
    first: Option<TimeFormat>,
    digits: usize,
) -> TimeFormat {
    let median = summary.get("median");
    let value = median.map_or(0.0, |median| median.value);
    let limits = median.and_then(|median| median.interval);
    let limits = limits.map(|found| (found.low, found.high));
    // Zero has no size of its own to choose a unit by.
    let unit = match first {
        Some(first) if value == 0.0 => first.unit,
        _ => style.unit_for(value),
    };
    let mut format = TimeFormat::around(unit, value, limits, style.unicode);
    let shown = value.abs() * unit.per_second();
    format.decimals = format.decimals.min(decimals(shown, digits));
    if let Some(first) = first.filter(|first| first.unit == unit) {
        let own = crate::unit::decimals_of_width(shown);
        format.decimals = format.decimals.min(first.decimals.max(own));
    }
    format
}

/// Decimals that make that many digits of a number, at least one.
fn decimals(shown: f64, digits: usize) -> usize {
    let before = if shown >= 1.0 {
        shown.log10() as usize + 1
    } else {
        1
    };
    digits.saturating_sub(before).max(1)
}

/// The values of one row as text.
struct Texts {
    unit: String,
    median: String,
    interval: Option<(String, String)>,
    mean: String,
    sigma: String,
    p99: String,
    range: (String, String),
}

fn texts(row: &Row<'_>) -> Texts {
    let value = |id: &str| row.summary.get(id).map(|found| found.value);
    let text = |id: &str| value(id).map_or_else(|| "-".into(), |value| row.format.value(value));
    let interval = row.summary.get("median").and_then(|median| median.interval);
    Texts {
        unit: if row.bare {
            String::new()
        } else {
            unit_text(row.format)
        },
        median: text("median"),
        interval: interval.map(|found| (row.format.value(found.low), row.format.value(found.high))),
        mean: text("mean"),
        sigma: text("stddev"),
        p99: if row.summary.p99_is_max() {
            "=max".into()
        } else {
            text("p99")
        },
        range: (text("min"), text("max")),
    }
}

fn unit_text(format: TimeFormat) -> String {
    TimeUnit::name(format.unit, format.unicode).to_owned()
}

/// Texts at the right edge of the widest of them.
fn aligned<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let width = texts.clone().map(columns_of).max().unwrap_or(0);
    texts.map(|text| right(text, width)).collect()
}

fn horizontal(style: &Style, subject: &Subject<'_>) -> Vec<String> {
    let mut shown = Shown::ALL;
    for digits in DIGITS {
        let rows = rows(style, subject, digits);
        let all: Vec<Texts> = rows.iter().map(texts).collect();
        let last = digits == DIGITS[DIGITS.len() - 1];
        let mut columns = build(style, &rows, &all, shown);
        while last && table_width(&columns) > style.room() && shown.drop_next() {
            columns = build(style, &rows, &all, shown);
        }
        if last || table_width(&columns) <= style.room() {
            return table(&columns);
        }
    }
    Vec::new()
}

/// Which columns the table has.
#[allow(
    clippy::struct_excessive_bools,
    reason = "columns come and go one by one"
)]
#[derive(Clone, Copy)]
struct Shown {
    interval: bool,
    mean: bool,
    sigma: bool,
    p99: bool,
    range: bool,
}

impl Shown {
    const ALL: Self = Self {
        interval: true,
        mean: true,
        sigma: true,
        p99: true,
        range: true,
    };

    /// Drops what is missed least; false when nothing is left to drop.
    fn drop_next(&mut self) -> bool {
        let order = [
            &mut self.range,
            &mut self.p99,
            &mut self.sigma,
            &mut self.mean,
            &mut self.interval,
        ];
        match order.into_iter().find(|column| **column) {
            Some(column) => {
                *column = false;
                true
            }
            None => false,
        }
    }
}

fn build(style: &Style, rows: &[Row<'_>], all: &[Texts], shown: Shown) -> Vec<Column> {
    let units: Vec<String> = {
        let width = all
            .iter()
            .map(|row| columns_of(&row.unit))
            .max()
            .unwrap_or(0);
        all.iter()
            .map(|row| format!(" {}", left(&row.unit, width)))
            .collect()
    };
    let united = |texts: Vec<String>| -> Vec<String> {
        texts
            .iter()
            .zip(&units)
            .map(|(text, unit)| format!("{text}{unit}"))
            .collect()
    };
    let medians = aligned(all.iter().map(|row| row.median.as_str()));
    let mut table = vec![labels(rows), column(2, "median", united(medians))];
    if shown.interval {
        let level = level(rows[0].summary.settings.level);
        table.push(column(
            2,
            &format!("{level} interval"),
            intervals(style, all),
        ));
    }
    if shown.mean {
        let means = aligned(all.iter().map(|row| row.mean.as_str()));
        let (head, means) = if shown.sigma {
            let head = format!("mean {} {}", style.plus_minus(), style.sigma());
            (head, spreads(style, &means, all))
        } else {
            ("mean".into(), means)
        };
        table.push(column(4, &head, united(means)));
    }
    if shown.p99 {
        table.push(column(
            3,
            "p99",
            aligned(all.iter().map(|row| row.p99.as_str())),
        ));
    }
    if shown.range {
        let head = format!("min {} max", style.dots());
        table.push(column(3, &head, united(ranges(style, all))));
    }
    table
}

fn column(gap: usize, head: &str, cells: Vec<String>) -> Column {
    Column {
        gap,
        head: head.to_owned(),
        cells,
        left: false,
    }
}

fn labels(rows: &[Row<'_>]) -> Column {
    Column {
        gap: 2,
        head: String::new(),
        cells: rows.iter().map(|row| left(&row.label, 6)).collect(),
        left: true,
    }
}

fn spreads(style: &Style, means: &[String], all: &[Texts]) -> Vec<String> {
    let sigmas = aligned(all.iter().map(|row| row.sigma.as_str()));
    let pairs = means.iter().zip(sigmas);
    let sign = style.plus_minus();
    pairs
        .map(|(mean, sigma)| format!("{mean} {sign} {sigma}"))
        .collect()
}

fn intervals(style: &Style, all: &[Texts]) -> Vec<String> {
    let side = |pick: fn(&(String, String)) -> &str| {
        aligned(
            all.iter()
                .map(move |row| row.interval.as_ref().map_or("", pick)),
        )
    };
    let (low, high) = (side(|pair| &pair.0), side(|pair| &pair.1));
    let texts: Vec<String> = low
        .iter()
        .zip(&high)
        .map(|(low, high)| format!("{low} {} {high}", style.dots()))
        .collect();
    let width = texts.first().map_or(0, |text| columns_of(text));
    texts
        .into_iter()
        .zip(all)
        .map(|(text, row)| {
            if row.interval.is_some() {
                text
            } else {
                centered("-", width.max(10))
            }
        })
        .collect()
}

fn ranges(style: &Style, all: &[Texts]) -> Vec<String> {
    let low = aligned(all.iter().map(|row| row.range.0.as_str()));
    let high = aligned(all.iter().map(|row| row.range.1.as_str()));
    let pairs = low.iter().zip(&high);
    pairs
        .map(|(low, high)| format!("{low} {} {high}", style.dots()))
        .collect()
}

fn vertical(style: &Style, rows: &[Row<'_>]) -> Vec<String> {
    let mut lines = Vec::new();
    let dots = style.dots();
    for row in rows {
        let texts = texts(row);
        let mut add = |label: &str, text: &str| {
            lines.push(cut(
                style,
                &format!("  {}{text}", left(label, 8)),
                style.room(),
            ));
        };
        add(
            &row.label,
            &format!("{} {}", texts.median, unit_text(row.format)),
        );
        if let Some((low, high)) = &texts.interval {
            let level = level(row.summary.settings.level);
            add(&format!("  {level}"), &format!("{low} {dots} {high}"));
        }
        add(
            "  mean",
            &format!("{} {} {}", texts.mean, style.plus_minus(), texts.sigma),
        );
        add(
            "  range",
            &format!("{} {dots} {}", texts.range.0, texts.range.1),
        );
    }
    lines
}
