//! Executes a plan, tells observers, returns recordings.
//!
//! What was measured is never lost: an error, a failing command or an interrupt ends the session
//! early, and everything recorded until then is returned with it.

pub mod clock;
mod diagnostic;
pub mod event;
pub mod executor;
pub mod look;
mod output;
pub mod schedule;
pub mod session;
pub mod stop;

use crate::plan::{Plan, Warmup};
use crate::sample::host::WarmupReport;
use crate::sample::recording::CutShort;
use crate::sample::{Conditions, Host, Outcome, Phase, Recording, Sample, Samples};

pub use clock::{Clock, SystemClock};
pub use event::{Event, Flow, Observer, Policy};
pub use executor::{Executor, Made, ProcessExecutor, Request, RunError};
use schedule::{Schedule, Step};

/// A run whose failure was not to be ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Place of the benchmark in the plan.
    pub benchmark: usize,
    /// Part of the session.
    pub phase: Phase,
    /// Its number within benchmark and phase, from 0.
    pub index: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// The kernel's out-of-memory killer was at work meanwhile.
    pub out_of_memory: bool,
    /// The end of its standard error.
    pub stderr: Vec<u8>,
}

/// What an execution brought.
#[derive(Debug, Default)]
pub struct Session {
    /// One recording a benchmark that was begun, in plan order.
    pub recordings: Vec<Recording>,
    /// What kept offbench from measuring, and at which benchmark.
    pub errors: Vec<(usize, RunError)>,
    /// The failing run that ended the session.
    pub failure: Option<Failure>,
    /// The signal that ended the session.
    pub interrupted: Option<i32>,
    /// The observer ended the session: nobody is listening any more.
    pub abandoned: bool,
}

/// What an execution works with.
pub struct Tools<'a> {
    /// Makes runs.
    pub executor: &'a mut dyn Executor,
    /// Tells time.
    pub clock: &'a dyn Clock,
    /// Hears of everything.
    pub observer: &'a mut dyn Observer,
    /// Says which benchmarks need diagnostic runs.
    pub policy: &'a dyn Policy,
}

/// A run that is disturbed is repeated so often; then it is kept.
const MOST_REPEATS: u32 = 3;

/// Told of runs that were killed meanwhile.
const OUT_OF_MEMORY: &str =
    "runs were killed while memory ran out: the kernel's out-of-memory killer was at work";

/// So many repeated runs are named.
const MOST_NOTES: usize = 5;

/// Memory for samples that are not yet on the shelf, of all benchmarks and of one, in bytes.
const BUFFERS: usize = 256 * 1024;
const LARGEST_BUFFER: usize = 16 * 1024;

/// Executes the plan. `conditions` holds one entry a benchmark.
#[must_use]
pub fn execute<'a>(
    plan: &'a Plan,
    host: &Host,
    conditions: Vec<Conditions>,
    tools: Tools<'a>,
) -> Session {
    let shelf = session::shelf();
    let buffer = (BUFFERS / plan.benchmarks.len().max(1)).min(LARGEST_BUFFER);
    let recordings = conditions
        .into_iter()
        .map(|one| {
            let mut recording = Recording::new(host.clone(), one);
            if let Some(shelf) = &shelf {
                recording.samples = Samples::on_shelf(shelf.clone(), buffer);
            }
            recording
        })
        .collect();
    let mut runner = Runner {
        plan,
        schedule: Schedule::new(plan),
        tools,
        recordings,
        begun: vec![false; plan.benchmarks.len()],
        repeated: 0,
        held: vec![0; plan.benchmarks.len()],
        begun_diagnosis: vec![false; plan.benchmarks.len()],
        session: Session::default(),
        outputs: output::Agreement::default(),
    };
    runner.go();
    runner.finish()
}

struct Runner<'a> {
    plan: &'a Plan,
    schedule: Schedule,
    tools: Tools<'a>,
    recordings: Vec<Recording>,
    /// Which benchmarks have begun.
    begun: Vec<bool>,
    /// How often the present run was repeated.
    repeated: u32,
    /// Measured runs of each benchmark whose pipe something held open.
    held: Vec<u64>,
    /// Which benchmarks have come to their diagnostic runs.
    begun_diagnosis: Vec<bool>,
    session: Session,
    outputs: output::Agreement,
}

