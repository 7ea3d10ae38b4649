//! The operating system. Reading is here, understanding is in `probe`.

mod linux;

pub(crate) use linux::arch;
pub(crate) use linux::held::{ExactTimers, Held, Start, now};
pub(crate) use linux::perf_event::{Rings, perf_paranoid};
pub(crate) use linux::ptrace::{Stop, filter, trace};
pub(crate) use linux::task::{
    TaskFiles, Text, children, directory, inode, link, locks, memory, processes, text, threads,
};
