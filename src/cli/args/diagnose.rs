//! How closely waiting is looked at.

use std::path::PathBuf;

use clap::Args;

/// Options of the off-CPU diagnosis.
#[derive(Debug, Args)]
#[command(next_help_heading = "Off-CPU time")]
pub(crate) struct DiagnoseArgs {
    /// Waiting is intended: no finding about it
    #[arg(long)]
    pub(crate) expect_wait: bool,
    /// A run ends when all processes it started have ended
    #[arg(long)]
    pub(crate) wait_descendants: bool,
    /// Examine this machine as a place to benchmark on, and what durability costs in DIR
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = ".")]
    pub(crate) doctor: Option<PathBuf>,
    /// Explain the cause of a finding
    #[arg(long, value_name = "ID")]
    pub(crate) help_cause: Option<String>,
}
