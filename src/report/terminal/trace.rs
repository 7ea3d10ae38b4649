//! The table of calls that a traced run counted.

use super::layout::{columns_of, cut, right, wrap};
use crate::analysis::Subject;
use crate::diagnose::words::time;
use crate::report::Style;
use crate::sample::Trace;
use crate::sample::attribution::CallCount;
use crate::unit::{ratio, thousands};

/// Rows of the table.
const MOST_ROWS: usize = 12;
/// Share of the time in all calls below which one is not worth a row.
const LEAST_SHARE: f64 = 0.002;

/// The whole table with its heading; nothing without a traced run.
pub(super) fn lines(style: &Style, subject: &Subject<'_>) -> Vec<String> {
    let Some(trace) = &subject.recording.trace else {
        return Vec::new();
    };
    let mut lines = wrap("traced: ", &style.text(&heading(subject)), style.line());
    let rows: Vec<[String; 4]> = shown(trace).map(row).collect();
    let widths: Vec<usize> = (0..3)
        .map(|place| {
            let cells = rows.iter().map(|row| columns_of(&style.text(&row[place])));
            cells.max().unwrap_or(0)
        })
        .collect();
    for [calls, mean, total, detail] in &rows {
        let text = format!(
            "  {} {}  {} each  {} in all  {}",
            right(calls, widths[0]),
            if calls == "1" { "call " } else { "calls" },
            right(&style.text(mean), widths[1]),
            right(&style.text(total), widths[2]),
            style.text(detail)
        );
        lines.push(cut(style, text.trim_end(), style.line()));
    }
    for limit in &trace.limits {
        lines.extend(wrap("  = ", &style.text(limit), style.line()));
    }
    lines
}

/// How much slower the run was, and that there is more than the table shows.
pub(super) fn heading(subject: &Subject<'_>) -> String {
    let Some(trace) = &subject.recording.trace else {
        return String::new();
    };
    let diagnosis = subject.diagnosis.as_ref();
    let slower = diagnosis
        .and_then(|found| found.trace_slowdown)
        .map(|by| format!(", {} the measured", ratio(by)))
        .unwrap_or_default();
    let count: u64 = trace.calls.iter().map(|call| call.calls).sum();
    let more = trace.calls.len() - shown(trace).count();
    let more = match more {
        0 => String::new(),
        more => format!(", {more} more rows are not shown"),
    };
    format!(
        "{} blocking calls in a run of {}{slower}: times of calls are those of the slower run{more}",
        thousands(count),
        time(trace.wall)
    )
}

/// The calls that are worth a row.
fn shown(trace: &Trace) -> impl Iterator<Item = &CallCount> {
    let all: f64 = trace.calls.iter().map(|call| call.seconds).sum();
    let worth = move |call: &&CallCount| call.seconds >= LEAST_SHARE * all;
    trace.calls.iter().take(MOST_ROWS).take_while(worth)
}

fn row(call: &CallCount) -> [String; 4] {
    [
        thousands(call.calls),
        time(call.mean()),
        time(call.seconds),
        call.detail.clone(),
    ]
}

/// The same for files and build logs: one line a call.
pub(super) fn plain(subject: &Subject<'_>) -> Vec<String> {
    let Some(trace) = &subject.recording.trace else {
        return Vec::new();
    };
    let mut lines = vec![format!("  traced: {}", heading(subject))];
    for call in shown(trace) {
        let [calls, mean, total, detail] = row(call);
        let (mean, total) = (mean.replace(' ', ""), total.replace(' ', ""));
        lines.push(format!(
            "  call {} calls={calls} mean={mean} total={total} {detail}",
            call.cause.id()
        ));
    }
    lines.extend(trace.limits.iter().map(|limit| format!("  = {limit}")));
    lines
}
