//! What stands below the times of a command: memory and counts that were asked for, and what can
//! be said where no run succeeded.

use super::layout::{Column, left, right, table, wrap};
use crate::analysis::Subject;
use crate::metric::RSS;
use crate::report::{Choice, Style};
use crate::sample::Outcome;
use crate::stats::Summary;
use crate::unit::{TimeUnit, human_duration};

/// Instead of numbers: `no run succeeded: no numbers`, or that all were ended by the time limit.
pub(super) fn no_numbers(style: &Style, subject: &Subject<'_>) -> String {
    match timed_out(style, subject) {
        Some(text) => format!("wall {text}"),
        None => "no run succeeded: no numbers".into(),
    }
}

/// `> 2 s (timed out)` for a command that never ended in time.
pub(super) fn timed_out(style: &Style, subject: &Subject<'_>) -> Option<String> {
    let limit = subject.recording.conditions.timeout_s?;
    let ended_by_it = |outcome| outcome == Outcome::TimedOut;
    let samples = &subject.recording.samples;
    let all = samples.iter().all(|sample| ended_by_it(sample.outcome));
    let any = samples.iter().next().is_some();
    (all && any).then(|| {
        let time = match style.unit {
            Some(unit) => short(limit, unit, style.unicode),
            None => whole(limit, style.unicode),
        };
        format!("> {time} (timed out)")
    })
}

/// A limit without needless decimals: `2 s`, `1.5 s`, `200 ms`.
fn whole(seconds: f64, unicode: bool) -> String {
    human_duration(seconds, unicode).replace(".0 s", " s")
}

fn short(seconds: f64, unit: TimeUnit, unicode: bool) -> String {
    format!("{} {}", seconds * unit.per_second(), unit.name(unicode))
}

/// The lines of the chosen quantities that are no times.
pub(super) fn lines(style: &Style, subject: &Subject<'_>) -> Vec<String> {
    let rows: Vec<(Choice, &Summary)> = style
        .metrics
        .others()
        .filter(|one| !is_counter(one))
        .filter_map(|one| Some((one, subject.summary(one.metric.id)?)))
        .collect();
    let mut lines = if rows.is_empty() {
        Vec::new()
    } else {
        measured(style, subject, &rows)
    };
    if let Some(text) = counters(style, subject) {
        lines.extend(wrap("  counters ", &text, style.line()));
    }
    lines
}

/// The same for files and pipes: one thought a line.
pub(super) fn plain(style: &Style, subject: &Subject<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for choice in style.metrics.others().filter(|one| !is_counter(one)) {
        if let Some(summary) = subject.summary(choice.metric.id) {
            let text = median(subject, &choice, summary).replace(' ', "");
            lines.push(format!("  {} median={text}", choice.metric.id));
        }
    }
    lines.extend(counters(style, subject).map(|text| format!("  counters {text}")));
    lines
}

fn is_counter(choice: &Choice) -> bool {
    choice.metric.counter
}

fn point(summary: &Summary, id: &str) -> f64 {
    summary.get(id).map_or(f64::NAN, |found| found.value)
}

/// `12.3 MiB`, or `< 2.3 MiB` where no more is known than that it is not above offbench's own.
fn median(subject: &Subject<'_>, choice: &Choice, summary: &Summary) -> String {
    let bound = choice.metric.id == RSS && subject.rss_at_floor() == Some(true);
    let mark = if bound { "< " } else { "" };
    format!("{mark}{}", choice.text(point(summary, "median")))
}

fn measured(style: &Style, subject: &Subject<'_>, rows: &[(Choice, &Summary)]) -> Vec<String> {
    let cells = |cell: &dyn Fn(&Choice, &Summary) -> String| -> Vec<String> {
        let texts: Vec<String> = rows.iter().map(|(one, found)| cell(one, found)).collect();
        let width = texts.iter().map(String::len).max().unwrap_or(0);
        texts.iter().map(|text| right(text, width)).collect()
    };
    let range = |one: &Choice, found: &Summary| {
        let (low, high) = (point(found, "min"), point(found, "max"));
        format!("{} {} {}", one.text(low), style.dots(), one.text(high))
    };
    let column = |gap, cells| Column {
        gap,
        head: String::new(),
        cells,
        left: true,
    };
    let medians = cells(&|one, found| median(subject, one, found));
    let labels = rows.iter().map(|(one, _)| left(one.metric.label, 6));
    let mut columns = vec![column(2, labels.collect()), column(2, medians)];
    if !style.narrow() {
        columns.push(column(2, cells(&range)));
    }
    // The first line would be a head, and there is none.
    table(&columns)
        .into_iter()
        .filter(|line| !line.trim().is_empty())
        .collect()
}

/// `1.2 G instructions, 0.9 G cycles (1.33 a cycle), 12 k branch misses`.
fn counters(style: &Style, subject: &Subject<'_>) -> Option<String> {
    let chosen: Vec<Choice> = style.metrics.others().filter(is_counter).collect();
    if chosen.is_empty() {
        return None;
    }
    let value = |id: &str| subject.summary(id).map(|found| point(found, "median"));
    let mut parts: Vec<String> = chosen
        .iter()
        .filter_map(|one| {
            let count = value(one.metric.id)?;
            Some(format!("{} {}", one.text(count), one.metric.label))
        })
        .collect();
    if parts.is_empty() {
        return Some("not available here".into());
    }
    let both = style.metrics.holds("cycles") && style.metrics.holds("instructions");
    if let Some(ratio) = subject.instructions_per_cycle().filter(|_| both) {
        parts.push(format!("{ratio:.2} instructions a cycle"));
    }
    Some(parts.join(", "))
}
