//! Diagnostic runs after the measured ones: with them the recording also says what was waited for.
//! Nothing here can lose what was measured: whatever goes wrong ends only the diagnosing.

use std::os::fd::RawFd;
use std::time::Duration;

use super::executor::Watch;
use super::{Event, Request, RunError, Runner};
use crate::probe::explain::{Explainer, Inquiry};
use crate::probe::trace::Counter;
use crate::sample::recording::{CutShort, INTERRUPTED};
use crate::sample::{Outcome, Phase, Recording};

impl Watch for Explainer {
    fn attach(&mut self, pid: i32, held: bool) {
        Explainer::attach(self, pid, held);
    }

    fn descriptors(&self) -> Vec<RawFd> {
        Explainer::descriptors(self)
    }

    fn first_look(&self) -> Option<Duration> {
        Some(Explainer::first_look(self))
    }

    fn look(&mut self, pid: i32, begun: u64) -> Option<Duration> {
        Some(Explainer::look(self, pid, begun))
    }

    fn detach(&mut self, pid: i32, begun: u64, ended: u64) {
        Explainer::detach(self, pid, begun, ended);
    }
}

impl Watch for Counter {
    fn attach(&mut self, _pid: i32, _held: bool) {}

    fn stops(&self) -> Vec<i64> {
        self.numbers().to_vec()
    }

    fn stopped(&mut self, tid: u32, time: u64, call: Option<(i64, [u64; 6])>) {
        self.stop(tid, time, call);
    }

    fn detach(&mut self, _pid: i32, begun: u64, ended: u64) {
        self.end(begun, ended);
    }
}

impl Runner<'_> {
    /// Makes the diagnostic runs of a benchmark, where any are wanted.
    pub(super) fn diagnose(&mut self, benchmark: usize) {
        let recording = &self.recordings[benchmark];
        let Some(wall) = mean_wall(recording).filter(|_| recording.cut_short.is_none()) else {
            return;
        };
        self.begun_diagnosis[benchmark] = true;
        let mut made = 0;
        if self.tools.policy.explains(recording) {
            self.recordings[benchmark].conditions.explaining = true;
            made = self.explain(benchmark, wall);
        }
        if self.plan.trace && !self.schedule.is_stopping() && !self.is_interrupted() {
            self.trace(benchmark, made);
        }
    }

    /// Names the waits; how many runs that took.
    fn explain(&mut self, benchmark: usize, wall: Duration) -> u64 {
        let measuring = self.schedule.tally(benchmark).elapsed;
        let directory = self.plan.benchmarks[benchmark].cwd.as_deref();
        let mut inquiry = Inquiry::new(wall, measuring, directory);
        let mut made = 0;
        while let Some(mut explainer) = inquiry.next_watch() {
            let Some(took) = self.watched(benchmark, made, &mut explainer) else {
                if self.is_interrupted() {
                    let (runs, word) = (inquiry.wanted(), runs_word(inquiry.wanted()));
                    let how = format!("while explaining: {made} of {runs} diagnostic {word}");
                    self.cut_diagnosis(benchmark, &how);
                }
                break;
            };
            inquiry.add(explainer, took);
            made += 1;
            if let Some(why) = inquiry.blind() {
                self.recordings[benchmark].notes.push(why.into());
                break;
            }
        }
        self.recordings[benchmark].attribution = inquiry.attribution();
        made
    }

    /// Counts the blocking calls.
    fn trace(&mut self, benchmark: usize, index: u64) {
        let directory = self.plan.benchmarks[benchmark].cwd.as_deref();
        let mut counter = Counter::new(directory);
        if self.watched(benchmark, index, &mut counter).is_some() {
            self.recordings[benchmark].trace = counter.into_trace();
        } else if self.is_interrupted() {
            self.cut_diagnosis(benchmark, "while tracing: calls were not counted");
        }
    }

    /// After an interrupt: says that the measured runs are complete but nothing was looked at.
    pub(super) fn note_no_diagnosis(&mut self, benchmark: usize) {
        let recording = &self.recordings[benchmark];
        let begun = self.begun_diagnosis[benchmark] || recording.cut_short.is_some();
        if begun || !self.is_interrupted() || recording.measured().next().is_none() {
            return;
        }
        if self.tools.policy.explains(recording) {
            self.recordings[benchmark].conditions.explaining = true;
            self.cut_diagnosis(benchmark, "before explaining: no diagnostic run was made");
        } else if self.plan.trace {
            self.cut_diagnosis(benchmark, "before tracing: calls were not counted");
        }
    }

    fn cut_diagnosis(&mut self, benchmark: usize, how: &str) {
        let recording = &mut self.recordings[benchmark];
        recording.cut_short = Some(CutShort::Interrupted);
        recording.notes.push(format!("{INTERRUPTED}{how}"));
    }

    fn is_interrupted(&self) -> bool {
        self.tools.executor.interrupted().is_some()
    }

    /// Makes one run; the time it took with its hooks, or nothing if no further one makes sense.
    fn watched(&mut self, benchmark: usize, index: u64, watch: &mut dyn Watch) -> Option<Duration> {
        let request = Request {
            benchmark,
            phase: Phase::Diagnostic,
            index,
            round: index,
            position: 0,
            padding: 0,
        };
        self.tell(&Event::Starting { request: &request });
        let before = self.tools.clock.now();
        let made = self.tools.executor.run_watched(&request, watch);
        let took = self.tools.clock.now().saturating_sub(before);
        match made {
            // Its time is not the command's.
            Ok(made) if made.interrupted || made.disturbed => None,
            Ok(made) => {
                self.recordings[benchmark].samples.push(&made.sample);
                self.tell(&Event::Sampled {
                    request: &request,
                    sample: &made.sample,
                    progress: 1.0,
                    look: None,
                });
                self.may_go_on(benchmark, made.sample.outcome)
                    .then_some(took)
            }
            Err(error) => {
                self.not_made(benchmark, error);
                None
            }
        }
    }

    fn may_go_on(&mut self, benchmark: usize, outcome: Outcome) -> bool {
        let good = self.plan.ignore_failure.covers(outcome);
        if !good {
            let note = format!("a diagnostic run failed ({outcome}); it explains nothing");
            self.recordings[benchmark].notes.push(note);
        }
        good && !self.schedule.is_stopping()
    }

    fn not_made(&mut self, benchmark: usize, error: RunError) {
        match error {
            RunError::Interrupted => {}
            RunError::System {
                call: "ptrace",
                source,
                ..
            } => {
                let note =
                    format!("calls could not be counted: ptrace is not permitted ({source})");
                self.recordings[benchmark].notes.push(note);
            }
            // A command of the user that fails is no matter of diagnosing.
            RunError::Hook { .. } => {
                self.session.errors.push((benchmark, error));
                self.schedule.stop();
            }
            error => {
                let note = format!("a diagnostic run could not be made: cannot {error}");
                self.recordings[benchmark].notes.push(note);
            }
        }
    }
}

fn runs_word(count: u64) -> &'static str {
    if count == 1 { "run" } else { "runs" }
}

fn mean_wall(recording: &Recording) -> Option<Duration> {
    let walls: Vec<Duration> = recording.measured().map(|sample| sample.wall).collect();
    let count = u32::try_from(walls.len()).ok()?;
    walls.iter().sum::<Duration>().checked_div(count)
}
