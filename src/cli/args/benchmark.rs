//! What is executed: shell or none, names, parameters, environment, streams, hooks.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::Args;

use super::Problems;
use super::problem::Problem;
use crate::plan::command::{CommandError, ShellChoice, bare_shell, parse_variable};
use crate::plan::parameter::{Pairing, Parameter};
use crate::plan::words::split;
use crate::plan::{IgnoreFailure, Input, Output};

/// Options of the commands.
#[allow(clippy::struct_excessive_bools, reason = "independent options")]
#[derive(Debug, Args)]
#[command(next_help_heading = "Commands")]
pub(crate) struct BenchmarkArgs {
    /// Shell of the commands [default: auto]
    ///
    /// With auto a command runs directly, unless it holds unquoted shell syntax or begins with a word that only
    /// a shell knows; then it runs through sh, and its header says `(via sh)`. With none everything is literal;
    /// default is sh; anything else is a shell with its options, such as 'bash --norc', which gets `-c` and the
    /// command. Hooks always run through a shell: this one, or sh.
    #[arg(long, value_name = "auto|none|default|CMD", overrides_with = "shell", conflicts_with_all = ["no_shell", "default_shell"])]
    shell: Option<OsString>,
    /// No shell: all is literal (--shell=none)
    #[arg(short = 'N', conflicts_with = "default_shell")]
    no_shell: bool,
    /// Through sh (--shell=default)
    #[arg(short = 'S')]
    default_shell: bool,
    /// Words after -- are one command
    ///
    /// Nothing is split, quoted or expanded: offbench --argv -- grep -e 'a b' file
    #[arg(hide_short_help = true, long)]
    pub(crate) argv: bool,
    /// Name of a command in reports
    ///
    /// In the order of the commands. Placeholders of parameters are replaced.
    #[arg(short = 'n', long = "command-name", value_name = "NAME")]
    pub(crate) names: Vec<OsString>,
    /// Run for each number, as {VAR}
    ///
    /// From MIN to MAX, by 1 or by --parameter-step-size. Repeatable: every combination runs, or with --zip
    /// the values are paired. Placeholders are replaced in commands, hooks, names, --env, --cwd, --input and
    /// --output.
    #[arg(
        short = 'P', long, num_args = 3, value_names = ["VAR", "MIN", "MAX"],
        allow_hyphen_values = true, action = clap::ArgAction::Append
    )]
    parameter_scan: Vec<String>,
    /// Step of the scan
    ///
    /// In the order of the scans, such as 0.5.
    #[arg(
        hide_short_help = true,
        short = 'D',
        long,
        value_name = "STEP",
        allow_hyphen_values = true
    )]
    parameter_step_size: Vec<String>,
    /// Run for each value, as {VAR}
    ///
    /// VALUES are separated by commas; `\,` is a comma. Repeatable, as --parameter-scan.
    #[arg(
        short = 'L', long, num_args = 2, value_names = ["VAR", "VALUES"],
        allow_hyphen_values = true, action = clap::ArgAction::Append
    )]
    parameter_list: Vec<OsString>,
    /// Pair parameters instead of combining them
    #[arg(hide_short_help = true, long)]
    zip: bool,
    /// Variables of commands and hooks
    ///
    /// Such as 'A=1 B="x y"': split as a shell would, nothing expanded. Once for all commands, or once per
    /// command, where '' is nothing.
    #[arg(hide_short_help = true, long, value_name = "NAME=VALUE…")]
    env: Vec<OsString>,
    /// Working directory
    ///
    /// Once for all commands, or once per command.
    #[arg(hide_short_help = true, long, value_name = "DIR")]
    pub(crate) cwd: Vec<OsString>,
    /// Standard input [default: null]
    ///
    /// Once for all commands, or once per command. A file is read from its start in each run. With null a
    /// program finds no terminal and no data, and may act otherwise than when typed.
    #[arg(long, value_name = "null|FILE")]
    input: Vec<OsString>,
    /// Standard output [default: null]
    ///
    /// Once for all commands, or once per command. Some programs, such as grep, do less when they see
    /// /dev/null: compare with pipe, which reads everything and throws it away. A file is emptied before each
    /// run. inherit is --show-output.
    #[arg(
        long,
        value_name = "null|pipe|inherit|FILE",
        conflicts_with = "show_output"
    )]
    output: Vec<OsString>,
    /// Let commands print (--output=inherit)
    #[arg(hide_short_help = true, long)]
    show_output: bool,
    /// Go on after failing runs
    ///
    /// After all of them, or after exit codes such as --ignore-failure=1,3. Failed runs are counted apart and
    /// enter no statistic; a command with failed runs gets no ratio. Hooks are not covered: append `|| true`.
    #[arg(
        short, long, value_name = "CODES", num_args = 0..=1, require_equals = true,
        default_missing_value = "all-non-zero"
    )]
    ignore_failure: Option<String>,
    /// All runs must write the same
    ///
    /// Compares standard output of all runs of all commands; the first that differs ends the session.
    #[arg(hide_short_help = true, long)]
    pub(crate) check_output: bool,
}

