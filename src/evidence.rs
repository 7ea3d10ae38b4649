//! The words of off-CPU diagnosis: causes, how deep evidence reaches, what a claim is worth, and
//! whether a source of evidence is there at all.
//!
//! Only vocabulary lives here. Nothing in this file reads a system or computes a share.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What kind of cause it is, which decides the tone of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The machine or its limits: the result is not the program's.
    Environment,
    /// The program waits for a resource it asked for: you are timing that resource.
    Program,
    /// Waiting that is meant, or for somebody else's answer: at most a note.
    Intended,
    /// The kernel's account of CPU time is incomplete: replaces the ratio's tier.
    Accounting,
    /// Waiting that nothing has named.
    Unknown,
}

impl Class {
    /// The stable identifier used in JSON.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::Program => "program",
            Self::Intended => "intended",
            Self::Accounting => "accounting",
            Self::Unknown => "unknown",
        }
    }
}

/// One row of [`CAUSES`]: a reason why a thread did not run, and how to speak of it.
#[derive(Debug)]
pub struct CauseRow {
    /// Stable identifier in kebab case, the same in JSON, gates and `--help-cause`.
    pub id: &'static str,
    /// Decides the tone.
    pub class: Class,
    /// A few words for a cause line.
    pub title: &'static str,
    /// One sentence on what happens.
    pub explanation: &'static str,
    /// What to do about it, as the end of "help: …".
    pub advice: &'static str,
}

macro_rules! causes {
    ($($(#[$doc:meta])* $name:ident = $id:literal, $class:ident, $title:literal, $explanation:literal, $advice:literal;)+) => {
        /// Why a thread did not run.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Cause { $($(#[$doc])* $name,)+ }

        /// Every cause, in the order of [`Cause`].
        pub static CAUSES: &[CauseRow] = &[$(CauseRow {
            id: $id, class: Class::$class, title: $title, explanation: $explanation, advice: $advice,
        },)+];

        /// Every cause, in table order.
        pub const ALL_CAUSES: &[Cause] = &[$(Cause::$name,)+];
    };
}

causes! {
    /// Runnable, but no CPU was free.
    CpuQueue = "cpu-queue", Environment, "waiting for a free CPU",
        "threads were ready to run and no CPU was free: the machine is busy",
        "stop what else runs here, or read the time without queueing";
    /// Stopped by a cgroup's CPU bandwidth limit.
    CpuQuota = "cpu-quota", Environment, "stopped by the CPU quota",
        "the cgroup CPU quota stopped the command: the container's limit, not the program",
        "raise the quota (cpu.max, --cpus), or gate CPU time instead of wall";
    /// The hypervisor ran somebody else.
    Steal = "steal", Environment, "taken by the hypervisor",
        "the hypervisor gave CPU time of this machine to others during the runs",
        "repeat on a dedicated machine";
    /// Reclaim, compaction or a memory limit.
    MemoryPressure = "memory-pressure", Environment, "memory reclaim",
        "the kernel had to make room in memory before the command could go on",
        "raise the memory limit, or free memory";
    /// Pages came back from swap.
    Swap = "swap", Environment, "swap",
        "pages of the command came back from swap",
        "give the machine or the cgroup more memory";
    /// Stopped by a signal or a debugger.
    Stopped = "stopped", Environment, "stopped by a signal or debugger",
        "the process was stopped (SIGSTOP, job control or a debugger)",
        "let the command run undisturbed";
    /// Hugepage pool or compaction trouble.
    Hugepages = "hugepages", Environment, "hugepages ran out",
        "hugepages were not to be had: allocation falls back or fails, and results depend on who ran before",
        "enlarge vm.nr_hugepages, or run without hugepages";
    /// An explicit flush to disk.
    DiskFlush = "disk-flush", Program, "disk flush",
        "the command waits until the disk has its data",
        "group the flushes, or put the file on tmpfs to time the code";
    /// Reading from a disk.
    DiskRead = "disk-read", Program, "disk read",
        "the command waits for reads from the disk (cold cache)",
        "--warmup, or --prepare to make every run equally cold";
    /// Metadata, journal or another disk operation.
    Disk = "disk", Program, "disk",
        "the command waits for the disk (metadata, journal or writeback)",
        "put the files on tmpfs to time the code";
    /// A page fault that needs the disk.
    PageFault = "page-fault", Program, "page fault from disk",
        "the command waits for pages of a mapped file or of the program itself to come from disk",
        "--warmup 1 removes it";
    /// Held back because too many pages are dirty.
    WriterThrottled = "writer-throttled", Program, "writer throttled",
        "the command writes faster than the disk: the kernel holds it back at the dirty-page limit",
        "write less, or wait for the writeback between runs (--prepare sync)";
    /// A lock or condition variable inside the program.
    Lock = "lock", Program, "lock or condition variable",
        "threads of the command wait for one another",
        "shorten or split the critical section";
    /// A lock on a file.
    FileLock = "file-lock", Program, "file lock",
        "the command waits for a lock on a file that another process holds",
        "stop the holder, or give each run its own file";
    /// The lock on the address space.
    MemoryMap = "memory-map", Program, "memory map lock",
        "threads wait for the lock on the address space, or for pages to be moved",
        "map and unmap less while threads run";
    /// An asynchronous completion.
    IoUring = "io-uring", Program, "io_uring completion",
        "the command waits for the completion of asynchronous requests",
        "look at what the requests do";
    /// Its own sleep or timeout.
    Sleep = "sleep", Intended, "sleep",
        "the command sleeps or waits for its own timeout",
        "if that is intended, --expect-wait";
    /// An answer over the network.
    Network = "network", Intended, "network",
        "the command waits for a peer to answer; the peer is outside the benchmark",
        "benchmark the peer itself, or --expect-wait";
    /// An answer of a process on this machine.
    LocalService = "local-service", Intended, "local service",
        "the command waits for a service on this machine, whose CPU is not in user and system time",
        "benchmark the service itself, or --expect-wait";
    /// Polling with nothing to do.
    EventLoop = "event-loop", Intended, "event loop",
        "the command waits in its event loop for something to happen",
        "if that is intended, --expect-wait";
    /// A pipe whose other end is outside the command.
    Pipe = "pipe", Intended, "pipe",
        "the command waits for the other end of a pipe",
        "look at the process at the other end";
    /// A child process.
    Child = "child", Intended, "child process",
        "the command waits for a process it started",
        "look at what the child does";
    /// A terminal.
    Terminal = "terminal", Intended, "terminal",
        "the command waits for input from a terminal",
        "--input FILE gives it input";
    /// CPU burned by background processes of the command.
    HiddenCpu = "hidden-cpu", Accounting, "hidden work",
        "user and system time miss CPU burned by background processes of this command",
        "--wait-descendants waits for them and counts their time";
    /// Children the kernel reaped without an account.
    AutoReaped = "auto-reaped", Accounting, "auto-reaped children",
        "the command ignores SIGCHLD, so the CPU of its children is in nobody's account",
        "give the run a cgroup of its own (see --doctor)";
    /// Processes of the run that outlived it.
    Leftovers = "leftovers", Accounting, "processes left behind",
        "processes of a run were still alive when it ended; they may slow the next run",
        "--wait-descendants includes them";
    /// Runs ended by the time limit.
    TimedOut = "timed-out", Accounting, "timed out",
        "runs were ended by the time limit: how long the command takes is not known",
        "raise --timeout";
    /// Runs ended by a signal.
    Killed = "killed", Accounting, "killed",
        "runs were killed by a signal; the CPU of their children may be missing",
        "mend the crash first";
    /// No source named it.
    Unknown = "unknown", Unknown, "waiting",
        "nothing has named what the command waited for",
        "--explain=always looks at what it waits for";
}

impl Cause {
    /// The row that describes this cause.
    #[must_use]
    pub fn row(self) -> &'static CauseRow {
        &CAUSES[self as usize]
    }

    /// The stable identifier, such as `disk-flush`.
    #[must_use]
    pub fn id(self) -> &'static str {
        self.row().id
    }

    /// The class, which decides the tone.
    #[must_use]
    pub fn class(self) -> Class {
        self.row().class
    }

    /// The cause of that identifier.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        ALL_CAUSES.iter().copied().find(|cause| cause.id() == id)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// How deep the evidence reaches, by what the system permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Depth {
    /// Counters the kernel keeps anyway.
    Accounting,
    /// Looking at the threads many times a second.
    Sampling,
    /// Every switch or call recorded.
    Tracing,
}

