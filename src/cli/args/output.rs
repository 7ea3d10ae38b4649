//! How results leave: style, colour, unit, files.

#![allow(clippy::doc_markdown, reason = "doc comments are the help")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::{Problem, Problems, metrics};
use crate::cli::environment::Environment;
use crate::report::{FORMATS, Format, Kind, Selection, Sort, Style};
use crate::unit::TimeUnit;

/// Options of the output.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// What the screen shows
    ///
    /// auto suits where the output goes. full: colours and progress; nocolor: progress; color: colours; basic:
    /// neither; none: nothing but errors and gates that did not pass.
    #[arg(long, value_enum, value_name = "TYPE", default_value = "auto")]
    style: StyleWord,
    /// When colours are used
    ///
    /// auto: on a terminal, unless TERM is dumb or NO_COLOR is set.
    #[arg(
        hide_short_help = true,
        long,
        value_enum,
        value_name = "WHEN",
        default_value = "auto"
    )]
    color: ColorWord,
    /// Only ASCII characters
    #[arg(hide_short_help = true, long)]
    ascii: bool,
    /// Unit of times: ns us ms s min h
    #[arg(short = 'u', long, value_name = "UNIT")]
    time_unit: Option<String>,
    /// default, time, all, or a list
    ///
    /// What is shown of a command: METRIC or METRIC:UNIT, separated by commas, with the names of hyperfine 2
    /// (time_wall_clock, time_cpu, time_user, time_system, memory_peak_resident, cpu_cycles, instructions,
    /// cache_references, cache_misses, branch_misses) or our own (wall, user, sys, cpu, off-cpu, rss, …).
    /// Hardware counters are read only when they are asked for here.
    #[arg(hide_short_help = true, long, value_name = "LIST")]
    metrics: Option<String>,
    /// Order of tables
    ///
    /// auto and command: as given. mean-time: fastest first.
    #[arg(
        hide_short_help = true,
        long,
        value_enum,
        value_name = "ORDER",
        default_value = "auto"
    )]
    sort: SortWord,
    /// Annotations for a build service
    ///
    /// github: an error for each gate that failed, a warning for each off-CPU finding of warning or more, as
    /// workflow commands of GitHub Actions. auto: there only.
    #[arg(
        hide_short_help = true,
        long,
        value_enum,
        value_name = "WHEN",
        default_value = "auto"
    )]
    annotate: AnnotateWord,
    #[command(flatten)]
    exports: ExportArgs,
}

/// The words of `--annotate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AnnotateWord {
    /// On GitHub Actions
    Auto,
    Github,
    Never,
}

/// The words of `--style`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StyleWord {
    /// What suits where the output goes
    Auto,
    /// No progress line, no colour
    Basic,
    /// Progress line and colour
    Full,
    /// As full, without colour
    Nocolor,
    /// Colour without a progress line
    Color,
    /// Nothing but errors
    None,
}

/// The words of `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ColorWord {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    Always,
    Never,
}

/// The words of `--sort`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SortWord {
    /// As given
    Auto,
    /// As given
    Command,
    /// By mean wall time
    MeanTime,
}

/// A file to write, or standard output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Stdout,
    File(PathBuf),
}

