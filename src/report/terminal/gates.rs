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
            left(verdict.decision.word(), 8),
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
            let painted = style.paint(tone(verdict.decision), verdict.decision.word());
            *line = line.replacen(verdict.decision.word(), &painted, 1);
        }
        lines.extend(block);
    }
    lines
}

fn tone(decision: Decision) -> Tone {
    match decision {
        Decision::Fail => Tone::Bad,
        Decision::Ok => Tone::Good,
        Decision::Unsure => Tone::Caution,
    }
}
