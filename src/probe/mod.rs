//! Evidence sources: each turns what the kernel tells about one run into readings of its sample, or,
//! in a diagnostic run, into records for `explain`.
//!
//! `sys` reads, these understand; parsers take bytes and are tested on every platform.

pub mod counters;
pub mod descriptor;
pub mod explain;
mod reader;
mod sampler;
pub mod schedstat;
pub mod sock_diag;
pub mod stat;
pub mod switches;
pub mod task;
pub mod trace;

use crate::explain::Arch;

/// The architecture of this machine, as far as call numbers go.
fn arch() -> Arch {
    if crate::sys::AARCH64 {
        Arch::Aarch64
    } else {
        Arch::X86_64
    }
}
