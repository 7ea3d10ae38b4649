//! What happens while a plan executes, told to an observer. Events belong to the run, drawing and
//! saving to the observer.

use std::time::Duration;

use super::executor::Request;
use crate::sample::{Recording, Sample};
use crate::stats::precision::Look;

/// Something that happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// A benchmark begins, before its setup hook.
    Begin {
        /// Its place in the plan.
        benchmark: usize,
    },
    /// A run will start next. Last chance to draw.
    Starting {
        /// Which run.
        request: &'a Request,
    },
    /// A long run is still going on.
    Tick {
        /// Which run.
        request: &'a Request,
        /// Time since its start.
        elapsed: Duration,
    },
    /// A run is over.
    Sampled {
        /// Which run.
        request: &'a Request,
        /// What it measured.
        sample: &'a Sample,
        /// How far the benchmark is, 0 to 1, as far as its limits tell.
        progress: f64,
        /// How well the median or the ratio was known at the last look, if a precision is wanted.
        look: Option<Look>,
    },
    /// A benchmark is over, complete or cut short, after its cleanup hook.
    Finished {
        /// Its place in the plan.
        benchmark: usize,
        /// All runs of all benchmarks so far.
        recordings: &'a [Recording],
    },
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// End after the current run, as on an interrupt: nobody is listening any more.
    Stop,
}

/// Hears of everything that happens.
pub trait Observer {
    /// Told of each event, never between the start and the end of a run except for ticks.
    fn event(&mut self, event: &Event<'_>) -> Flow;
}

/// Decides what only an analysis can tell.
pub trait Policy {
    /// Whether diagnostic runs are to name what a benchmark waited for; asked once its measured
    /// runs are over.
    fn explains(&self, recording: &Recording) -> bool;
}
