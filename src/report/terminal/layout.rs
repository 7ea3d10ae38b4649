//! Putting text into columns: padding, cutting, wrapping, bars. Knows no numbers' meaning.

use crate::report::Style;
use crate::report::style::columns;

pub(super) use crate::report::style::{columns as columns_of, wrap};

/// The text with blanks before it, up to that width.
pub(super) fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(columns(text))))
}

/// The text with blanks after it, up to that width.
pub(super) fn left(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// The text in the middle, the odd blank after it.
pub(super) fn centered(text: &str, width: usize) -> String {
    let before = width.saturating_sub(columns(text)) / 2;
    left(&format!("{}{text}", " ".repeat(before)), width)
}

/// The beginning of a text that is too long, with dots at its end.
pub(super) fn cut(style: &Style, text: &str, width: usize) -> String {
    crate::report::style::cut(text, width, style.dots())
}

/// How many cells each share gets, so that all together fill the bar.
pub(super) fn cells(shares: &[f64], width: usize) -> Vec<usize> {
    let total: f64 = shares.iter().filter(|share| share.is_finite()).sum();
    if total <= 0.0 {
        return vec![0; shares.len()];
    }
    let exact = |share: f64| share.max(0.0) / total * width as f64;
    let mut cells: Vec<usize> = shares.iter().map(|share| exact(*share) as usize).collect();
    let missing = width.saturating_sub(cells.iter().sum());
    let mut order: Vec<usize> = (0..shares.len()).collect();
    let rest = |place: usize| exact(shares[place]).fract();
    order.sort_by(|a, b| rest(*b).total_cmp(&rest(*a)));
    for place in order.into_iter().take(missing) {
        cells[place] += 1;
    }
    cells
}

/// A bar of shares, each in its own character.
pub(super) fn bar(style: &Style, shares: &[f64; 4], width: usize) -> String {
    let glyphs = if style.unicode {
        ["█", "▓", "▒", "░"]
    } else {
        ["#", "+", ":", "."]
    };
    let cells = cells(shares, width);
    let parts = glyphs.iter().zip(cells);
    parts.map(|(glyph, count)| glyph.repeat(count)).collect()
}

/// Values in order as a line of bars. A cell that stands for several values shows the largest, so
/// that a single slow run is seen; one that stands for many shows their mean.
pub(super) fn sparkline(style: &Style, values: &[f64], width: usize) -> String {
    const UNICODE: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    const ASCII: [char; 8] = ['_', '.', '-', ':', '=', '+', '*', '#'];
    const MANY: usize = 8;
    let glyphs = if style.unicode { UNICODE } else { ASCII };
    let count = values.len().min(width);
    let cells: Vec<f64> = (0..count)
        .map(|cell| {
            let from = cell * values.len() / count;
            let part = &values[from..(cell + 1) * values.len() / count];
            if part.len() > MANY {
                part.iter().sum::<f64>() / part.len() as f64
            } else {
                part.iter().copied().fold(f64::NEG_INFINITY, f64::max)
            }
        })
        .collect();
    let low = cells.iter().copied().fold(f64::INFINITY, f64::min);
    let high = cells.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let scale = if high > low { 7.0 / (high - low) } else { 0.0 };
    let level = |value: f64| ((value - low) * scale).round() as usize;
    cells
        .into_iter()
        .map(|value| glyphs[level(value).min(7)])
        .collect()
}

/// One column of a table: its head and cells of one width.
pub(super) struct Column {
    /// Blanks before it.
    pub(super) gap: usize,
    /// What stands over it.
    pub(super) head: String,
    /// One cell a row.
    pub(super) cells: Vec<String>,
    /// Whether head and cells begin at the left edge.
    pub(super) left: bool,
}

impl Column {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| columns(cell));
        cells.chain([columns(&self.head)]).max().unwrap_or(0)
    }

    fn head(&self) -> String {
        if self.left {
            left(&self.head, self.width())
        } else {
            centered(&self.head, self.width())
        }
    }
}

/// Columns that a table of these columns takes.
pub(super) fn table_width(table: &[Column]) -> usize {
    table.iter().map(|column| column.gap + column.width()).sum()
}

/// The lines of a table, the head first.
pub(super) fn table(table: &[Column]) -> Vec<String> {
    let rows = table.first().map_or(0, |column| column.cells.len());
    let line = |cell: &dyn Fn(&Column) -> String| {
        let text: String = table
            .iter()
            .map(|column| " ".repeat(column.gap) + &cell(column))
            .collect();
        text.trim_end().to_owned()
    };
    let mut lines = vec![line(&Column::head)];
    for row in 0..rows {
        lines.push(line(&|column: &Column| {
            if column.left {
                left(&column.cells[row], column.width())
            } else {
                right(&column.cells[row], column.width())
            }
        }));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_between_words() {
        let lines = wrap(
            "  help: ",
            "group the flushes, or put the file on tmpfs",
            30,
        );
        assert_eq!(
            lines,
            [
                "  help: group the flushes, or",
                "        put the file on tmpfs"
            ]
        );
        assert_eq!(wrap("", "", 1), [""]);
        assert_eq!(wrap("  ", "abc def", 1).len(), 2);
    }

    #[test]
    fn long_names_are_cut() {
        let style = Style::default();
        assert_eq!(cut(&style, "abcdef", 4), "abc…");
        assert_eq!(cut(&style, "漢字漢字", 5), "漢字…");
        assert_eq!(cut(&style, "abc", 3), "abc");
        assert_eq!(cut(&style, "abc", 0), "…");
    }

    #[test]
    fn bars_are_filled() {
        let style = Style::default();
        assert_eq!(
            bar(&style, &[0.06, 0.04, 0.0, 0.9], 20),
            "█▓░░░░░░░░░░░░░░░░░░"
        );
        assert_eq!(cells(&[0.0; 4], 20), [0; 4]);
        assert_eq!(cells(&[1.0, 1.0, 1.0], 10).iter().sum::<usize>(), 10);
        assert_eq!(sparkline(&style, &[1.0, 2.0, 1.5], 10), "▁█▅");
        assert_eq!(sparkline(&style, &[1.0, 1.0], 10), "▁▁");
        assert_eq!(sparkline(&style, &[1.0, 9.0, 1.0, 1.0], 2), "█▁");
        assert_eq!(sparkline(&style, &[], 5), "");
    }
}
