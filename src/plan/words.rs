//! The words of a text, by the quoting of POSIX shells, and what in it only a shell can do.
//!
//! A walk over bytes that knows no shell beyond its syntax; what is done about a finding is not
//! decided here.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::command::CommandError;

/// Splits a text into words with the quoting of POSIX shells (POSIX.1-2017, XCU 2.2), nothing else.
///
/// # Errors
///
/// An unbalanced quote.
pub fn split(text: &OsStr) -> Result<Vec<OsString>, CommandError> {
    let scan = Scan::run(text.as_bytes(), false)?;
    Ok(scan
        .words
        .into_iter()
        .map(|word| OsString::from_vec(word.bytes))
        .collect())
}

/// One word quoted so that [`split`] and POSIX shells read it back.
#[must_use]
pub fn quote(word: &OsStr) -> Cow<'_, OsStr> {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || *b >= 0x80 || b"_@%+=:,./-".contains(b);
    let bytes = word.as_bytes();
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return Cow::Borrowed(word);
    }
    let mut quoted = Vec::with_capacity(bytes.len() + 2);
    quoted.push(b'\'');
    for byte in bytes {
        match byte {
            b'\'' => quoted.extend_from_slice(b"'\\''"),
            other => quoted.push(*other),
        }
    }
    quoted.push(b'\'');
    Cow::Owned(OsString::from_vec(quoted))
}

/// Words quoted and joined by blanks.
#[must_use]
pub fn join(words: &[OsString]) -> OsString {
    words
        .iter()
        .map(|word| quote(word))
        .collect::<Vec<_>>()
        .join(OsStr::new(" "))
}

pub(super) fn is_blank(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_whitespace)
}

/// Reserved words and special builtins (POSIX.1-2017, XCU 2.4 and 2.14): a shell, always.
static ALWAYS_SHELL: &[&str] = &[
    "!", "{", "}", "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done",
    "case", "esac", "break", ":", "continue", ".", "eval", "exec", "exit", "export", "readonly",
    "return", "set", "shift", "times", "trap", "unset",
];

/// Builtins and words of some shells: a shell only if there is no program of that name.
static SHELL_OR_PROGRAM: &[&str] = &[
    "[",
    "[[",
    "alias",
    "bg",
    "bind",
    "builtin",
    "caller",
    "cd",
    "chdir",
    "command",
    "compgen",
    "complete",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "echo",
    "enable",
    "false",
    "fc",
    "fg",
    "function",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "select",
    "shopt",
    "source",
    "suspend",
    "test",
    "time",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "wait",
];

/// The table entry of a shell's word, and whether it always needs the shell.
pub(super) fn shell_word(word: &OsStr) -> Option<(&'static str, bool)> {
    let find = |table: &[&'static str]| table.iter().copied().find(|known| word == *known);
    find(ALWAYS_SHELL)
        .map(|word| (word, true))
        .or_else(|| find(SHELL_OR_PROGRAM).map(|word| (word, false)))
}

/// One word of a text.
#[derive(Debug, Default)]
struct Word {
    bytes: Vec<u8>,
    /// Some of it was quoted, so it is no assignment.
    quoted: bool,
}

/// A walk over a text that collects its words and whether only a shell can do what it says.
pub(super) struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    words: Vec<Word>,
    current: Option<Word>,
    /// Only a shell does what the text says.
    pub(super) needs_shell: bool,
    /// Whether shell syntax is looked for; without, all of it is literal.
    syntax: bool,
    /// Something was met inside which quotes pair differently, so only a shell can judge them.
    nested: bool,
}

