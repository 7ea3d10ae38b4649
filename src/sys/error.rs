//! Why the system refused. Who asked adds the name of the program.

use std::io;
use std::path::PathBuf;

/// A refusal of the system. Messages fit after "cannot …: ".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Error {
    /// A signal has asked us to stop.
    #[error("go on: interrupted")]
    #[cfg_attr(
        not(target_os = "linux"),
        allow(dead_code, reason = "elsewhere a start is not held back")
    )]
    Stopped,
    /// No such program, or none of that name in the search path.
    #[error("no such program")]
    NotFound,
    /// The file may not be executed.
    #[error("{} is not executable", path.display())]
    NotExecutable {
        /// The file.
        path: PathBuf,
    },
    /// It is a folder.
    #[error("{} is a directory", path.display())]
    Directory {
        /// The folder.
        path: PathBuf,
    },
    /// What the first line of a script or the header of a program names does not exist.
    #[error("the interpreter {interpreter} of {} does not exist", path.display())]
    MissingInterpreter {
        /// The script or program.
        path: PathBuf,
        /// The interpreter, escaped for display.
        interpreter: String,
    },
    /// Neither a program of this machine nor a script with a `#!` line.
    #[error("{} is not a program of this machine", path.display())]
    Format {
        /// The file.
        path: PathBuf,
    },
    /// Arguments and environment exceed what the kernel takes.
    #[error("arguments and environment are too long")]
    TooLong,
    /// An argument or variable holds a NUL byte.
    #[error("a NUL byte in an argument or variable")]
    Nul,
    /// The working directory cannot be entered.
    #[error("cannot enter {}: {source}", path.display())]
    WorkingDirectory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No more processes may be started.
    #[error("no more processes may be started")]
    NoProcesses {
        /// The limit, where one is set.
        limit: Option<u64>,
    },
    /// No timer can be had: it takes a place among the pending signals.
    #[error("no more signals may be pending")]
    #[cfg_attr(
        not(target_os = "linux"),
        allow(dead_code, reason = "only Linux counts timers as signals")
    )]
    NoTimer {
        /// The limit, where one is set.
        limit: Option<u64>,
    },
    /// A CPU that is not there or not allowed.
    #[error("CPU {cpu} is not available here")]
    NoSuchCpu {
        /// Its number.
        cpu: usize,
    },
    /// An empty list of CPUs.
    #[error("no CPU is given")]
    NoCpu,
    /// Started with more rights than the caller has.
    #[error("started with the rights of another user (setuid or setgid)")]
    ForeignRights,
    /// Any other refusal.
    #[error("{call}: {source}")]
    Call {
        /// The system call.
        call: &'static str,
        /// Why.
        source: io::Error,
    },
}

impl Error {
    /// The error the last system call left.
    pub(crate) fn last(call: &'static str) -> Self {
        Self::Call {
            call,
            source: io::Error::last_os_error(),
        }
    }

    /// The error of that number.
    pub(crate) fn number(call: &'static str, number: i32) -> Self {
        Self::Call {
            call,
            source: io::Error::from_raw_os_error(number),
        }
    }
}