/// One `--export-…` option for each row of [`FORMATS`].
#[derive(Debug, Default)]
pub(crate) struct ExportArgs(Vec<(&'static Format, OsString)>);

impl Args for ExportArgs {
    fn augment_args(mut command: clap::Command) -> clap::Command {
        command = command.next_help_heading("Exports");
        for format in FORMATS {
            let help = format!("{}; `-` is standard output", format.help);
            command = command.arg(
                clap::Arg::new(format.id)
                    .long(format!("export-{}", format.id))
                    .value_name("FILE")
                    .value_parser(clap::value_parser!(OsString))
                    .value_hint(clap::ValueHint::FilePath)
                    .hide_short_help(true)
                    .help(help),
            );
        }
        command
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for ExportArgs {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        let given = FORMATS.iter().filter_map(|format| {
            matches
                .get_one::<OsString>(format.id)
                .map(|file| (format, file.clone()))
        });
        Ok(Self(given.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The option that writes a form.
pub(crate) fn option(id: &str) -> String {
    if id == BASELINE.id {
        "--save-baseline".to_owned()
    } else {
        format!("--export-{id}")
    }
}

/// What the output options come to.
#[derive(Debug)]
pub(crate) struct Outputs {
    pub(crate) style: Style,
    pub(crate) exports: Vec<(&'static Format, Target)>,
    /// Whether annotations follow the report.
    pub(crate) annotate: bool,
    /// A Markdown file that other steps of a build write to as well.
    shared_summary: Option<PathBuf>,
}

/// The form of a saved baseline: everything, to be read back.
pub(crate) static BASELINE: Format = Format {
    id: "baseline",
    help: "a session for later --baseline",
    write: crate::report::json::write,
};

impl Outputs {
    /// Where the baseline is saved, unless it would overwrite another export.
    pub(crate) fn add_baseline(&mut self, path: Option<&PathBuf>, problems: &mut Problems) {
        let Some(path) = path else { return };
        let target = Target::File(path.clone());
        if self.exports.iter().any(|(_, other)| *other == target) {
            let text = "--save-baseline and an export go to the same place";
            problems.add(Problem::new(text.into()).help(Some("give each its own file".into())));
        }
        self.exports.push((&BASELINE, target));
    }

    /// Whether a document goes to standard output, so that the report must go elsewhere.
    pub(crate) fn takes_stdout(&self) -> bool {
        self.exports
            .iter()
            .any(|(_, target)| *target == Target::Stdout)
    }

    /// Whether that file is added to and not replaced.
    pub(crate) fn appends(&self, format: &Format, path: &Path) -> bool {
        format.id == "markdown" && self.shared_summary.as_deref() == Some(path)
    }
}

impl OutputArgs {
    /// Validates the options.
    pub(crate) fn resolve(&self, environment: &Environment, problems: &mut Problems) -> Outputs {
        let time_unit =
            self.time_unit.as_ref().and_then(|word| {
                let parsed = word.parse::<TimeUnit>();
                problems.keep(parsed.map_err(|error| {
                    Problem::new(format!("--time-unit: {error}")).help(error.help())
                }))
            });
        let chosen = self.metrics.as_deref().map(metrics::parse);
        let chosen = chosen.and_then(|parsed| problems.keep(parsed));
        let exports = self.exports(problems);
        let to_stderr = exports.iter().any(|(_, target)| *target == Target::Stdout);
        Outputs {
            style: Style {
                unit: time_unit,
                metrics: Selection::new(&chosen.unwrap_or_default()),
                ..self.style(environment, to_stderr)
            },
            exports,
            annotate: match self.annotate {
                AnnotateWord::Auto => {
                    environment.variable("GITHUB_ACTIONS") == Some("true".as_ref())
                }
                AnnotateWord::Github => true,
                AnnotateWord::Never => false,
            },
            shared_summary: environment
                .variable("GITHUB_STEP_SUMMARY")
                .map(PathBuf::from),
        }
    }

    fn exports(&self, problems: &mut Problems) -> Vec<(&'static Format, Target)> {
        let exports: Vec<_> = self
            .exports
            .0
            .iter()
            .map(|(format, file)| match file.to_str() {
                Some("-" | "/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => {
                    (*format, Target::Stdout)
                }
                _ => (*format, Target::File(PathBuf::from(file))),
            })
            .collect();
        for (place, (format, target)) in exports.iter().enumerate() {
            let earlier = exports[..place].iter().find(|(_, other)| other == target);
            if let Some((other, _)) = earlier {
                let text = format!(
                    "--export-{} and --export-{} go to the same place",
                    other.id, format.id
                );
                problems.add(Problem::new(text).help(Some("give each its own file".into())));
            }
        }
        exports
    }

    fn style(&self, environment: &Environment, to_stderr: bool) -> Style {
        let terminal = if to_stderr {
            environment.stderr_terminal
        } else {
            environment.stdout_terminal
        };
        let dumb = environment.dumb();
        let color = match (self.color, self.style) {
            (ColorWord::Always, _) | (ColorWord::Auto, StyleWord::Full | StyleWord::Color) => true,
            (ColorWord::Never, _)
            | (_, StyleWord::Basic | StyleWord::Nocolor | StyleWord::None) => false,
            (ColorWord::Auto, StyleWord::Auto) => {
                terminal && !dumb && !environment.is_set("NO_COLOR")
            }
        };
        let live = match self.style {
            StyleWord::Auto => terminal,
            StyleWord::Full | StyleWord::Nocolor => true,
            _ => false,
        };
        let kind = match self.style {
            StyleWord::None => Kind::None,
            StyleWord::Auto if !terminal || dumb => Kind::Basic,
            _ => Kind::Full,
        };
        Style {
            color,
            unicode: environment.unicode && !self.ascii,
            width: environment.width.unwrap_or(80),
            live: live && environment.stderr_terminal && !dumb,
            kind,
            unit: None,
            metrics: Selection::default(),
            sort: match self.sort {
                SortWord::Auto => Sort::Auto,
                SortWord::Command => Sort::Command,
                SortWord::MeanTime => Sort::MeanTime,
            },
        }
    }
}
