//! What shall be run, validated: nothing in a plan can fail validation later.
//!
//! Pure values; making one has no effect.

pub mod command;
mod decimal;
pub mod hook;
pub mod limit;
pub mod parameter;
pub mod words;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

pub use command::Invocation;
pub use hook::Hooks;
pub use limit::{Limits, Warmup};

pub use crate::sample::Placement;

/// Where the command's standard input comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Input {
    /// `/dev/null`.
    #[default]
    Null,
    /// A file, opened again at its start for each run.
    File(PathBuf),
}

/// Where the command's standard output and error go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Output {
    /// `/dev/null`; the end of standard error is kept for the message of a failing run.
    #[default]
    Null,
    /// Standard output into a pipe that is drained; standard error as with `Null`.
    Pipe,
    /// Both are offbench's own.
    Inherit,
    /// Standard output into a file, emptied before each run.
    File(PathBuf),
}

/// One command line with everything that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Benchmark {
    /// The command as written, as bytes.
    pub command: OsString,
    /// How it is started.
    pub invocation: Invocation,
    /// The name for reports, if one was given.
    pub name: Option<String>,
    /// Parameter values by name, for display.
    pub parameters: BTreeMap<String, String>,
    /// Variables added to or replacing those of the environment.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory, if not offbench's own.
    pub cwd: Option<PathBuf>,
    /// Standard input.
    pub input: Input,
    /// Standard output and error.
    pub output: Output,
    /// What runs around it.
    pub hooks: Hooks,
}

impl Benchmark {
    /// Words that are executed as they are, with nothing around them.
    #[must_use]
    pub fn direct(words: Vec<OsString>) -> Self {
        Self {
            command: words::join(&words),
            invocation: Invocation::Direct(words),
            name: None,
            parameters: BTreeMap::new(),
            env: Vec::new(),
            cwd: None,
            input: Input::default(),
            output: Output::default(),
            hooks: Hooks::default(),
        }
    }
}

/// Which failures of the command do not stop its benchmark.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum IgnoreFailure {
    /// Any failure stops.
    #[default]
    Never,
    /// None does.
    All,
    /// These exit codes do not.
    Codes(Vec<u8>),
}

impl IgnoreFailure {
    /// Whether a run that ended so lets its benchmark go on.
    #[must_use]
    pub fn covers(&self, outcome: crate::sample::Outcome) -> bool {
        match self {
            _ if outcome.success() => true,
            Self::Never => false,
            Self::All => true,
            Self::Codes(codes) => outcome.code().is_some_and(|code| codes.contains(&code)),
        }
    }
}

/// The order in which the runs of several benchmarks are taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// In rounds of all benchmarks: a random order, then its reverse.
    #[default]
    Rounds,
    /// All runs of one benchmark, then all of the next.
    Sequential,
}

/// When diagnostic runs are made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Explain {
    /// When a warning has no named cause and the number of runs was not fixed.
    #[default]
    Auto,
    /// For every benchmark.
    Always,
    /// For none.
    Never,
}

/// What shall be run, and how.
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent wishes of the user"
)]
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// At least one.
    pub benchmarks: Vec<Benchmark>,
    /// How many runs of each.
    pub limits: Limits,
    /// In which order.
    pub order: Order,
    /// Seed of order, padding and resampling.
    pub seed: u64,
    /// Time limit of one run.
    pub timeout: Option<Duration>,
    /// Pause before each run.
    pub sleep: Duration,
    /// Which failures do not stop.
    pub ignore_failure: IgnoreFailure,
    /// CPUs of the commands.
    pub placement: Placement,
    /// Runs end when all their descendants have.
    pub wait_descendants: bool,
    /// Hardware counters are read.
    pub counters: bool,
    /// All runs must write the same to standard output.
    pub check_output: bool,
    /// Waiting is intended and needs no finding.
    pub expect_wait: bool,
    /// When diagnostic runs are made.
    pub explain: Explain,
    /// A diagnostic run counts every blocking call.
    pub trace: bool,
    /// Environment of the commands before [`Benchmark::env`].
    pub environment: Vec<(OsString, OsString)>,
}

impl Plan {
    /// A plan in which nothing is asked for but the benchmarks: no variables, no diagnostic runs.
    #[must_use]
    pub fn of(benchmarks: Vec<Benchmark>) -> Self {
        Self {
            benchmarks,
            limits: Limits::default(),
            order: Order::default(),
            seed: 1,
            timeout: None,
            sleep: Duration::ZERO,
            ignore_failure: IgnoreFailure::default(),
            placement: Placement::Free,
            wait_descendants: false,
            counters: false,
            check_output: false,
            expect_wait: false,
            explain: Explain::Never,
            trace: false,
            environment: Vec::new(),
        }
    }
}