/// Options of the hooks.
#[derive(Debug, Args)]
#[command(next_help_heading = "Hooks")]
pub(crate) struct HookArgs {
    /// Once before the first run
    ///
    /// Once for all commands, or once per command.
    #[arg(short, long, value_name = "CMD")]
    pub(crate) setup: Vec<OsString>,
    /// Before each run, also warm-up
    ///
    /// Once for all commands, or once per command.
    #[arg(short, long, value_name = "CMD")]
    pub(crate) prepare: Vec<OsString>,
    /// After each run, also a failed one
    ///
    /// Once for all commands, or once per command.
    #[arg(short = 'C', long, value_name = "CMD")]
    pub(crate) conclude: Vec<OsString>,
    /// Once after the last run
    ///
    /// Also after a failure or an interrupt, once the setup command has run. Once for all commands, or once
    /// per command.
    #[arg(short, long, value_name = "CMD")]
    pub(crate) cleanup: Vec<OsString>,
}

impl BenchmarkArgs {
    /// The shell that was chosen.
    pub(crate) fn shell(&self, commands: &[OsString], problems: &mut Problems) -> ShellChoice {
        if self.default_shell {
            if let Some(word) = commands.first().filter(|word| bare_shell(word)) {
                let word = word.to_string_lossy();
                problems.add(
                    Problem::new(format!(
                        "`-S` takes no value, so `{word}` would be benchmarked"
                    ))
                    .help(Some(format!("write --shell {word}"))),
                );
            }
            return ShellChoice::Default("sh".into());
        }
        if self.no_shell {
            return ShellChoice::None;
        }
        let Some(text) = &self.shell else {
            return ShellChoice::Auto;
        };
        ShellChoice::parse(text).unwrap_or_else(|error| {
            problems.add(Problem::new(format!("--shell: {error}")).help(error.help()));
            ShellChoice::Auto
        })
    }

    /// All parameters, scans before lists as hyperfine has them.
    pub(crate) fn parameters(&self, problems: &mut Problems) -> (Vec<Parameter>, Pairing) {
        let mut parameters = Vec::new();
        let scans = self.parameter_scan.chunks(3);
        if self.parameter_step_size.len() > scans.len() {
            let text = format!(
                "{} step sizes were given for {} scans",
                self.parameter_step_size.len(),
                scans.len()
            );
            problems.add(Problem::new(text).help(Some("give -P once for each -D".into())));
        }
        for (place, scan) in scans.enumerate() {
            let step = self.parameter_step_size.get(place).map(String::as_str);
            if let [name, min, max] = scan {
                let parsed = Parameter::scan(name, min, max, step);
                parameters.extend(problems.parameter(parsed));
            }
        }
        for list in self.parameter_list.chunks(2) {
            if let [name, values] = list {
                let parsed = Parameter::list(&name.to_string_lossy(), values);
                parameters.extend(problems.parameter(parsed));
            }
        }
        (
            parameters,
            if self.zip {
                Pairing::Zip
            } else {
                Pairing::Product
            },
        )
    }

