//! Why a run could not be made.

use std::io;
use std::path::PathBuf;

use crate::sys;

/// Why a run could not be made. Messages fit after "cannot "; `program` is the first word of the
/// command, escaped for display.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A hook did not succeed.
    #[error("go on: the {hook} command failed: {how}")]
    Hook {
        /// `setup`, `prepare`, `conclude` or `cleanup`.
        hook: &'static str,
        /// The exit code or signal.
        how: String,
        /// The exit code, if it exited.
        code: Option<u8>,
        /// The end of its standard error.
        stderr: Vec<u8>,
    },
    /// The program was started with the rights of another user.
    #[error("run with the rights of another user (setuid or setgid)")]
    ForeignRights,
    /// A signal asked to stop before the run began.
    #[error("go on: interrupted")]
    Interrupted,
    /// The benchmark was not begun, or is not in the plan.
    #[error("make a run of a benchmark that was not begun")]
    NotBegun,
    /// No such program.
    #[error("find the program '{program}'")]
    NotFound {
        /// The program as written.
        program: String,
    },
    /// Its file may not be executed.
    #[error("run '{program}': {} is not executable", path.display())]
    NotExecutable {
        /// The program as written.
        program: String,
        /// The file found.
        path: PathBuf,
    },
    /// It is a folder.
    #[error("run '{program}': {} is a directory", path.display())]
    IsDirectory {
        /// The program as written.
        program: String,
        /// The folder found.
        path: PathBuf,
    },
    /// A script's or program's interpreter does not exist.
    #[error("run '{program}': its interpreter {interpreter} does not exist")]
    MissingInterpreter {
        /// The program as written.
        program: String,
        /// The interpreter, escaped for display.
        interpreter: String,
    },
    /// Neither a program of this machine nor a script with a `#!` line.
    #[error("run '{program}': {} is neither a program of this machine nor a script with a #! line", path.display())]
    NotAProgram {
        /// The program as written.
        program: String,
        /// The file found.
        path: PathBuf,
    },
    /// Arguments and environment exceed what the system takes.
    #[error("run '{program}': arguments and environment are longer than the system takes")]
    TooLong {
        /// The program as written.
        program: String,
    },
    /// A text to be passed holds a NUL byte.
    #[error("run '{program}': an argument or variable holds a NUL byte")]
    Nul {
        /// The program as written.
        program: String,
    },
    /// The working directory cannot be entered.
    #[error("enter the directory {}: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No more processes may be started.
    #[error("run '{program}': no more processes may be started{}", limit.map(|l| format!(" (limit {l})")).unwrap_or_default())]
    NoProcesses {
        /// The program as written.
        program: String,
        /// The limit, where one is set.
        limit: Option<u64>,
    },
    /// No timer can be had: it takes a place among the pending signals.
    #[error("set a timer: no more signals may be pending{}", limit.map(|l| format!(" (limit {l})")).unwrap_or_default())]
    NoTimer {
        /// The limit, where one is set.
        limit: Option<u64>,
    },
    /// The input file cannot be read.
    #[error("read the input {}: {source}", path.display())]
    Input {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The output file cannot be written.
    #[error("write the output {}: {source}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A CPU of the list is not available.
    #[error("use CPU {cpu}: it is not available here")]
    NoSuchCpu {
        /// Its number.
        cpu: usize,
    },
    /// The list of CPUs is empty.
    #[error("use an empty list of CPUs")]
    NoCpu,
    /// Outputs had to agree and do not.
    #[error("accept the output of `{command}`: {run} wrote something else than {other}")]
    OutputDiffers {
        /// The command that differs, escaped for display.
        command: String,
        /// The run that differs, in words.
        run: String,
        /// The run it was held against, in words.
        other: String,
    },
    /// Any other refusal of the system.
    #[error("{}: {call}: {source}", if program.is_empty() { "begin".into() } else { format!("run '{program}'") })]
    System {
        /// The program as written; empty if it is not about one.
        program: String,
        /// The system call.
        call: &'static str,
        /// Why.
        source: io::Error,
    },
}

impl RunError {
    /// The system's refusal, with the program it is about.
    pub(in crate::run) fn about(program: &str, error: sys::Error) -> Self {
        let program = program.to_owned();
        match error {
            sys::Error::Stopped => Self::Interrupted,
            sys::Error::NotFound => Self::NotFound { program },
            sys::Error::NotExecutable { path } => Self::NotExecutable { program, path },
            sys::Error::Directory { path } => Self::IsDirectory { program, path },
            sys::Error::MissingInterpreter { interpreter, .. } => Self::MissingInterpreter {
                program,
                interpreter,
            },
            sys::Error::Format { path } => Self::NotAProgram { program, path },
            sys::Error::TooLong => Self::TooLong { program },
            sys::Error::Nul => Self::Nul { program },
            sys::Error::WorkingDirectory { path, source } => Self::Directory { path, source },
            sys::Error::NoProcesses { limit } => Self::NoProcesses { program, limit },
            sys::Error::NoTimer { limit } => Self::NoTimer { limit },
            sys::Error::NoSuchCpu { cpu } => Self::NoSuchCpu { cpu },
            sys::Error::NoCpu => Self::NoCpu,
            sys::Error::Call { call, source } => Self::System {
                program,
                call,
                source,
            },
            sys::Error::ForeignRights => Self::ForeignRights,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_about_no_program_names_none() {
        let refused =
            |program| RunError::about(program, sys::Error::number("mmap", 12)).to_string();
        assert!(refused("ls").starts_with("run 'ls': mmap: "));
        assert!(refused("").starts_with("begin: mmap: "), "{}", refused(""));
    }
}
