//! Emacs org-mode. A pipe ends a cell even in verbatim text, so it becomes the entity `\vert{}`.

use std::io::{self, Write};

use super::Document;
use super::markup::Markup;

/// Writes the file.
pub(super) fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    let markup = Markup::of(document);
    writeln!(out, "| {} |", markup.heads.join(" | "))?;
    writeln!(out, "|{}|", vec!["--"; markup.heads.len()].join("+"))?;
    markup.rows(out, code, text)
}

/// Verbatim text; entities are only known outside of it, so a command with a pipe goes without.
fn code(text: &str) -> String {
    if text.contains('|') {
        self::text(text)
    } else {
        format!("={text}=")
    }
}

fn text(text: &str) -> String {
    text.replace('|', "\\vert{}")
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
