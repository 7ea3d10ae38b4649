//! Programs that wait for a known cause are told so by the real program: causes and shares, no
//! absolute times. Each case runs as who runs the tests and as a plain user, with switch records and
//! without.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "tests start programs")]
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot start fails"
)]
#![allow(unsafe_code, reason = "a test refuses its program system calls")]

mod common;

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;

use common::alone;

/// A folder that everybody may use, with the programs in it. It is gone with the tests.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    extern "C" fn remove() {
        if let Some(folder) = FOLDER.get() {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
    FOLDER.get_or_init(|| {
        let folder = common::folder("explain");
        // SAFETY: the function may be called once at the end, when no test runs any more.
        unsafe { libc::atexit(remove) };
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o1777)).expect("open to all");
        common::build("waits.rs", &folder.join("waits"));
        std::fs::copy(env!("CARGO_BIN_EXE_offbench"), folder.join("offbench")).expect("a copy");
        folder
    })
}

/// Who runs the program and what it is refused.
#[derive(Debug, Clone, Copy)]
struct Setting {
    plain_user: bool,
    refused: Option<(i64, i32)>,
}

const RECORDS: Setting = Setting {
    plain_user: false,
    refused: None,
};
const NO_RECORDS: Setting = Setting {
    refused: Some((libc::SYS_perf_event_open, libc::EPERM)),
    ..RECORDS
};

fn settings() -> impl Iterator<Item = Setting> {
    let users: &[bool] = if is_root() { &[false, true] } else { &[false] };
    users.iter().flat_map(|&plain_user| {
        [RECORDS, NO_RECORDS].map(|setting| Setting {
            plain_user,
            ..setting
        })
    })
}

fn is_root() -> bool {
    // SAFETY: only returns a number.
    unsafe { libc::getuid() == 0 }
}