impl<'a> Scan<'a> {
    pub(super) fn run(text: &'a [u8], syntax: bool) -> Result<Self, CommandError> {
        let mut scan = Self {
            text,
            at: 0,
            words: Vec::new(),
            current: None,
            needs_shell: false,
            syntax,
            nested: false,
        };
        while let Some(byte) = scan.peek(0) {
            match scan.step(byte) {
                Err(CommandError::UnclosedQuote { .. }) if scan.nested => break,
                result => result?,
            }
        }
        scan.end_word();
        Ok(scan)
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn step(&mut self, byte: u8) -> Result<(), CommandError> {
        match byte {
            b'\'' => return self.single_quoted(),
            b'"' => return self.double_quoted(),
            b'\\' => self.backslash(),
            b' ' | b'\t' => self.end_word(),
            b'\n' => {
                self.end_word();
                if !self.words.is_empty() && !is_blank(self.rest()) {
                    self.note();
                }
            }
            b'#' if self.syntax && self.current.is_none() => {
                self.note();
                self.skip_comment();
                return Ok(());
            }
            other => {
                self.note_syntax(other);
                self.push(other);
            }
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self) -> &mut Word {
        self.current.get_or_insert_with(Word::default)
    }

    fn push(&mut self, byte: u8) {
        self.word().bytes.push(byte);
    }

    fn end_word(&mut self) {
        self.words.extend(self.current.take());
    }

    fn note(&mut self) {
        self.needs_shell |= self.syntax;
    }

    fn single_quoted(&mut self) -> Result<(), CommandError> {
        let start = self.at;
        self.word().quoted = true;
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            if byte == b'\'' {
                return Ok(());
            }
            self.push(byte);
        }
        Err(CommandError::UnclosedQuote {
            quote: '\'',
            position: start,
        })
    }

    fn double_quoted(&mut self) -> Result<(), CommandError> {
        let start = self.at;
        self.word().quoted = true;
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            match (byte, self.peek(1)) {
                (b'"', _) => {
                    self.at += 1;
                    return Ok(());
                }
                (b'\\', Some(b'\n')) => self.at += 1,
                (b'\\', Some(next @ (b'$' | b'`' | b'"' | b'\\'))) => {
                    self.at += 1;
                    self.push(next);
                }
                _ => {
                    self.note_expansion(byte);
                    self.push(byte);
                }
            }
            self.at += 1;
        }
        Err(CommandError::UnclosedQuote {
            quote: '"',
            position: start,
        })
    }

    /// A backslash outside quotes; the last byte of a text stands for itself, as in `sh -c`.
    fn backslash(&mut self) {
        match self.peek(1) {
            Some(b'\n') => {}
            next => {
                self.word().quoted = true;
                self.push(next.unwrap_or(b'\\'));
            }
        }
        self.at += 1;
    }

    fn skip_comment(&mut self) {
        while self.peek(0).is_some_and(|byte| byte != b'\n') {
            self.at += 1;
        }
    }

    /// What is expanded also inside double quotes.
    fn note_expansion(&mut self, byte: u8) {
        match byte {
            b'$' => {
                self.note();
                self.nested |= self.syntax && matches!(self.peek(1), Some(b'(' | b'{' | b'\''));
            }
            b'`' => {
                self.note();
                self.nested |= self.syntax;
            }
            _ => {}
        }
    }

    /// What a shell would act on at an unquoted byte.
    fn note_syntax(&mut self, byte: u8) {
        let at_start = self.current.is_none();
        match byte {
            b'|' | b'&' | b';' | b'<' | b'>' | b'(' | b')' => {
                self.note();
                self.nested |= self.syntax && self.rest().starts_with(b"<<");
            }
            b'*' | b'?' => self.note(),
            b'[' if self.opens_pattern(at_start) => self.note(),
            b'~' if at_start => self.note(),
            b'{' if self.opens_braces() => self.note(),
            b'=' if self.follows_name() => self.note(),
            other => self.note_expansion(other),
        }
    }

    /// Whether `[` may start a pattern: not if it is the test command, or never closed.
    fn opens_pattern(&self, at_start: bool) -> bool {
        let rest = self.rest();
        let name = if rest.starts_with(b"[[") { 2 } else { 1 };
        let alone = at_start && rest.get(name).is_none_or(u8::is_ascii_whitespace);
        !alone && rest.contains(&b']')
    }

    /// Whether `{` starts a list or a range; judged generously, since a shell reads the rest alike.
    fn opens_braces(&self) -> bool {
        let mut depth = 0_usize;
        for (index, byte) in self.rest().iter().enumerate() {
            match byte {
                b'{' => depth += 1,
                b'}' if depth > 1 => depth -= 1,
                b'}' => {
                    let inside = self.rest().get(..index).unwrap_or_default();
                    return inside.contains(&b',') || inside.windows(2).any(|pair| pair == b"..");
                }
                _ => {}
            }
        }
        false
    }

