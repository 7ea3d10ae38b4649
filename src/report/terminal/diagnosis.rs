//! What must be known beside the numbers: tier, causes, findings, warnings, notes.

use super::layout::{columns_of, cut, left, right, wrap};
use crate::analysis::Subject;
use crate::diagnose::{CauseLine, Diagnosis, Finding, Tier};
use crate::report::{Style, Tone};
use crate::unit::{TimeFormat, percent};

/// Every remark about a command, each a line or a wrapped paragraph.
pub(super) fn lines(style: &Style, subject: &Subject<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(diagnosis) = &subject.diagnosis {
        lines.extend(tier(style, diagnosis));
        if diagnosis.headline.is_none() {
            lines.extend(explained(style, diagnosis));
        }
        lines.extend(super::trace::lines(style, subject));
        for finding in &diagnosis.findings {
            lines.extend(remark(style, finding.tier, &sentence(finding)));
        }
    }
    for warning in &subject.warnings {
        lines.extend(remark(style, Tier::Warning, &warning.text));
    }
    for note in subject.notes() {
        lines.extend(remark(style, Tier::Note, &note));
    }
    lines
}

/// A finding with the id of its cause, for `--help-cause`.
pub(super) fn sentence(finding: &Finding) -> String {
    match finding.cause {
        Some(cause) => format!("{}  [{}]", finding.text, cause.id()),
        None => finding.text.clone(),
    }
}

/// A tier's word in its colour.
pub(super) fn word(style: &Style, tier: Tier) -> String {
    let tone = match tier {
        Tier::Severe => Tone::Bad,
        Tier::Warning => Tone::Caution,
        Tier::Note | Tier::None => return tier.id().to_owned(),
    };
    style.paint(tone, tier.id())
}

/// A sentence after its word, wrapped.
fn remark(style: &Style, tier: Tier, text: &str) -> Vec<String> {
    let mut lines = wrap(&format!("{}: ", tier.id()), &style.text(text), style.line());
    if let Some(first) = lines.first_mut() {
        *first = first.replacen(tier.id(), &word(style, tier), 1);
    }
    for line in lines.iter_mut().skip(1) {
        *line = format!("  {}", line.trim_start());
    }
    lines
}

fn tier(style: &Style, diagnosis: &Diagnosis) -> Vec<String> {
    let Some(headline) = &diagnosis.headline else {
        return Vec::new();
    };
    let id = diagnosis.cause.map(|cause| format!("  [{}]", cause.id()));
    let text = format!("{headline}{}", id.unwrap_or_default());
    let mut lines = remark(style, diagnosis.headline_tier, &text);
    lines.extend(causes(style, &diagnosis.causes));
    if let Some(text) = &diagnosis.consequence {
        lines.extend(wrap("  = ", &style.text(text), style.line()));
    }
    for text in remarks(diagnosis) {
        lines.extend(wrap("  = ", &style.text(text), style.line()));
    }
    for (place, help) in diagnosis.help.iter().enumerate() {
        let first = if place == 0 { "  help: " } else { "        " };
        let more = place + 1 < diagnosis.help.len();
        let text = format!("{}{}", style.text(help), if more { ";" } else { "" });
        lines.extend(wrap(first, &text, style.line()));
    }
    lines
}

/// What diagnostic runs add to a finding.
pub(super) fn remarks(diagnosis: &Diagnosis) -> &[String] {
    let explained = diagnosis.explained.as_ref();
    explained.map_or(&[], |found| &found.remarks)
}

/// What diagnostic runs found where that is no finding.
fn explained(style: &Style, diagnosis: &Diagnosis) -> Vec<String> {
    let Some(found) = &diagnosis.explained else {
        return Vec::new();
    };
    let mut lines = wrap("explained: ", &style.text(&found.summary), style.line());
    let named: Vec<CauseLine> = diagnosis.named().cloned().collect();
    lines.extend(causes(style, &named));
    for text in &found.remarks {
        lines.extend(wrap("  = ", &style.text(text), style.line()));
    }
    lines
}

/// One line a cause; their times share the unit of the largest.
fn causes(style: &Style, causes: &[CauseLine]) -> Vec<String> {
    let largest = causes.first().map_or(0.0, |line| line.seconds);
    let format = TimeFormat::around(style.unit_for(largest), largest, None, style.unicode);
    let times: Vec<String> = causes
        .iter()
        .map(|line| format.with_unit(line.seconds))
        .collect();
    let width = times.iter().map(|text| columns_of(text)).max().unwrap_or(0);
    let remarked = causes.iter().filter(|line| !line.remark.is_empty());
    let details = remarked.map(|line| columns_of(&style.text(&line.detail)));
    let widest = details.max().unwrap_or(0).clamp(19, 34);
    let rows = causes.iter().zip(&times).map(|(line, time)| {
        let bound = if line.at_least { ">=" } else { "" };
        let share = right(&format!("{bound}{}", percent(line.share)), 6);
        let detail = left(&style.text(&line.detail), widest);
        let remark = style.text(&line.remark);
        let text = format!("{share}  {}  {detail}  {remark}", right(time, width));
        cut(style, text.trim_end(), style.line())
    });
    rows.collect()
}