impl Depth {
    /// The stable identifier used in JSON.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Accounting => "accounting",
            Self::Sampling => "sampling",
            Self::Tracing => "tracing",
        }
    }
}

/// Why a value cannot be had, and what would change that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Lower-case, fits after "missing: ".
    pub reason: String,
    /// A command or setting that would help, if there is one.
    pub remedy: Option<String>,
}

impl Missing {
    /// A reason without a remedy.
    pub fn because(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            remedy: None,
        }
    }

    /// The same with what would help.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// A value, or why there is none. A missing value is never zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability<T> {
    /// It is there.
    Ready(T),
    /// It is not, for this reason.
    Missing(Missing),
}

impl<T> Availability<T> {
    /// The value, if it is there.
    #[must_use]
    pub fn ready(self) -> Option<T> {
        match self {
            Self::Ready(value) => Some(value),
            Self::Missing(_) => None,
        }
    }

    /// Why there is none, if there is none.
    #[must_use]
    pub fn missing(self) -> Option<Missing> {
        match self {
            Self::Ready(_) => None,
            Self::Missing(missing) => Some(missing),
        }
    }

    /// The same availability of something computed from the value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Availability<U> {
        match self {
            Self::Ready(value) => Availability::Ready(f(value)),
            Self::Missing(missing) => Availability::Missing(missing),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cause_table_is_consistent() {
        let mut ids: Vec<_> = CAUSES.iter().map(|row| row.id).collect();
        for (row, cause) in CAUSES.iter().zip(ALL_CAUSES) {
            assert!(
                row.id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'),
                "{}",
                row.id
            );
            assert!(!row.title.is_empty() && !row.explanation.is_empty() && !row.advice.is_empty());
            assert_eq!(Cause::from_id(row.id), Some(*cause));
            assert_eq!(serde_json::to_value(cause).unwrap(), row.id);
        }
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), CAUSES.len());
    }
}
