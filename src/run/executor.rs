//! The fixed protocol of one run, and the seam behind which processes are started.
//!
//! The order of the steps stands only here (see [`Executor::run`]); nothing is drawn, allocated in
//! bulk or computed between the start and the end of a run.

use std::time::Duration;

use crate::sample::{Phase, Sample};

/// Which run is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Place of the benchmark in the plan.
    pub benchmark: usize,
    /// Part of the session.
    pub phase: Phase,
    /// Number within benchmark and phase, from 0.
    pub index: u64,
    /// Round of all benchmarks, from 0.
    pub round: u64,
    /// Place in the round, from 0.
    pub position: u64,
    /// Length of the environment padding in bytes, the same for all benchmarks of a round.
    pub padding: u64,
}

/// Makes runs. The product starts processes; tests of the schedule use a script.
pub trait Executor {
    /// Gets a benchmark ready: resolves its program, opens its files, runs its `setup` hook.
    ///
    /// # Errors
    /// The program cannot be started or the hook failed.
    fn begin(&mut self, benchmark: usize) -> Result<(), RunError>;

    /// Makes one run: prepare hook, probes arm, start, wait without reaping, clock, harvest, reap,
    /// conclude hook. `tick` is called between waits while the run is still going on, at most ten
    /// times a second and only in runs over a second, with the time since the start.
    ///
    /// # Errors
    /// The command could not be started or a hook failed. A failing command is not an error: the
    /// sample says how it ended.
    fn run(
        &mut self,
        request: &Request,
        tick: &mut dyn FnMut(Duration),
    ) -> Result<Sample, RunError>;

    /// Runs the `cleanup` hook if the benchmark was begun.
    ///
    /// # Errors
    /// The hook failed.
    fn end(&mut self, benchmark: usize) -> Result<(), RunError>;

    /// The signal that asked to stop, once one has.
    fn interrupted(&self) -> Option<i32>;

    /// The end of what the last run wrote to standard error, at most 64 KiB.
    fn last_stderr(&self) -> Vec<u8>;
}

/// Why a run could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A hook did not succeed.
    #[error("run the {hook} command: {how}")]
    Hook {
        /// `setup`, `prepare`, `conclude` or `cleanup`.
        hook: &'static str,
        /// The exit code or signal.
        how: String,
        /// The end of its standard error.
        stderr: Vec<u8>,
    },
}
