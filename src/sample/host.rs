//! On what machine and how the runs of a recording were made.
//!
//! `Conditions` says what was asked in its own types, so that a recording needs no plan.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The machine, as far as it bears on a measurement. Unknown facts are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Kernel name and release.
    pub kernel: Option<String>,
    /// Processor model.
    pub cpu_model: Option<String>,
    /// CPUs this process may run on.
    pub cpus: Option<u64>,
    /// The clock that wall times come from.
    pub clock: String,
    /// Its resolution.
    pub clock_resolution_ns: Option<u64>,
    /// The host's name.
    pub hostname: Option<String>,
    /// Everything else that is known: governor, turbo, SMT, load, THP, swap …
    #[serde(flatten)]
    pub facts: BTreeMap<String, Value>,
}

/// How the stamp at the start of a run is taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stamp {
    /// In the child, just before exec.
    #[default]
    BeforeExec,
    /// In the parent, before the process is created: the time includes creating it.
    BeforeSpawn,
}

/// On which CPUs the command runs. offbench itself stays on one CPU in any case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Where the system puts it: the affinity offbench was started with.
    #[default]
    Free,
    /// On the CPU offbench is on.
    Pin,
    /// On these.
    Cpus(Vec<usize>),
}

impl Placement {
    /// Whether it is left to the system.
    #[must_use]
    pub fn is_free(&self) -> bool {
        *self == Self::Free
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Free => f.write_str("any CPU"),
            Self::Pin => f.write_str("the one CPU of --pin"),
            Self::Cpus(all) => {
                let list: Vec<String> = all.iter().map(usize::to_string).collect();
                let plural = if all.len() == 1 { "" } else { "s" };
                write!(f, "CPU{plural} {}", list.join(","))
            }
        }
    }
}

/// What was asked for one benchmark.
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent facts of a file format"
)]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// The command line as given, escaped for display.
    pub command: String,
    /// The name for reports, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether `command` had to be escaped or was not UTF-8.
    #[serde(default, skip_serializing_if = "is_false")]
    pub lossy: bool,
    /// Parameter values by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
    /// The shell's command line, if it ran through one.
    #[serde(default)]
    pub shell: Option<String>,
    /// How the starting stamp was taken.
    #[serde(default)]
    pub stamp: Stamp,
    /// Seed of order, padding and resampling.
    pub seed: u64,
    /// Taken in rounds of all commands, so that runs of one round are pairs.
    #[serde(default)]
    pub paired: bool,
    /// Exit codes other than 0 that were to be ignored; `None` if a failure stops the benchmark.
    #[serde(default)]
    pub ignored_failures: Option<Vec<u8>>,
    /// Waiting was declared to be intended.
    #[serde(default, skip_serializing_if = "is_false")]
    pub expect_wait: bool,
    /// A run ended only when all its processes had.
    #[serde(default, skip_serializing_if = "is_false")]
    pub wait_descendants: bool,
    /// Diagnostic runs were wanted.
    #[serde(default, skip_serializing_if = "is_false")]
    pub explaining: bool,
    /// On which CPUs the command ran.
    #[serde(default, skip_serializing_if = "Placement::is_free")]
    pub placement: Placement,
    /// Time limit of a run, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<f64>,
    /// The number of runs was fixed by the user.
    #[serde(default, skip_serializing_if = "is_false")]
    pub runs_fixed: bool,
    /// Wanted half-width of the median's interval, as a fraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<f64>,
    /// What the warm-up found, if it looked for steadiness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup: Option<WarmupReport>,
    /// Seconds since 1970 when the session began.
    #[serde(default)]
    pub started_unix_s: Option<u64>,
    /// Measured time of this benchmark, hooks included, in seconds.
    #[serde(default)]
    pub elapsed_s: f64,
    /// The smallest peak memory that can be told from our own, in bytes.
    #[serde(default)]
    pub rss_floor_bytes: Option<u64>,
    /// Wall time of an empty program here, in seconds, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_floor_s: Option<f64>,
}

/// Below this many times what starting a program costs, the cost is told.
pub const FLOOR_MATTERS: f64 = 20.0;

impl Conditions {
    /// Whether starting a program is a large part of that wall time, in seconds.
    #[must_use]
    pub fn wall_near_floor(&self, wall: f64) -> Option<bool> {
        Some(wall < FLOOR_MATTERS * self.wall_floor_s?)
    }
}

/// What `--warmup auto` found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WarmupReport {
    /// Whether the series became steady.
    pub steady: bool,
    /// Runs made.
    pub runs: u64,
    /// Spread of the last window medians, as a fraction.
    pub spread: f64,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_false(value: &bool) -> bool {
    !value
}
