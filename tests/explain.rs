//! Programs that wait for a known cause are told so: shares and causes, no absolute times.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "tests start programs")]
#![allow(clippy::expect_used, reason = "a test that cannot start fails")]
#![allow(unsafe_code, reason = "a test refuses itself system calls")]

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use offbench::evidence::{Cause, Depth};
use offbench::explain::{Pass, attribute};
use offbench::probe::explain::{Command, ExplainError, Options, diagnose, explain};
use offbench::probe::trace::trace;
use offbench::sample::Attribution;

/// The workload program, built once.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/waits.rs");
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("waits");
        let made = |path: &Path| path.metadata().and_then(|found| found.modified()).ok();
        if made(&program) < made(&source) {
            let built = std::process::Command::new("rustc")
                .args(["--edition", "2024", "-O", "-o"])
                .args([&program, &source])
                .status()
                .expect("rustc runs");
            assert!(built.success());
        }
        program
    })
}

/// One test at a time: they share the CPUs they measure.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A directory of this test run, writable for whoever runs it.
fn directory() -> PathBuf {
    let directory = std::env::temp_dir().join(format!("offbench-explain-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    directory
}

fn command(words: &[&str]) -> Command {
    let mut arguments = vec![OsString::from(program())];
    arguments.extend(words.iter().map(OsString::from));
    Command {
        arguments,
        directory: Some(directory()),
        ..Command::default()
    }
}

fn explained(words: &[&str], records: bool) -> Attribution {
    let second = Duration::from_secs(1);
    let wall = Duration::from_millis(100);
    let made = explain(&command(words), records, wall, second)
        .expect("it runs")
        .expect("a run");
    assert!(
        (made.busy + made.queued + made.idle - made.wall).abs() < 1e-6,
        "{made:?}"
    );
    made
}

/// Share of the idle time blamed on that cause.
fn share(made: &Attribution, cause: Cause) -> f64 {
    let time: f64 = made
        .waits
        .iter()
        .filter(|wait| wait.cause == cause)
        .map(|wait| wait.seconds)
        .sum();
    time / made.idle.max(1e-9)
}

fn assert_waits_for(words: &[&str], cause: Cause, detail: &str) {
    for records in [true, false] {
        let made = explained(words, records);
        assert!(share(&made, cause) > 0.8, "{words:?} {made:#?}");
        assert!(made.waits[0].detail.contains(detail), "{words:?} {made:#?}");
    }
}

fn server(words: &[&str]) -> (Child, String) {
    let mut child = std::process::Command::new(program())
        .args(words)
        .current_dir(directory())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the server starts");
    let mut line = String::new();
    let out = child.stdout.take().expect("a pipe");
    BufReader::new(out).read_line(&mut line).expect("a line");
    (child, line.trim().to_string())
}

#[test]
fn its_own_sleep() {
    let _turn = alone();
    assert_waits_for(&["sleep", "80"], Cause::Sleep, "nanosleep");
}

#[test]
fn a_nap_under_a_lock_is_a_sleep_and_no_lock() {
    let _turn = alone();
    for records in [true, false] {
        let made = explained(&["futex-nap", "4"], records);
        assert!(share(&made, Cause::Sleep) > 0.8, "{made:#?}");
        assert!(share(&made, Cause::Lock) < 0.15, "{made:#?}");
        assert_eq!(made.threads, 5);
    }
}

#[test]
fn a_pipe_whose_writer_sleeps_is_a_sleep_and_no_pipe() {
    let _turn = alone();
    assert_waits_for(&["pipe-nap", "80"], Cause::Sleep, "nanosleep");
}

#[test]
fn a_sleep_behind_more_cpu_than_wall_is_found() {
    let _turn = alone();
    let made = explained(&["parallel-then-sleep", "40", "60"], true);
    assert!(share(&made, Cause::Sleep) > 0.8, "{made:#?}");
    assert!((0.055..0.09).contains(&made.idle), "{made:#?}");
}

#[test]
fn flushes_are_named_with_their_file() {
    let _turn = alone();
    let made = explained(&["fsync", "flushed", "300"], true);
    // A RAM disk flushes at once: then there is nothing to name.
    if made.idle > 0.2 * made.wall {
        assert_eq!(made.waits[0].cause, Cause::DiskFlush, "{made:#?}");
        assert!(
            made.waits
                .iter()
                .any(|wait| wait.detail == "fsync ./flushed"),
            "{made:#?}"
        );
        assert!(
            share(&made, Cause::DiskFlush) + 0.1 > made.named,
            "{made:#?}"
        );
    }
}

#[test]
fn a_peer_is_named() {
    let _turn = alone();
    for records in [true, false] {
        let (mut child, port) = server(&["tcp-server", "5"]);
        let options = Options {
            records,
            pass: Pass::Ticks,
            rate: 1000.0,
        };
        let run = diagnose(&command(&["tcp", &port, "12"]), options)
            .expect("it runs")
            .run;
        let made = attribute(&[run]).expect("a run");
        child.wait().expect("the server ends");
        assert!(share(&made, Cause::Network) > 0.8, "{made:#?}");
        assert!(
            made.waits[0].detail.ends_with(&format!("127.0.0.1:{port}")),
            "{made:#?}"
        );
    }
}

#[test]
fn a_local_service_is_named() {
    let _turn = alone();
    let path = directory().join("service.sock");
    std::fs::remove_file(&path).ok();
    let (mut child, _) = server(&["unix-server", "service.sock", "60"]);
    let options = Options {
        records: true,
        pass: Pass::Ticks,
        rate: 1000.0,
    };
    let run = diagnose(&command(&["unix", "service.sock"]), options)
        .expect("it runs")
        .run;
    child.wait().expect("the server ends");
    let made = attribute(&[run]).expect("a run");
    assert!(share(&made, Cause::LocalService) > 0.8, "{made:#?}");
}

#[test]
fn a_file_lock_is_named_with_its_holder() {
    let _turn = alone();
    let (mut child, _) = server(&["lock-held", "lk", "120"]);
    let options = Options {
        records: true,
        pass: Pass::Ticks,
        rate: 1000.0,
    };
    let run = diagnose(&command(&["lock", "lk"]), options)
        .expect("it runs")
        .run;
    let pid = child.id();
    child.wait().expect("the holder ends");
    let made = attribute(&[run]).expect("a run");
    assert!(share(&made, Cause::FileLock) > 0.8, "{made:#?}");
    assert_eq!(
        made.waits[0].detail,
        format!("flock ./lk held by PID {pid} (waits)")
    );
}

#[test]
fn a_stopped_process_is_told_from_its_waits() {
    let _turn = alone();
    let made = explained(&["stop", "80"], true);
    assert!(share(&made, Cause::Stopped) > 0.7, "{made:#?}");
}

#[test]
fn computing_is_no_wait() {
    let _turn = alone();
    let made = explained(&["burn", "60"], true);
    assert!(made.idle < 0.1 * made.wall, "{made:#?}");
}

#[test]
fn exec_from_another_thread_keeps_the_account() {
    let _turn = alone();
    let made = explained(&["exec-sleep", "60"], true);
    assert!(
        share(&made, Cause::Sleep) > 0.8 && made.idle > 0.05,
        "{made:#?}"
    );
}

#[test]
fn every_switch_can_be_looked_at() {
    let _turn = alone();
    let options = Options {
        records: true,
        pass: Pass::Switches,
        rate: 1000.0,
    };
    let run = diagnose(&command(&["futex-nap", "1"]), options)
        .expect("it runs")
        .run;
    let made = attribute(&[run]).expect("a run");
    assert!(share(&made, Cause::Sleep) > 0.8, "{made:#?}");
}

#[test]
fn a_program_that_does_not_exist_is_an_error() {
    let missing = Command {
        arguments: vec!["./no-such".into()],
        ..Command::default()
    };
    for records in [true, false] {
        let options = Options {
            records,
            pass: Pass::Ticks,
            rate: 1000.0,
        };
        assert!(matches!(
            diagnose(&missing, options),
            Err(ExplainError::Exec(_))
        ));
    }
    assert!(matches!(trace(&missing), Err(ExplainError::Exec(_))));
    let options = Options {
        records: true,
        pass: Pass::Ticks,
        rate: 1000.0,
    };
    assert!(matches!(
        diagnose(&Command::default(), options),
        Err(ExplainError::Command)
    ));
}

#[test]
fn without_records_the_depth_says_so() {
    let _turn = alone();
    let made = explained(&["sleep", "30"], false);
    assert_eq!((made.depth, made.tree_cpu), (Depth::Sampling, None));
}

#[test]
fn traced_calls_are_counted_exactly() {
    let _turn = alone();
    let made = trace(&command(&["fsync", "traced", "50"])).expect("it runs");
    let flush = made
        .calls
        .iter()
        .find(|call| call.detail == "fsync ./traced")
        .expect("a row");
    assert_eq!((flush.calls, flush.cause), (50, Cause::DiskFlush));
    assert!(flush.total > 0 && flush.longest <= flush.total && made.wall > flush.total);
    let made = trace(&command(&["futex-nap", "1"])).expect("it runs");
    let naps = made
        .calls
        .iter()
        .find(|call| call.cause == Cause::Sleep)
        .expect("a row");
    assert_eq!(naps.calls, 20, "every thread is followed");
    let made = trace(&command(&["pipe-nap", "10"])).expect("it runs");
    assert!(
        made.calls
            .iter()
            .any(|call| call.cause == Cause::Sleep && call.calls == 1)
    );
}

/// As another user with a command that may not be read only its state is left.
#[test]
fn an_unreadable_command_is_explained_by_its_state() {
    let _turn = alone();
    let made = explained(&["undumpable-sleep", "60"], true);
    // Root may read everything; a plain user loses the call, and says so.
    let root = std::fs::read_dir("/proc/1/fd").is_ok();
    let said = made
        .limits
        .iter()
        .any(|limit| limit.contains("may not be read"));
    assert!(
        if root {
            share(&made, Cause::Sleep) > 0.8
        } else {
            said
        },
        "{made:#?}"
    );
    assert!((made.idle - 0.06).abs() < 0.03, "{made:#?}");
}

/// Runs in a thread that is refused the calls, as a container's seccomp profile does it.
fn refused<T: Send>(calls: &[i64], error: i32, run: impl FnOnce() -> T + Send) -> T {
    let row = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let mut rows = vec![row(0x20, 0, 0, 0)];
    for &call in calls {
        rows.push(row(0x15, 0, 1, call as u32));
        rows.push(row(0x06, 0, 0, libc::SECCOMP_RET_ERRNO | error as u32));
    }
    rows.push(row(0x06, 0, 0, libc::SECCOMP_RET_ALLOW));
    let install = || {
        let filter = libc::sock_fprog {
            len: rows.len() as u16,
            filter: rows.as_ptr().cast_mut(),
        };
        // SAFETY: the program outlives the call, which copies it.
        let refused = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const filter,
            )
        };
        assert_eq!(refused, 0, "the filter is installed");
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, move || {
            install();
            run()
        });
        thread.expect("a thread").join().expect("it ends")
    })
}

