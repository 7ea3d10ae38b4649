//! Evidence sources: each turns what the kernel tells about one run, or about the machine during the
//! runs, into readings, or, in a diagnostic run, into records for `explain`.
//!
//! `sys` reads, these understand: parsers take bytes and are tested on every platform. [`PROBES`]
//! lists the sources with their availability here.

pub(crate) mod bench;
pub mod counters;
pub mod cpu_stat;
pub mod descriptor;
pub mod explain;
mod facts;
mod glancer;
pub mod hugepages;
pub mod io;
pub(crate) mod machine;
pub mod memory_limit;
pub mod oom;
pub mod pressure;
mod reader;
mod sampler;
pub mod sched;
pub mod schedstat;
pub mod sock_diag;
pub mod stat;
pub mod steal;
pub mod switches;
mod table;
pub mod task;
pub mod taskstats;
pub mod trace;
mod tree;
pub mod vmstat;

use crate::explain::Arch;

pub(crate) use bench::Bench;
pub(crate) use facts::facts;
pub use table::{PROBES, Probe, When};

/// The architecture of this machine, as far as call numbers go.
fn arch() -> Arch {
    if crate::sys::AARCH64 {
        Arch::Aarch64
    } else {
        Arch::X86_64
    }
}

/// The number on the line that begins with a key.
fn number_after(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().parse().ok()
}
