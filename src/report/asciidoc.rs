//! AsciiDoc. Whatever could be markup in a command is written as a character reference.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::Document;
use super::markup::Markup;

/// Writes the file.
pub(super) fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    let markup = Markup::of(document);
    let last = markup.heads.len() - 1;
    let sides = (0..=last).map(|place| {
        if place == 0 || place == last {
            "<"
        } else {
            ">"
        }
    });
    writeln!(
        out,
        "[cols=\"{}\", options=\"header\"]",
        sides.collect::<Vec<_>>().join(",")
    )?;
    writeln!(out, "|===")?;
    let heads = markup.heads.iter().map(|head| format!("| {}", plain(head)));
    writeln!(out, "{}", heads.collect::<Vec<_>>().join(" "))?;
    for row in &markup.rows {
        writeln!(out, "\n| {}``{}``", row.number, plain(&row.command))?;
        for cell in &row.cells {
            writeln!(out, "| {}", plain(cell))?;
        }
    }
    writeln!(out, "|===")?;
    if !markup.sentences.is_empty() {
        writeln!(out)?;
    }
    for sentence in &markup.sentences {
        writeln!(out, "* {}", plain(sentence))?;
    }
    out.flush()
}

fn plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_punctuation() && !matches!(c, ',' | ';' | '/' | '%') {
            // Writing to a String cannot fail.
            let _ = write!(escaped, "&#{};", c as u32);
        } else {
            escaped.push(c);
        }
    }
    // Dots and dashes inside words and numbers are never markup; leave what people read in peace.
    escaped
        .replace("&#46;", ".")
        .replace("&#45;", "-")
        .replace("&#58;", ":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_survive() {
        assert_eq!(plain("a|`b` *c*"), "a&#124;&#96;b&#96; &#42;c&#42;");
        assert_eq!(plain("46.9 … 47.5, -35%"), "46.9 … 47.5, -35%");
    }
}
