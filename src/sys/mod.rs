//! The operating system: clock, start, wait, reap, kernel files, signals, host facts.
//!
//! The only module with `unsafe` and `cfg(target_os)`. It reads; understanding what was read is
//! `probe`'s work. `linux` and `macos` offer the same names, and this file picks one:
//!
//! | name | what it is |
//! |---|---|
//! | `Spawner` | starts prepared commands with a stamp as close to exec as the system allows |
//! | `Wakeups` | a timer that ends a blocking wait |
//! | `Channel` | waits for the end of a process while draining its output |
//! | `CpuMask` | on which CPUs a thread may run |
//! | `KernelFile` | reads a small kernel file without allocating |
//! | `schedstat`, `stat` | what the kernel still shows of a dead process |
//! | `adopt_orphans`, `offspring`, `newest` | processes that outlive the one that was started |
//! | `scratch_file`, `release_pages` | a nameless file for standard error |
//! | `perf_event::Rings` | switch records of a process tree |
//! | `ptrace::Tracer` | stops a process at chosen calls |
//! | `task` | what a thread waits for |
//! | `OwnGroup`, `quotas`, `memory_limit` | control groups: one for the commands, limits above us |
//! | `has_proc`, `text`, `sched`, `open_io`, `Taskstats` | further kernel accounts, where they can be had |
//! | `empty_program` | the smallest program, to measure what starting costs |
//! | `suspended`, `peak_memory`, `facts` | the machine and ourselves |
#![allow(
    unsafe_code,
    reason = "the system is only reached through calls the compiler cannot check; each block says why it is sound"
)]

pub(crate) mod channel;
pub(crate) mod clock;
pub(crate) mod command;
#[cfg(feature = "cli")]
pub(crate) mod documents;
#[cfg(feature = "cli")]
pub(crate) mod durability;
mod error;
pub(crate) mod files;
pub(crate) mod host;
mod parse;
mod prepared;
#[cfg(feature = "cli")]
mod replacement;
mod resolve;
pub(crate) mod session;
#[cfg(feature = "cli")]
pub(crate) mod stack;
#[cfg(feature = "cli")]
mod temporary;
pub(crate) mod terminal;
mod thread;
pub(crate) mod unix;

#[cfg_attr(target_os = "linux", path = "linux/mod.rs")]
#[cfg_attr(not(target_os = "linux"), path = "macos/mod.rs")]
pub(crate) mod platform;

/// Whether the calls of this machine have the numbers of aarch64; otherwise those of x86-64.
pub(crate) const AARCH64: bool = cfg!(target_arch = "aarch64");

pub(crate) use clock::now;
pub(crate) use error::Error;
pub(crate) use platform::counters::HardwareCounters;
pub(crate) use platform::perf_event::{Rings, perf_paranoid};
pub(crate) use platform::ptrace::{Filter, Tracer};
pub(crate) use platform::sock_diag::unix_socket;
pub(crate) use platform::task::{
    TaskFiles, children, descriptors, directory, inode, link, locks, memory, processes, text,
    threads,
};
pub(crate) use prepared::{Environment, Prepared, Slots, Words};
#[cfg(feature = "cli")]
pub(crate) use replacement::Replacement;
#[cfg(feature = "cli")]
pub(crate) use resolve::is_program;
pub(crate) use thread::{Stop, Text};
