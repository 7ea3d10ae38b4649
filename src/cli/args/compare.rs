//! What commands are compared with: a reference, a baseline, saved sessions, themselves.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::{Problem, Problems};
use crate::gate::Regression;
use crate::unit::{display_escaped, parse_percent};

/// Options of the comparison.
#[derive(Debug, Args)]
#[command(next_help_heading = "Comparison")]
pub(crate) struct CompareArgs {
    /// Command to compare with, or fastest
    ///
    /// It is measured too, as the first one. With parameters it may be one of the commands, by its text or
    /// name. Without this option the first command is the reference.
    #[arg(long, value_name = "CMD|fastest", conflicts_with = "argv")]
    pub(crate) reference: Option<OsString>,
    /// Name of the reference in reports
    #[arg(
        hide_short_help = true,
        long,
        value_name = "NAME",
        requires = "reference"
    )]
    pub(crate) reference_name: Option<OsString>,
    /// Compare with this saved session
    ///
    /// Or with all in this folder; repeatable.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Vec<PathBuf>,
    /// Save this session for later --baseline
    ///
    /// Unless a run or a gate failed.
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub(crate) save_baseline: Option<PathBuf>,
    /// Exit 3 if that much slower
    ///
    /// Than its baseline, or than the first command; repeatable.
    #[arg(long, value_name = "[METRIC=]P%", allow_hyphen_values = true)]
    max_regression: Vec<String>,
    /// Call commands equal when they surely differ by less than this [default: --max-regression]
    #[arg(
        hide_short_help = true,
        long,
        value_name = "P%",
        allow_hyphen_values = true
    )]
    equal_within: Option<String>,
    /// Run nothing: analyse saved files
    ///
    /// Ours, or those of hyperfine.
    #[arg(hide_short_help = true, long, value_name = "FILE", num_args = 1..)]
    pub(crate) compare: Vec<PathBuf>,
    /// Measure one command against itself: the smallest difference detectable here now
    #[arg(hide_short_help = true, long)]
    pub(crate) noise: bool,
}

/// Largest difference that may be called equal.
const MOST_EQUAL: f64 = 1.0;

impl CompareArgs {
    /// The limits on regressions, in the order given.
    pub(crate) fn regressions(&self, problems: &mut Problems) -> Vec<Regression> {
        let all = self.max_regression.iter().filter_map(|text| {
            problems.keep(Regression::parse(text).map_err(|error| {
                Problem::new(format!("--max-regression: {error}")).help(error.help())
            }))
        });
        all.collect()
    }

    /// The practical limit: what is asked for, or what is allowed as a regression of wall time.
    pub(crate) fn practical_limit(
        &self,
        regressions: &[Regression],
        problems: &mut Problems,
    ) -> Option<f64> {
        let Some(word) = &self.equal_within else {
            let mut walls = regressions.iter();
            return walls
                .find(|one| one.metric.id == crate::metric::WALL)
                .map(|one| one.limit);
        };
        let parsed = parse_percent(word)
            .map_err(|error| Problem::new(format!("--equal-within: {error}")).help(error.help()));
        let value = problems.keep(parsed)?;
        if value > 0.0 && value <= MOST_EQUAL {
            return Some(value);
        }
        let word = display_escaped(word.as_ref());
        let text = format!("--equal-within is `{word}`, not above 0% and up to 100%");
        problems.add(Problem::new(text).help(Some("write a percentage, such as 5%".into())));
        None
    }

    /// What does not go together, with that many commands; `parameters` if there are any.
    pub(crate) fn check(&self, commands: usize, benchmarks: usize, problems: &mut Problems) {
        let wrong = |problems: &mut Problems, text: &str, help: &str| {
            problems.add(Problem::new(text.into()).help(Some(help.into())));
        };
        if !self.compare.is_empty() {
            if commands > 0 {
                let text = "--compare runs nothing, so it goes with no command";
                wrong(problems, text, "leave out the command, or --compare");
            }
            if self.noise || self.save_baseline.is_some() || self.reference_command() {
                let text = "--compare runs nothing: --noise, --save-baseline and --reference CMD do not go with it";
                wrong(problems, text, "leave them out");
            }
            return;
        }
        if self.noise && benchmarks > 1 {
            let text = "--noise measures one command against itself, and several were given";
            wrong(
                problems,
                text,
                "give one command, without --reference or parameters",
            );
        }
        let alone = benchmarks == 1 && self.baseline.is_empty() && !self.noise;
        if alone && !self.max_regression.is_empty() {
            let text = "--max-regression has nothing to compare with";
            let help = "give the old command first and the new one second, or --baseline FILE";
            wrong(problems, text, help);
        }
    }

    fn reference_command(&self) -> bool {
        self.reference
            .as_ref()
            .is_some_and(|word| word != "fastest")
    }
}
