//! The seam behind which processes are started: what a run is asked for, what comes back, and what
//! can go wrong. `process` holds the fixed protocol of one run.

mod error;
mod family;
mod floor;
mod hooks;
mod process;
mod ready;
mod waiting;
mod watched;

use std::os::fd::RawFd;
use std::time::Duration;

use crate::sample::host::Stamp;
use crate::sample::recording::MachineCounters;
use crate::sample::{Phase, Sample};

pub use error::RunError;
pub use floor::alone as spawn_floor;
pub use process::ProcessExecutor;
pub use ready::check;

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

impl Request {
    /// What stands before the number in the command's environment.
    pub(crate) fn prefix(&self) -> &'static str {
        match self.phase {
            Phase::Warmup => "warmup-",
            Phase::Measured => "",
            Phase::Diagnostic => "explain-",
        }
    }
}

/// A run that was made: its record, and what the schedule has to know besides.
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent observations of one run"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Made {
    /// The record.
    pub sample: Sample,
    /// offbench was stopped and continued, or the machine was suspended: the time is worth nothing
    /// and the run is to be repeated.
    pub disturbed: bool,
    /// A signal that asks to stop arrived during the run and was passed on to the command.
    pub interrupted: bool,
    /// A process of the run still held its output pipe open when the grace was over.
    pub held_open: bool,
    /// The command was stopped by a signal in the middle.
    pub stopped: bool,
    /// Digest of standard output, where all runs must write the same; comparable in one session.
    pub output: Option<u64>,
}

impl From<Sample> for Made {
    /// A run in which nothing special happened.
    fn from(sample: Sample) -> Self {
        Self {
            sample,
            disturbed: false,
            interrupted: false,
            held_open: false,
            stopped: false,
            output: None,
        }
    }
}

/// How runs are made here, for the conditions of a recording.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Manner {
    /// How starting stamps are taken.
    pub stamp: Stamp,
    /// The smallest peak memory that can be told from our own, in bytes.
    pub rss_floor: Option<u64>,
    /// Wall time of an empty program, in seconds, where runs were short enough to ask.
    pub wall_floor: Option<f64>,
}

/// Watches one diagnostic run from beside. Times are of `CLOCK_MONOTONIC` in nanoseconds.
pub trait Watch {
    /// The process exists; it waits before exec if it is `held`: open counters.
    fn attach(&mut self, pid: i32, held: bool);

    /// Descriptors that become readable when there is something to look at; asked after
    /// [`Watch::attach`].
    fn descriptors(&self) -> Vec<RawFd> {
        Vec::new()
    }

    /// Numbers of the system calls that are to stop the run; with any it is traced, where that is
    /// permitted, and otherwise not made.
    fn stops(&self) -> Vec<i64> {
        Vec::new()
    }

    /// A thread of a traced run is about to make that call (number, arguments), or, without one,
    /// came back from it or ended.
    fn stopped(&mut self, tid: u32, time: u64, call: Option<(i64, [u64; 6])>) {
        let _ = (tid, time, call);
    }

    /// How long until the first look, if any is wanted.
    fn first_look(&self) -> Option<Duration> {
        None
    }

    /// Looks at the process, which may have ended already; how long until the next look. `begun` is
    /// just before exec.
    fn look(&mut self, pid: i32, begun: u64) -> Option<Duration> {
        let _ = (pid, begun);
        None
    }

    /// It has ended but is not reaped: just before exec, and when its end was noticed.
    fn detach(&mut self, pid: i32, begun: u64, ended: u64);
}

/// Makes runs. The product starts processes; tests of the schedule use a script.
pub trait Executor {
    /// Gets a benchmark ready: runs its `setup` hook, resolves its program, tries its files.
    ///
    /// # Errors
    /// The program cannot be started or the hook failed. [`Executor::end`] is due all the same.
    fn begin(&mut self, benchmark: usize) -> Result<(), RunError>;

    /// Makes one run: prepare hook, probes arm, start, wait without reaping, clock, harvest, reap,
    /// conclude hook. `tick` is called between waits while the run is still going on, at most ten
    /// times a second and only in runs over a second, with the time since the start.
    ///
    /// # Errors
    /// The command could not be started or a hook failed. A failing command is not an error: the
    /// sample says how it ended.
    fn run(&mut self, request: &Request, tick: &mut dyn FnMut(Duration)) -> Result<Made, RunError>;

    /// Makes one diagnostic run, watched.
    ///
    /// # Errors
    /// As for [`Executor::run`].
    fn run_watched(&mut self, request: &Request, watch: &mut dyn Watch) -> Result<Made, RunError> {
        let _ = watch;
        self.run(request, &mut |_| {})
    }

    /// Runs the `cleanup` hook if the benchmark was begun.
    ///
    /// # Errors
    /// The hook failed.
    fn end(&mut self, benchmark: usize) -> Result<(), RunError>;

    /// What happened on the machine during the measured runs of a benchmark that gets no more;
    /// asked before [`Executor::end`].
    fn machine(&mut self, benchmark: usize) -> MachineCounters {
        let _ = benchmark;
        MachineCounters::new()
    }

    /// Whether the kernel's out-of-memory killer was at work during the last run.
    fn out_of_memory(&mut self) -> bool {
        false
    }

    /// The signal that asked to stop, once one has.
    fn interrupted(&self) -> Option<i32>;

    /// The end of what the last run wrote to standard error, at most 64 KiB.
    fn last_stderr(&self) -> Vec<u8>;

    /// How runs are made here; the floor is that of the runs made so far.
    fn manner(&self) -> Manner {
        Manner::default()
    }
}

#[cfg(test)]
mod tests;
