//! What commands are compared with.

use std::ffi::OsString;

use clap::Args;

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
}