    /// Variables to set: one list for all commands, or one per command.
    pub(crate) fn variables(
        &self,
        count: usize,
        problems: &mut Problems,
    ) -> Vec<Vec<(OsString, OsString)>> {
        let lists: Vec<_> = self
            .env
            .iter()
            .map(|entry| problems.keep(assignments(entry)).unwrap_or_default())
            .collect();
        // For a single command, each may stand alone.
        if count == 1 {
            vec![lists.concat()]
        } else {
            lists
        }
    }

    /// Every option besides commands and hooks in which parameters are replaced.
    pub(crate) fn places(&self) -> impl Iterator<Item = &OsString> {
        let files = self.input.iter().chain(&self.output);
        self.cwd.iter().chain(&self.env).chain(files)
    }

    /// Standard input, one for all or one per command.
    pub(crate) fn inputs(&self) -> Vec<Input> {
        let word = |word: &OsString| match word.to_str() {
            Some("null") => Input::Null,
            _ => Input::File(PathBuf::from(word)),
        };
        self.input.iter().map(word).collect()
    }

    /// Standard output, one for all or one per command.
    pub(crate) fn outputs(&self) -> Vec<Output> {
        if self.show_output {
            return vec![Output::Inherit];
        }
        self.output.iter().map(|word| output(word)).collect()
    }

    /// Which failures do not stop.
    pub(crate) fn ignored(&self, problems: &mut Problems) -> IgnoreFailure {
        match self.ignore_failure.as_deref() {
            None => IgnoreFailure::Never,
            Some("all-non-zero") => IgnoreFailure::All,
            Some(list) => problems
                .keep(parse_codes(list))
                .map_or(IgnoreFailure::Never, IgnoreFailure::Codes),
        }
    }
}

fn output(word: &OsStr) -> Output {
    match word.to_str() {
        Some("null") => Output::Null,
        Some("pipe") => Output::Pipe,
        Some("inherit") => Output::Inherit,
        _ => Output::File(PathBuf::from(word)),
    }
}

/// Reads `A=1 B="x y"`, split as a shell would, nothing expanded.
fn assignments(entry: &OsStr) -> Result<Vec<(OsString, OsString)>, Problem> {
    let told = |error: &CommandError| {
        let help = match error {
            CommandError::BadVariable { .. } => Some(
                "write --env NAME=VALUE, and quote a value with blanks: --env \'NAME=\"a b\"\'"
                    .into(),
            ),
            _ => error.help(),
        };
        Problem::new(format!("--env: {error}")).help(help)
    };
    let words = split(entry).map_err(|error| told(&error))?;
    words
        .iter()
        .map(|word| parse_variable(word).map_err(|error| told(&error)))
        .collect()
}

/// Reads `1,3,42`.
fn parse_codes(list: &str) -> Result<Vec<u8>, Problem> {
    let one = |word: &str| {
        word.trim().parse::<u8>().map_err(|_| {
            Problem::new(format!("--ignore-failure: `{word}` is no exit code")).help(Some(
                "write codes from 0 to 255, such as --ignore-failure=1,3".into(),
            ))
        })
    };
    list.split(',').map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_are_split_like_a_shell_would() {
        let pairs = assignments(OsStr::new("A=1 B=\"x y\" C=")).unwrap();
        let shown: Vec<String> = pairs
            .iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        assert_eq!(shown, ["A=1", "B=x y", "C="]);
        assert!(assignments(OsStr::new("")).unwrap().is_empty());
        for entry in ["A", "A=x y", "=1", "A='"] {
            assert!(assignments(OsStr::new(entry)).is_err(), "{entry}");
        }
    }

    #[test]
    fn exit_codes_are_bounded() {
        assert_eq!(parse_codes("1, 3,255").unwrap(), [1, 3, 255]);
        for list in ["", "256", "-1", "1,,2", "x"] {
            assert!(parse_codes(list).is_err(), "{list}");
        }
    }
}
