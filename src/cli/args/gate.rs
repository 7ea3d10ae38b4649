//! Conditions that make the job fail.

use clap::Args;

use super::{Problem, Problems};
use crate::diagnose::Tier;
use crate::gate::{Expression, Gate};

/// Options of the decisions.
#[derive(Debug, Args)]
#[command(next_help_heading = "Decisions")]
pub(crate) struct GateArgs {
    /// Exit 3 if true, as 'wall/cpu > 3'
    ///
    /// A metric, a statistic (median if none is named), an operator and a limit: 'wall.p95 > 250ms',
    /// 'off-cpu > 80%', 'rss > 2GiB'. A limit in % of a time is its share of wall time: of all runs
    /// together if no statistic is named, else of the shares of the runs. Repeatable. The interval
    /// decides: ok, FAIL, or unsure.
    #[arg(long, value_name = "EXPR")]
    fail_if: Vec<String>,
    /// Exit 3 if waiting is that loud
    #[arg(long, value_name = "TIER", value_enum)]
    fail_on: Option<TierWord>,
    /// Exit 4 if a gate cannot be decided
    #[arg(hide_short_help = true, long)]
    pub(crate) strict: bool,
}

/// The words of `--fail-on`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum TierWord {
    Note,
    Warning,
    Severe,
}

impl GateArgs {
    /// The gates, in the order given.
    pub(crate) fn resolve(&self, problems: &mut Problems) -> Vec<Gate> {
        let mut gates = Vec::new();
        for text in &self.fail_if {
            match Expression::parse(text) {
                Ok(expression) => gates.push(Gate::Expression(expression)),
                Err(error) => {
                    problems.add(Problem::new(format!("--fail-if: {error}")).help(error.help()));
                }
            }
        }
        gates.extend(self.fail_on.map(|word| {
            Gate::Tier(match word {
                TierWord::Note => Tier::Note,
                TierWord::Warning => Tier::Warning,
                TierWord::Severe => Tier::Severe,
            })
        }));
        gates
    }
}
