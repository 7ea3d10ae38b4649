//! From the text of a command to the words or the shell script that will run.
//!
//! Works on bytes, so that what is not UTF-8 passes through. It must not look for programs: the
//! caller passes in whether one of a name exists.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::str::FromStr;

use super::words::{Scan, is_blank, join, shell_word, split};
use crate::unit::display_escaped;

/// The shell used where one is needed and none was chosen.
pub const DEFAULT_SHELL: &str = "sh";

/// Why a text is no command. Positions are byte offsets into the text, from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// Nothing, only blanks, or only a comment.
    #[error("empty command")]
    Empty,
    /// The first word is there, but empty: `''`.
    #[error("empty program name")]
    EmptyProgram,
    /// A quote has no partner.
    #[error("missing closing quote {quote} for the one at byte {position}")]
    UnclosedQuote {
        /// `'` or `"`.
        quote: char,
        /// Where the quote stands that is never closed.
        position: usize,
    },
    /// A byte no program can be given.
    #[error("a zero byte stands at byte {position}")]
    Nul {
        /// Where it stands.
        position: usize,
    },
    /// A word of the shell language, but no shell is allowed and no program has that name.
    #[error("`{word}` is a word of the shell, not a program")]
    ShellWord {
        /// The word.
        word: String,
    },
    /// `--shell` with a text that has no words.
    #[error("empty shell")]
    EmptyShell,
    /// An environment entry without a name before `=`, or without `=`.
    #[error("`{entry}` is not NAME=VALUE")]
    BadVariable {
        /// The entry.
        entry: String,
    },
}

impl CommandError {
    /// What to write instead, if that can be said.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::UnclosedQuote { quote, .. } => Some(format!(
                "close it, or write \\{quote} for the character itself"
            )),
            Self::ShellWord { .. } => {
                Some("leave out -N, or choose a shell with --shell".to_owned())
            }
            Self::EmptyShell => Some("write --shell sh, or -N for none".to_owned()),
            Self::BadVariable { .. } => Some("write it as --env NAME=VALUE".to_owned()),
            Self::Empty | Self::EmptyProgram => Some("write the program to run".to_owned()),
            Self::Nul { .. } => None,
        }
    }
}

/// Which shell runs the commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellChoice {
    /// None where the text needs none, [`DEFAULT_SHELL`] where it does.
    Auto,
    /// Never; shell syntax is literal.
    None,
    /// Always this shell, the one that stands in for `sh`.
    Default(OsString),
    /// Always these words, followed by `-c` and the text.
    Custom(Vec<OsString>),
}

impl ShellChoice {
    /// Reads `auto`, `none`, `default`, or the words of a shell such as `bash --norc`.
    ///
    /// # Errors
    ///
    /// No words, or unbalanced quotes.
    pub fn parse(text: &OsStr) -> Result<Self, CommandError> {
        match text.as_bytes() {
            b"auto" => Ok(Self::Auto),
            b"none" => Ok(Self::None),
            b"default" => Ok(Self::Default(DEFAULT_SHELL.into())),
            _ => {
                let words = split(text)?;
                match words.first() {
                    Some(program) if !program.is_empty() => Ok(Self::Custom(words)),
                    _ => Err(CommandError::EmptyShell),
                }
            }
        }
    }

    /// The words of the shell for what must run in one, such as hooks.
    #[must_use]
    pub fn words(&self) -> Vec<OsString> {
        match self {
            Self::Auto | Self::None => vec![DEFAULT_SHELL.into()],
            Self::Default(shell) => vec![shell.clone()],
            Self::Custom(words) => words.clone(),
        }
    }
}

impl FromStr for ShellChoice {
    type Err = CommandError;

    fn from_str(text: &str) -> Result<Self, CommandError> {
        Self::parse(OsStr::new(text))
    }
}

/// How a command is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invocation {
    /// Program and arguments, executed as they are; never empty.
    Direct(Vec<OsString>),
    /// Shell words, to which `-c` and the script are added.
    ///
    /// A script may start with a dash, which `sh -c` would read as an option.
    Shell {
        /// Program and options of the shell; never empty.
        shell: Vec<OsString>,
        /// What the shell is given after `-c`.
        script: OsString,
    },
}

