//! Diagnostic runs: attaches what the system permits, watches until the run ends, and hands back what
//! `explain` made of it. Whoever starts and waits for the run is told when to look.

use std::io;
use std::mem;
use std::os::fd::RawFd;
use std::path::Path;
use std::time::Duration;

use super::glancer::Glancer;
use super::reader::Reader;
use super::sampler::{Recorder, Run};
use crate::evidence::{Availability, Missing};
use crate::explain::{ExplainedRun, Pass, attribute, needs_switch_pass, runs_wanted};
use crate::sample::Attribution;
use crate::sys::{self, Rings};

/// How to look.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Options {
    pass: Pass,
    /// Looks a second.
    rate: f64,
}

/// Ticks a second for a command that takes so long: 5,000 below 20 ms, otherwise 1,000.
fn rate(wall: Duration) -> f64 {
    if wall < Duration::from_millis(20) {
        5000.0
    } else {
        1000.0
    }
}

/// All diagnostic runs of one benchmark: how many there are to be, and what they say together.
#[derive(Debug)]
pub struct Inquiry {
    options: Options,
    measuring: Duration,
    /// Files below this directory are shown as `./x`.
    directory: String,
    runs: Vec<ExplainedRun>,
    tried: u64,
    wanted: u64,
}

impl Inquiry {
    /// For a command that takes `wall`, was measured for `measuring` and runs in that directory
    /// (ours if absent).
    #[must_use]
    pub fn new(wall: Duration, measuring: Duration, directory: Option<&Path>) -> Self {
        let options = Options {
            pass: Pass::Ticks,
            rate: rate(wall),
        };
        Self {
            options,
            measuring,
            directory: shown_directory(directory),
            runs: Vec::new(),
            tried: 0,
            wanted: 1,
        }
    }

    /// Who is to watch the next run; nobody once there are enough.
    pub fn next_watch(&mut self) -> Option<Explainer> {
        let last = self.tried == self.wanted && self.options.pass == Pass::Ticks;
        if last && needs_switch_pass(&self.runs) {
            self.options.pass = Pass::Switches;
            self.wanted += 1;
        }
        let more = self.tried < self.wanted;
        self.tried += u64::from(more);
        more.then(|| Explainer::new(self.options, self.directory.clone()))
    }

    /// How many runs there are to be, as far as that is known.
    #[must_use]
    pub fn wanted(&self) -> u64 {
        self.wanted
    }

    /// Takes what a run showed, which took so long with its hooks. The first one tells how many
    /// there are to be.
    pub fn add(&mut self, explainer: Explainer, with_hooks: Duration) {
        let first = self.runs.is_empty();
        self.runs.extend(explainer.into_run());
        if let Some(run) = self.runs.first().filter(|_| first) {
            let idle = Duration::from_nanos(run.idle as u64);
            self.wanted = runs_wanted(idle, self.options.rate, with_hooks, self.measuring);
        }
    }

    /// Why nothing can be said although a run was made.
    #[must_use]
    pub fn blind(&self) -> Option<&'static str> {
        (self.tried > 0 && self.runs.is_empty()).then_some(BLIND)
    }

    /// What all of them say together; `None` without any.
    #[must_use]
    pub fn attribution(&self) -> Option<Attribution> {
        attribute(&self.runs)
    }
}

/// Watches one diagnostic run with what the system permits.
#[derive(Debug)]
pub struct Explainer {
    options: Options,
    reader: Reader,
    view: View,
    limits: Vec<String>,
    run: Option<ExplainedRun>,
}

#[derive(Debug)]
enum View {
    Nothing,
    Records(Box<Recorder>),
    Glances(Box<Glancer>),
}

impl Explainer {
    fn new(options: Options, directory: String) -> Self {
        Self {
            options,
            reader: Reader::new(super::arch(), directory),
            view: View::Nothing,
            limits: Vec::new(),
            run: None,
        }
    }

    fn period(&self) -> u64 {
        (1e9 / self.options.rate) as u64
    }

