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
pub(crate) use output::{Outputs, Target, option};
pub(crate) use problem::{Problem, Problems};

const ABOUT: &str = "Measures how long commands take, how sure that is, and what they waited for";

const EXAMPLES: &str = "\
Examples:
  offbench 'grep -rc fn src'
      how long a command takes, and whether that time is spent computing
  offbench --warmup 3 'fd -e rs' 'find . -name \"*.rs\"'
      two commands side by side, in rounds
  offbench --prepare 'sync; make clean' 'make -j4'
      something to do before each run
  offbench -P threads 1 8 'make -j {threads}'
      one command for each value
  offbench --export-json result.json --export-markdown result.md ./old ./new
      files that tools of hyperfine read, too
  offbench --fail-if 'wall/cpu > 3' --fail-if 'wall.p95 > 250ms' 'dbtool commit'
      a job in CI: exit 3 if one of these is true

Exit status:
  0  done; gates ok (or unsure without --strict)
  1  a command or hook failed, or offbench could not measure
  2  wrong usage; nothing was run
  3  a gate failed
  4  --strict, and a gate is unsure or the baseline is missing
  130, 143  interrupted by SIGINT or SIGTERM, after reporting what was measured
            (128 + the number of the signal: 129 for SIGHUP, 131 for SIGQUIT)

The manual page has more: metrics, off-CPU warnings, gates, exports";

/// Everything on the command line.
#[derive(Debug, Parser)]
#[command(name = "offbench", version, about = ABOUT, after_long_help = EXAMPLES, max_term_width = 100)]
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
