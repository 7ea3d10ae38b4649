//! What the gates say, one line a gate.

use super::layout::{columns_of, left, wrap};
use crate::gate::{Decision, Verdict};
use crate::report::{Kind, Style, Tone};

/// Widest column of conditions.
const WIDEST: usize = 32;
/// Usual column of conditions.
const USUAL: usize = 24;

/// The block of gates; with [`Kind::None`] only those that did not pass.
pub(super) fn lines(style: &Style, verdicts: &[Verdict], commands: usize) -> Vec<String> {
    let shown: Vec<&Verdict> = verdicts
        .iter()
        .filter(|verdict| style.kind != Kind::None || verdict.decision != Decision::Ok)
        .collect();
    if shown.is_empty() {
        return Vec::new();
    }
    let conditions: Vec<String> = shown
        .iter()
        .map(|verdict| {
            let number = (commands > 1).then(|| format!("{} ", verdict.command + 1));
            style.text(&format!(
                "{}{}",
                number.unwrap_or_default(),
                verdict.expression
            ))
        })
        .collect();
    let width = conditions
        .iter()
        .map(|text| columns_of(text))
        .max()
        .unwrap_or(0);
    let width = width.clamp(USUAL, WIDEST);
    let mut lines = vec!["gates".to_owned()];
    for (verdict, condition) in shown.iter().zip(conditions) {
        let first = format!(
            "  {}{}  ",
            left(word(verdict.decision), 8),
            left(&condition, width)
        );
        let reason = style.text(&verdict.reason);
        let fits = columns_of(&first) + columns_of(&reason) <= style.line();
        let mut block = if style.kind == Kind::Basic || fits {
            vec![format!("{first}{reason}")]
        } else {
            let mut block = vec![first.trim_end().to_owned()];
            block.extend(wrap(&" ".repeat(10), &reason, style.line()));
            block
        };
        if let Some(line) = block.first_mut() {
            let painted = style.paint(tone(verdict.decision), word(verdict.decision));
            *line = line.replacen(word(verdict.decision), &painted, 1);
        }
        lines.extend(block);
    }
    lines
}

/// `1 gate failed, 1 not decided`; `None` when every gate is ok.
#[must_use]
pub fn conclusion(verdicts: &[Verdict]) -> Option<String> {
    let count = |decision| {
        verdicts
            .iter()
            .filter(|one| one.decision == decision)
            .count()
    };
    let (failed, unsure) = (count(Decision::Fail), count(Decision::Unsure));
    let gates = |count: usize| if count == 1 { "gate" } else { "gates" };
    match (failed, unsure) {
        (0, 0) => None,
        (0, unsure) => Some(format!("{unsure} {} not decided", gates(unsure))),
        (failed, 0) => Some(format!("{failed} {} failed", gates(failed))),
        (failed, unsure) => Some(format!(
            "{failed} {} failed, {unsure} not decided",
            gates(failed)
        )),
    }
}

fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Fail => "FAIL",
        Decision::Ok => "ok",
        Decision::Unsure => "unsure",
    }
}

fn tone(decision: Decision) -> Tone {
    match decision {
        Decision::Fail => Tone::Bad,
        Decision::Ok => Tone::Good,
        Decision::Unsure => Tone::Caution,
    }
}