/// A command ready to run, and how it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The text as written, or the quoted words of an argument vector; may be non-UTF-8.
    pub source: OsString,
    /// How it is started.
    pub invocation: Invocation,
}

impl CommandLine {
    /// Decides how `source` runs; `is_program` tells whether a program of a name can be found.
    ///
    /// # Errors
    ///
    /// An empty command or program name, a zero byte, an unbalanced quote, or with
    /// [`ShellChoice::None`] a word that only a shell knows.
    pub fn parse(
        source: &OsStr,
        choice: &ShellChoice,
        is_program: &dyn Fn(&OsStr) -> bool,
    ) -> Result<Self, CommandError> {
        check_bytes(source)?;
        let direct = match choice {
            ShellChoice::None => Some(literal_words(source, is_program)?),
            ShellChoice::Auto => auto_words(source, is_program)?,
            ShellChoice::Default(_) => {
                Scan::run(source.as_bytes(), true)?.refuse_empty()?;
                None
            }
            // Other shells have other quotes.
            ShellChoice::Custom(_) => None,
        };
        let invocation = match direct {
            Some(words) => Invocation::Direct(words),
            None => Invocation::Shell {
                shell: choice.words(),
                script: source.to_owned(),
            },
        };
        Ok(Self {
            source: source.to_owned(),
            invocation,
        })
    }

    /// A command given as separate words; they are quoted only to be shown.
    ///
    /// # Errors
    ///
    /// No words, an empty first word, or a zero byte.
    pub fn from_words(words: Vec<OsString>) -> Result<Self, CommandError> {
        let source = join(&words);
        match words.first() {
            None => return Err(CommandError::Empty),
            Some(program) if program.is_empty() => return Err(CommandError::EmptyProgram),
            Some(_) => check_nul(&source)?,
        }
        Ok(Self {
            source,
            invocation: Invocation::Direct(words),
        })
    }

    /// Whether a shell runs the command.
    #[must_use]
    pub fn via_shell(&self) -> bool {
        matches!(self.invocation, Invocation::Shell { .. })
    }
}

fn check_nul(text: &OsStr) -> Result<(), CommandError> {
    match text.as_bytes().iter().position(|byte| *byte == 0) {
        Some(position) => Err(CommandError::Nul { position }),
        None => Ok(()),
    }
}

fn check_bytes(text: &OsStr) -> Result<(), CommandError> {
    check_nul(text)?;
    if is_blank(text.as_bytes()) {
        Err(CommandError::Empty)
    } else {
        Ok(())
    }
}

/// The words without any shell, refusing what only a shell knows.
fn literal_words(
    source: &OsStr,
    is_program: &dyn Fn(&OsStr) -> bool,
) -> Result<Vec<OsString>, CommandError> {
    let words = Scan::run(source.as_bytes(), false)?.into_words()?;
    match words.first().and_then(|word| shell_word(word)) {
        Some((word, _)) if !is_program(OsStr::new(word)) => Err(CommandError::ShellWord {
            word: word.to_owned(),
        }),
        _ => Ok(words),
    }
}

/// The words if they can run directly.
fn auto_words(
    source: &OsStr,
    is_program: &dyn Fn(&OsStr) -> bool,
) -> Result<Option<Vec<OsString>>, CommandError> {
    let scan = Scan::run(source.as_bytes(), true)?;
    scan.refuse_empty()?;
    if scan.needs_shell || scan.first_word_needs_shell(is_program) {
        return Ok(None);
    }
    scan.into_words().map(Some)
}

