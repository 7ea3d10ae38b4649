//! Executes the job's plan with the real system, and keeps what is finished.

use std::time::Duration;

use super::args::{Job, Target};
use super::exit::Trouble;
use super::explain::Explaining;
use super::journal::Journal;
use super::{shell_time, write};
use crate::evidence::Availability;
use crate::plan::Order;
use crate::progress::Progress;
use crate::report::Kind;
use crate::run::{self, Clock, Event, Flow, Observer, Session, Tools};
use crate::run::{ProcessExecutor, SystemClock};
use crate::sample::{Conditions, Recording};
use crate::unit::display_escaped;

/// What can be known to fail before anything runs: programs, files, folders, CPUs.
pub(crate) fn check(job: &Job) -> Vec<Trouble> {
    let mut troubles: Vec<Trouble> = crate::run::executor::check(&job.plan)
        .into_iter()
        .map(Trouble::Run)
        .collect();
    for (format, target) in &job.outputs.exports {
        if let Target::File(path) = target {
            if let Err(source) = crate::sys::files::writable(path) {
                troubles.push(Trouble::Export {
                    id: format.id,
                    path: path.clone(),
                    source,
                });
            }
        }
    }
    troubles.extend(same_file(job));
    troubles
}

/// Exports that lead to one file by different names: the last would replace the others.
fn same_file(job: &Job) -> Option<Trouble> {
    let mut seen = Vec::new();
    for (format, target) in &job.outputs.exports {
        let Target::File(path) = target else { continue };
        let Some(place) = crate::sys::files::replaced(path) else {
            continue;
        };
        if let Some((earlier, _)) = seen.iter().find(|(_, other)| *other == place) {
            let ids = [*earlier, format.id];
            return Some(Trouble::Same { ids });
        }
        seen.push((format.id, place));
    }
    None
}

/// Runs everything.
pub(crate) fn execute(job: &Job) -> (Session, Journal) {
    let clock = SystemClock::begin();
    // Before the machine is looked at, which would try once more what it has tried.
    let executor = ProcessExecutor::new(&job.plan, clock);
    let host = run::session::host();
    let conditions = conditions(job);
    let journal = Journal::new(job, &host, &conditions);
    let mut executor = match executor {
        Ok(executor) => executor,
        Err(error) => {
            let session = Session {
                errors: vec![(0, error)],
                ..Session::default()
            };
            return (session, journal);
        }
    };
    let mut audience = Audience {
        job,
        clock,
        progress: Progress::new(&job.plan, job.outputs.style),
        journal,
        gone: write::header(job).is_err(),
        looked: None,
        writing: Duration::ZERO,
    };
    let tools = Tools {
        executor: &mut executor,
        clock: &clock,
        observer: &mut audience,
        policy: &Explaining::new(job),
    };
    run::session::slim();
    let mut session = run::execute(&job.plan, &host, conditions, tools);
    if job.plan.counters {
        tell_missing_counters(&mut session);
    }
    drop(executor);
    shell_time::note(job, &mut session);
    run::session::keep_memory();
    (session, audience.journal)
}

/// Asked for, but not there: never an error, always said.
fn tell_missing_counters(session: &mut Session) {
    let note = match crate::probe::counters::availability() {
        Availability::Missing(missing) => {
            let remedy = missing.remedy.map(|remedy| format!("; {remedy}"));
            missing.reason + &remedy.unwrap_or_default()
        }
        Availability::Ready(()) => {
            let lacking = crate::probe::counters::lacking();
            if lacking.is_empty() {
                return;
            }
            format!("this machine does not count {}", lacking.join(", "))
        }
    };
    for recording in &mut session.recordings {
        recording.notes.push(note.clone());
    }
}

/// How long a reader that has gone away may remain unnoticed.
const LOOK: Duration = Duration::from_millis(10);

/// Writing what is finished takes at most one part in so many of the session,
const PATIENCE: u32 = 10;
/// or this long.
const LITTLE: Duration = Duration::from_millis(500);

