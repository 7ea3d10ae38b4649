//! How closely waiting is looked at.

use std::path::PathBuf;

use clap::Args;

use crate::plan::Explain;

/// Options of the off-CPU diagnosis.
#[derive(Debug, Args)]
#[command(next_help_heading = "Off-CPU time")]
pub(crate) struct DiagnoseArgs {
    /// Name what is waited for
    ///
    /// In diagnostic runs after the measured ones, whose times count nowhere.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ExplainWord::Auto)]
    explain: ExplainWord,
    /// Count every blocking call in an extra run
    ///
    /// Exact, but that run is several times slower.
    #[arg(hide_short_help = true, long)]
    pub(crate) trace: bool,
    /// Waiting is intended: no finding
    #[arg(long)]
    pub(crate) expect_wait: bool,
    /// Runs end with their last process
    ///
    /// Not with the command itself, but when everything that it started has ended.
    #[arg(hide_short_help = true, long)]
    pub(crate) wait_descendants: bool,
    /// Examine this machine
    ///
    /// Which evidence can be had here and what it costs, what disturbs a measurement, and what
    /// making small appends durable costs in DIR.
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = ".")]
    pub(crate) doctor: Option<PathBuf>,
    /// Explain the cause of a finding
    #[arg(long, value_name = "ID")]
    pub(crate) help_cause: Option<String>,
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
