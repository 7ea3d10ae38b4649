//! How closely waiting is looked at.

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
}