#[test]
fn refused_switch_records_leave_the_sampler_and_say_so() {
    let _turn = alone();
    for error in [libc::EPERM, libc::EACCES, libc::ENOSYS] {
        let made = refused(&[libc::SYS_perf_event_open], error, || {
            explained(&["sleep", "40"], true)
        });
        assert_eq!(made.depth, Depth::Sampling);
        assert!(share(&made, Cause::Sleep) > 0.8, "{made:#?}");
        assert!(
            made.limits
                .iter()
                .any(|limit| limit.contains("perf_event_open")),
            "{made:#?}"
        );
    }
}

#[test]
fn refused_memory_still_names_the_wait() {
    let _turn = alone();
    let (mut child, port) = server(&["tcp-server", "5"]);
    let made = refused(&[libc::SYS_process_vm_readv], libc::EPERM, || {
        let options = Options {
            records: true,
            pass: Pass::Ticks,
            rate: 1000.0,
        };
        diagnose(&command(&["tcp", &port, "12"]), options)
    });
    child.wait().expect("the server ends");
    let made = attribute(&[made.expect("it runs").run]).expect("a run");
    assert!(share(&made, Cause::Network) > 0.8, "{made:#?}");
}

#[test]
fn refused_tracing_is_an_error_and_leaves_no_process() {
    let _turn = alone();
    let made = refused(&[libc::SYS_ptrace], libc::EPERM, || {
        trace(&command(&["sleep", "10"]))
    });
    assert!(matches!(made, Err(ExplainError::Trace(_))), "{made:?}");
}
