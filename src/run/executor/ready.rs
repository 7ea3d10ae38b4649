//! A benchmark made ready for its runs, and the check of a whole plan before anything runs.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use super::RunError;
use super::hooks::Hook;
use crate::plan::{Benchmark, Input, Invocation, Output, Placement, Plan};
use crate::sys::unix::Cpus;
use crate::sys::{Environment, Prepared, Words, files, platform};
use crate::unit::display_escaped;

/// A benchmark between [`super::Executor::begin`] and [`super::Executor::end`].
#[derive(Debug)]
pub(super) struct Ready {
    /// Made before the first run, or in it if a hook has yet to make the program.
    pub(super) command: Option<Prepared>,
    /// The program, for messages.
    pub(super) program: String,
    /// By [`super::hooks::Kind`].
    pub(super) hooks: [Option<Hook>; 4],
    /// The environment is too near to the limit for a padding.
    pub(super) unpadded: bool,
    /// A run was made, so it is known whether it floods standard error.
    pub(super) known: bool,
}

/// The words a benchmark executes.
pub(super) fn words(benchmark: &Benchmark) -> Vec<OsString> {
    match &benchmark.invocation {
        Invocation::Direct(words) => words.clone(),
        Invocation::Shell { shell, script } => {
            let mut words = shell.clone();
            words.push(script.clone());
            words
        }
    }
}

/// The program of some words, escaped for display.
pub(super) fn program(words: &[OsString]) -> String {
    words
        .first()
        .map_or_else(String::new, |word| display_escaped(word).into_owned())
}

/// Lays out words with the environment and directory of a benchmark.
///
/// # Errors
/// The program cannot be executed.
pub(super) fn prepare(
    words: &[OsString],
    benchmark: &Benchmark,
    session: &Environment,
) -> Result<Prepared, RunError> {
    let all = Words {
        all: words,
        variables: &benchmark.env,
        directory: benchmark.cwd.as_deref(),
    };
    Prepared::new(&all, session).map_err(|error| RunError::about(&program(words), error))
}

/// The CPUs of the commands, as the system takes them.
pub(super) fn cpus(placement: &Placement) -> Cpus {
    match placement {
        Placement::Free => Cpus::Original,
        Placement::Pin => Cpus::Ours,
        Placement::Cpus(list) => Cpus::List(list.clone()),
    }
}

/// Opens the input and output of a run.
pub(super) struct Streams {
    input: Option<File>,
    output: Option<File>,
    /// Both ends of the pipe, if the output goes through one.
    pub(super) pipe: Option<(OwnedFd, OwnedFd)>,
    inherit: bool,
}

impl Streams {
    /// Opened for one run; `read` says that the output must be seen by us.
    ///
    /// # Errors
    /// A file cannot be opened.
    pub(super) fn open(benchmark: &Benchmark, read: bool) -> Result<Self, RunError> {
        let input = match &benchmark.input {
            Input::Null => None,
            Input::File(path) => {
                Some(files::input(path).map_err(|error| input_error(path, error))?)
            }
        };
        let output = match &benchmark.output {
            Output::File(path) => {
                Some(files::output(path).map_err(|error| output_error(path, error))?)
            }
            _ => None,
        };
        let piped = benchmark.output == Output::Pipe || (read && benchmark.output == Output::Null);
        let pipe = piped.then(files::pipe).transpose();
        let pipe = pipe.map_err(|error| output_error(Path::new("(pipe)"), error))?;
        let inherit = benchmark.output == Output::Inherit;
        Ok(Self {
            input,
            output,
            pipe,
            inherit,
        })
    }

    /// The descriptors for the command.
    pub(super) fn stdio(&self, null: &File, stderr: &File) -> [i32; 3] {
        let or_null = |file: &Option<File>| file.as_ref().unwrap_or(null).as_raw_fd();
        let input = or_null(&self.input);
        match (&self.pipe, self.inherit) {
            (_, true) => [input, -1, -1],
            (Some((_, write)), _) => [input, write.as_raw_fd(), stderr.as_raw_fd()],
            (None, _) => [input, or_null(&self.output), stderr.as_raw_fd()],
        }
    }
}

fn input_error(path: &Path, source: std::io::Error) -> RunError {
    RunError::Input {
        path: path.into(),
        source,
    }
}

fn output_error(path: &Path, source: std::io::Error) -> RunError {
    RunError::Output {
        path: path.into(),
        source,
    }
}

/// Everything of a plan that is bound to fail, before anything runs.
///
/// A program, file or folder that a `setup` or `prepare` hook may yet make is not looked for.
#[must_use]
pub fn check(plan: &Plan) -> Vec<RunError> {
    let mut errors = Vec::new();
    if let Err(error) = platform::Spawner::new(&cpus(&plan.placement)) {
        errors.push(RunError::about("", error));
    }
    let session = match Environment::new(&plan.environment) {
        Ok(session) => session,
        Err(error) => {
            errors.push(RunError::about("", error));
            return errors;
        }
    };
    for benchmark in &plan.benchmarks {
        if benchmark.hooks.setup.is_none() && benchmark.hooks.prepare.is_none() {
            errors.extend(prepare(&words(benchmark), benchmark, &session).err());
            errors.extend(files_error(benchmark));
        }
    }
    errors
}

/// The input or output that cannot be used.
pub(super) fn files_error(benchmark: &Benchmark) -> Option<RunError> {
    if let Input::File(path) = &benchmark.input {
        if let Err(error) = files::input(path) {
            return Some(input_error(path, error));
        }
    }
    if let Output::File(path) = &benchmark.output {
        if let Err(error) = files::writable(path) {
            return Some(output_error(path, error));
        }
    }
    None
}

/// A hook's words: the shell, then the command.
pub(super) fn hook_words(shell: &[OsString], command: &OsStr) -> Vec<OsString> {
    let mut words = shell.to_vec();
    words.push(command.to_owned());
    words
}
