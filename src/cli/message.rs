//! How errors and warnings look: `error: …`, `  = note: …`, `  help: …`, wrapped by word where a
//! terminal shows them.

use std::io::{self, IsTerminal, Write};

use crate::report::wrap;

/// One message with what belongs to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Message {
    kind: &'static str,
    text: String,
    notes: Vec<String>,
    quoted: Vec<String>,
    help: Vec<String>,
}

impl Message {
    /// Something went wrong.
    pub(crate) fn error(text: impl Into<String>) -> Self {
        Self {
            kind: "error",
            text: clean(&text.into()),
            ..Self::default()
        }
    }

    /// Something is probably not as meant.
    pub(crate) fn warning(text: impl Into<String>) -> Self {
        Self {
            kind: "warning",
            ..Self::error(text)
        }
    }

    /// Something to know.
    pub(crate) fn remark(text: impl Into<String>) -> Self {
        Self {
            kind: "note",
            ..Self::error(text)
        }
    }

    /// What must be known with it.
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(clean(&note.into()));
        self
    }

    /// Lines of somebody else, indented below the last note and never wrapped.
    pub(crate) fn quote(mut self, lines: Vec<String>) -> Self {
        self.quoted = lines;
        self
    }

    /// What to do about it, one line for each way.
    pub(crate) fn help(mut self, help: Option<&str>) -> Self {
        let lines = help.unwrap_or_default().lines();
        self.help.extend(lines.map(clean));
        self
    }

    /// The lines, at most that wide; 0 is no limit.
    fn render(&self, width: usize) -> String {
        let width = if width == 0 { usize::MAX } else { width };
        let mut lines = wrap(&format!("{}: ", self.kind), &self.text, width);
        for note in &self.notes {
            lines.extend(wrap("  = note: ", note, width));
        }
        lines.extend(self.quoted.iter().map(|line| format!("    {line}")));
        for help in &self.help {
            lines.extend(wrap("  help: ", help, width));
        }
        lines.join("\n") + "\n"
    }

    /// Writes it to standard error, which may be closed: then there is nobody left to tell.
    #[allow(clippy::disallowed_methods, reason = "cli hands out the writers")]
    pub(crate) fn say(&self) {
        let stderr = io::stderr();
        let width = if stderr.is_terminal() {
            crate::sys::terminal::columns().unwrap_or(80)
        } else {
            0
        };
        let _ = stderr.lock().write_all(self.render(width).as_bytes());
    }
}

/// What came from outside never reaches the terminal raw.
fn clean(text: &str) -> String {
    crate::unit::display_escaped(text.as_ref()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> Message {
        Message::error("cannot run the setup command: exit code 3")
            .note("its standard error ends with:")
            .quote(vec![
                "no such table: a very long line of somebody else".into(),
            ])
            .help(Some("mend it\nor leave it out"))
    }

    #[test]
    fn notes_and_help_stand_below_the_error() {
        let lines = message().render(0);
        let expected = "error: cannot run the setup command: exit code 3\n  \
                        = note: its standard error ends with:\n    \
                        no such table: a very long line of somebody else\n  \
                        help: mend it\n  help: or leave it out\n";
        assert_eq!(lines, expected);
    }

    #[test]
    fn lines_break_between_words() {
        let lines = message().render(30);
        assert!(lines.starts_with("error: cannot run the setup\n       command: exit code 3\n"));
        let own = lines.lines().filter(|line| !line.contains("no such table"));
        assert!(own.clone().all(|line| line.len() <= 30), "{lines}");
        let long = Message::warning("abcdefghijklmnopqrstuvwxyz").render(10);
        assert_eq!(long, "warning: abcdefghijklmnopqrstuvwxyz\n");
    }
}
