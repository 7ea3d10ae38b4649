//! What commands are compared with.

use std::ffi::OsString;

use clap::Args;

/// Options of the comparison.
#[derive(Debug, Args)]
#[command(next_help_heading = "Comparison")]
pub(crate) struct CompareArgs {
    /// Compare with this command, which is measured too, or with the fastest
    #[arg(long, value_name = "CMD|fastest", conflicts_with = "argv")]
    pub(crate) reference: Option<OsString>,
    /// Name of the reference command in reports
    #[arg(long, value_name = "NAME", requires = "reference")]
    pub(crate) reference_name: Option<OsString>,
}
