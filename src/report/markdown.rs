//! GitHub-flavoured Markdown. Pipes and backticks in commands survive.

use std::io::{self, Write};

use super::Document;
use super::markup::Markup;

/// Writes the file.
pub(super) fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    let markup = Markup::of(document);
    writeln!(out, "| {} |", markup.heads.join(" | "))?;
    let last = markup.heads.len() - 1;
    let rules = (0..=last).map(|place| {
        if place == 0 || place == last {
            ":---"
        } else {
            "---:"
        }
    });
    writeln!(out, "|{}|", rules.collect::<Vec<_>>().join("|"))?;
    markup.rows(out, code, text)
}

/// A code span: its fence is longer than any run of backticks in it, and a pipe is escaped, which
/// tables ask for even there.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // A blank after the fence is stripped again where the text begins or ends with a backtick.
    let blank = if text.starts_with('`') || text.ends_with('`') || text.is_empty() {
        " "
    } else {
        ""
    };
    format!("{fence}{blank}{}{blank}{fence}", text.replace('|', "\\|"))
}

/// Running text in which nothing is markup.
fn text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '&'
        ) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_survive() {
        assert_eq!(code("a | b"), "`a \\| b`");
        assert_eq!(code("echo `date`"), "`` echo `date` ``");
        assert_eq!(code("a ``b` c"), "```a ``b` c```");
        assert_eq!(text("is <9.7> [9.4]"), "is \\<9.7\\> \\[9.4\\]");
    }
}
