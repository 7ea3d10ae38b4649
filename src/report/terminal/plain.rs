//! Plain lines for files, pipes and build logs: one thought a line, values that grep well.

use super::diagnosis::{remarks as diagnostic_remarks, sentence};
use super::histogram::shares;
use super::measures;
use super::summary::{DIGITS, Row, counts, cut_short, rows, via_shell};
use super::trace;
use crate::analysis::{Analysis, Subject, no_interval};
use crate::diagnose::{CauseLine, Diagnosis, Tier};
use crate::report::Style;
use crate::stats::Estimate;
use crate::unit::{bare_ratio, percent};

/// The lines of one command.
pub(super) fn command(style: &Style, subject: &Subject<'_>, number: Option<usize>) -> Vec<String> {
    let number = number
        .map(|number| format!("{number} "))
        .unwrap_or_default();
    let counts = counts(
        style,
        subject.counts,
        subject.recording.conditions.elapsed_s,
    );
    let name = subject.name();
    let mut lines = vec![format!("{number}{name}{}: {counts}", via_shell(subject))];
    lines.extend(cut_short(subject).map(|text| format!("  {text}")));
    let rows = rows(style, subject, DIGITS[0]);
    match rows.first() {
        _ if subject.counts.counted() == 0 => {
            lines.push(format!("  {}", measures::no_numbers(style, subject)));
        }
        None => {}
        Some(wall) => {
            let runs = no_interval(wall.summary.runs, wall.summary.settings.level);
            lines.push(format!("  {}", wall_line(wall)));
            let rest: Vec<String> = rows.iter().skip(1).map(median).collect();
            lines.extend((!rest.is_empty()).then(|| format!("  {}", rest.join("  "))));
            lines.extend(runs.map(|text| format!("  {text}")));
        }
    }
    lines.extend(measures::plain(style, subject));
    if let Some(diagnosis) = &subject.diagnosis {
        lines.extend(off_cpu(subject, diagnosis));
    }
    lines.extend(trace::plain(subject));
    lines.extend(remarks(subject));
    lines.into_iter().map(|line| style.text(&line)).collect()
}

fn remarks(subject: &Subject<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(diagnosis) = &subject.diagnosis {
        for finding in &diagnosis.findings {
            lines.push(format!("  {}: {}", finding.tier.id(), sentence(finding)));
        }
    }
    for warning in &subject.warnings {
        lines.push(format!("  warning: {}", warning.text));
    }
    lines.extend(
        subject
            .notes()
            .into_iter()
            .map(|note| format!("  note: {note}")),
    );
    lines
}

/// The lines below all commands.
pub(super) fn comparisons(style: &Style, analysis: &Analysis<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for versus in &analysis.comparisons {
        lines.push(style.text(&versus.sentence));
        lines.extend(
            versus
                .remarks
                .iter()
                .map(|text| style.text(&format!("  = {text}"))),
        );
    }
    lines
}

fn compact(row: &Row<'_>, value: f64) -> String {
    row.format.with_unit(value).replace(' ', "")
}

/// `median=46.9ms [46.2, 47.5]`.
fn estimate(row: &Row<'_>, found: Estimate) -> String {
    let interval = found.interval.map(|limits| {
        format!(
            " [{}, {}]",
            row.format.value(limits.low),
            row.format.value(limits.high)
        )
    });
    format!(
        "{}{}",
        compact(row, found.value),
        interval.unwrap_or_default()
    )
}

fn median(row: &Row<'_>) -> String {
    let found = row.summary.get("median");
    let text = found.map_or_else(|| "n/a".into(), |found| estimate(row, found));
    // `user~` marks a split that the kernel only samples: the mark goes to the value.
    let (label, mark) = match row.label.strip_suffix('~') {
        Some(label) => (label, "~"),
        None => (row.label.as_str(), ""),
    };
    format!("{label} median={mark}{text}")
}

fn wall_line(row: &Row<'_>) -> String {
    let point = |id: &str| {
        let found = row.summary.get(id);
        found.map(|found| format!(" {id}={}", compact(row, found.value)))
    };
    let p99 = if row.summary.p99_is_max() {
        Some(" p99=max".to_owned())
    } else {
        point("p99")
    };
    let parts = [
        point("mean"),
        point("stddev"),
        p99,
        point("min"),
        point("max"),
    ];
    let parts: String = parts.into_iter().flatten().collect();
    format!("{}{parts}", median(row))
}

/// `off-cpu 90% wall/cpu=9.7 [9.4, 10.0] severe disk-flush`.
fn off_cpu(subject: &Subject<'_>, diagnosis: &Diagnosis) -> Vec<String> {
    let off = match diagnosis.off_share {
        Some(share) => format!("off-cpu {}", percent(share)),
        None => shares(subject, diagnosis),
    };
    let found = diagnosis.ratio.map(|found| {
        let limits = found
            .interval
            .map(|limits| (bare_ratio(limits.low), bare_ratio(limits.high)));
        let limits = limits.map(|(low, high)| format!(" [{low}, {high}]"));
        format!(
            " wall/cpu={}{}",
            bare_ratio(found.value),
            limits.unwrap_or_default()
        )
    });
    let tier = match diagnosis.tier {
        Tier::None => String::new(),
        tier => format!(" {}", tier.id()),
    };
    let cause = diagnosis.cause.filter(|_| diagnosis.headline.is_some());
    let cause = cause
        .map(|cause| format!(" {}", cause.id()))
        .unwrap_or_default();
    let mut lines = vec![format!("  {off}{}{tier}{cause}", found.unwrap_or_default())];
    if diagnosis.headline.is_some() {
        lines.extend(diagnosis.causes.iter().map(cause_line));
        lines.extend(
            diagnosis
                .consequence
                .iter()
                .map(|text| format!("  = {text}")),
        );
        lines.extend(diagnostic_lines(diagnosis));
        lines.extend(diagnosis.help.iter().map(|text| format!("  help: {text}")));
    } else if let Some(explained) = &diagnosis.explained {
        lines.push(format!("  explained: {}", explained.summary));
        lines.extend(diagnosis.named().map(cause_line));
        lines.extend(diagnostic_lines(diagnosis));
    }
    lines
}

fn diagnostic_lines(diagnosis: &Diagnosis) -> impl Iterator<Item = String> + '_ {
    diagnostic_remarks(diagnosis)
        .iter()
        .map(|text| format!("  = {text}"))
}

fn cause_line(line: &CauseLine) -> String {
    let bound = if line.at_least { ">=" } else { "" };
    let time = crate::diagnose::words::time(line.seconds).replace(' ', "");
    let remark = match line.remark.as_str() {
        "" => String::new(),
        remark => format!(" ({remark})"),
    };
    format!(
        "  cause {} {bound}{} {time} {}{remark}",
        line.cause.id(),
        percent(line.share),
        line.detail
    )
}
