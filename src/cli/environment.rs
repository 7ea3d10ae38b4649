//! What the surroundings say, read once: terminal, width, colour wishes, locale, variables.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;

/// The surroundings of this invocation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    /// Whether standard output is a terminal.
    pub(crate) stdout_terminal: bool,
    /// Whether standard error is a terminal.
    pub(crate) stderr_terminal: bool,
    /// Columns of the terminal, if it says so.
    pub(crate) width: Option<usize>,
    /// Whether the locale can show more than ASCII.
    pub(crate) unicode: bool,
    /// The words of this invocation, the program first.
    pub(crate) arguments: Vec<OsString>,
    /// All variables, for the commands.
    pub(crate) variables: Vec<(OsString, OsString)>,
}

impl Environment {
    /// Reads the surroundings.
    #[allow(
        clippy::disallowed_methods,
        reason = "the one place that reads the surroundings"
    )]
    pub(crate) fn read() -> Self {
        let variables: Vec<_> = std::env::vars_os().collect();
        let mut environment = Self {
            stdout_terminal: std::io::stdout().is_terminal(),
            stderr_terminal: std::io::stderr().is_terminal(),
            width: None,
            unicode: false,
            arguments: std::env::args_os().collect(),
            variables,
        };
        environment.unicode = environment.locale_is_utf8();
        environment.width = environment.columns();
        environment
    }

    /// The words of this invocation, escaped for display.
    pub(crate) fn command_line(&self) -> Vec<String> {
        let words = self.arguments.iter();
        words
            .map(|word| crate::unit::display_escaped(word).into_owned())
            .collect()
    }

    /// The value of a variable.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        let (_, value) = self.variables.iter().find(|(key, _)| key == name)?;
        Some(value)
    }

    /// Whether a variable is set to something that is not empty.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.variable(name).is_some_and(|value| !value.is_empty())
    }

    /// Whether the terminal understands no control sequences.
    pub(crate) fn dumb(&self) -> bool {
        self.variable("TERM")
            .is_none_or(|term| term.is_empty() || term == "dumb")
    }

    /// The first of the three locale variables that is set decides (POSIX, 8.2).
    fn locale_is_utf8(&self) -> bool {
        ["LC_ALL", "LC_CTYPE", "LANG"]
            .iter()
            .find(|name| self.is_set(name))
            .and_then(|name| self.variable(name))
            .is_some_and(|value| {
                let value = value.to_string_lossy().to_ascii_lowercase();
                value.contains("utf-8") || value.contains("utf8")
            })
    }

    fn columns(&self) -> Option<usize> {
        if self.stdout_terminal || self.stderr_terminal {
            let size = crate::sys::terminal::columns();
            if size.is_some() {
                return size;
            }
        }
        self.variable("COLUMNS")?.to_str()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &[(&str, &str)]) -> Environment {
        let variables = pairs
            .iter()
            .map(|(k, v)| ((*k).into(), (*v).into()))
            .collect();
        Environment {
            variables,
            ..Environment::default()
        }
    }

    #[test]
    fn first_set_locale_variable_decides() {
        assert!(with(&[("LANG", "de_DE.UTF-8")]).locale_is_utf8());
        assert!(!with(&[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]).locale_is_utf8());
        assert!(with(&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8")]).locale_is_utf8());
        assert!(!with(&[]).locale_is_utf8());
    }

    #[test]
    fn no_term_is_dumb() {
        assert!(with(&[]).dumb());
        assert!(with(&[("TERM", "dumb")]).dumb());
        assert!(!with(&[("TERM", "xterm-256color")]).dumb());
    }
}
