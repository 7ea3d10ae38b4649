//! What one run measured. A sample holds numbers and outcomes; it judges nothing and reads nothing.

pub mod attribution;
pub mod column;
pub mod field;
pub mod host;
pub mod recording;
pub mod shelf;
pub mod signal;

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use attribution::{Attribution, Trace};
pub use column::Samples;
pub use host::{Conditions, Host, Placement};
pub use recording::Recording;
pub use shelf::Shelf;

/// Which part of the session a run belongs to. Only measured runs enter a statistic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Before measuring, to fill caches.
    Warmup,
    /// Counts.
    Measured,
    /// Watched closely to name a wait; disturbed, so it never counts.
    Diagnostic,
}

impl Phase {
    /// The stable identifier used in JSON.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Warmup => "warmup",
            Self::Measured => "measured",
            Self::Diagnostic => "diagnostic",
        }
    }

    /// The reverse of `as u64`; measured where there is no such phase.
    #[must_use]
    pub fn from_raw(raw: Option<u64>) -> Self {
        match raw {
            Some(0) => Self::Warmup,
            Some(2) => Self::Diagnostic,
            _ => Self::Measured,
        }
    }
}

/// What the kernel accounts to a run: the process and the children it waited for (`wait4(2)`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user mode. With `system` exact in total; the split is tick-sampled.
    pub user: Duration,
    /// CPU time in the kernel.
    pub system: Duration,
    /// Peak resident set of the largest process, in bytes.
    pub max_rss: u64,
    /// Page faults served from memory.
    pub minor_faults: u64,
    /// Page faults that needed the disk.
    pub major_faults: u64,
    /// Blocks of 512 bytes read from disk.
    pub blocks_in: u64,
    /// Blocks of 512 bytes written.
    pub blocks_out: u64,
    /// Times the process gave up the CPU, to wait.
    pub voluntary_switches: u64,
    /// Times the CPU was taken from it.
    pub involuntary_switches: u64,
}

impl Usage {
    /// User plus system time.
    #[must_use]
    pub fn cpu(&self) -> Duration {
        self.user + self.system
    }

