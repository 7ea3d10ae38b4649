//! A run as a timeline: the three kinds of wall time and the idle intervals. Data only.

use std::collections::HashMap;

use super::naming::Named;

/// What the tree as a whole does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// At least one thread on a CPU.
    Busy,
    /// None on a CPU, at least one ready for one.
    Queued,
    /// Every thread blocked.
    Idle,
}

/// A stretch of time in which every thread was blocked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idle {
    /// How long.
    pub length: u64,
    /// Place in [`Log::threads`] of the thread that ended it; `None` at the end of the run.
    pub ender: Option<usize>,
    /// How long that thread had waited.
    pub wait: u64,
    /// Place of that wait in [`Log::names`], if the wait has a name.
    pub name: Option<usize>,
    /// Sampling ticks that fell into it.
    pub ticks: u32,
    /// How long the thread then ran.
    pub stretch: u64,
    /// Whether another thread began to run during that stretch or right after it.
    pub woke: bool,
}

/// A thread of the tree, for those who judge its habits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadFacts {
    /// Its process.
    pub pid: u32,
    /// Its identifier.
    pub tid: u32,
    /// Whether it is the thread that was started first.
    pub first: bool,
}

/// A run as a timeline: everything the blame rule needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Log {
    /// From start to end; busy + queued + idle.
    pub wall: u64,
    /// At least one thread on a CPU.
    pub busy: u64,
    /// None on a CPU, one ready.
    pub queued: u64,
    /// All blocked.
    pub idle: u64,
    /// Nanoseconds on a CPU, over all threads.
    pub on_cpu: u64,
    /// Most threads alive at once.
    pub threads_most: u64,
    /// Every thread seen.
    pub threads: Vec<ThreadFacts>,
    /// The idle intervals, in order.
    pub intervals: Vec<Idle>,
    /// The names that waits have.
    pub names: Vec<Named>,
    /// Thread-nanoseconds blocked and number of waits, by name, whatever the rest of the tree did.
    pub blocked: HashMap<usize, (u64, u64)>,
    /// Records the kernel dropped.
    pub lost: u64,
}
