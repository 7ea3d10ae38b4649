//! The options: one group per concern. Parsing validates and never does anything.

mod benchmark;
mod compare;
mod diagnose;
mod gate;
mod job;
mod limit;
mod metrics;
mod output;
mod problem;

use std::ffi::OsString;

use clap::Parser;

use super::generate::CompletionShell;
pub(crate) use job::Job;
pub(crate) use output::{BASELINE, Outputs, Target, option};
pub(crate) use problem::{Problem, Problems};

const ABOUT: &str = "Measures how long commands take, how sure that is, and what they waited for";

/// Everything on the command line.
#[derive(Debug, Parser)]
#[command(name = "offbench", version, about = ABOUT, after_long_help = super::closing::help(), max_term_width = 100)]
pub(crate) struct Args {
    /// Commands to measure, each one argument
    #[arg(hide_short_help = true, value_name = "COMMAND", value_hint = clap::ValueHint::CommandString)]
    commands: Vec<OsString>,
    #[command(flatten)]
    limit: limit::LimitArgs,
    #[command(flatten)]
    benchmark: benchmark::BenchmarkArgs,
    #[command(flatten)]
    hook: benchmark::HookArgs,
    #[command(flatten)]
    pub(crate) diagnose: diagnose::DiagnoseArgs,
    #[command(flatten)]
    compare: compare::CompareArgs,
    #[command(flatten)]
    gate: gate::GateArgs,
    #[command(flatten)]
    output: output::OutputArgs,
    /// Print completions for a shell
    #[arg(
        hide_short_help = true,
        long,
        value_name = "SHELL",
        value_enum,
        exclusive = true,
        help_heading = "Options"
    )]
    pub(crate) completions: Option<CompletionShell>,
}
