//! Real processes: everything a run promises, seen from its record.

use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use super::*;
use crate::plan::{Benchmark, IgnoreFailure, Input, Output, Placement, Plan};
use crate::run::clock::SystemClock;
use crate::sample::Outcome;
use crate::sys;
use crate::sys::files::tests::Folder;
use crate::sys::unix::{self, Brood, number};

/// All children of the process belong to the executor, so there is one at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn below_us() -> Vec<i32> {
    crate::sys::platform::offspring(0, &std::collections::BTreeSet::new()).unwrap_or_default()
}

/// A plan of one benchmark, changed before it is run.
struct Lab {
    plan: Plan,
    _alone: MutexGuard<'static, ()>,
}

impl Drop for Lab {
    fn drop(&mut self) {
        loop {
            below_us().into_iter().for_each(unix::kill);
            match unix::await_any() {
                Brood::Ended(pid) => drop(unix::reap(pid)),
                Brood::Alive => {}
                Brood::None => break,
            }
        }
    }
}

fn words(words: &[&str]) -> Vec<std::ffi::OsString> {
    words.iter().map(Into::into).collect()
}

fn benchmark(all: &[&str]) -> Benchmark {
    Benchmark::direct(words(all))
}

#[allow(
    clippy::disallowed_methods,
    reason = "tests take the search path as it is"
)]
fn lab(all: &[&str]) -> Lab {
    let path = std::env::vars_os().filter(|(name, _)| name == "PATH");
    let plan = Plan {
        ignore_failure: IgnoreFailure::All,
        environment: path.collect(),
        ..Plan::of(vec![benchmark(all)])
    };
    let alone = ALONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    Lab {
        plan,
        _alone: alone,
    }
}

fn shell(script: &str) -> Lab {
    lab(&["sh", "-c", script])
}

fn request(phase: Phase, index: u64) -> Request {
    Request {
        benchmark: 0,
        phase,
        index,
        round: index,
        position: 0,
        padding: 0,
    }
}

impl Lab {
    fn with(mut self, change: impl FnOnce(&mut Benchmark)) -> Self {
        change(&mut self.plan.benchmarks[0]);
        self
    }

    fn planned(mut self, change: impl FnOnce(&mut Plan)) -> Self {
        change(&mut self.plan);
        self
    }

    fn executor(&self) -> ProcessExecutor<'_> {
        ProcessExecutor::new(&self.plan, SystemClock::begin()).unwrap()
    }

    fn ready(&self) -> ProcessExecutor<'_> {
        let mut executor = self.executor();
        executor.begin(0).unwrap();
        executor
    }

    /// One run.
    fn run(&self) -> Made {
        self.ready().once()
    }

    fn refusal(self) -> RunError {
        let mut executor = self.executor();
        let begun = executor.begin(0);
        begun
            .and_then(|()| {
                executor
                    .run(&request(Phase::Measured, 0), &mut |_| {})
                    .map(drop)
            })
            .unwrap_err()
    }

    /// What one run writes to standard output.
    fn output(self) -> String {
        let folder = Folder::new("output");
        let file = folder.path().join("out");
        let lab = self.with(|b| b.output = Output::File(file.clone()));
        assert_eq!(lab.run().sample.outcome, Outcome::Exited(0));
        std::fs::read_to_string(file).unwrap()
    }
}

impl ProcessExecutor<'_> {
    fn once(&mut self) -> Made {
        self.run(&request(Phase::Measured, 0), &mut |_| {}).unwrap()
    }
}

#[test]
fn codes_and_signals() {
    assert_eq!(lab(&["true"]).run().sample.outcome, Outcome::Exited(0));
    assert_eq!(shell("exit 255").run().sample.outcome, Outcome::Exited(255));
    let crash = shell("ulimit -c 0; kill -SEGV $$").run().sample.outcome;
    assert_eq!(
        crash,
        Outcome::Signaled {
            signal: 11,
            core: false
        }
    );
    // Ignored in us by the runtime of the language, but not in commands.
    let pipe = shell("kill -PIPE $$; exit 5").run().sample.outcome;
    assert_eq!(pipe.signal(), Some(13));
}

