//! Makes one diagnostic run: starts the command held, attaches what the system permits, watches
//! until it ends, and hands back what `explain` made of it.

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use super::reader::Reader;
use super::sampler::{Glancer, Watch};
use crate::explain::{ExplainedRun, Pass, attribute, needs_switch_pass, runs_wanted};
use crate::sample::Attribution;
use crate::sys::{self, Held, Rings, Start};

/// What to run.
#[derive(Debug, Clone, Default)]
pub struct Command {
    /// Program and arguments.
    pub arguments: Vec<OsString>,
    /// The whole environment as `NAME=value`; that of this process if absent.
    pub environment: Option<Vec<OsString>>,
    /// Working directory; that of this process if absent.
    pub directory: Option<PathBuf>,
    /// Standard input, output and error; `/dev/null` where absent.
    pub streams: [Option<RawFd>; 3],
}

/// How to look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Whether to use switch records where the system permits them.
    pub records: bool,
    /// Looks in ticks or at every switch; at every switch only with records.
    pub pass: Pass,
    /// Ticks a second; see [`rate`].
    pub rate: f64,
}

/// Why a diagnostic run could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// The command holds a zero byte or is empty.
    #[error("pass on a command that is empty or holds a zero byte")]
    Command,
    /// The child could not be started.
    #[error("start the command: {0}")]
    Start(#[source] io::Error),
    /// The program could not be executed.
    #[error("execute the command: {0}")]
    Exec(#[source] io::Error),
    /// The end of the child could not be collected.
    #[error("collect the command: {0}")]
    Reap(#[source] io::Error),
    /// The tracer was refused.
    #[error("trace the command: {0}")]
    Trace(#[source] io::Error),
}

/// A diagnostic run and how the command ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosed {
    /// Where the wall time went.
    pub run: ExplainedRun,
    /// Raw status of `wait(2)`.
    pub status: i32,
    /// User plus system time the kernel accounts to it.
    pub cpu: Duration,
}

/// Ticks a second for a command that takes so long: 5,000 below 20 ms, otherwise 1,000.
#[must_use]
pub fn rate(wall: Duration) -> f64 {
    if wall < Duration::from_millis(20) {
        5000.0
    } else {
        1000.0
    }
}

/// Makes one diagnostic run.
///
/// # Errors
/// The command could not be started, executed or collected. A refused source of evidence is not an
/// error: the run says so in its limits.
pub fn diagnose(command: &Command, options: Options) -> Result<Diagnosed, ExplainError> {
    let mut held = Held::start(&command.start()?).map_err(ExplainError::Start)?;
    let mut reader = Reader::new(super::arch(), command.shown_directory());
    let mut limits = Vec::new();
    let rings = if options.records {
        let wake = options.pass == Pass::Switches;
        Rings::open(held.pid(), wake)
            .map_err(|error| limits.push(refused(&error)))
            .ok()
    } else {
        None
    };
    let exact = sys::ExactTimers::set();
    held.release();
    let period = (1e9 / options.rate) as u64;
    let run = match rings {
        Some(rings) => Watch::new(&held, rings, super::arch())
            .run(options.pass, period, &mut reader)
            .map(|(log, period)| ExplainedRun::from_log(&log, period)),
        None => Glancer::new(&held)
            .run(super::arch(), period, &mut reader)
            .map(ExplainedRun::from_estimate),
    };
    drop(exact);
    let error = held.exec_error();
    let ended = held.reap().map_err(ExplainError::Reap)?;
    let mut run = match (run, error) {
        (Some(run), None) => run,
        (_, error) => {
            let unknown = || io::Error::other("it ended before it executed the program");
            return Err(ExplainError::Exec(error.unwrap_or_else(unknown)));
        }
    };
    if reader.was_refused() {
        limits.push(HIDDEN.to_string());
    }
    run.limits.extend(limits);
    Ok(Diagnosed {
        run,
        status: ended.status,
        cpu: ended.cpu,
    })
}

/// Makes all diagnostic runs a command deserves. `measuring` is how long measuring it took.
///
/// # Errors
/// As [`diagnose`].
pub fn explain(
    command: &Command,
    records: bool,
    wall: Duration,
    measuring: Duration,
) -> Result<Option<Attribution>, ExplainError> {
    let mut options = Options {
        records,
        pass: Pass::Ticks,
        rate: rate(wall),
    };
    let mut runs = vec![diagnose(command, options)?.run];
    let idle = Duration::from_nanos(runs[0].idle as u64);
    let wall = Duration::from_nanos(runs[0].wall as u64);
    for _ in 1..runs_wanted(idle, options.rate, wall, measuring) {
        runs.push(diagnose(command, options)?.run);
    }
    if needs_switch_pass(&runs) {
        options.pass = Pass::Switches;
        runs.push(diagnose(command, options)?.run);
    }
    Ok(attribute(&runs))
}

const HIDDEN: &str = "system calls of the command may not be read (Yama, or a process that changed \
     its user): waits are known by state and kernel function only, not by file or peer";

/// What is lost without switch records, and why they were refused.
fn refused(error: &io::Error) -> String {
    let why = match error.kind() {
        io::ErrorKind::PermissionDenied => match sys::perf_paranoid() {
            Some(level) if level > 2 => format!("kernel.perf_event_paranoid is {level}"),
            _ => "perf_event_open is not permitted here (seccomp or no permission)".to_string(),
        },
        io::ErrorKind::Unsupported => "perf_event_open is not available here".to_string(),
        _ => format!("perf_event_open failed: {error}"),
    };
    format!(
        "{why}: busy and idle time are sampled, waits that overlap are ranked, short ones missed"
    )
}

impl Command {
    pub(super) fn start(&self) -> Result<Start, ExplainError> {
        let text = |text: &OsString| {
            CString::new(text.as_bytes().to_vec()).map_err(|_| ExplainError::Command)
        };
        let texts = |list: &[OsString]| list.iter().map(text).collect::<Result<Vec<_>, _>>();
        if self.arguments.is_empty() {
            return Err(ExplainError::Command);
        }
        Ok(Start {
            arguments: texts(&self.arguments)?,
            environment: self.environment.as_deref().map(texts).transpose()?,
            directory: match &self.directory {
                Some(path) => Some(text(&OsString::from_vec(
                    path.as_os_str().as_bytes().to_vec(),
                ))?),
                None => None,
            },
            streams: self.streams,
            filter: None,
        })
    }

    /// The directory below which files are shown as `./x`.
    pub(super) fn shown_directory(&self) -> String {
        let real = sys::directory(self.directory.as_deref());
        real.map(|path| path.to_string_lossy().into_owned())
            .unwrap_or_default()
    }
}