/// Splits an environment entry `NAME=VALUE`; the value may be empty and hold `=`.
///
/// # Errors
///
/// No `=`, an empty name, or a zero byte.
pub fn parse_variable(entry: &OsStr) -> Result<(OsString, OsString), CommandError> {
    check_nul(entry)?;
    let bytes = entry.as_bytes();
    match bytes.iter().position(|byte| *byte == b'=') {
        Some(at) if at > 0 => {
            let (name, value) = (bytes.get(..at), bytes.get(at + 1..));
            let owned =
                |part: Option<&[u8]>| OsStr::from_bytes(part.unwrap_or_default()).to_owned();
            Ok((owned(name), owned(value)))
        }
        _ => Err(CommandError::BadVariable {
            entry: display_escaped(entry).into_owned(),
        }),
    }
}

/// Whether a word alone is the name of a shell: then it was hardly meant as the command.
#[must_use]
pub fn bare_shell(word: &OsStr) -> bool {
    const SHELLS: &[&[u8]] = &[
        b"sh",
        b"bash",
        b"dash",
        b"ash",
        b"zsh",
        b"ksh",
        b"ksh93",
        b"mksh",
        b"yash",
        b"fish",
        b"csh",
        b"tcsh",
        b"nu",
        b"elvish",
        b"xonsh",
        b"osh",
        b"oil",
        b"rc",
        b"es",
        b"pwsh",
        b"powershell",
    ];
    let name = word.as_bytes().trim_ascii();
    let base = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
    SHELLS.contains(&base)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    fn every_program(_: &OsStr) -> bool {
        true
    }

    fn parse(text: &str, choice: &ShellChoice) -> Result<CommandLine, CommandError> {
        CommandLine::parse(OsStr::new(text), choice, &every_program)
    }

    fn direct(text: &str, choice: &ShellChoice) -> Vec<String> {
        match parse(text, choice).map(|line| line.invocation) {
            Ok(Invocation::Direct(words)) => words
                .into_iter()
                .map(|word| word.into_string().unwrap())
                .collect(),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn via_shell(text: &str) -> bool {
        let line = parse(text, &ShellChoice::Auto);
        line.unwrap_or_else(|error| panic!("{text}: {error}"))
            .via_shell()
    }

    #[test]
    fn shell_syntax_is_never_silently_literal() {
        let table = [
            "echo a>f",
            "echo a;echo b",
            "true 2>/dev/null",
            "true 2> /dev/null",
            "sleep 1 &",
            "echo $(date)",
            "echo $HOME *",
            "echo a > f",
            "cat < /etc/hostname",
            "a|b",
            "a && b",
            "(a)",
            "a)",
            "echo \"$HOME\"",
            "echo \"`date`\"",
            "echo `date`",
            "ls *.rs",
            "ls a?",
            "ls [ab]",
            "ls ~",
            "ls ~/x",
            "touch {a,b}",
            "touch {1..3}",
            "touch {a{b},c}",
            "A=1 env",
            "  _a1='x y' env",
            "a\nb",
            "true # it's",
            "! true",
            "if true; then a; fi",
            "exit 1",
            "'exit' 1",
            " : x",
        ];
        for text in table {
            assert!(via_shell(text), "{text}");
        }
    }

    #[test]
    fn quoted_syntax_runs_directly() {
        let table = [
            ("echo 'a>f'", vec!["echo", "a>f"]),
            ("echo \"a;b\"", vec!["echo", "a;b"]),
            ("echo \\$HOME \\* \\~", vec!["echo", "$HOME", "*", "~"]),
            ("echo \"\\$HOME \\`x\\`\"", vec!["echo", "$HOME `x`"]),
            (
                "echo '{a,b}' {} {x} a~ a#b a=b",
                vec!["echo", "{a,b}", "{}", "{x}", "a~", "a#b", "a=b"],
            ),
            ("env A=1 true", vec!["env", "A=1", "true"]),
            ("--x=1", vec!["--x=1"]),
            ("1a=2", vec!["1a=2"]),
            ("\"A\"=1", vec!["A=1"]),
            ("grep a[ x", vec!["grep", "a[", "x"]),
            ("[ -f x ]", vec!["[", "-f", "x", "]"]),
            ("a \\\nb", vec!["a", "b"]),
            ("\n a b \n", vec!["a", "b"]),
            ("echo !", vec!["echo", "!"]),
        ];
        for (text, words) in table {
            assert_eq!(direct(text, &ShellChoice::Auto), words, "{text}");
            assert!(!via_shell(text), "{text}");
        }
    }

    #[test]
    fn without_a_shell_everything_is_literal() {
        let table = [
            ("cat < /etc/hostname", vec!["cat", "<", "/etc/hostname"]),
            (
                "echo a>f $HOME * #x",
                vec!["echo", "a>f", "$HOME", "*", "#x"],
            ),
            ("-x", vec!["-x"]),
            ("A=1 b", vec!["A=1", "b"]),
            (
                "printf [%s] a \"\" \"b c\" d\\\\ e x\"y z\"",
                vec!["printf", "[%s]", "a", "", "b c", "d\\", "e", "xy z"],
            ),
        ];
        for (text, words) in table {
            assert_eq!(direct(text, &ShellChoice::None), words, "{text}");
        }
    }

    #[test]
    fn empty_commands_are_refused_by_every_choice() {
        let choices = [
            ShellChoice::Auto,
            ShellChoice::None,
            ShellChoice::Default("sh".into()),
            ShellChoice::Custom(vec!["bash".into(), "-e".into()]),
        ];
        for choice in &choices {
            for text in ["", " ", "   ", "\t\n"] {
                assert_eq!(
                    parse(text, choice),
                    Err(CommandError::Empty),
                    "{text:?} {choice:?}"
                );
            }
            assert!(matches!(
                parse("a\0b", choice),
                Err(CommandError::Nul { position: 1 })
            ));
        }
        assert_eq!(
            parse("# nothing", &ShellChoice::Auto),
            Err(CommandError::Empty)
        );
        assert_eq!(
            parse("'' a", &ShellChoice::Auto),
            Err(CommandError::EmptyProgram)
        );
        assert_eq!(
            parse("'' a", &ShellChoice::None),
            Err(CommandError::EmptyProgram)
        );
        assert_eq!(
            CommandLine::from_words(Vec::new()),
            Err(CommandError::Empty)
        );
        assert_eq!(
            CommandLine::from_words(vec!["".into()]),
            Err(CommandError::EmptyProgram)
        );
    }

    #[test]
    fn unbalanced_quotes_are_refused_with_their_place() {
        let table = [
            ("echo \"a", '"', 5),
            ("echo 'a", '\'', 5),
            ("echo 'a' \"b c\" d'", '\'', 16),
            ("echo a | cat \"b", '"', 13),
            ("echo \"$HOME", '"', 5),
            ("echo \"a\\\"", '"', 5),
        ];
        for (text, quote, position) in table {
            let expected = Err(CommandError::UnclosedQuote { quote, position });
            assert_eq!(parse(text, &ShellChoice::Auto), expected, "{text}");
            assert_eq!(parse(text, &ShellChoice::None), expected, "{text}");
            assert_eq!(
                parse(text, &ShellChoice::Default("sh".into())),
                expected,
                "{text}"
            );
            assert!(
                parse(text, &ShellChoice::Custom(vec!["fish".into()])).is_ok(),
                "{text}"
            );
        }
        // Here the shell pairs the quotes differently, so it has the last word.
        for text in [
            "echo \"$(echo 'it\"s')\"",
            "cat <<E\nit's\nE",
            "true # it's",
            "a # it's\nb",
        ] {
            assert!(
                parse(text, &ShellChoice::Auto).unwrap().via_shell(),
                "{text}"
            );
        }
    }

    #[test]
    fn builtins_need_a_shell_only_without_a_program() {
        let none = |_: &OsStr| false;
        for word in ["echo", "cd", "[", "test", "time", "ulimit", "source"] {
            let text = OsString::from(format!("{word} x"));
            let with = CommandLine::parse(&text, &ShellChoice::Auto, &every_program).unwrap();
            assert!(!with.via_shell(), "{word}");
            let without = CommandLine::parse(&text, &ShellChoice::Auto, &none).unwrap();
            assert!(without.via_shell(), "{word}");
            let error = CommandLine::parse(&text, &ShellChoice::None, &none).unwrap_err();
            assert_eq!(
                error,
                CommandError::ShellWord {
                    word: word.to_owned()
                }
            );
            assert!(CommandLine::parse(&text, &ShellChoice::None, &every_program).is_ok());
        }
        let plain = CommandLine::parse(OsStr::new("ls"), &ShellChoice::Auto, &none).unwrap();
        assert!(!plain.via_shell());
        let path = CommandLine::parse(OsStr::new("./echo"), &ShellChoice::Auto, &none).unwrap();
        assert!(!path.via_shell());
    }

    #[test]
    fn chosen_shells_get_the_text_untouched() {
        let line = parse(
            "echo a b",
            &ShellChoice::Custom(vec!["bash".into(), "--norc".into()]),
        );
        let shell = vec!["bash".into(), "--norc".into()];
        let invocation = Invocation::Shell {
            shell,
            script: "echo a b".into(),
        };
        assert_eq!(line.unwrap().invocation, invocation);
        let line = parse("echo a", &ShellChoice::Default("sh".into())).unwrap();
        assert!(line.via_shell());
    }

    #[test]
    fn shell_choices_are_read() {
        assert_eq!("auto".parse(), Ok(ShellChoice::Auto));
        assert_eq!("none".parse(), Ok(ShellChoice::None));
        assert_eq!("default".parse(), Ok(ShellChoice::Default("sh".into())));
        let custom = ShellChoice::Custom(vec!["bash".into(), "-o".into(), "a b".into()]);
        assert_eq!("bash -o 'a b'".parse(), Ok(custom));
        assert_eq!("".parse::<ShellChoice>(), Err(CommandError::EmptyShell));
        assert_eq!("''".parse::<ShellChoice>(), Err(CommandError::EmptyShell));
        assert!("bash '".parse::<ShellChoice>().is_err());
        assert_eq!(ShellChoice::Auto.words(), ["sh"]);
    }

    #[test]
    fn bytes_pass_through() {
        let text = OsString::from_vec(b"echo \xff 'p\xfe'".to_vec());
        for choice in [ShellChoice::Auto, ShellChoice::None] {
            let line = CommandLine::parse(&text, &choice, &every_program).unwrap();
            let words = vec![
                OsString::from("echo"),
                OsString::from_vec(vec![0xff]),
                OsString::from_vec(vec![b'p', 0xfe]),
            ];
            assert_eq!(line.invocation, Invocation::Direct(words));
            assert_eq!(line.source, text);
        }
    }

    #[test]
    fn argument_vectors_are_quoted_only_for_show() {
        let words: Vec<OsString> = ["prog", "a b", "", "x>y", "it's"]
            .map(OsString::from)
            .to_vec();
        let line = CommandLine::from_words(words.clone()).unwrap();
        assert_eq!(line.source, "prog 'a b' '' 'x>y' 'it'\\''s'");
        assert_eq!(line.invocation, Invocation::Direct(words));
        assert!(CommandLine::from_words(vec!["a".into(), "b\0".into()]).is_err());
    }

    #[test]
    fn shell_names_are_known() {
        for word in [
            "sh",
            "bash",
            "zsh",
            "dash",
            "fish",
            "ksh",
            "nu",
            "pwsh",
            "/bin/bash",
            " bash ",
        ] {
            assert!(bare_shell(OsStr::new(word)), "{word}");
        }
        for word in ["", "bash -c x", "bashful", "sh.txt", "/bin/", "cat"] {
            assert!(!bare_shell(OsStr::new(word)), "{word}");
        }
    }

    #[test]
    fn variables_are_split_at_the_first_equals_sign() {
        let pair = |name: &str, value: &str| Ok((OsString::from(name), OsString::from(value)));
        assert_eq!(parse_variable(OsStr::new("A=b=c")), pair("A", "b=c"));
        assert_eq!(parse_variable(OsStr::new("A=")), pair("A", ""));
        for entry in ["A", "=b", "", "A=b\0"] {
            let error = parse_variable(OsStr::new(entry)).unwrap_err();
            assert!(!error.to_string().contains('\0'));
        }
    }
}
