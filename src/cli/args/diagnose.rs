//! How closely waiting is looked at.

use clap::Args;

/// Options of the off-CPU diagnosis.
#[derive(Debug, Args)]
#[command(next_help_heading = "Off-CPU time")]
pub(crate) struct DiagnoseArgs {
    /// Waiting is intended: no finding
    #[arg(long)]
    pub(crate) expect_wait: bool,
    /// Runs end with their last process
    ///
    /// Not with the command itself, but when everything that it started has ended.
    #[arg(hide_short_help = true, long)]
    pub(crate) wait_descendants: bool,
}