/// Whether anything goes to standard output.
fn is_read(job: &Job) -> bool {
    let mut exports = job.outputs.exports.iter();
    job.outputs.style.kind != Kind::None
        || exports.any(|(_, target)| matches!(target, Target::Stdout))
}

/// Shows progress, keeps the journal, and stops when whoever reads the report has gone away.
struct Audience<'a> {
    job: &'a Job,
    clock: SystemClock,
    progress: Progress,
    journal: Journal,
    gone: bool,
    /// When it was last looked whether somebody reads.
    looked: Option<Duration>,
    /// Time spent on writing what was finished.
    writing: Duration,
}

impl Observer for Audience<'_> {
    fn event(&mut self, event: &Event<'_>) -> Flow {
        if matches!(event, Event::Starting { .. }) && self.is_alone() {
            return Flow::Stop;
        }
        self.journal.event(event);
        if let Event::Finished {
            benchmark,
            recordings,
        } = *event
        {
            self.keep(benchmark, recordings);
        }
        self.progress.event(event)
    }
}

impl Audience<'_> {
    /// Whether the reader of the report has gone away.
    fn is_alone(&mut self) -> bool {
        let now = self.clock.now();
        if !self.gone && self.looked.is_none_or(|at| now >= at + LOOK) {
            self.looked = Some(now);
            self.gone = is_read(self.job) && crate::sys::terminal::reader_is_gone();
        }
        self.gone
    }

    /// One after the other: what is finished is written before the next begins, so that nothing that
    /// happens then loses it.
    ///
    /// Writing takes longer the more is finished: where it took more than a small share of the time,
    /// it waits, so that hundreds of short commands do not write their results again and again.
    fn keep(&mut self, benchmark: usize, recordings: &[Recording]) {
        let finished = &recordings[..=benchmark];
        let begun = self.clock.now();
        if self.job.plan.order == Order::Sequential
            && finished.len() < recordings.len()
            && (self.writing < LITTLE || self.writing * PATIENCE <= begun)
        {
            write::so_far(self.job, finished);
            // The next command must not inherit the memory this took.
            run::session::slim();
            self.writing += self.clock.now().saturating_sub(begun);
        }
    }
}

fn conditions(job: &Job) -> Vec<Conditions> {
    let plan = &job.plan;
    let paired = plan.order == crate::plan::Order::Rounds && plan.benchmarks.len() > 1;
    let one = |benchmark: &crate::plan::Benchmark| {
        let command = display_escaped(&benchmark.command);
        Conditions {
            lossy: benchmark.command.to_str() != Some(&*command),
            command: command.into_owned(),
            name: benchmark.name.clone(),
            parameters: benchmark.parameters.clone(),
            shell: shell(benchmark),
            seed: plan.seed,
            paired,
            ignored_failures: ignored(&plan.ignore_failure),
            expect_wait: plan.expect_wait,
            wait_descendants: plan.wait_descendants,
            placement: plan.placement.clone(),
            timeout_s: plan.timeout.map(|time| time.as_secs_f64()),
            runs_fixed: plan.limits.fixed,
            precision: plan.limits.precision,
            started_unix_s: run::session::unix_seconds(),
            ..Conditions::default()
        }
    };
    plan.benchmarks.iter().map(one).collect()
}

fn shell(benchmark: &crate::plan::Benchmark) -> Option<String> {
    match &benchmark.invocation {
        crate::plan::Invocation::Direct(_) => None,
        crate::plan::Invocation::Shell { shell, .. } => {
            let words = &shell[..shell.len().saturating_sub(1)];
            let shown: Vec<_> = words.iter().map(|word| display_escaped(word)).collect();
            Some(shown.join(" "))
        }
    }
}

fn ignored(ignore: &crate::plan::IgnoreFailure) -> Option<Vec<u8>> {
    match ignore {
        crate::plan::IgnoreFailure::Never => None,
        crate::plan::IgnoreFailure::All => Some(Vec::new()),
        crate::plan::IgnoreFailure::Codes(codes) => Some(codes.clone()),
    }
}
