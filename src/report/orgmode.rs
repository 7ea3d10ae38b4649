//! Emacs org-mode. A pipe ends a cell even in verbatim text, so it becomes the entity `\vert{}`.

use std::io::{self, Write};

use super::Document;
use super::markup::Markup;

/// Writes the file.
pub(super) fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    let markup = Markup::of(document);
    writeln!(out, "| {} |", markup.heads.join(" | "))?;
    writeln!(out, "|{}|", vec!["--"; markup.heads.len()].join("+"))?;
    for row in &markup.rows {
        let (command, cells) = (code(&row.command), row.cells.join(" | "));
        writeln!(out, "| {}{command} | {cells} |", row.number)?;
    }
    if !markup.sentences.is_empty() {
        writeln!(out)?;
    }
    for sentence in &markup.sentences {
        writeln!(out, "- {}", sentence.replace('|', "\\vert{}"))?;
    }
    out.flush()
}

/// Verbatim text; entities are only known outside of it, so a command with a pipe goes without.
fn code(text: &str) -> String {
    if text.contains('|') {
        text.replace('|', "\\vert{}")
    } else {
        format!("={text}=")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_survive() {
        assert_eq!(code("sleep `date`"), "=sleep `date`=");
        assert_eq!(code("a|b"), "a\\vert{}b");
    }
}
