//! Sources of evidence: each turns kernel data about a run, or about the machine during the runs,
//! into readings.
//!
//! `sys` reads, these understand: parsers take bytes and are tested on every platform. [`PROBES`]
//! lists the sources with their availability here.

pub(crate) mod bench;
pub mod cpu_stat;
mod facts;
pub mod hugepages;
pub mod io;
pub(crate) mod machine;
pub mod memory_limit;
pub mod pressure;
pub mod sched;
pub mod schedstat;
pub mod stat;
pub mod steal;
mod table;
pub mod taskstats;
pub mod vmstat;

pub(crate) use bench::Bench;
pub(crate) use facts::facts;
pub use table::{PROBES, Probe, When};