    /// Whether an `=` here assigns: the first word so far is an unquoted name.
    fn follows_name(&self) -> bool {
        let name = |word: &Word| {
            let head = word.bytes.first();
            !word.quoted
                && head.is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_')
                && word
                    .bytes
                    .iter()
                    .all(|b| b.is_ascii_alphanumeric() || *b == b'_')
        };
        self.words.is_empty() && self.current.as_ref().is_some_and(name)
    }

    /// Whether the first word is the shell's own, with no program of that name.
    pub(super) fn first_word_needs_shell(&self, is_program: &dyn Fn(&OsStr) -> bool) -> bool {
        let first = self.words.first();
        let known = first.and_then(|word| shell_word(OsStr::from_bytes(&word.bytes)));
        known.is_some_and(|(word, always)| always || !is_program(OsStr::new(word)))
    }

    pub(super) fn refuse_empty(&self) -> Result<(), CommandError> {
        if self.words.is_empty() {
            Err(CommandError::Empty)
        } else {
            Ok(())
        }
    }

    pub(super) fn into_words(self) -> Result<Vec<OsString>, CommandError> {
        match self.words.first() {
            None => Err(CommandError::Empty),
            Some(program) if program.bytes.is_empty() => Err(CommandError::EmptyProgram),
            Some(_) => Ok(self
                .words
                .into_iter()
                .map(|word| OsString::from_vec(word.bytes))
                .collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::command::{CommandLine, ShellChoice};
    use crate::unit::Numbers;

    #[test]
    fn words_are_split() {
        let table: &[(&str, &[&str])] = &[
            ("", &[]),
            ("  ", &[]),
            ("a", &["a"]),
            (" a\tb\nc ", &["a", "b", "c"]),
            ("''", &[""]),
            ("a''b", &["ab"]),
            ("'a\\b'", &["a\\b"]),
            ("\"a\\b\\\\\"", &["a\\b\\"]),
            ("\"a\\\nb\"", &["ab"]),
            ("a\\ b", &["a b"]),
            ("a\\\nb", &["ab"]),
            ("a\\", &["a\\"]),
            ("é 'ü ß'", &["é", "ü ß"]),
        ];
        for (text, expected) in table {
            let expected: Vec<OsString> = expected.iter().map(OsString::from).collect();
            assert_eq!(split(OsStr::new(text)), Ok(expected), "{text:?}");
        }
    }

    fn random_bytes(numbers: &mut Numbers, alphabet: &[u8], longest: u64) -> Vec<u8> {
        let length = numbers.next() % longest;
        (0..length)
            .map(|_| alphabet[numbers.next() as usize % alphabet.len()])
            .collect()
    }

    #[test]
    fn quoted_words_split_back() {
        let mut numbers = Numbers(11);
        let alphabet: Vec<u8> = (1..=255).chain(*b"'\"\\ '\n$`").collect();
        for _ in 0..5000 {
            let count = numbers.next() % 5;
            let words: Vec<OsString> = (0..count)
                .map(|_| OsString::from_vec(random_bytes(&mut numbers, &alphabet, 9)))
                .collect();
            assert_eq!(split(&join(&words)), Ok(words));
        }
    }

    #[test]
    fn no_bytes_make_the_walk_fail_or_lose_a_shell() {
        let mut numbers = Numbers(5);
        let alphabet = b"ab =1'\"\\ \n$`{},.[]*?~#!<>|&;()\xff\x00";
        for _ in 0..30_000 {
            let text = OsString::from_vec(random_bytes(&mut numbers, alphabet, 14));
            let _ = split(&text);
            let auto = CommandLine::parse(&text, &ShellChoice::Auto, &|_| true);
            let quiet = !text.as_bytes().iter().any(|b| b"'\"\\".contains(b));
            let syntax = text.as_bytes().iter().any(|b| b"|&;<>()$`*?".contains(b));
            if let Ok(line) = auto {
                let comment = text.as_bytes().contains(&b'#');
                assert!(
                    !(quiet && syntax && !comment) || line.via_shell(),
                    "{text:?}"
                );
            }
        }
    }
}
