//! The schedule with a scripted executor and a manual clock: no process, no sleep.

use std::cell::Cell;
use std::time::Duration;

use super::*;
use crate::plan::{Benchmark, IgnoreFailure, Limits, Order, Warmup};

struct ManualClock(Cell<Duration>);

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        self.0.get()
    }
}

/// Runs take a stated time and may fail; everything that happens is written to a log.
struct Script<'a> {
    clock: &'a ManualClock,
    log: Vec<String>,
    wall: Vec<Duration>,
    /// Added to the wall time of a run, by benchmark and number of all runs.
    extra: fn(usize, usize) -> Duration,
    fails_at: Option<(usize, u64)>,
    interrupt_after: Option<usize>,
    /// The signal ends the run it arrives in.
    interrupts_run: bool,
    /// The run of that number is disturbed, counted from 1.
    disturbs: Option<usize>,
    /// No diagnostic run can be made.
    lacks_descriptors: bool,
    runs: usize,
}

impl Executor for Script<'_> {
    fn begin(&mut self, benchmark: usize) -> Result<(), RunError> {
        self.log.push(format!("begin {benchmark}"));
        Ok(())
    }

    fn run(
        &mut self,
        request: &Request,
        _tick: &mut dyn FnMut(Duration),
    ) -> Result<Made, RunError> {
        if self.lacks_descriptors && request.phase == Phase::Diagnostic {
            return Err(RunError::System {
                program: "true".into(),
                call: "pipe2",
                source: std::io::Error::from_raw_os_error(nix::libc::EMFILE),
            });
        }
        let wall = self.wall[request.benchmark] + (self.extra)(request.benchmark, self.runs);
        self.clock.0.set(self.clock.0.get() + wall);
        self.runs += 1;
        let name = ["A", "B", "C"][request.benchmark];
        let phase = if request.phase == Phase::Warmup {
            "w"
        } else {
            ""
        };
        self.log.push(format!("{name}{phase}{}", request.index));
        let fails = request.phase == Phase::Measured
            && self.fails_at == Some((request.benchmark, request.index));
        let outcome = Outcome::Exited(u8::from(fails));
        let interrupted = self.interrupts_run && self.interrupted().is_some();
        let disturbed = self.disturbs.take().is_some_and(|at| at == self.runs);
        let sample = Sample {
            phase: request.phase,
            index: request.index,
            round: request.round,
            position: request.position,
            wall,
            outcome,
            ..Sample::default()
        };
        Ok(Made {
            disturbed,
            interrupted,
            ..Made::from(sample)
        })
    }

    fn end(&mut self, benchmark: usize) -> Result<(), RunError> {
        self.log.push(format!("end {benchmark}"));
        Ok(())
    }

    fn interrupted(&self) -> Option<i32> {
        self.interrupt_after
            .is_some_and(|n| self.runs >= n)
            .then_some(2)
    }

    fn last_stderr(&self) -> Vec<u8> {
        b"no such table".to_vec()
    }
}

struct Deaf;

/// Explains all or nothing.
struct Explains(bool);

impl Policy for Explains {
    fn explains(&self, _recording: &Recording) -> bool {
        self.0
    }
}

impl Observer for Deaf {
    fn event(&mut self, _event: &Event<'_>) -> Flow {
        Flow::Continue
    }
}

fn plan(count: usize, limits: Limits) -> Plan {
    let benchmark = Benchmark::direct(vec!["true".into()]);
    Plan {
        limits,
        seed: 7,
        ..Plan::of(vec![benchmark; count])
    }
}

fn fixed(runs: u64, warmup: u64) -> Limits {
    Limits {
        warmup: Warmup::Count(warmup),
        min_runs: runs,
        max_runs: Some(runs),
        min_time: Duration::ZERO,
        ..Limits::default()
    }
}

