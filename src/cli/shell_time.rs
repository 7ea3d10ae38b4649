//! What the shell itself takes, measured when a command that runs through one is so short that it
//! matters. Nothing is subtracted from any number.

use std::time::Duration;

use super::args::Job;
use crate::plan::{Benchmark, Explain, Hooks, IgnoreFailure, Invocation, Limits, Order, Output};
use crate::plan::{Input, Plan, Warmup};
use crate::run::{
    self, Event, Flow, Observer, Policy, ProcessExecutor, Session, SystemClock, Tools,
};
use crate::sample::{Conditions, Host, Recording};
use crate::unit::{TimeFormat, TimeUnit};

/// A command shorter than this is mostly its shell.
const SHORT: Duration = Duration::from_millis(10);
/// Runs of an empty script.
const RUNS: u64 = 12;

/// Adds a note to each short command that ran through a shell.
pub(crate) fn note(job: &Job, session: &mut Session) {
    // What was begun and what was planned must be the same, or places would not match.
    if session.recordings.len() != job.plan.benchmarks.len() {
        return;
    }
    if session.interrupted.is_some()
        || session.abandoned
        || session.failure.is_some()
        || !session.errors.is_empty()
    {
        return;
    }
    let mut known: Vec<(Vec<std::ffi::OsString>, Option<Duration>)> = Vec::new();
    for (recording, benchmark) in session.recordings.iter_mut().zip(&job.plan.benchmarks) {
        let Invocation::Shell { shell, .. } = &benchmark.invocation else {
            continue;
        };
        if median(recording).is_none_or(|wall| wall >= SHORT) {
            continue;
        }
        let seen = known
            .iter()
            .find(|(words, _)| words == shell)
            .map(|(_, time)| *time);
        let time = seen.unwrap_or_else(|| {
            let time = measure(job, benchmark, shell);
            known.push((shell.clone(), time));
            time
        });
        if let Some(time) = time {
            recording.notes.push(sentence(recording, time));
        }
    }
}

fn sentence(recording: &Recording, time: Duration) -> String {
    let shell = recording.conditions.shell.as_deref().unwrap_or("sh");
    let seconds = time.as_secs_f64();
    let unit = TimeUnit::for_median(seconds);
    let format = TimeFormat::in_unit(unit, (seconds * 0.95, seconds * 1.05), false);
    format!(
        "`{shell}` alone takes {}, which is part of every time above: nothing is subtracted",
        format.with_unit(seconds)
    )
}

fn median(recording: &Recording) -> Option<Duration> {
    let mut walls: Vec<Duration> = recording.measured().map(|sample| sample.wall).collect();
    walls.sort_unstable();
    walls.get(walls.len() / 2).copied()
}

/// The median of runs of the shell with an empty script.
fn measure(job: &Job, like: &Benchmark, shell: &[std::ffi::OsString]) -> Option<Duration> {
    let plan = empty_script(job, like, shell);
    let clock = SystemClock::begin();
    let mut executor = ProcessExecutor::new(&plan, clock).ok()?;
    let tools = Tools {
        executor: &mut executor,
        clock: &clock,
        observer: &mut Nobody,
        policy: &Nobody,
    };
    let conditions = vec![Conditions::default()];
    let session = run::execute(&plan, &Host::default(), conditions, tools);
    median(session.recordings.first()?)
}

fn empty_script(job: &Job, like: &Benchmark, shell: &[std::ffi::OsString]) -> Plan {
    Plan {
        benchmarks: vec![Benchmark {
            command: ":".into(),
            invocation: Invocation::Shell {
                shell: shell.to_vec(),
                script: ":".into(),
            },
            name: None,
            input: Input::Null,
            output: Output::Null,
            hooks: Hooks::default(),
            ..like.clone()
        }],
        limits: Limits {
            warmup: Warmup::Count(2),
            min_runs: RUNS,
            max_runs: Some(RUNS),
            min_time: Duration::ZERO,
            ..Limits::default()
        },
        order: Order::Sequential,
        timeout: Some(Duration::from_secs(1)),
        sleep: Duration::ZERO,
        ignore_failure: IgnoreFailure::All,
        check_output: false,
        explain: Explain::Never,
        trace: false,
        ..job.plan.clone()
    }
}

struct Nobody;

impl Observer for Nobody {
    fn event(&mut self, _event: &Event<'_>) -> Flow {
        Flow::Continue
    }
}

impl Policy for Nobody {
    fn explains(&self, _recording: &Recording) -> bool {
        false
    }
}
