//! What diagnostic runs said about where the wall time went. Data only: `explain` makes it.

use serde::{Deserialize, Serialize};

use crate::evidence::{Cause, Depth};

/// One named wait and the idle wall time it is blamed for, over all diagnostic runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Wait {
    /// Why nothing ran.
    pub cause: Cause,
    /// The call and what it waited on, escaped for display: `fsync ./wal`.
    pub detail: String,
    /// Where in the kernel, as the last words of a cause line: `journal commit`.
    pub place: Option<String>,
    /// Idle wall time blamed on it, seconds, mean a run.
    pub seconds: f64,
    /// How many waits were seen, over all diagnostic runs.
    pub count: u64,
}

/// Diagnostic runs of one benchmark, explained. Seconds are means a run; busy + queued + idle = wall.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attribution {
    /// How many diagnostic runs were made.
    pub runs: u64,
    /// How the on/off-CPU intervals are known.
    pub depth: Depth,
    /// Mean wall time of the diagnostic runs.
    pub wall: f64,
    /// At least one thread of the tree on a CPU.
    pub busy: f64,
    /// No thread on a CPU, at least one runnable.
    pub queued: f64,
    /// Every thread blocked.
    pub idle: f64,
    /// Threads on a CPU, averaged over the busy time; `None` without switch records.
    pub threads_busy: Option<f64>,
    /// Most threads that existed at once.
    pub threads: u64,
    /// Share of the idle time that has a name, 0 to 1.
    pub named: f64,
    /// Idle seconds in waits too short to name by sampling.
    pub too_short: f64,
    /// CPU seconds of the whole tree a run, from the switch records; `None` without them.
    pub tree_cpu: Option<f64>,
    /// Named waits, largest first.
    pub waits: Vec<Wait>,
    /// Thread-seconds blocked by name while other threads may have run, largest first: what
    /// threads wait for although the command is not idle. Empty without switch records.
    pub blocked: Vec<Wait>,
    /// What was lost and why: refused permissions, lost records.
    pub limits: Vec<String>,
}

/// One blocking call on one thing, counted exactly in a traced run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallCount {
    /// The call and what it worked on, escaped for display: `fsync ./wal`.
    pub detail: String,
    /// What it means when it waits.
    pub cause: Cause,
    /// How often it was made.
    pub calls: u64,
    /// Seconds in it, all calls together, over all threads.
    pub seconds: f64,
    /// Seconds in the longest.
    pub longest: f64,
}

impl CallCount {
    /// Mean seconds a call.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.seconds / self.calls.max(1) as f64
    }
}

/// What a traced run shows. Tracing slows the command down: the times are those of the traced run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Wall seconds of the traced run.
    pub wall: f64,
    /// The calls, by total time, largest first.
    pub calls: Vec<CallCount>,
    /// What is not in the table and why.
    pub limits: Vec<String>,
}
