//! How reports look: one value, decided once by the command line, handed to everything that prints.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::Selection;
use crate::analysis::Analysis;
use crate::metric::WALL;
use crate::unit::{TimeUnit, display_escaped};

/// Which report people get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Tables and bars.
    #[default]
    Full,
    /// Plain lines that grep well: not a terminal, or `TERM=dumb`.
    Basic,
    /// Nothing but gates that did not pass.
    None,
}

/// In which order the rows of a table over all commands stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// As given.
    #[default]
    Auto,
    /// As given, said explicitly.
    Command,
    /// Fastest mean first.
    MeanTime,
}

impl Sort {
    /// The places of the commands in this order.
    pub(super) fn places(self, analysis: &Analysis<'_>) -> Vec<usize> {
        let mut places: Vec<usize> = (0..analysis.subjects.len()).collect();
        if self == Self::MeanTime {
            let mean = |place: &usize| {
                let wall = analysis.subjects[*place].summary(WALL);
                wall.and_then(|wall| wall.get("mean"))
                    .map_or(f64::INFINITY, |mean| mean.value)
            };
            places.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
        }
        places
    }
}

/// What a word stands for; never told by colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// A name.
    Strong,
    /// All is well.
    Good,
    /// Worth a look.
    Caution,
    /// Something is wrong.
    Bad,
}

/// How reports look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Which report.
    pub kind: Kind,
    /// Whether colours may be written.
    pub color: bool,
    /// Whether characters beyond ASCII may be written.
    pub unicode: bool,
    /// Columns of the terminal; 0 is unlimited.
    pub width: usize,
    /// Whether lines may be drawn and drawn again while runs go on.
    pub live: bool,
    /// The unit the user wants times in.
    pub unit: Option<TimeUnit>,
    /// Order of tables over all commands.
    pub sort: Sort,
    /// The quantities the user wants to see.
    pub metrics: Selection,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            kind: Kind::Full,
            color: false,
            unicode: true,
            width: 80,
            live: false,
            unit: None,
            sort: Sort::Auto,
            metrics: Selection::default(),
        }
    }
}

/// Below this many columns tables go vertical.
const NARROW: usize = 50;
/// Wider lines than this do not get easier to read.
const COMFORTABLE: usize = 80;

impl Style {
    /// Columns a table may take.
    #[must_use]
    pub fn room(&self) -> usize {
        if self.width == 0 {
            usize::MAX
        } else {
            self.width
        }
    }

    /// Columns of running text and headers.
    #[must_use]
    pub fn line(&self) -> usize {
        self.room().min(COMFORTABLE)
    }

    /// Whether tables go vertical.
    #[must_use]
    pub fn narrow(&self) -> bool {
        self.room() < NARROW
    }

    /// `…`, or what stands for it.
    #[must_use]
    pub fn dots(&self) -> &'static str {
        if self.unicode { "…" } else { ".." }
    }

    /// `±`, or what stands for it.
    #[must_use]
    pub fn plus_minus(&self) -> &'static str {
        if self.unicode { "±" } else { "+-" }
    }

    /// `σ`, or what stands for it.
    #[must_use]
    pub fn sigma(&self) -> &'static str {
        if self.unicode { "σ" } else { "sd" }
    }

    /// The unit for a row of times around that median.
    #[must_use]
    pub fn unit_for(&self, median: f64) -> TimeUnit {
        self.unit.unwrap_or_else(|| TimeUnit::for_median(median))
    }

    /// Text in the characters that may be written; control characters, which a foreign file may
    /// hold, become escapes.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        let text = &display_escaped(text.as_ref());
        if self.unicode || text.is_ascii() {
            return text.clone().into_owned();
        }
        let mut ascii = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '\u{b5}' | '\u{3bc}' => ascii.push('u'),
                '±' => ascii.push_str("+-"),
                '…' => ascii.push_str(".."),
                'σ' => ascii.push_str("sd"),
                '–' | '—' | '−' => ascii.push('-'),
                '×' => ascii.push('x'),
                '≥' => ascii.push_str(">="),
                c if c.is_ascii() => ascii.push(c),
                c => ascii.extend(c.escape_unicode()),
            }
        }
        ascii
    }

    /// A word in the colour of its tone, if colours may be written.
    #[must_use]
    pub fn paint(&self, tone: Tone, word: &str) -> String {
        if self.color && !word.is_empty() {
            super::terminal::paint(tone, word)
        } else {
            word.to_owned()
        }
    }
}

/// Columns a text takes on a terminal.
#[must_use]
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// The beginning of a text that is too long, with dots at its end.
pub(crate) fn cut(text: &str, width: usize, dots: &str) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut room = width.saturating_sub(columns(dots));
    let mut short = String::new();
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if wide > room {
            break;
        }
        room -= wide;
        short.push(c);
    }
    short + dots
}

/// A text broken between words. The first line begins with `first`, the others with blanks of
/// that width. A word longer than a line stands alone.
pub(crate) fn wrap(first: &str, text: &str, width: usize) -> Vec<String> {
    let indent = columns(first).min(width / 2);
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    let mut empty = true;
    let mut blanks = 0;
    for word in text.split(' ') {
        if word.is_empty() {
            blanks += 1;
            continue;
        }
        let gap = if empty { 0 } else { 1 + blanks };
        if !empty && columns(&line) + gap + columns(word) > width {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
        } else {
            line.push_str(&" ".repeat(gap));
        }
        line.push_str(word);
        (empty, blanks) = (false, 0);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_keeps_the_meaning() {
        let style = Style {
            unicode: false,
            ..Style::default()
        };
        assert_eq!(style.text("12 µs ± 3 … é"), "12 us +- 3 .. \\u{e9}");
        assert_eq!(Style::default().text("12 µs"), "12 µs");
        assert_eq!(Style::default().text("a\u{1b}[31m"), "a\\x1b[31m");
    }

    #[test]
    fn no_width_is_no_limit() {
        let style = Style {
            width: 0,
            ..Style::default()
        };
        assert_eq!(style.line(), 80);
        assert!(!style.narrow() && style.room() > 1_000);
    }
}
