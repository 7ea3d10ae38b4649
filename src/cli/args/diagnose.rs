//! How closely waiting is looked at.

use clap::Args;

use crate::plan::Explain;

/// Options of the off-CPU diagnosis.
#[derive(Debug, Args)]
#[command(next_help_heading = "Off-CPU time")]
pub(crate) struct DiagnoseArgs {
    /// When to make diagnostic runs that name what the command waits for
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ExplainWord::Auto)]
    explain: ExplainWord,
    /// Count every blocking call in an extra run: exact, but that run is several times slower
    #[arg(long)]
    pub(crate) trace: bool,
    /// Waiting is intended: no finding about it
    #[arg(long)]
    pub(crate) expect_wait: bool,
    /// A run ends when all processes it started have ended
    #[arg(long)]
    pub(crate) wait_descendants: bool,
}

/// The words of `--explain`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ExplainWord {
    /// When a warning has no named cause, and the number of runs is not fixed by --runs
    Auto,
    /// For every command
    Always,
    /// For none
    Never,
}

impl DiagnoseArgs {
    /// When diagnostic runs are made.
    pub(crate) fn explain(&self) -> Explain {
        match self.explain {
            ExplainWord::Auto => Explain::Auto,
            ExplainWord::Always => Explain::Always,
            ExplainWord::Never => Explain::Never,
        }
    }
}