    /// Opens what there is on a process that waits before exec if it is `held`.
    pub fn attach(&mut self, pid: i32, held: bool) {
        let wake = self.options.pass == Pass::Switches;
        let rings = if held {
            Rings::open(pid as u32, wake).map_err(|error| refused(&error))
        } else {
            Err(format!(
                "the command cannot be held before it begins: {LOST}"
            ))
        };
        let (arch, period) = (super::arch(), self.period());
        self.view = match rings {
            Ok(rings) => View::Records(Box::new(Recorder::new(
                rings,
                arch,
                self.options.pass,
                period,
            ))),
            Err(limit) => {
                self.limits.push(limit);
                let glancer = Glancer::new(arch, period, pid as u32, &mut self.reader);
                View::Glances(Box::new(glancer))
            }
        };
    }

    /// Descriptors that become readable when there is something to look at.
    #[must_use]
    pub fn descriptors(&self) -> Vec<RawFd> {
        match &self.view {
            View::Records(recorder) => recorder.descriptors(),
            _ => Vec::new(),
        }
    }

    /// How long until the first look.
    #[must_use]
    pub fn first_look(&self) -> Duration {
        Duration::from_nanos(self.period() / 2)
    }

    /// Looks; how long until the next look.
    pub fn look(&mut self, pid: i32, begun: u64) -> Duration {
        let run = Run {
            pid: pid as u32,
            begun,
        };
        match &mut self.view {
            View::Nothing => Duration::from_millis(100),
            View::Records(recorder) => recorder.look(run, &mut self.reader),
            View::Glances(glancer) => glancer.look(run, &mut self.reader),
        }
    }

    /// The run has ended and is not reaped.
    pub fn detach(&mut self, pid: i32, begun: u64, ended: u64) {
        let run = Run {
            pid: pid as u32,
            begun,
        };
        let reader = &mut self.reader;
        let explained = match mem::replace(&mut self.view, View::Nothing) {
            View::Nothing => None,
            View::Records(recorder) => recorder
                .finish(run, ended, reader)
                .map(|(log, period)| ExplainedRun::from_log(&log, period)),
            View::Glances(glancer) => glancer
                .finish(run, ended, reader)
                .map(ExplainedRun::from_estimate),
        };
        if reader.was_refused() {
            self.limits.push(HIDDEN.to_string());
        }
        self.run = explained.map(|mut run| {
            run.limits.append(&mut self.limits);
            run
        });
    }

    /// Where the wall time went, once the run has ended.
    fn into_run(self) -> Option<ExplainedRun> {
        self.run
    }
}

/// The directory below which files are shown as `./x`.
pub(super) fn shown_directory(given: Option<&Path>) -> String {
    let real = sys::directory(given);
    real.map(|path| path.to_string_lossy().into_owned())
        .unwrap_or_default()
}

const BLIND: &str =
    "nothing could be explained: the threads of the command cannot be seen here (no /proc)";

const HIDDEN: &str = "system calls of the command may not be read (Yama, or a process that changed \
     its user): waits are known by state and kernel function only, not by file or peer";

/// What is lost without switch records.
const LOST: &str =
    "busy and idle time are sampled, waits that overlap are ranked, short ones missed";

/// Whether switch records can be had here.
pub(super) fn records_availability() -> Availability<()> {
    match Rings::open(std::process::id(), false) {
        Ok(_) => Availability::Ready(()),
        Err(error) => {
            let missing = Missing::because(why_refused(&error));
            let remedy =
                "sysctl kernel.perf_event_paranoid=2 (in a container: permit perf_event_open)";
            Availability::Missing(missing.remedy(remedy))
        }
    }
}

/// Whether the calls that threads wait in can be read here.
pub(super) fn sampler_availability() -> Availability<()> {
    match sys::text(std::process::id(), "syscall") {
        Ok(_) => Availability::Ready(()),
        Err(error) => Availability::Missing(
            Missing::because(format!("/proc/PID/syscall cannot be read: {error}")).remedy(
                "a kernel with CONFIG_HAVE_ARCH_TRACEHOOK, and ptrace permitted (Yama below 2)",
            ),
        ),
    }
}

/// Why switch records were refused.
fn why_refused(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => match sys::perf_paranoid() {
            Some(level) if level > 2 => format!("kernel.perf_event_paranoid is {level}"),
            _ => "perf_event_open is not permitted here (seccomp or no permission)".to_string(),
        },
        io::ErrorKind::Unsupported => "perf_event_open is not available here".to_string(),
        _ => format!("perf_event_open failed: {error}"),
    }
}

/// Why switch records were refused, and what is lost.
fn refused(error: &io::Error) -> String {
    format!("{}: {LOST}", why_refused(error))
}
