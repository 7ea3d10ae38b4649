//! Linux.

pub(crate) mod held;
pub(crate) mod perf_event;
pub(crate) mod ptrace;
pub(crate) mod task;

use crate::explain::Arch;

/// The architecture of this machine, as far as call numbers go.
pub(crate) fn arch() -> Arch {
    if cfg!(target_arch = "aarch64") {
        Arch::Aarch64
    } else {
        Arch::X86_64
    }
}
