//! Where the time of a run went, as one bar, and the runs in their order, as one line.

use super::layout::{bar, columns_of, sparkline, wrap};
use super::summary::{DIGITS, row_format};
use crate::analysis::Subject;
use crate::diagnose::{Diagnosis, Slices, Tier};
use crate::metric::WALL;
use crate::report::Style;
use crate::unit::percent;

/// Widest bar.
const WIDEST: usize = 37;
/// A bar shorter than this says nothing.
const SHORTEST: usize = 8;
/// Columns before a bar, and between a bar and its words.
const BEFORE: usize = 10;
const BETWEEN: usize = 3;
/// Share of wall time from which queueing and hidden work are named beside the bar.
const WORTH_NAMING: f64 = 0.05;

/// The bar, and the runs in order where their order or spread is a finding.
pub(super) fn lines(style: &Style, subject: &Subject<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(diagnosis) = &subject.diagnosis {
        if !diagnosis.incomplete {
            lines.extend(spent(style, subject, diagnosis));
        }
    }
    let loud = subject
        .diagnosis
        .as_ref()
        .is_some_and(|found| found.tier >= Tier::Warning);
    if (loud || !subject.warnings.is_empty()) && subject.counts.counted() > 2 {
        lines.extend(runs(style, subject));
    }
    lines
}

/// The shares of wall time as words.
pub(super) fn shares(subject: &Subject<'_>, diagnosis: &Diagnosis) -> String {
    let slices = &diagnosis.slices;
    let sampled = subject.split_is_sampled() == Some(true);
    let about = if sampled { "~" } else { "" };
    let Some(off) = diagnosis.off_share else {
        return parallel(diagnosis, about);
    };
    // CPU time includes the child's before exec: of that no share of wall is more than all.
    let cpu = slices.user + slices.system + slices.hidden_cpu.unwrap_or(0.0);
    let of = |seconds: f64| seconds / slices.wall.max(cpu);
    let mut words = vec![
        format!("user {about}{}", percent(of(slices.user))),
        format!("sys {about}{}", percent(of(slices.system))),
    ];
    let hidden = of(slices.hidden_cpu.unwrap_or(0.0));
    if hidden >= 0.01 {
        words.push(format!("hidden {}", percent(hidden)));
    }
    let queued = of(slices.queued.unwrap_or(0.0));
    let note = if queued >= WORTH_NAMING {
        format!(" (queued {})", percent(queued))
    } else {
        String::new()
    };
    words.push(format!("off-CPU {}{note}", percent(off)));
    words.join("  ")
}

/// More than one CPU was busy: shares of wall time would exceed it.
fn parallel(diagnosis: &Diagnosis, about: &str) -> String {
    let slices = &diagnosis.slices;
    let cpu = slices.user + slices.system;
    let split = format!(
        "user {about}{}  sys {about}{}",
        percent(slices.user / cpu),
        percent(slices.system / cpu)
    );
    match diagnosis.cpus_busy {
        _ if diagnosis.incomplete => "CPU is incomplete".into(),
        Some(busy) => format!("{split}  {busy:.1} CPUs busy on average"),
        None => split,
    }
}

fn parts(slices: &Slices) -> [f64; 4] {
    let queued = slices.queued.filter(|_| slices.waiting.is_some());
    [
        slices.user,
        slices.system + slices.hidden_cpu.unwrap_or(0.0),
        queued.unwrap_or(0.0),
        slices.waiting.unwrap_or(0.0),
    ]
}

fn spent(style: &Style, subject: &Subject<'_>, diagnosis: &Diagnosis) -> Vec<String> {
    let words = shares(subject, diagnosis);
    let draw = |width| bar(style, &parts(&diagnosis.slices), width);
    with_bar(style, "  spent   ", draw, &words)
}

fn runs(style: &Style, subject: &Subject<'_>) -> Vec<String> {
    let Some(wall) = subject.summary(WALL) else {
        return Vec::new();
    };
    let all: Vec<f64> = subject
        .recording
        .measured_fields(&["wall_s"])
        .map(|s| s.wall.as_secs_f64())
        .collect();
    let format = row_format(style, wall, None, DIGITS[1]);
    let limit = |id: &str| wall.get(id).map_or(0.0, |found| found.value);
    let words = format!(
        "in run order, {} {} {}",
        format.value(limit("min")),
        style.dots(),
        format.with_unit(limit("max"))
    );
    with_bar(
        style,
        "  runs    ",
        |width| sparkline(style, &all, width),
        &words,
    )
}

/// A bar with its words after it, or below it where there is no room.
fn with_bar(
    style: &Style,
    label: &str,
    draw: impl Fn(usize) -> String,
    words: &str,
) -> Vec<String> {
    let room = style.line();
    let beside = room
        .saturating_sub(BEFORE + BETWEEN + columns_of(words))
        .min(WIDEST);
    if beside >= SHORTEST {
        return vec![format!("{label}{}   {words}", draw(beside))];
    }
    let below = room.saturating_sub(BEFORE).min(WIDEST);
    if below < SHORTEST {
        return wrap("  ", words, room);
    }
    let mut lines = vec![format!("{label}{}", draw(below))];
    lines.extend(wrap("  ", words, room));
    lines
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::analysis::{Question, analyze};
    use crate::sample::{Conditions, Host, Recording, Sample};

    #[test]
    fn no_share_of_wall_is_more_than_all() {
        let mut recording = Recording::new(Host::default(), Conditions::default());
        let mut sample = Sample {
            wall: Duration::from_secs(1),
            ..Sample::default()
        };
        sample.usage.user = Duration::from_millis(1018);
        sample.readings.queued = Some(Duration::from_millis(100));
        recording.samples.push(&sample);
        let all = [recording];
        let analysis = analyze(&all, &Question::default());
        let subject = &analysis.subjects[0];
        let found = subject.diagnosis.as_ref().unwrap();
        assert_eq!(shares(subject, found), "user 100%  sys 0%  off-CPU 0%");
    }
}