#[test]
fn a_run_has_a_time_and_an_account() {
    let made = shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done").run();
    let sample = made.sample;
    assert!(sample.wall > Duration::from_millis(1) && sample.wall < Duration::from_secs(10));
    assert!(sample.usage.cpu() > Duration::from_millis(1));
    assert!(sample.usage.max_rss > 100_000);
    assert!(!made.disturbed && !made.interrupted && !made.stopped && !made.held_open);
    #[cfg(target_os = "linux")]
    {
        assert!(
            sample
                .readings
                .spawn_latency
                .is_some_and(|l| l < Duration::from_secs(1))
        );
        let asked = sample.readings.tree_cpu.is_none();
        assert_eq!(sample.readings.auto_reaps, asked.then_some(0));
        assert_eq!(sample.readings.leftovers, Some(0));
        assert_eq!(sample.readings.orphans, Some(0));
        // One thread and no children: both are accounts of the same time.
        let main = sample.readings.main_run.unwrap();
        let apart = sample.usage.cpu().abs_diff(main);
        assert!(apart < Duration::from_millis(1), "{apart:?}");
        assert!(
            sample
                .readings
                .spawn_cpu
                .is_some_and(|cpu| cpu > Duration::ZERO)
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn where_our_own_start_is_refused_no_group_tells_and_signals_are_passed_on() {
    let lab = shell("sleep 1.2");
    let mut executor = lab.ready();
    executor.spawner.refuse();
    let mut attended = 0;
    let mut tick = |_| attended = attended.max(crate::sys::session::attended());
    let made = executor
        .run(&request(Phase::Measured, 0), &mut tick)
        .unwrap();
    assert!(attended > 1);
    let readings = made.sample.readings;
    assert_eq!((readings.tree_cpu, readings.tree_queued), (None, None));
    assert_eq!(readings.auto_reaps, Some(0));
    assert_eq!(executor.manner().stamp, Stamp::BeforeSpawn);
}

#[test]
fn refusals_name_the_program() {
    let folder = Folder::new("refusals");
    let file = |name, text: &str, mode| {
        let path = folder.file(name, text, mode);
        path.to_str().unwrap().to_owned()
    };
    let absent = lab(&["no-such-program", "-x"]).refusal();
    assert_eq!(absent.to_string(), "find the program 'no-such-program'");
    let plain = file("plain", "x", 0o644);
    assert!(
        matches!(lab(&[&plain]).refusal(), RunError::NotExecutable { program, .. } if program == plain)
    );
    assert!(matches!(
        lab(&["/"]).refusal(),
        RunError::IsDirectory { .. }
    ));
    let script = file("script", "#!/no/such/thing -x\n", 0o755);
    let missing = lab(&[&script]).refusal();
    assert!(
        matches!(&missing, RunError::MissingInterpreter { interpreter, .. } if interpreter == "/no/such/thing")
    );
    let text = file("text", "echo hello\n", 0o755);
    assert!(matches!(
        lab(&[&text]).refusal(),
        RunError::NotAProgram { .. }
    ));
    let long = "x".repeat(200_000);
    assert!(matches!(
        lab(&["true", &long]).refusal(),
        RunError::TooLong { .. }
    ));
    assert!(matches!(
        lab(&["true", "a\0b"]).refusal(),
        RunError::Nul { .. }
    ));
    let elsewhere = lab(&["true"]).with(|b| b.cwd = Some("/no/such".into()));
    assert!(matches!(elsewhere.refusal(), RunError::Directory { .. }));
    let input = lab(&["true"]).with(|b| b.input = Input::File("/".into()));
    assert!(matches!(input.refusal(), RunError::Input { .. }));
    let output = lab(&["true"]).with(|b| b.output = Output::File("/no/such/file".into()));
    assert!(matches!(output.refusal(), RunError::Output { .. }));
}

#[test]
fn a_plan_is_checked_before_anything_runs() {
    let mut plan = lab(&["true"]).plan.clone();
    plan.benchmarks.push(benchmark(&["no-such-program"]));
    plan.benchmarks.push(benchmark(&["/"]));
    plan.benchmarks.push(benchmark(&["made-by-setup"]));
    plan.benchmarks[3].hooks.setup = Some("make it".into());
    let errors = check(&plan);
    assert_eq!(errors.len(), 2, "{errors:?}");
    plan.placement = Placement::Cpus(vec![7_777]);
    assert!(
        check(&plan)
            .iter()
            .any(|e| matches!(e, RunError::NoSuchCpu { cpu: 7_777 }))
    );
}

#[test]
fn the_run_is_told_its_number() {
    let folder = Folder::new("numbers");
    let file = folder.path().join("log");
    let script = format!(
        "echo $OFFBENCH_ITERATION $HYPERFINE_ITERATION >> {}",
        file.display()
    );
    let lab = shell(&script);
    let mut executor = lab.ready();
    for (phase, index) in [
        (Phase::Warmup, 0),
        (Phase::Measured, 0),
        (Phase::Measured, 12),
    ] {
        executor.run(&request(phase, index), &mut |_| {}).unwrap();
    }
    executor
        .run(&request(Phase::Diagnostic, 3), &mut |_| {})
        .unwrap();
    let log = std::fs::read_to_string(file).unwrap();
    assert_eq!(log, "warmup-0 warmup-0\n0 0\n12 12\nexplain-3 explain-3\n");
}

#[test]
fn environment_directory_and_streams() {
    let folder = Folder::new("streams");
    let home = folder.path().canonicalize().unwrap();
    let variable = shell("echo $A-$B").with(|b| b.env = vec![("A".into(), "1 2".into())]);
    assert_eq!(variable.output(), "1 2-\n");
    let inside = shell("pwd -P").with(|b| b.cwd = Some(home.clone()));
    assert_eq!(inside.output(), format!("{}\n", home.display()));
    let input = folder.file("in", "some text", 0o644);
    let reading = lab(&["cat"]).with(|b| b.input = Input::File(input));
    let file = home.join("twice");
    let reading = reading.with(|b| b.output = Output::File(file.clone()));
    let mut executor = reading.ready();
    executor.once();
    executor.once();
    drop(executor);
    drop(reading);
    assert_eq!(std::fs::read_to_string(file).unwrap(), "some text");
    assert_eq!(lab(&["cat"]).output(), "");
    #[cfg(target_os = "linux")]
    {
        // Nothing of ours is open in the command but its standard error, and nothing is blocked.
        let open = shell("ls -l /proc/self/fd").output();
        assert_eq!(open.matches("memfd").count(), 1, "{open}");
        assert!(
            shell("grep SigBlk /proc/self/status")
                .output()
                .contains("0000000000000000")
        );
    }
}

#[test]
fn standard_error_is_kept() {
    let lab = shell("echo oops $OFFBENCH_ITERATION >&2; exit 3");
    let lab = lab.with(|b| b.hooks.conclude = Some("echo noise >&2".into()));
    let mut executor = lab.ready();
    assert_eq!(executor.once().sample.outcome, Outcome::Exited(3));
    assert_eq!(executor.last_stderr(), b"oops 0\n");
    executor
        .run(&request(Phase::Measured, 1), &mut |_| {})
        .unwrap();
    assert_eq!(executor.last_stderr(), b"oops 1\n");
    drop(executor);
    drop(lab);
    let flood = shell("head -c 50000000 /dev/zero >&2; echo end >&2");
    let mut executor = flood.ready();
    executor.once();
    let tail = executor.last_stderr();
    assert_eq!(tail.len(), 64 * 1024);
    assert!(tail.ends_with(b"end\n"));
}

#[test]
fn hooks_stand_around_the_runs() {
    let folder = Folder::new("hooks");
    let lab = shell("echo run $OFFBENCH_ITERATION >> log").with(|b| {
        b.cwd = Some(folder.path().to_owned());
        b.hooks.setup = Some("echo setup > log".into());
        b.hooks.prepare = Some("echo prepare $HYPERFINE_ITERATION >> log".into());
        b.hooks.conclude = Some("echo conclude $HYPERFINE_ITERATION >> log".into());
        b.hooks.cleanup = Some("echo cleanup >> log".into());
    });
    let mut executor = lab.ready();
    executor
        .run(&request(Phase::Warmup, 0), &mut |_| {})
        .unwrap();
    executor.once();
    executor.end(0).unwrap();
    executor.end(0).unwrap();
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
    assert_eq!(
        log,
        "setup\nprepare warmup-0\nrun warmup-0\nconclude warmup-0\nprepare 0\nrun 0\nconclude 0\ncleanup\n"
    );
}

#[test]
fn a_failing_hook_says_why() {
    let lab = lab(&["true"]).with(|b| b.hooks.conclude = Some("echo why >&2; exit 7".into()));
    let mut executor = lab.ready();
    let error = executor
        .run(&request(Phase::Measured, 0), &mut |_| {})
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "go on: the conclude command failed: exit code 7"
    );
    let RunError::Hook { code, stderr, .. } = error else {
        panic!("{error}")
    };
    assert_eq!((code, &stderr[..]), (Some(7), &b"why\n"[..]));
}

#[test]
fn hooks_may_make_what_is_run() {
    let folder = Folder::new("made");
    let make = "printf '#!/bin/sh\\nexit 4\\n' > tool; chmod +x tool; echo x > in";
    for prepare in [false, true] {
        let _ = std::fs::remove_file(folder.path().join("tool"));
        let lab = lab(&["./tool"]).with(|b| {
            b.cwd = Some(folder.path().to_owned());
            b.input = Input::File(folder.path().join("in"));
            let hook = if prepare {
                &mut b.hooks.prepare
            } else {
                &mut b.hooks.setup
            };
            *hook = Some(make.into());
        });
        assert!(check(&lab.plan).is_empty());
        assert_eq!(lab.run().sample.outcome, Outcome::Exited(4));
    }
}

#[test]
fn the_time_limit_ends_the_whole_group() {
    let limit = |plan: &mut Plan| plan.timeout = Some(Duration::from_millis(200));
    let polite = shell("sleep 30 & sleep 30").planned(limit);
    let sample = polite.run().sample;
    assert_eq!(sample.outcome, Outcome::TimedOut);
    assert!(sample.wall >= Duration::from_millis(150) && sample.wall < Duration::from_secs(10));
    assert_eq!(sample.readings.leftovers.unwrap_or(0), 0);
    drop(polite);
    let stubborn = shell("trap '' TERM; sleep 30; sleep 30").planned(limit);
    assert_eq!(stubborn.run().sample.outcome, Outcome::TimedOut);
    drop(stubborn);
    let quick = lab(&["true"]).planned(limit);
    assert_eq!(quick.run().sample.outcome, Outcome::Exited(0));
}

/// It ends as soon as it is asked to, and nobody waits any longer.
#[test]
#[cfg(target_os = "linux")]
fn who_has_left_the_group_is_ended_by_a_time_limit() {
    let limit = |plan: &mut Plan| plan.timeout = Some(Duration::from_millis(200));
    let lab = shell("setsid sleep 30 & sleep 30").planned(limit);
    let begun = sys::clock::now();
    let sample = lab.run().sample;
    let passed = Duration::from_nanos(sys::clock::now() - begun);
    assert_eq!(sample.outcome, Outcome::TimedOut);
    assert_eq!(sample.readings.leftovers, Some(0));
    assert!(passed < Duration::from_secs(1), "{passed:?}");
}

#[test]
fn a_time_limit_ends_what_has_not_reached_its_command() {
    let hasty = lab(&["sleep", "30"]).planned(|plan| plan.timeout = Some(Duration::from_nanos(1)));
    for _ in 0..50 {
        let sample = hasty.run().sample;
        assert_eq!(sample.outcome, Outcome::TimedOut);
        assert!(sample.wall < Duration::from_secs(10));
    }
}

#[test]
fn long_runs_tick() {
    let lab = lab(&["sleep", "1.35"]);
    let mut ticks = Vec::new();
    lab.ready()
        .run(&request(Phase::Measured, 0), &mut |passed| {
            ticks.push(passed);
        })
        .unwrap();
    assert!((1..=5).contains(&ticks.len()), "{ticks:?}");
    assert!(ticks[0] >= Duration::from_secs(1));
}

#[test]
fn a_pipe_held_open_does_not_prolong_the_run() {
    let lab = shell("echo hello; sleep 20 & exit 0").with(|b| b.output = Output::Pipe);
    let begun = crate::sys::clock::now();
    let made = lab.run();
    assert!(Duration::from_nanos(crate::sys::clock::now() - begun) < Duration::from_secs(10));
    assert!(made.held_open && made.sample.wall < Duration::from_secs(5));
    drop(lab);
    let large = shell("head -c 30000000 /dev/zero").with(|b| b.output = Output::Pipe);
    let made = large.run();
    assert!(!made.held_open && made.sample.outcome.success());
}

#[test]
fn outputs_can_be_compared() {
    let lab = shell("echo $((OFFBENCH_ITERATION / 2))").planned(|plan| plan.check_output = true);
    let mut executor = lab.ready();
    let mut digest = |index| {
        executor
            .run(&request(Phase::Measured, index), &mut |_| {})
            .unwrap()
            .output
            .unwrap()
    };
    let (zero, one, two) = (digest(0), digest(1), digest(2));
    assert_eq!(zero, one);
    assert_ne!(one, two);
}

#[test]
fn a_command_stopped_in_the_middle_is_noticed() {
    let lab = shell("(sleep 0.2; kill -CONT $$) & kill -STOP $$; wait; exit 3");
    let made = lab.run();
    assert!(made.stopped);
    assert_eq!(made.sample.outcome, Outcome::Exited(3));
}

#[test]
fn the_padding_is_dropped_where_it_does_not_fit() {
    let fill = |bytes: usize| {
        let filler = |number| (format!("F{number}").into(), "x".repeat(100_000).into());
        let mut all: Vec<_> = (0..bytes / 100_000).map(filler).collect();
        all.push(("REST".into(), "x".repeat(bytes % 100_000).into()));
        lab(&["true"]).with(|b| b.env = all)
    };
    let mut padded = request(Phase::Measured, 0);
    padded.padding = 8_000;
    let run = |bytes| {
        let lab = fill(bytes);
        let mut executor = lab.ready();
        executor
            .run(&padded, &mut |_| {})
            .map(|made| made.sample.padding)
    };
    assert_eq!(run(0).unwrap(), 8_000);
    let (mut fits, mut fails) = (0, 8_000_000);
    while fails - fits > 1_000 {
        let middle = usize::midpoint(fits, fails);
        match run(middle) {
            Ok(_) => fits = middle,
            Err(RunError::TooLong { .. }) => fails = middle,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(run(fits).unwrap(), 0);
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;
    use crate::sys::platform::CpuMask;

    const BUSY: &str = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done";

    #[test]
    fn orphans_are_counted_with_their_cpu_time() {
        let lab = shell(&format!("( ({BUSY}) & ); sleep 0.6"));
        let sample = lab.run().sample;
        assert_eq!(sample.readings.orphans, Some(1));
        assert!(sample.readings.orphan_cpu.unwrap() > Duration::from_millis(2));
        assert!(sample.usage.cpu() < sample.tree_cpu());
    }

    #[test]
    fn who_outlives_a_run_is_counted_once() {
        let lab = shell("if [ $OFFBENCH_ITERATION = 0 ]; then sleep 0.5 & sleep 60 & fi; exit 0");
        let mut executor = lab.ready();
        let made = executor.once();
        assert_eq!(made.sample.readings.leftovers, Some(2));
        assert!(made.sample.wall < Duration::from_millis(450));
        std::thread::sleep(Duration::from_millis(700));
        let next = executor
            .run(&request(Phase::Measured, 1), &mut |_| {})
            .unwrap()
            .sample;
        assert_eq!(next.readings.leftovers, Some(0));
        assert_eq!(next.readings.orphans, Some(0));
    }

    #[test]
    fn what_a_hook_leaves_belongs_to_no_run() {
        let lab = lab(&["true"]).with(|b| b.hooks.setup = Some("sleep 60 & exit 0".into()));
        let lab = lab.planned(|plan| plan.wait_descendants = true);
        let sample = lab.run().sample;
        assert_eq!(
            (sample.readings.leftovers, sample.readings.orphans),
            (Some(0), Some(0))
        );
    }

    #[test]
    fn descendants_can_be_waited_for() {
        let lab =
            shell("(sleep 0.3; sleep 0.1) & exit 0").planned(|plan| plan.wait_descendants = true);
        let sample = lab.run().sample;
        assert!(
            sample.wall >= Duration::from_millis(390),
            "{:?}",
            sample.wall
        );
        assert_eq!(sample.readings.orphans, Some(1));
        assert_eq!(sample.readings.leftovers, Some(0));
        drop(lab);
        let endless = shell("setsid sleep 60 & exit 0").planned(|plan| {
            plan.wait_descendants = true;
            plan.timeout = Some(Duration::from_millis(200));
        });
        assert_eq!(endless.run().sample.outcome, Outcome::TimedOut);
    }

    #[test]
    fn ignoring_the_end_of_children_is_noticed() {
        let sample = lab(&["env", "--ignore-signal=CHLD", "true"]).run().sample;
        let asked = sample.readings.tree_cpu.is_none();
        assert_eq!(sample.readings.auto_reaps, asked.then_some(1));
    }

    #[test]
    fn the_command_gets_the_affinity_it_should() {
        let script = "grep Cpus_allowed_list /proc/self/status";
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let ours = status
            .lines()
            .find(|l| l.starts_with("Cpus_allowed_list"))
            .unwrap();
        assert_eq!(shell(script).output().trim(), ours.trim());
        let folder = Folder::new("affinity");
        let file = folder.path().join("out");
        {
            let lab = shell(script).with(|b| b.output = Output::File(file.clone()));
            let mut executor = lab.ready();
            executor.spawner.refuse();
            executor.once();
        }
        assert_eq!(std::fs::read_to_string(file).unwrap().trim(), ours.trim());
        let before = CpuMask::current().unwrap();
        let pinned = shell(script)
            .planned(|plan| plan.placement = Placement::Pin)
            .output();
        assert!(!pinned.contains(['-', ',']), "{pinned}");
        assert_eq!(CpuMask::current().unwrap(), before);
        let cpu = (0..8192).find(|cpu| before.contains(*cpu)).unwrap();
        let chosen = shell(script).planned(|plan| plan.placement = Placement::Cpus(vec![cpu]));
        assert_eq!(
            chosen.output().split_whitespace().last(),
            Some(&*cpu.to_string())
        );
    }

    struct Witness {
        name: String,
        looks: u32,
        span: (u64, u64),
        state: String,
    }

    impl Watch for Witness {
        fn attach(&mut self, pid: i32, held: bool) {
            assert!(held);
            let link = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap();
            self.name = link.display().to_string();
        }
        fn first_look(&self) -> Option<Duration> {
            Some(Duration::from_millis(5))
        }
        fn look(&mut self, _pid: i32, _begun: u64) -> Option<Duration> {
            self.looks += 1;
            None
        }
        fn detach(&mut self, pid: i32, begun: u64, ended: u64) {
            self.state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
            self.span = (begun, ended);
        }
    }

    #[test]
    fn a_diagnostic_run_can_be_watched_from_before_exec() {
        let mut witness = Witness {
            name: String::new(),
            looks: 0,
            span: (0, 0),
            state: String::new(),
        };
        let lab = lab(&["sleep", "0.3"]);
        let mut executor = lab.ready();
        let made = executor
            .run_watched(&request(Phase::Diagnostic, 0), &mut witness)
            .unwrap();
        let own = std::env::current_exe().unwrap();
        assert_eq!(Path::new(&witness.name), own);
        assert!(witness.looks > 5, "{}", witness.looks);
        assert!(witness.state.contains(") Z "));
        assert_eq!(
            Duration::from_nanos(witness.span.1 - witness.span.0),
            made.sample.wall
        );
        assert!(made.sample.wall >= Duration::from_millis(300));
        // An exec that fails only after the release is an error all the same.
        let text = Folder::new("held");
        let text = text.file("text", "echo\n", 0o755);
        drop(executor);
        drop(lab);
        let lab = super::lab(&[text.to_str().unwrap()]);
        let refused = lab
            .ready()
            .run_watched(&request(Phase::Diagnostic, 0), &mut witness);
        assert!(
            matches!(
                refused,
                Err(RunError::NotFound { .. } | RunError::NotAProgram { .. })
            ),
            "{refused:?}"
        );
    }
}

/// What signals do to a whole process, tried on a copy of this one.
#[cfg(target_os = "linux")]
mod signals {
    use super::*;
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::{Pid, getppid};
    use std::path::PathBuf;
    use std::process::{Child, Command, Stdio};

    fn place(owner: u32) -> PathBuf {
        std::env::temp_dir().join(format!("offbench-signals-{owner}"))
    }

    /// Not a test: the copy runs it.
    #[test]
    #[ignore = "started by the tests below"]
    fn copy() {
        crate::sys::session::begin().unwrap();
        let folder = place(getppid().as_raw().try_into().unwrap());
        let lab = shell("echo $$ > new; mv new pid; exec sleep 44").with(|b| {
            b.cwd = Some(folder.clone());
            b.hooks.conclude = Some("echo concluded >> log".into());
            b.hooks.cleanup = Some("echo cleaned >> log".into());
        });
        let mut executor = lab.ready();
        let made = executor.once();
        executor.end(0).unwrap();
        let signal = executor.interrupted().unwrap_or_default();
        let outcome = made.sample.outcome;
        let line = format!(
            "{} {signal} {outcome} {}\n",
            made.interrupted, made.disturbed
        );
        std::fs::write(folder.join("result"), line).unwrap();
    }

    struct Copy {
        _alone: MutexGuard<'static, ()>,
        process: Child,
        folder: PathBuf,
        sleeper: i32,
    }

    impl Copy {
        #[allow(clippy::disallowed_methods, reason = "a copy of the test program")]
        fn start() -> Self {
            let alone = ALONE
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            let folder = place(std::process::id());
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir(&folder).unwrap();
            let name = "run::executor::tests::signals::copy";
            let process = Command::new(std::env::current_exe().unwrap())
                .args(["--ignored", "--exact", name])
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            let file = folder.join("pid");
            let sleeper = eventually(|| std::fs::read_to_string(&file).ok()?.trim().parse().ok());
            Self {
                _alone: alone,
                process,
                folder,
                sleeper,
            }
        }

        fn signal(&self, signal: Signal) {
            let pid = i32::try_from(self.process.id()).unwrap();
            kill(Pid::from_raw(pid), signal).unwrap();
        }

        fn result(&mut self) -> (String, String) {
            self.process.wait().unwrap();
            let read = |name| std::fs::read_to_string(self.folder.join(name)).unwrap();
            (read("result"), read("log"))
        }

        fn sleeps(&self) -> bool {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.sleeper));
            stat.is_ok_and(|text| !text.contains(") Z "))
        }
    }

    impl Drop for Copy {
        fn drop(&mut self) {
            let _ = self.process.kill();
            let _ = self.process.wait();
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }

    fn eventually<T>(mut look: impl FnMut() -> Option<T>) -> T {
        for _ in 0..1_000 {
            if let Some(found) = look() {
                return found;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("it did not happen within ten seconds")
    }

    #[test]
    fn the_command_does_not_outlive_us() {
        let mut copy = Copy::start();
        assert!(copy.sleeps());
        copy.signal(Signal::SIGKILL);
        copy.process.wait().unwrap();
        eventually(|| (!copy.sleeps()).then_some(()));
    }

    #[test]
    fn a_signal_ends_the_run_but_not_what_belongs_to_it() {
        for signal in [Signal::SIGTERM, Signal::SIGINT] {
            let mut copy = Copy::start();
            // As timeout(1) does: to the process, then to its group.
            copy.signal(signal);
            copy.signal(signal);
            let (result, log) = copy.result();
            let expected = format!("true {} killed by {signal} false\n", signal as i32);
            assert_eq!(result, expected);
            assert_eq!(log, "concluded\ncleaned\n");
            assert!(!copy.sleeps());
        }
    }

    #[test]
    fn being_stopped_disturbs_the_run() {
        let mut copy = Copy::start();
        copy.signal(Signal::SIGSTOP);
        std::thread::sleep(Duration::from_millis(100));
        copy.signal(Signal::SIGCONT);
        std::thread::sleep(Duration::from_millis(100));
        copy.signal(Signal::SIGTERM);
        let (result, _) = copy.result();
        assert_eq!(
            result,
            format!("true {} killed by SIGTERM true\n", Signal::SIGTERM as i32)
        );
    }
}

/// An attendant that the system refuses to tell anything.
struct Refused;

impl waiting::Attend for Refused {
    fn wait(&mut self, _pid: i32) -> Result<unix::Event, sys::Error> {
        Err(sys::Error::number("waitid", 38))
    }
}

#[test]
#[allow(
    clippy::disallowed_methods,
    clippy::zombie_processes,
    reason = "a child of the test itself, reaped by what is tested"
)]
fn whoever_cannot_be_waited_for_is_not_left_behind() {
    use std::io::Read;
    use std::os::unix::process::CommandExt;
    let lab = lab(&["true"]);
    let _adopts = lab.executor();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "sleep 60 & echo; sleep 60; :"]);
    shell.stdout(std::process::Stdio::piped()).process_group(0);
    let child = shell.spawn().unwrap();
    let pid = i32::try_from(child.id()).unwrap();
    // It has started the first of them.
    child.stdout.unwrap().read_exact(&mut [0]).unwrap();
    let wakeups = crate::sys::platform::Wakeups::new().unwrap();
    let mut vigil = waiting::Vigil::new(wakeups.into(), waiting::Rhythm::new(false, None));
    vigil.watch(pid, sys::clock::now());
    assert!(vigil.until_end(&mut Refused).is_err());
    assert!(unix::look(pid).is_err(), "it is not reaped");
    let gone = (0..2000).any(|_| {
        unix::pause(Duration::from_millis(1));
        below_us().is_empty()
    });
    assert!(gone, "what it has started lives on");
}

/// Another process may have the number by then; here it is a child that is no group of its own.
#[test]
#[allow(clippy::disallowed_methods, reason = "a child of the test itself")]
fn who_has_been_reaped_gets_no_more_signals() {
    let _children = lab(&["true"]);
    let mut stranger = std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .unwrap();
    let wakeups = crate::sys::platform::Wakeups::new().unwrap();
    let rhythm = waiting::Rhythm::new(false, Some(Duration::from_millis(1)));
    let mut vigil = waiting::Vigil::new(wakeups.into(), rhythm);
    vigil.watch(i32::try_from(stranger.id()).unwrap(), 0);
    vigil.let_go();
    vigil.enforce(sys::clock::now());
    assert!(vigil.timed_out);
    unix::pause(Duration::from_millis(5));
    assert_eq!(stranger.try_wait().unwrap(), None);
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[test]
#[allow(clippy::disallowed_methods, reason = "a child of the test itself")]
fn a_signal_finds_who_has_not_made_its_group_yet() {
    let _children = lab(&["true"]);
    // A child of this process stays in our group: as early as it gets.
    let mut child = std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .unwrap();
    unix::signal_run(i32::try_from(child.id()).unwrap(), number::TERM, true);
    let ended = child.wait().unwrap();
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&ended),
        Some(number::TERM)
    );
}