fn perform(plan: &Plan, change: impl FnOnce(&mut Script<'_>)) -> (Session, Vec<String>) {
    perform_with(plan, &Explains(false), change)
}

fn perform_with(
    plan: &Plan,
    policy: &dyn Policy,
    change: impl FnOnce(&mut Script<'_>),
) -> (Session, Vec<String>) {
    let clock = ManualClock(Cell::new(Duration::from_secs(1)));
    let mut script = Script {
        clock: &clock,
        log: Vec::new(),
        wall: vec![Duration::from_millis(100); plan.benchmarks.len()],
        extra: |_, _| Duration::ZERO,
        fails_at: None,
        interrupt_after: None,
        interrupts_run: false,
        disturbs: None,
        lacks_descriptors: false,
        runs: 0,
    };
    change(&mut script);
    let conditions = vec![Conditions::default(); plan.benchmarks.len()];
    let tools = Tools {
        executor: &mut script,
        clock: &clock,
        observer: &mut Deaf,
        policy,
    };
    let session = execute(plan, &Host::default(), conditions, tools);
    (session, script.log)
}

#[test]
fn diagnostic_runs_follow_the_measured_ones_of_all() {
    let (session, log) = perform_with(&plan(2, fixed(1, 0)), &Explains(true), |_| {});
    let ends = &log[log.len() - 4..];
    // The script shows nothing to look at: one run each is enough to know that.
    assert_eq!(ends, ["A0", "B0", "end 0", "end 1"], "{log:?}");
    for recording in &session.recordings {
        assert_eq!(recording.of_phase(Phase::Diagnostic).count(), 1);
        assert!(recording.attribution.is_none() && recording.cut_short.is_none());
        assert!(recording.notes[0].starts_with("nothing could be explained"));
    }
}

#[test]
fn an_interrupt_while_explaining_is_told() {
    let (session, _) = perform_with(&plan(2, fixed(2, 0)), &Explains(true), |script| {
        script.interrupt_after = Some(5);
        script.interrupts_run = true;
    });
    let told = [
        "interrupted while explaining: 0 of 1 diagnostic run",
        "interrupted before explaining: no diagnostic run was made",
    ];
    for (recording, told) in session.recordings.iter().zip(told) {
        assert_eq!(recording.notes, [told]);
        assert_eq!(recording.cut_short, Some(CutShort::Interrupted));
        assert!(recording.lacks_diagnosis_only() && recording.conditions.explaining);
    }
    let mut traced = plan(1, fixed(2, 0));
    traced.trace = true;
    let (session, _) = perform(&traced, |script| {
        script.interrupt_after = Some(3);
        script.interrupts_run = true;
    });
    assert!(session.recordings[0].notes[0].starts_with("interrupted while tracing"));
    let (session, _) = perform(&plan(1, fixed(2, 0)), |script| {
        script.interrupt_after = Some(2);
    });
    assert_eq!(session.recordings[0].cut_short, None);
}

#[test]
fn a_diagnostic_run_that_cannot_be_made_is_a_note() {
    let (session, log) = perform_with(&plan(2, fixed(1, 0)), &Explains(true), |script| {
        script.lacks_descriptors = true;
    });
    assert_eq!(log[log.len() - 2..], ["end 0", "end 1"], "{log:?}");
    assert!(session.errors.is_empty());
    for recording in &session.recordings {
        assert_eq!(recording.cut_short, None);
        let note = "a diagnostic run could not be made: cannot run 'true': pipe2";
        assert!(
            recording.notes[0].starts_with(note),
            "{:?}",
            recording.notes
        );
    }
}

#[test]
fn one_benchmark_in_order() {
    let (session, log) = perform(&plan(1, fixed(2, 1)), |_| {});
    assert_eq!(log, ["begin 0", "Aw0", "A0", "A1", "end 0"]);
    assert_eq!(session.recordings[0].samples.len(), 3);
    assert_eq!(session.recordings[0].cut_short, None);
    assert!((session.recordings[0].conditions.elapsed_s - 0.2).abs() < 1e-9);
}

#[test]
fn second_round_of_a_pair_is_the_first_reversed() {
    let (session, log) = perform(&plan(3, fixed(4, 0)), |_| {});
    let names: Vec<char> = log
        .iter()
        .filter(|l| !l.contains(' '))
        .filter_map(|l| l.chars().next())
        .collect();
    assert_eq!(names.len(), 12);
    for pair in names.chunks(6) {
        let mirrored: Vec<char> = pair[..3].iter().rev().copied().collect();
        assert_eq!(mirrored, pair[3..]);
    }
    for recording in &session.recordings {
        let rounds: Vec<u64> = recording.samples.iter().map(|s| s.round).collect();
        assert_eq!(rounds, [0, 1, 2, 3]);
    }
}

#[test]
fn order_depends_on_the_seed_alone() {
    let mut other = plan(2, fixed(20, 0));
    let (_, first) = perform(&other, |_| {});
    let (_, again) = perform(&other, |_| {});
    other.seed = 8;
    let (_, changed) = perform(&other, |_| {});
    assert_eq!(first, again);
    assert_ne!(first, changed);
}

#[test]
fn sequential_finishes_one_benchmark_before_the_next() {
    let mut sequential = plan(2, fixed(2, 1));
    sequential.order = Order::Sequential;
    let (_, log) = perform(&sequential, |_| {});
    let expected = "begin 0|Aw0|A0|A1|end 0|begin 1|Bw0|B0|B1|end 1";
    assert_eq!(log.join("|"), expected);
}

#[test]
fn a_quick_benchmark_goes_on_after_a_slow_one_has_enough() {
    let limits = Limits {
        warmup: Warmup::Count(0),
        ..Limits::default()
    };
    let (session, _) = perform(&plan(2, limits), |script| {
        script.wall = vec![Duration::from_millis(10), Duration::from_secs(1)];
    });
    assert_eq!(session.recordings[0].samples.len(), 300);
    assert_eq!(session.recordings[1].samples.len(), 10);
}

#[test]
fn failing_run_ends_the_session_and_is_kept() {
    let (session, log) = perform(&plan(2, fixed(5, 0)), |script| {
        script.fails_at = Some((1, 2));
    });
    let failure = session.failure.unwrap();
    assert_eq!((failure.benchmark, failure.index), (1, 2));
    assert_eq!(failure.stderr, b"no such table");
    assert_eq!(session.recordings.len(), 2);
    assert_eq!(session.recordings[1].failed(), 1);
    assert!(log.ends_with(&["end 0".to_string(), "end 1".to_string()]));
    let cut = session.recordings[1].cut_short.clone();
    assert_eq!(cut, Some(CutShort::Failed("exit code 1 in run 3".into())));
}

#[test]
fn ignored_failures_go_on() {
    let mut ignoring = plan(1, fixed(5, 0));
    ignoring.ignore_failure = IgnoreFailure::All;
    let (session, _) = perform(&ignoring, |script| script.fails_at = Some((0, 2)));
    assert!(session.failure.is_none());
    assert_eq!(session.recordings[0].failed(), 1);
    assert_eq!(session.recordings[0].measured().count(), 4);
}

#[test]
fn an_interrupt_ends_what_was_begun_and_marks_it() {
    let mut sequential = plan(2, fixed(5, 0));
    sequential.order = Order::Sequential;
    let (session, log) = perform(&sequential, |script| script.interrupt_after = Some(3));
    assert_eq!(session.interrupted, Some(2));
    assert_eq!(session.recordings.len(), 1);
    assert_eq!(session.recordings[0].samples.len(), 3);
    assert_eq!(session.recordings[0].cut_short, Some(CutShort::Interrupted));
    assert_eq!(log.last().unwrap(), "end 0");
}

#[test]
fn a_run_ended_by_our_interrupt_is_no_sample() {
    let (session, _) = perform(&plan(1, fixed(5, 0)), |script| {
        script.interrupt_after = Some(3);
        script.interrupts_run = true;
    });
    assert_eq!(session.recordings[0].samples.len(), 2);
    assert!(session.failure.is_none());
}

#[test]
fn a_disturbed_run_is_made_again_and_said() {
    let (session, log) = perform(&plan(1, fixed(2, 0)), |script| script.disturbs = Some(1));
    assert_eq!(log, ["begin 0", "A0", "A0", "A1", "end 0"]);
    assert_eq!(session.recordings[0].samples.len(), 2);
    assert!(session.recordings[0].notes[0].starts_with("run 1 was repeated"));
}

/// A fixed scramble of 0 to 29 steps, so that neighbours do not resemble each other.
fn scrambled(run: usize, step: u64) -> Duration {
    Duration::from_micros((run * 13 % 30) as u64 * step)
}

fn precise(fraction: f64) -> Limits {
    Limits {
        warmup: Warmup::Count(0),
        min_runs: 20,
        min_time: Duration::ZERO,
        max_time: Some(Duration::from_secs(60)),
        precision: Some(fraction),
        ..Limits::default()
    }
}

#[test]
fn precision_ends_at_the_first_look_that_is_precise() {
    let (session, _) = perform(&plan(1, precise(0.01)), |script| {
        script.extra = |_, run| scrambled(run, 10);
    });
    assert_eq!(session.recordings[0].samples.len(), 20);
    // 30 steps of 0.2 ms: the interval of the median of 100 ms needs several looks
    let (session, _) = perform(&plan(1, precise(0.005)), |script| {
        script.extra = |_, run| scrambled(run, 200);
    });
    let runs = session.recordings[0].samples.len();
    assert!([30, 45, 68, 102, 153, 230, 345].contains(&runs), "{runs}");
}

#[test]
fn precision_that_is_not_reached_ends_with_the_time() {
    let (session, _) = perform(&plan(1, precise(0.0001)), |script| {
        script.extra = |_, run| scrambled(run, 1000);
    });
    let recording = &session.recordings[0];
    assert!((60.0..61.0).contains(&recording.conditions.elapsed_s));
    assert_eq!(recording.cut_short, None);
}

#[test]
fn comparing_looks_at_the_paired_ratio_and_not_at_the_medians() {
    // both commands slow down by half within the session, in step: medians are vague, pairs are not
    let drift = |_, run: usize| Duration::from_micros(run as u64 * 1000);
    let (session, _) = perform(&plan(2, precise(0.01)), |script| script.extra = drift);
    assert_eq!(session.recordings[0].samples.len(), 20);
    assert_eq!(session.recordings[1].samples.len(), 20);
    let (alone, _) = perform(&plan(1, precise(0.01)), |script| script.extra = drift);
    assert!(alone.recordings[0].samples.len() > 100);
}

#[test]
fn a_vague_pair_does_not_hold_up_the_others_and_the_reference_stays() {
    let noisy = |benchmark: usize, run: usize| match benchmark {
        2 => scrambled(run / 3, 500),
        _ => scrambled(run, 10),
    };
    for fastest in [false, true] {
        let limits = Limits {
            fastest,
            ..precise(0.005)
        };
        let (session, _) = perform(&plan(3, limits), |script| script.extra = noisy);
        let runs = |place: usize| session.recordings[place].samples.len();
        assert_eq!(runs(1), if fastest { runs(2) } else { 20 });
        assert!(runs(2) > 20 && runs(0) >= runs(2));
    }
    let limits = Limits {
        reference: 2,
        ..precise(0.005)
    };
    let (session, _) = perform(&plan(3, limits), |script| script.extra = noisy);
    assert!(session.recordings.iter().all(|one| one.samples.len() > 20));
}

#[test]
fn the_warm_up_ends_when_it_is_steady() {
    let warming = Limits {
        warmup: Warmup::Auto,
        ..fixed(3, 0)
    };
    let (session, _) = perform(&plan(1, warming), |script| {
        script.extra = |_, run| Duration::from_millis(30_usize.saturating_sub(run) as u64);
    });
    let recording = &session.recordings[0];
    let report = recording.conditions.warmup.clone().unwrap();
    assert!(
        report.steady && (35..60).contains(&report.runs),
        "{report:?}"
    );
    assert_eq!(
        recording.of_phase(Phase::Warmup).count() as u64,
        report.runs
    );
    assert_eq!(recording.measured().count(), 3);
}

#[test]
fn a_warm_up_that_never_is_steady_ends_after_a_hundred_runs_and_is_marked() {
    let warming = Limits {
        warmup: Warmup::Auto,
        max_time: Some(Duration::from_secs(1000)),
        ..fixed(3, 0)
    };
    let (session, _) = perform(&plan(1, warming), |script| {
        script.extra = |_, run| Duration::from_millis(5 * run as u64);
    });
    let report = session.recordings[0].conditions.warmup.clone().unwrap();
    assert!(
        !report.steady && report.runs == 100 && report.spread > 0.1,
        "{report:?}"
    );
    assert_eq!(session.recordings[0].measured().count(), 3);
}
