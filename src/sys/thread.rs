//! What is asked and told of a thread, alike on every platform.
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "only Linux tells it")
)]

/// A stop of a traced thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It is about to make this call.
    Enter {
        /// Number of the call.
        number: i64,
        /// Its arguments.
        args: [u64; 6],
    },
    /// The call it made has returned.
    Leave,
    /// It ended.
    Gone,
}

/// A file of `/proc/PID/task/TID`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Text {
    /// `syscall`: needs the right to attach with ptrace (Yama matters).
    Syscall,
    /// `stat`: world-readable.
    Stat,
    /// `wchan`: needs the right to read with ptrace.
    Wchan,
    /// `schedstat`: world-readable.
    Schedstat,
}