    /// The same without CPU time that was used before exec. The total is exact to the microsecond of
    /// the kernel's account; the split, which is sampled, keeps its proportion.
    #[must_use]
    pub fn without(self, before: Duration) -> Self {
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        let total = self.cpu();
        let rest = micros(total.saturating_sub(before)).round();
        let part = if total.is_zero() {
            0.0
        } else {
            (rest * (micros(self.user) / micros(total))).round()
        };
        Self {
            user: Duration::from_micros(part as u64),
            system: Duration::from_micros((rest - part) as u64),
            ..self
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It exited with this code, 0 to 255.
    Exited(u8),
    /// A signal ended it.
    Signaled {
        /// The signal's number.
        signal: u8,
        /// Whether the kernel says a core was dumped.
        core: bool,
    },
    /// It was killed because its time was up.
    TimedOut,
}

impl Outcome {
    /// Whether the command says all went well.
    #[must_use]
    pub fn success(self) -> bool {
        self == Self::Exited(0)
    }

    /// The exit code, if it exited.
    #[must_use]
    pub fn code(self) -> Option<u8> {
        match self {
            Self::Exited(code) => Some(code),
            _ => None,
        }
    }

    /// The signal, if one ended it.
    #[must_use]
    pub fn signal(self) -> Option<u8> {
        match self {
            Self::Signaled { signal, .. } => Some(signal),
            _ => None,
        }
    }

    /// One number for storage: the code, 256 + signal (+128 with a core), or 512.
    #[must_use]
    pub fn to_raw(self) -> u64 {
        match self {
            Self::Exited(code) => u64::from(code),
            Self::Signaled { signal, core } => {
                256 + u64::from(signal & 127) + if core { 128 } else { 0 }
            }
            Self::TimedOut => 512,
        }
    }

    /// Whether SIGKILL ended it, or what it waited for last, as shells tell it (128 and the number).
    #[must_use]
    pub fn is_killed(self) -> bool {
        const KILL: u8 = 9;
        self.signal() == Some(KILL) || self.code() == Some(128 + KILL)
    }

    /// The reverse of [`Outcome::to_raw`].
    #[must_use]
    pub fn from_raw(raw: u64) -> Self {
        match raw {
            0..=255 => Self::Exited(raw as u8),
            256..=511 => Self::Signaled {
                signal: ((raw - 256) & 127) as u8,
                core: raw - 256 >= 128,
            },
            _ => Self::TimedOut,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit code {code}"),
            Self::Signaled { signal, core } => {
                let dumped = if *core { " (core dumped)" } else { "" };
                write!(f, "killed by {}{dumped}", signal::name(*signal, None))
            }
            Self::TimedOut => f.write_str("timed out"),
        }
    }
}

/// Which parts of [`Usage`] are not known, as in runs that another program recorded. Their numbers
/// are then zero in memory and absent everywhere else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unaccounted {
    /// User and system time.
    pub cpu: bool,
    /// Peak memory.
    pub memory: bool,
    /// Faults and switches.
    pub events: bool,
}

impl Unaccounted {
    /// Nothing is known.
    pub const ALL: Self = Self {
        cpu: true,
        memory: true,
        events: true,
    };
}

/// What sources of evidence read about one run beyond [`Usage`]. `None` is "not measured".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Readings {
    /// From the clone to the child's own stamp before exec.
    pub spawn_latency: Option<Duration>,
    /// CPU time used before the stamp, by us: it is in no other account of the run.
    pub spawn_cpu: Option<Duration>,
    /// On-CPU time of the main thread since exec (`/proc/PID/schedstat`, first number).
    pub main_run: Option<Duration>,
    /// Run-queue time of the main thread since exec (`/proc/PID/schedstat`, second number).
    pub queued: Option<Duration>,
    /// Time in which no thread of the run's cgroup was on a CPU and at least one was runnable
    /// (`cpu.pressure`, full; over several CPUs a weighted mean).
    pub tree_queued: Option<Duration>,
    /// Time for which a signal or a debugger had stopped the process.
    pub stopped: Option<Duration>,
    /// Processes that came to us after their parent ended, and ended within the run's harvest.
    pub orphans: Option<u64>,
    /// CPU time of those processes.
    pub orphan_cpu: Option<Duration>,
    /// Processes of the run still alive when it had ended.
    pub leftovers: Option<u64>,
    /// 1 if the command ignores SIGCHLD, so its children's CPU is in nobody's account.
    pub auto_reaps: Option<u64>,
    /// CPU time of the whole process tree, from the run's own cgroup.
    pub tree_cpu: Option<Duration>,
    /// Time stopped by a CPU quota.
    pub throttled: Option<Duration>,
    /// Enforcement periods in which the quota stopped the command.
    pub throttled_periods: Option<u64>,
    /// Enforcement periods that passed.
    pub quota_periods: Option<u64>,
    /// Time all tasks of the run's cgroup stalled on I/O (`io.pressure`, full).
    pub io_stall: Option<Duration>,
    /// Time all tasks of the run's cgroup stalled on memory (`memory.pressure`, full).
    pub memory_stall: Option<Duration>,
    /// Bytes fetched from the disk (`/proc/PID/io`).
    pub read_bytes: Option<u64>,
    /// Bytes sent to the disk (`/proc/PID/io`).
    pub write_bytes: Option<u64>,
    /// Instructions retired in user mode.
    pub instructions: Option<u64>,
    /// CPU cycles in user mode.
    pub cycles: Option<u64>,
    /// Branches mispredicted.
    pub branch_misses: Option<u64>,
    /// Accesses that reached the last-level cache.
    pub cache_references: Option<u64>,
    /// Accesses that missed the last-level cache.
    pub cache_misses: Option<u64>,
    /// Which parts of [`Usage`] are not known.
    pub unaccounted: Unaccounted,
}

/// The record of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Which part of the session it belongs to.
    pub phase: Phase,
    /// Its number within benchmark and phase, from 0.
    pub index: u64,
    /// The round of all benchmarks it was part of, from 0.
    pub round: u64,
    /// Its place in that round, from 0.
    pub position: u64,
    /// When it began, since the session began.
    pub start: Duration,
    /// From exec to collected exit.
    pub wall: Duration,
    /// The kernel's account of the process and the children it waited for.
    pub usage: Usage,
    /// How it ended.
    pub outcome: Outcome,
    /// Length of the random environment padding, in bytes.
    pub padding: u64,
    /// What the evidence sources read.
    pub readings: Readings,
}

