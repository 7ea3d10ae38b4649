//! Other sessions: commands against their baselines, and sessions merged.

use super::layout::{columns_of, left, wrap};
use crate::analysis::sessions::MergedBenchmark;
use crate::analysis::{Analysis, Merged, Subject};
use crate::metric::WALL;
use crate::report::Style;
use crate::unit::{TimeFormat, thousands};

/// What the baselines say, one sentence a command with its remarks.
pub(super) fn baselines(style: &Style, analysis: &Analysis<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for found in &analysis.baselines {
        lines.extend(wrap("", &style.text(&found.sentence), style.line()));
        for remark in &found.remarks {
            lines.extend(wrap("  = ", &style.text(remark), style.line()));
        }
    }
    lines
}

/// One block a benchmark with a line for each session, then the ratios over sessions.
pub(super) fn merged(style: &Style, analysis: &Analysis<'_>, merged: &Merged) -> Vec<String> {
    let several = merged.benchmarks.len() > 1;
    let mut lines = Vec::new();
    for (place, benchmark) in merged.benchmarks.iter().enumerate() {
        let number = if several {
            format!("{} ", place + 1)
        } else {
            String::new()
        };
        let title = format!(
            "{number}{}: {} sessions",
            benchmark.name,
            benchmark.sessions.len()
        );
        lines.push(style.text(&title));
        lines.extend(sessions(style, analysis, benchmark));
        lines.extend(wrap("  ", &style.text(&benchmark.sentence), style.line()));
        lines.push(String::new());
    }
    for versus in &merged.comparisons {
        lines.extend(wrap("", &style.text(&versus.sentence), style.line()));
    }
    lines
}

/// `  monday.json  105.2 ms [104.6, 106.1]  40 runs  host1`.
fn sessions(style: &Style, analysis: &Analysis<'_>, found: &MergedBenchmark) -> Vec<String> {
    let names: Vec<String> = found
        .sessions
        .iter()
        .map(|(_, file)| style.text(file))
        .collect();
    let width = names.iter().map(|name| columns_of(name)).max().unwrap_or(0);
    let places = found.sessions.iter().map(|(place, _)| *place);
    places
        .zip(names)
        .filter_map(|(place, name)| {
            let subject = analysis.subjects.get(place)?;
            let (median, runs) = (median(style, subject), subject.counts.counted());
            let host = subject.recording.host.hostname.as_deref().unwrap_or("");
            let runs = thousands(runs as u64);
            let line = format!("  {}  {median}  {runs} runs  {host}", left(&name, width));
            Some(style.text(line.trim_end()))
        })
        .collect()
}

fn median(style: &Style, subject: &Subject<'_>) -> String {
    let Some(found) = subject.summary(WALL).and_then(|wall| wall.get("median")) else {
        return "-".into();
    };
    let limits = found.interval.map(|i| (i.low, i.high));
    let unit = style.unit_for(found.value);
    let format = TimeFormat::around(unit, found.value, limits, style.unicode);
    let limits =
        limits.map(|(low, high)| format!(" [{}, {}]", format.value(low), format.value(high)));
    format.with_unit(found.value) + &limits.unwrap_or_default()
}