impl Runner<'_> {
    fn go(&mut self) {
        loop {
            match self.schedule.step() {
                Step::Begin(benchmark) => self.begin(benchmark),
                Step::Run(request) => self.run(&request),
                Step::Diagnose(benchmark) => {
                    self.note_rss_floor();
                    self.diagnose(benchmark);
                }
                Step::End(benchmark) => {
                    self.note_rss_floor();
                    self.end(benchmark);
                }
                Step::Done => break,
            }
            if self.session.interrupted.is_none() {
                if let Some(signal) = self.tools.executor.interrupted() {
                    self.session.interrupted = Some(signal);
                    self.schedule.stop();
                }
            }
        }
    }

    fn tell(&mut self, event: &Event<'_>) {
        if self.tools.observer.event(event) == Flow::Stop {
            self.abandon();
        }
    }

    fn abandon(&mut self) {
        self.session.abandoned = true;
        self.schedule.stop();
    }

    fn begin(&mut self, benchmark: usize) {
        self.tell(&Event::Begin { benchmark });
        self.begun[benchmark] = true;
        if let Err(error) = self.tools.executor.begin(benchmark) {
            self.fail(benchmark, error);
        }
    }

    fn fail(&mut self, benchmark: usize, error: RunError) {
        self.recordings[benchmark].cut_short = Some(CutShort::Failed(format!("cannot {error}")));
        self.session.errors.push((benchmark, error));
        self.schedule.stop();
    }

    fn run(&mut self, request: &Request) {
        self.tell(&Event::Starting { request });
        let before = self.tools.clock.now();
        let observer = &mut *self.tools.observer;
        let mut tick = |elapsed| {
            observer.event(&Event::Tick { request, elapsed });
        };
        let made = self.tools.executor.run(request, &mut tick);
        let took = self.tools.clock.now().saturating_sub(before);
        match made {
            // Its time is not the command's: the signal that stops us also stopped the command.
            Ok(made) if made.interrupted => {}
            Err(RunError::Interrupted) => {}
            Ok(made) if made.disturbed && self.repeated < MOST_REPEATS => self.repeat(request),
            Ok(made) => {
                let sample = &made.sample;
                let wall = sample.outcome.success().then_some(sample.wall);
                self.schedule.made(request, wall, took);
                self.kept_after_all(request, made.disturbed);
                if made.held_open && request.phase == Phase::Measured {
                    self.held[request.benchmark] += 1;
                }
                self.keep(request, &made.sample);
                if self.plan.check_output && self.session.failure.is_none() {
                    self.check_output(request, &made);
                }
            }
            Err(error) => self.fail(request.benchmark, error),
        }
    }

    /// offbench was stopped, or the machine suspended, during the run: its time says nothing.
    fn repeat(&mut self, request: &Request) {
        let note = format!(
            "run {} was repeated: offbench was stopped or the machine suspended meanwhile",
            request.index + 1
        );
        let notes = &mut self.recordings[request.benchmark].notes;
        let told = notes
            .iter()
            .filter(|known| known.contains(" was repeated: "));
        if self.repeated == 0 && told.count() < MOST_NOTES {
            notes.push(note);
        }
        self.repeated += 1;
        self.schedule.again(request);
    }

    /// What is disturbed every time is so by the command, and measured as it is.
    fn kept_after_all(&mut self, request: &Request, disturbed: bool) {
        if disturbed {
            let note = format!(
                "run {} was disturbed {} times and is kept: offbench was stopped or continued",
                request.index + 1,
                self.repeated + 1
            );
            let notes = &mut self.recordings[request.benchmark].notes;
            if !notes.iter().any(|known| known.contains("and is kept")) {
                notes.push(note);
            }
        }
        self.repeated = 0;
    }

    fn keep(&mut self, request: &Request, sample: &Sample) {
        self.recordings[request.benchmark].samples.push(sample);
        let tally = self.schedule.tally(request.benchmark);
        let look = self.schedule.looks().last(request.benchmark);
        let progress = stop::progress(&self.plan.limits, tally, look);
        self.tell(&Event::Sampled {
            request,
            sample,
            progress,
            look,
        });
        let starved = sample.outcome.is_killed() && self.tools.executor.out_of_memory();
        if !self.plan.ignore_failure.covers(sample.outcome) {
            self.give_up(request, sample.outcome, starved);
        } else if starved {
            self.note_once(request.benchmark, OUT_OF_MEMORY);
        }
    }

    /// Successful runs, of whichever phase and command, must write the same.
    fn check_output(&mut self, request: &Request, made: &Made) {
        let Some(digest) = made.output.filter(|_| made.sample.outcome.success()) else {
            return;
        };
        let name = self.recordings[request.benchmark].name().to_owned();
        if let Err(error) = self.outputs.compare(request, &name, digest) {
            self.fail(request.benchmark, error);
        }
    }

    fn note_once(&mut self, benchmark: usize, note: &str) {
        let notes = &mut self.recordings[benchmark].notes;
        if !notes.iter().any(|known| known == note) {
            notes.push(note.to_owned());
        }
    }

    fn give_up(&mut self, request: &Request, outcome: Outcome, out_of_memory: bool) {
        let run = request.index + 1;
        let kind = if request.phase == Phase::Warmup {
            "warm-up run"
        } else {
            "run"
        };
        let why = if out_of_memory {
            " (out of memory)"
        } else {
            ""
        };
        self.recordings[request.benchmark].cut_short =
            Some(CutShort::Failed(format!("{outcome} in {kind} {run}{why}")));
        self.session.failure = Some(Failure {
            benchmark: request.benchmark,
            phase: request.phase,
            index: request.index,
            outcome,
            out_of_memory,
            stderr: self.tools.executor.last_stderr(),
        });
        self.schedule.stop();
    }

    /// What was written after the end of a run was not taken, and is lost.
    fn note_held_pipes(&mut self, benchmark: usize) {
        let (held, runs) = (
            self.held[benchmark],
            self.schedule.tally(benchmark).measured,
        );
        if held > 0 {
            self.recordings[benchmark].notes.push(format!(
                "in {held} of {runs} runs a process still held the output pipe after the end of the \
                 command; its output was not waited for"
            ));
        }
    }

    /// Why a benchmark without a failing run of its own has not got all its runs.
    fn why_cut_short(&self) -> CutShort {
        let session = &self.session;
        if session.interrupted.is_some() {
            CutShort::Interrupted
        } else if session.failure.is_some() || !session.errors.is_empty() {
            CutShort::Failed("another command ended the session".into())
        } else if session.abandoned {
            CutShort::Failed("whoever read the report went away".into())
        } else {
            CutShort::Interrupted
        }
    }

    /// Before anything but measured runs makes our own memory grow.
    fn note_rss_floor(&mut self) {
        let begun = self.recordings.iter_mut().zip(&self.begun);
        let mut unknown = begun
            .filter(|(recording, begun)| **begun && recording.conditions.rss_floor_bytes.is_none())
            .peekable();
        if unknown.peek().is_some() {
            let floor = self.tools.executor.manner().rss_floor;
            unknown.for_each(|(recording, _)| recording.conditions.rss_floor_bytes = floor);
        }
    }

    fn end(&mut self, benchmark: usize) {
        let machine = self.tools.executor.machine(benchmark);
        self.recordings[benchmark].machine = machine;
        if let Err(error) = self.tools.executor.end(benchmark) {
            self.fail(benchmark, error);
        }
        self.note_held_pipes(benchmark);
        let complete = self.schedule.enough(benchmark);
        if complete {
            self.note_no_diagnosis(benchmark);
        }
        let tally = self.schedule.tally(benchmark);
        let warmup = self.warmup_report(benchmark);
        let manner = self.tools.executor.manner();
        let why = self.why_cut_short();
        let recording = &mut self.recordings[benchmark];
        recording.conditions.warmup = warmup;
        recording.conditions.stamp = manner.stamp;
        recording.conditions.wall_floor_s = manner.wall_floor;
        recording.conditions.elapsed_s = tally.elapsed.as_secs_f64();
        if !complete && recording.cut_short.is_none() {
            recording.cut_short = Some(why);
        }
        if self.tools.observer.event(&Event::Finished {
            benchmark,
            recordings: &self.recordings,
        }) == Flow::Stop
        {
            self.abandon();
        }
    }

    /// What an automatic warm-up came to.
    fn warmup_report(&self, benchmark: usize) -> Option<WarmupReport> {
        if self.plan.limits.warmup != Warmup::Auto {
            return None;
        }
        let check = self.schedule.looks().check(benchmark);
        Some(WarmupReport {
            steady: check.is_some_and(|check| check.steady()),
            runs: self.schedule.tally(benchmark).warmup,
            spread: check.map_or(0.0, |check| check.spread),
        })
    }

    fn finish(mut self) -> Session {
        let all = self.recordings.into_iter().zip(self.begun);
        // No run will inherit our memory any more.
        let taken = all.filter(|(_, begun)| *begun).map(|(mut recording, _)| {
            recording.samples.take_down();
            recording
        });
        self.session.recordings = taken.collect();
        self.session
    }
}

#[cfg(test)]
mod tests;