/// By how many seconds the accounts of a single thread may contradict each other in a run of `wall`
/// seconds.
#[must_use]
pub fn slack(wall: f64) -> f64 {
    (wall * 0.02).max(100e-6)
}

/// Accounts of the same CPU time differ by as much: each is cut to microseconds, user and system by
/// themselves.
const ACCOUNTS_DIFFER: Duration = Duration::from_micros(5);

impl Sample {
    /// Keys of the fields that [`Sample::tree_cpu`] looks at.
    pub const TREE_CPU: &'static [&'static str] =
        &["user_s", "system_s", "orphan_cpu_s", "tree_cpu_s"];

    /// CPU time of the whole tree as far as it is known: the run's cgroup if it had one, otherwise
    /// the kernel's account plus the processes that came to us.
    #[must_use]
    pub fn tree_cpu(&self) -> Duration {
        let accounted = self.usage.cpu() + self.readings.orphan_cpu.unwrap_or_default();
        let whole = self.readings.tree_cpu;
        whole
            .filter(|tree| *tree > accounted + ACCOUNTS_DIFFER)
            .unwrap_or(accounted)
    }

    /// Tree CPU that user and system time miss.
    #[must_use]
    pub fn hidden_cpu(&self) -> Duration {
        self.tree_cpu().saturating_sub(self.usage.cpu())
    }

    /// Wall minus tree CPU in seconds; negative when threads ran in parallel, and 0 where CPU exceeds
    /// wall by no more than the accounts may contradict each other.
    #[must_use]
    pub fn off_cpu_seconds(&self) -> f64 {
        let wall = self.wall.as_secs_f64();
        let off = wall - self.tree_cpu().as_secs_f64();
        if off < 0.0 && -off <= slack(wall) {
            0.0
        } else {
            off
        }
    }

    /// Time ready to run without a CPU, never more than wall or than what CPU time leaves of it.
    ///
    /// Exact for a main thread that does the work. Where its children do, the run's cgroup tells,
    /// if there is one; what is told is a lower bound then.
    #[must_use]
    pub fn queued(&self) -> Option<Duration> {
        let main = self.readings.queued;
        let off_cpu = self.wall.saturating_sub(self.tree_cpu());
        let tree = self.readings.tree_queued.filter(|_| self.children_work());
        let tree = tree.map(|time| time.min(off_cpu));
        Some(main.max(tree)?.min(self.wall))
    }

    /// Whether most of the CPU time is not the main thread's.
    #[must_use]
    pub fn children_work(&self) -> bool {
        let main = self.readings.main_run;
        main.is_some_and(|main| 2 * main < self.tree_cpu())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_before_exec_is_left_out_in_proportion() {
        let usage = |user, system| Usage {
            user: Duration::from_micros(user),
            system: Duration::from_micros(system),
            ..Usage::default()
        };
        let before = Duration::from_nanos;
        assert_eq!(usage(300, 100).without(before(20_400)), usage(285, 95));
        assert_eq!(usage(0, 30).without(before(10_000)), usage(0, 20));
        assert_eq!(usage(7, 3).without(before(11_000)), usage(0, 0));
        assert_eq!(usage(0, 0).without(before(500)), usage(0, 0));
        assert_eq!(usage(7, 3).without(before(0)), usage(7, 3));
    }

    #[test]
    fn accounts_of_the_same_time_hide_nothing() {
        let hidden = |tree: u64| {
            let mut sample = Sample::default();
            sample.usage.user = Duration::from_micros(35);
            sample.readings.tree_cpu = Some(Duration::from_nanos(tree));
            sample.hidden_cpu()
        };
        assert_eq!(hidden(35_967), Duration::ZERO);
        assert_eq!(hidden(60_000), Duration::from_micros(25));
        assert_eq!(hidden(0), Duration::ZERO);
    }
}