/// Installs a filter that refuses a call, as a container's seccomp profile does it.
fn refuse(call: i64, error: i32) -> std::io::Result<()> {
    let row = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let rows = [
        row(0x20, 0, 0, 0),
        row(0x15, 0, 1, call as u32),
        row(0x06, 0, 0, libc::SECCOMP_RET_ERRNO | error as u32),
        row(0x06, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog {
        len: 4,
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
    if refused == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}

/// The program with its JSON going to that file.
fn offbench(setting: Setting, file: &Path, options: &[&str], words: &[&str]) -> Command {
    let mut command = Command::new(folder().join("offbench"));
    command
        .args(["--style", "basic", "-w0", "--export-json"])
        .arg(file)
        .args(options)
        .args(["--argv", "--"])
        .arg(folder().join("waits"))
        .args(words)
        .current_dir(folder());
    if setting.plain_user {
        command.uid(65534).gid(65534);
    }
    if let Some((call, error)) = setting.refused {
        // SAFETY: only plain system calls between fork and exec.
        unsafe { command.pre_exec(move || refuse(call, error)) };
    }
    command
}

/// What the program says about one command: our part of the JSON, and the words on the screen.
fn says(setting: Setting, options: &[&str], words: &[&str]) -> (Value, String) {
    static FILES: AtomicU32 = AtomicU32::new(0);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let file = folder().join(format!("{number}.json"));
    let Output {
        status,
        stdout,
        stderr,
    } = offbench(setting, &file, options, words)
        .output()
        .expect("it runs");
    let stderr = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{words:?} {stderr}");
    let text = std::fs::read(&file).expect("its JSON");
    let mut document: Value = serde_json::from_slice(&text).expect("JSON");
    let ours = document["results"][0]["offbench"].take();
    let screen = String::from_utf8_lossy(&stdout);
    let words: Vec<&str> = screen.split_whitespace().collect();
    (ours, words.join(" "))
}

const ALWAYS: &[&str] = &["-r2", "--explain", "always"];

/// Whether somebody else had the CPUs: then offbench looks too seldom to see every wait.
fn disturbed(said: &Value) -> bool {
    let number = |part: &str, name: &str| said[part][name].as_f64().unwrap_or(0.0);
    let pressure = number("machine", "cpu_pressure_some_s");
    pressure > 0.1 * number("machine", "observed_s")
        || number("explain", "queued") > 0.05 * number("explain", "wall")
}

/// What is said once it is right. Only where the machine was busy with something else it is
/// measured again: what is said on a quiet one must be right at once.
fn settled(
    setting: Setting,
    options: &[&str],
    words: &[&str],
    right: impl Fn(&Value, &str) -> bool,
) -> (Value, String) {
    for _ in 0..20 {
        let (said, screen) = says(setting, options, words);
        if right(&said, &screen) {
            return (said, screen);
        }
        assert!(disturbed(&said), "{setting:?} {words:?} {said:#} {screen}");
    }
    panic!("{setting:?} {words:?}: not once in 20 times");
}

fn explained(setting: Setting, words: &[&str], right: impl Fn(&Value) -> bool) -> Value {
    let (said, _) = settled(setting, ALWAYS, words, |said, _| right(said));
    let part = |name: &str| said["explain"][name].as_f64().expect(name);
    let sum = part("busy") + part("queued") + part("idle");
    assert!((sum - part("wall")).abs() < 1e-6, "{said:#}");
    let depth = if setting.refused == NO_RECORDS.refused {
        "sampling"
    } else {
        "tracing"
    };
    // A machine that refuses switch records itself has sampling everywhere.
    let limits = said["explain"]["limits"].to_string();
    assert!(
        said["explain"]["depth"] == depth || limits.contains("perf"),
        "{said:#}"
    );
    said
}

/// Share of the named idle time blamed on that cause. On a busy machine the sampler misses waits.
fn share(said: &Value, cause: &str) -> f64 {
    let waits = said["explain"]["waits"].as_array().expect("waits");
    let seconds = |wait: &Value| wait["seconds"].as_f64().unwrap_or(0.0);
    let all: f64 = waits.iter().map(seconds).sum();
    let of = waits.iter().filter(|wait| wait["cause"] == cause);
    of.map(seconds).sum::<f64>() / all.max(1e-9)
}

/// Share of the wall time in which every thread was blocked.
fn idle_share(said: &Value) -> f64 {
    let part = |name: &str| said["explain"][name].as_f64().expect(name);
    part("idle") / part("wall")
}

fn first_detail(said: &Value) -> &str {
    said["explain"]["waits"][0]["detail"].as_str().unwrap_or("")
}

fn assert_waits_for(words: &[&str], cause: &str, detail: &str) {
    for setting in settings() {
        explained(setting, words, |said| {
            let causes = said["causes"].as_array().expect("causes");
            let named = causes.iter().any(|line| line["id"] == cause);
            named && share(said, cause) > 0.6 && first_detail(said).contains(detail)
        });
    }
}

/// A process beside the command. It ends with the test, also with one that fails, and holds nothing
/// of the tests open.
struct Server(Child);

impl Server {
    /// The server with the line it writes once it is ready.
    fn start(words: &[&str]) -> (Self, String) {
        let mut child = Command::new(folder().join("waits"))
            .args(words)
            .current_dir(folder())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let out = child.stdout.take().expect("a pipe");
        let server = Self(child);
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line).expect("a line");
        (server, line.trim().to_string())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A file that lets processes live on; they end when it is gone.
struct Leash(PathBuf);

impl Leash {
    fn new() -> Self {
        let path = folder().join("leash");
        std::fs::write(&path, "").expect("a file");
        Self(path)
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn its_own_sleep_is_at_most_a_note() {
    let _turn = alone();
    assert_waits_for(&["sleep", "80"], "sleep", "nanosleep");
    // The queue of a busy machine has a finding of its own, which may be louder.
    let queue = |said: &Value, screen: &str| disturbed(said) && screen.contains("cpu-queue");
    settled(RECORDS, ALWAYS, &["sleep", "80"], |said, screen| {
        let louder = queue(said, screen) && share(said, "sleep") > 0.8;
        let note = said["tier"] == "note"
            && screen.contains("the command's own sleep or timeout")
            && screen.contains("--expect-wait");
        note || louder
    });
    let silent = [ALWAYS, &["--expect-wait"]].concat();
    settled(RECORDS, &silent, &["sleep", "80"], |said, screen| {
        said["tier"] == "none" || queue(said, screen)
    });
}

#[test]
fn a_nap_under_a_lock_is_a_sleep_and_no_lock() {
    let _turn = alone();
    for setting in settings() {
        let said = explained(setting, &["futex-nap", "4"], |said| {
            share(said, "sleep") > 0.8 && share(said, "lock") < 0.15
        });
        assert_eq!(said["explain"]["threads"], 5);
    }
}

#[test]
fn a_pipe_whose_writer_sleeps_is_a_sleep_and_no_pipe() {
    let _turn = alone();
    assert_waits_for(&["pipe-nap", "80"], "sleep", "nanosleep");
    for setting in settings() {
        explained(setting, &["pipe-nap", "80"], |said| {
            share(said, "sleep") > 0.95
        });
    }
}

#[test]
fn who_waits_for_a_daemon_that_computes_is_not_idle() {
    let _turn = alone();
    for setting in settings() {
        explained(setting, &["daemon", "80"], |said| idle_share(said) < 0.1);
    }
}

#[test]
fn who_waits_for_short_programs_that_compute_is_not_idle() {
    let _turn = alone();
    for setting in settings() {
        explained(setting, &["start-many", "30", "3"], |said| {
            idle_share(said) < 0.15
        });
    }
}

#[test]
fn a_sleep_behind_more_cpu_than_wall_is_found() {
    let _turn = alone();
    let words = ["parallel-then-sleep", "40", "60"];
    let idle = |said: &Value| said["explain"]["idle"].as_f64().unwrap();
    for setting in settings() {
        explained(setting, &words, |said| {
            share(said, "sleep") > 0.9 && (0.055..0.08).contains(&idle(said))
        });
    }
    let (said, screen) = settled(RECORDS, ALWAYS, &words, |said, _| {
        share(said, "sleep") > 0.8
    });
    let idle = idle(&said);
    assert!((0.05..0.2).contains(&idle), "{said:#}");
    // On a busy machine idle time is a smaller part, and no finding.
    let wall = said["explain"]["wall"].as_f64().unwrap();
    if idle > 0.3 * wall && !disturbed(&said) {
        assert!(screen.contains("[sleep]"), "{screen}");
    }
}

#[test]
fn threads_that_hand_on_a_lock_are_told_so() {
    let _turn = alone();
    let (said, screen) = says(RECORDS, ALWAYS, &["lock-burn", "2000"]);
    let limits = said["explain"]["limits"].to_string();
    let idle = said["explain"]["idle"].as_f64().unwrap();
    assert!(
        disturbed(&said) || idle < 0.2 * said["explain"]["wall"].as_f64().unwrap(),
        "{said:#}"
    );
    let serialised = screen.contains("a lock serialises them");
    assert!(
        serialised || limits.contains("perf") || disturbed(&said),
        "{screen} {said:#}"
    );
}

#[test]
fn flushes_are_named_with_their_file() {
    let _turn = alone();
    for setting in settings().filter(|setting| setting.refused.is_none()) {
        std::fs::remove_file(folder().join("flushed")).ok();
        explained(setting, &["fsync", "flushed", "300"], |said| {
            let part = |name: &str| said["explain"][name].as_f64().unwrap();
            let named = first_detail(said) == "fsync ./flushed"
                && said["explain"]["waits"][0]["cause"] == "disk-flush"
                && share(said, "disk-flush") > 0.8;
            // A RAM disk flushes at once: then there is nothing to name.
            named || part("idle") <= 0.2 * part("wall")
        });
        std::fs::remove_file(folder().join("flushed")).ok();
    }
}

#[test]
fn a_peer_is_named() {
    let _turn = alone();
    let (_server, port) = Server::start(&["tcp-server", "5"]);
    let peer = format!("127.0.0.1:{port}");
    assert_waits_for(&["tcp", &port, "12"], "network", &peer);
    let sentence = format!("waits for {peer} to answer: the server is outside");
    settled(RECORDS, ALWAYS, &["tcp", &port, "12"], |_, screen| {
        screen.contains(&sentence)
    });
}

#[test]
fn a_local_service_is_named_with_its_path() {
    let _turn = alone();
    std::fs::remove_file(folder().join("service.sock")).ok();
    let (_server, _) = Server::start(&["unix-server", "service.sock", "60"]);
    for setting in settings() {
        explained(setting, &["unix", "service.sock"], |said| {
            share(said, "local-service") > 0.8 && first_detail(said).contains("service.sock")
        });
    }
}

#[test]
fn a_connection_to_itself_or_a_relative_is_no_service() {
    let _turn = alone();
    assert_waits_for(&["own-pair", "80"], "event-loop", "socket pair");
    assert_waits_for(&["child-pair", "80"], "pipe", "socket pair");
}

#[test]
fn a_file_lock_is_named_with_its_holder() {
    let _turn = alone();
    let (server, _) = Server::start(&["lock-held", "lk", "60000"]);
    let options = ["-r2", "--explain", "always", "--timeout", "0.2", "-i"];
    let holder = format!("flock ./lk held by PID {} (waits)", server.0.id());
    let (said, _) = says(RECORDS, &options, &["lock", "lk"]);
    // Runs that were timed out are no measured runs that count, so nothing is explained.
    assert!(said["explain"].is_null(), "{said:#}");
    let words = ["lock-try", "lk", "150"];
    settled(RECORDS, ALWAYS, &words, |said, screen| {
        first_detail(said) == holder && screen.contains("waits for a file lock on ./lk held by")
    });
}

#[test]
fn a_stopped_process_is_told_from_its_waits() {
    let _turn = alone();
    explained(RECORDS, &["stop", "80"], |said| {
        share(said, "stopped") > 0.7
    });
}

#[test]
fn a_wait_that_does_not_come_again_is_not_named_by_what_came_instead() {
    let command = "sh -c '[ -e waited ] || { touch waited; exec sleep 0.5; }'";
    let said = Command::new(env!("CARGO_BIN_EXE_offbench"))
        .current_dir(folder())
        .args([
            "-N",
            "-w0",
            "-r1",
            "--style",
            "basic",
            "--explain",
            "always",
        ])
        .args(["--export-json", "missed.json", command])
        .output()
        .unwrap();
    let screen = String::from_utf8_lossy(&said.stdout);
    let missed = "they did not meet what the measured runs waited for";
    let words: Vec<&str> = screen.split_whitespace().collect();
    assert!(words.join(" ").contains(missed), "{screen}");
    let text = std::fs::read_to_string(folder().join("missed.json")).unwrap();
    let said: Value = serde_json::from_str(&text).unwrap();
    let said = &said["results"][0]["offbench"];
    assert!(said["explain"]["wall"].as_f64().unwrap() < 0.25, "{said}");
    let causes = said["causes"].as_array().unwrap();
    assert_eq!(causes[0]["id"], "unknown", "{causes:?}");
    assert!(causes[0]["share"].as_f64().unwrap() > 0.5, "{causes:?}");
}

#[test]
fn computing_is_no_wait() {
    let _turn = alone();
    for setting in settings() {
        explained(setting, &["burn", "60"], |said| idle_share(said) < 0.1);
    }
}

#[test]
fn exec_from_another_thread_keeps_the_account() {
    let _turn = alone();
    explained(RECORDS, &["exec-sleep", "60"], |said| {
        let idle = said["explain"]["idle"].as_f64().unwrap();
        share(said, "sleep") > 0.8 && idle > 0.05
    });
}

#[test]
fn a_warning_without_a_name_is_explained_unless_runs_are_fixed() {
    let _turn = alone();
    let short = ["--min-time", "0.1", "-m5"];
    let (said, _) = settled(RECORDS, &short, &["sleep", "40"], |said, _| {
        said["causes"][0]["id"] == "sleep"
    });
    assert!(said["phases"]["diagnostic"].as_u64() > Some(0), "{said:#}");
    for options in [
        &["-r5"][..],
        &["--min-time", "0.1", "-m5", "--explain", "never"],
        &["--min-time", "0.1", "-m5", "--expect-wait"],
    ] {
        let (said, _) = says(RECORDS, options, &["sleep", "40"]);
        assert_eq!(said["phases"]["diagnostic"], 0, "{options:?} {said:#}");
        assert!(said["explain"].is_null());
    }
    let (said, _) = says(RECORDS, &short, &["burn", "40"]);
    assert_eq!(said["phases"]["diagnostic"], 0, "{said:#}");
}

#[test]
fn diagnostic_runs_have_hooks_and_a_name_of_their_own() {
    let _turn = alone();
    let log = folder().join("hooks");
    std::fs::remove_file(&log).ok();
    let note = |hook: &str| format!("echo {hook} $OFFBENCH_ITERATION >> {}", log.display());
    let (prepare, conclude) = (note("prepare"), note("conclude"));
    let options = [
        "-r1",
        "--explain",
        "always",
        "--prepare",
        &prepare,
        "--conclude",
        &conclude,
    ];
    let (said, _) = says(RECORDS, &options, &["sleep", "300"]);
    let written = std::fs::read_to_string(&log).expect("hooks ran");
    let lines: Vec<&str> = written.lines().collect();
    let expected = [
        "prepare 0",
        "conclude 0",
        "prepare explain-0",
        "conclude explain-0",
    ];
    assert_eq!(lines, expected, "{said:#}");
    std::fs::remove_file(&log).ok();
}

#[test]
fn an_interrupt_in_a_diagnostic_run_loses_nothing() {
    let _turn = alone();
    let (file, log) = (folder().join("cut.json"), folder().join("begun"));
    std::fs::write(folder().join("fast-once"), "").unwrap();
    std::fs::remove_file(&log).ok();
    let prepare = format!("echo $OFFBENCH_ITERATION >> {}", log.display());
    let options = ["-r1", "--explain", "always", "--prepare", &prepare];
    let words = ["fast-once", "fast-once", "60000"];
    let mut command = offbench(RECORDS, &file, &options, &words);
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let begun = || std::fs::read_to_string(&log).is_ok_and(|text| text.contains("explain-0"));
    for _ in 0..1000 {
        std::thread::sleep(Duration::from_millis(20));
        if begun() {
            break;
        }
    }
    std::thread::sleep(Duration::from_millis(200));
    let pid = i32::try_from(child.id()).expect("a process number");
    // SAFETY: a plain system call; the process is our child and not reaped.
    unsafe { libc::kill(pid, libc::SIGINT) };
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let document: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let said = &document["results"][0]["offbench"];
    assert_eq!(said["phases"]["measured"], 1, "{said:#}");
    assert_eq!(said["partial"], true, "{said:#}");
    let notes = said["notes"].to_string();
    assert!(notes.contains("interrupted while explaining"), "{notes}");
}

#[test]
fn output_into_a_pipe_is_taken_from_a_diagnostic_run() {
    let _turn = alone();
    for more in [&[][..], &["--trace"]] {
        let options = [ALWAYS, &["--output", "pipe"], more].concat();
        settled(RECORDS, &options, &["talk", "300000", "40"], |said, _| {
            share(said, "sleep") > 0.8
        });
    }
}

#[test]
fn traced_calls_are_counted_exactly() {
    let _turn = alone();
    for setting in settings().filter(|setting| setting.refused.is_none()) {
        std::fs::remove_file(folder().join("traced")).ok();
        let options = ["-r2", "--trace"];
        let (said, screen) = says(setting, &options, &["fsync", "traced", "50"]);
        let calls = said["trace"]["calls"].as_array().expect("calls");
        let flush = calls.iter().find(|call| call["detail"] == "fsync ./traced");
        assert_eq!(flush.expect("a row")["calls"], 50, "{said:#}");
        assert!(screen.contains("the measured: times of calls"), "{screen}");
        // What is called between fork and exec is offbench's.
        assert!(!said["trace"].to_string().contains("schedstat"), "{said:#}");
        std::fs::remove_file(folder().join("traced")).ok();
        for (words, count) in [(&["futex-nap", "1"][..], 20), (&["pipe-nap", "10"], 1)] {
            let (said, _) = says(setting, &options, words);
            let calls = said["trace"]["calls"].as_array().expect("calls");
            let naps = calls.iter().find(|call| call["cause"] == "sleep");
            assert_eq!(
                naps.expect("a row")["calls"],
                count,
                "every thread is followed"
            );
        }
    }
}

#[test]
fn a_traced_run_ends_with_what_it_left_behind_and_at_its_time_limit() {
    let _turn = alone();
    let leash = Leash::new();
    let (said, _) = says(RECORDS, &["-r1", "--trace"], &["leave", "leash"]);
    drop(leash);
    assert!(said["trace"]["calls"].is_array(), "{said:#}");
    let limited = ["-r1", "--trace", "--timeout", "0.3", "-i"];
    let marker = folder().join("fast-once");
    std::fs::write(&marker, "").unwrap();
    let (said, screen) = says(RECORDS, &limited, &["fast-once", "fast-once", "100000"]);
    let outcome = said["runs"][1]["phase"].as_str();
    assert_eq!(outcome, Some("diagnostic"), "{said:#} {screen}");
}

#[test]
fn refused_tracing_is_told_and_leaves_no_process() {
    let _turn = alone();
    let setting = Setting {
        refused: Some((libc::SYS_ptrace, libc::EPERM)),
        ..RECORDS
    };
    let (said, screen) = says(setting, &["-r2", "--trace"], &["sleep", "10"]);
    assert!(said["trace"].is_null(), "{said:#}");
    assert!(screen.contains("ptrace is not permitted"), "{screen}");
}

#[test]
fn refused_switch_records_leave_the_sampler_and_say_so_once() {
    let _turn = alone();
    for error in [libc::EPERM, libc::EACCES, libc::ENOSYS] {
        let setting = Setting {
            refused: Some((libc::SYS_perf_event_open, error)),
            ..RECORDS
        };
        let (said, screen) = settled(setting, ALWAYS, &["sleep", "40"], |said, _| {
            share(said, "sleep") > 0.8
        });
        assert_eq!(said["explain"]["depth"], "sampling");
        assert_eq!(screen.matches("perf_event").count(), 1, "{screen}");
    }
}

#[test]
fn refused_memory_still_names_the_wait() {
    let _turn = alone();
    let (_server, port) = Server::start(&["tcp-server", "5"]);
    let setting = Setting {
        refused: Some((libc::SYS_process_vm_readv, libc::EPERM)),
        ..RECORDS
    };
    settled(setting, ALWAYS, &["tcp", &port, "12"], |said, _| {
        share(said, "network") > 0.8
    });
}

/// As another user with a command that may not be read only its state is left, as with Yama.
#[test]
fn an_unreadable_command_is_explained_by_its_state() {
    let _turn = alone();
    for setting in settings() {
        let hidden = setting.plain_user || !is_root();
        let (_, screen) = settled(setting, ALWAYS, &["undumpable-sleep", "60"], |said, _| {
            let idle = said["explain"]["idle"].as_f64().unwrap();
            (idle - 0.06).abs() < 0.03 && (hidden || share(said, "sleep") > 0.8)
        });
        let told = screen.matches("may not be read").count();
        assert_eq!(told, usize::from(hidden), "{screen}");
    }
}
