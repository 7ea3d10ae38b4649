//! What offbench survives: signals, failing commands, odd environments and limits, each with real
//! processes. `kill_at_random` takes minutes and is run by name.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a test that fails may panic, and it runs programs"
)]

mod common;

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

const OFFBENCH: &str = env!("CARGO_BIN_EXE_offbench");
/// Longer than anything here takes on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder that is gone with the test, and a number that marks its processes.
struct Folder {
    path: PathBuf,
    mark: String,
}

impl Folder {
    fn new() -> Self {
        let mark = format!("7{}", common::mark().replace('-', ""));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("survive-{mark}"));
        fs::create_dir_all(&path).unwrap();
        Self { path, mark }
    }

    /// A shell that runs a script here with `$ob`, the program, and `$mark`.
    fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .current_dir(&self.path)
            .env("ob", OFFBENCH)
            .env("mark", &self.mark)
            .env("TERM", "xterm")
            .env("LC_ALL", "C.UTF-8")
            .env_remove("NO_COLOR")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, script: &str) -> Finished {
        Finished(self.shell(script).output().unwrap())
    }

    /// Starts offbench itself as the leader of a group.
    fn start(&self, script: &str) -> Child {
        let mut command = self.shell(&format!("exec \"$ob\" {script}"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).spawn().unwrap()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path.join(name)).unwrap_or_default()
    }

    fn lines(&self, name: &str) -> usize {
        self.read(name).lines().count()
    }

    fn json(&self, name: &str) -> Value {
        let text = self.read(name);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"))
    }

    /// Waits until a file has so many lines.
    fn await_lines(&self, name: &str, count: usize) {
        await_that(name, || self.lines(name) >= count);
    }

    /// Processes of this test that are still there, offbench aside.
    fn left(&self) -> Vec<(i32, String)> {
        let all = fs::read_dir("/proc").unwrap().flatten();
        let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let texts = numbers.filter_map(|pid: i32| {
            let text = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            Some((pid, String::from_utf8_lossy(&text).replace('\0', " ")))
        });
        texts
            .filter(|(_, text)| text.contains(&self.mark) && !text.contains("offbench"))
            .collect()
    }

    /// Kills, by number, what this test's commands have left.
    fn end_what_is_left(&self) {
        for (pid, _) in self.left() {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }

    fn nothing_is_left(&self) {
        let begun = Instant::now();
        while !self.left().is_empty() {
            assert!(begun.elapsed() < PATIENCE, "left: {:?}", self.left());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn await_that(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[derive(Debug)]
struct Finished(Output);

impl Finished {
    fn code(&self) -> Option<i32> {
        self.0.status.code()
    }

    fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    #[track_caller]
    fn ends_with(&self, code: i32) -> &Self {
        assert_eq!(
            self.code(),
            Some(code),
            "{}{}",
            self.stdout(),
            self.stderr()
        );
        self
    }

    #[track_caller]
    fn says(&self, text: &str) -> &Self {
        let all = self.stdout() + &self.stderr();
        assert!(all.contains(text), "no `{text}` in\n{all}");
        self
    }
}

fn root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Runs quickly twice and then, a third time, until somebody ends it.
const HANGS: &str = "-r 9 --setup 'echo >>setup' --conclude 'echo >>concluded' \
    --cleanup 'echo >>cleaned' --export-json o.json --export-jsonl o.jsonl \
    'sh -c \"echo >>runs; [ \\$(wc -l <runs) -lt 3 ] || exec sleep $mark\"'";

#[test]
fn a_signal_ends_the_command_and_keeps_what_was_measured() {
    let signals = [
        Signal::SIGINT,
        Signal::SIGTERM,
        Signal::SIGHUP,
        Signal::SIGQUIT,
    ];
    for signal in signals {
        for to_group in [false, true] {
            let folder = Folder::new();
            let child = folder.start(HANGS);
            folder.await_lines("runs", 3);
            let pid = i32::try_from(child.id()).unwrap();
            let target = if to_group { -pid } else { pid };
            kill(Pid::from_raw(target), signal).unwrap();
            let finished = Finished(child.wait_with_output().unwrap());
            finished.ends_with(128 + signal as i32);
            let document = folder.json("o.json");
            let ours = &document["results"][0]["offbench"];
            assert_eq!(ours["partial"], true, "{signal}");
            assert_eq!(ours["cut_short"], "interrupted");
            assert_eq!(ours["runs"].as_array().unwrap().len(), 2);
            assert_eq!(folder.lines("cleaned"), 1, "{signal}");
            assert_eq!(folder.lines("concluded"), 3);
            assert!(!finished.stdout().is_empty(), "no report after {signal}");
            folder.nothing_is_left();
        }
    }
}

#[test]
fn an_interrupt_in_the_middle_of_a_start_ends_the_run() {
    for step in 0..60 {
        let folder = Folder::new();
        let child = folder.start("-N -w0 -r9 \"sleep $mark\"");
        std::thread::sleep(Duration::from_micros(1_000 + step * 100));
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
        // Before offbench heeds signals it ends by them.
        let _ = kill(pid, Signal::SIGINT);
        let begun = Instant::now();
        let status = child.wait_with_output().unwrap().status;
        assert!(begun.elapsed() < PATIENCE, "{status}");
        folder.nothing_is_left();
    }
}

#[test]
fn a_second_signal_leaves_at_once() {
    let folder = Folder::new();
    let child = folder.start(
        "-r 9 --cleanup 'echo >>cleaned' \
         'sh -c \"trap : INT TERM; echo >>runs; while :; do sleep 0.0$mark; done\"'",
    );
    folder.await_lines("runs", 1);
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
    kill(pid, Signal::SIGINT).unwrap();
    // Signals within a tenth of a second are one request.
    std::thread::sleep(Duration::from_millis(300));
    let _ = kill(pid, Signal::SIGINT);
    let finished = Finished(child.wait_with_output().unwrap());
    finished.ends_with(130);
    folder.nothing_is_left();
}

#[test]
fn killing_offbench_ends_the_command() {
    let folder = Folder::new();
    let mut child = folder.start(HANGS);
    folder.await_lines("runs", 3);
    child.kill().unwrap();
    child.wait().unwrap();
    folder.nothing_is_left();
    let lines = folder.read("o.jsonl");
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let types: Vec<_> = lines
        .iter()
        .map(|line| line["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["header", "run", "run"]);
}

/// What has left the group of the run, in several ways, and names itself once it is there.
const STRAYS: &str = "setsid sh -c \\\"echo >>there; trap : TERM; while :; do sleep 0.1 $mark; done\\\" & \
    setsid -f sh -c \\\"echo >>there; exec sleep $mark\\\"; \
    sh -c \\\"echo >>there; exec sleep $mark\\\"";

#[test]
fn a_time_limit_ends_what_has_left_the_group() {
    let folder = Folder::new();
    let script = format!(
        "\"$ob\" -N -w0 -r 1 --timeout 1 --setup 'setsid -f sleep 8$mark' --export-json o.json \
         \"sh -c '{STRAYS}'\""
    );
    folder.run(&script).ends_with(1).says("timed out");
    assert_eq!(folder.lines("there"), 3);
    let only = folder.left();
    folder.end_what_is_left();
    assert_eq!(only.len(), 1, "{only:?}");
    assert!(only[0].1.contains(&format!("8{}", folder.mark)), "{only:?}");
    let runs = &folder.json("o.json")["results"][0]["offbench"]["runs"];
    assert_eq!(runs[0]["leftovers"], 0);
}

#[test]
fn an_interrupt_ends_what_the_run_has_started_and_nothing_else() {
    for signal in ["INT", "TERM"] {
        let folder = Folder::new();
        let script = format!(
            "\"$ob\" -N -w0 -r 1 --setup 'setsid -f sleep 8$mark' \"sh -c '{STRAYS}'\" & p=$!
             while [ $(cat there 2>/dev/null | wc -l) -lt 3 ]; do sleep 0.01; done
             kill -{signal} $p; wait $p"
        );
        // Without job control the shell would have it ignore INT; we do not.
        let finished = folder.run(&script);
        let only = folder.left();
        folder.end_what_is_left();
        finished.ends_with(if signal == "INT" { 130 } else { 143 });
        assert_eq!(only.len(), 1, "{signal}: {only:?}");
        assert!(only[0].1.contains(&format!("8{}", folder.mark)), "{only:?}");
    }
}

#[test]
fn an_interrupt_while_explaining_is_told_and_marked() {
    let folder = Folder::new();
    let script = "\"$ob\" -N -w0 -r 3 --explain always --export-json o.json \
         'sh -c \"echo >>runs; sleep 0.4; [ \\$(wc -l <runs) -lt 4 ] || exec sleep $mark\"' & p=$!
         while [ $(cat runs 2>/dev/null | wc -l) -lt 4 ]; do sleep 0.01; done
         kill -TERM $p; wait $p";
    let finished = folder.run(script);
    finished
        .ends_with(143)
        .says("interrupted while explaining: 0 of");
    let screen = finished.stdout() + &finished.stderr();
    assert!(!screen.contains("explain=always"), "{screen}");
    assert!(!screen.contains("cut short"), "{screen}");
    let ours = folder.json("o.json")["results"][0]["offbench"].clone();
    assert_eq!(ours["partial"], true);
    assert_eq!(ours["wall"]["runs"], 3);
    assert!(ours["notes"].to_string().contains("while explaining"));
}

#[test]
fn ignored_hangups_stay_ignored() {
    let folder = Folder::new();
    for wrapper in ["nohup", "setsid -w", "nice -n 5"] {
        let script = format!("{wrapper} \"$ob\" -r 3 --export-json o.json true");
        folder.run(&script).ends_with(0);
        assert_eq!(
            folder.json("o.json")["results"][0]["times"]
                .as_array()
                .unwrap()
                .len(),
            3
        );
    }
}

#[test]
fn a_failing_run_is_named_with_its_signal_number_and_words() {
    let folder = Folder::new();
    let fails = |how: &str| {
        folder.run(&format!(
            "rm -f runs; \"$ob\" -w 0 -r 5 'sh -c \"echo >>runs; echo last words >&2; \
             [ \\$(wc -l <runs) -lt 3 ] || {how}\"'"
        ))
    };
    fails("exit 7")
        .ends_with(1)
        .says("exit code 7 in run 3")
        .says("last words");
    fails("kill -SEGV \\$\\$")
        .ends_with(1)
        .says("killed by SIGSEGV")
        .says("in run 3");
    fails("kill -KILL \\$\\$")
        .ends_with(1)
        .says("killed by SIGKILL")
        .says("in run 3");
}

#[test]
fn escapes_in_last_words_do_not_reach_the_terminal() {
    let folder = Folder::new();
    let finished = folder
        .run("\"$ob\" -r 2 \"sh -c 'printf \\\"\\033[31mred\\033]0;title\\007\\\" >&2; exit 1'\"");
    finished.ends_with(1);
    assert!(!finished.stderr().contains('\u{1b}') && !finished.stderr().contains('\u{7}'));
}

#[test]
fn ignored_failures_are_kept_apart() {
    let folder = Folder::new();
    let finished = folder.run(
        "\"$ob\" -i -r 6 --export-json o.json \
         'sh -c \"echo >>runs; [ \\$((\\$(wc -l <runs) % 3)) -ne 0 ]\"' true",
    );
    finished.ends_with(0);
    let document = folder.json("o.json");
    let result = &document["results"][0];
    assert_eq!(result["offbench"]["failed"], 2);
    assert_eq!(result["offbench"]["wall"]["runs"], 4);
    assert_eq!(result["times"].as_array().unwrap().len(), 6);
    assert!(document["offbench"]["comparisons"][0]["ratio"].is_null());
    folder.run("\"$ob\" -i=1,256 true").ends_with(2);
}

#[test]
fn what_a_run_leaves_behind_is_told_and_never_waited_for() {
    let folder = Folder::new();
    let finished = folder.run("\"$ob\" -r 2 --export-json o.json 'sh -c \"sleep $mark & exit 0\"'");
    finished.ends_with(0);
    let runs = &folder.json("o.json")["results"][0]["offbench"]["runs"];
    assert_eq!(runs[0]["leftovers"], 1);
    folder.end_what_is_left();
    folder.nothing_is_left();
}

#[test]
fn a_pipe_held_open_does_not_hold_the_run() {
    let folder = Folder::new();
    let finished = folder
        .run("\"$ob\" -r 2 --output pipe --export-json o.json 'sh -c \"sleep $mark & exit 0\"'");
    let told = "in 2 of 2 runs a process still held the output pipe";
    finished.ends_with(0).says(told);
    let notes = folder.json("o.json")["results"][0]["offbench"]["notes"].to_string();
    assert_eq!(notes.matches(told).count(), 1, "{notes}");
    folder.end_what_is_left();
    folder.nothing_is_left();
}

#[test]
fn ignored_child_signals_lose_no_exit_code() {
    let folder = Folder::new();
    folder
        .run("trap '' CHLD; exec \"$ob\" -r 2 true")
        .ends_with(0);
    folder
        .run("trap '' CHLD; exec \"$ob\" -r 2 'sh -c \"exit 3\"'")
        .ends_with(1)
        .says("exit code 3");
    folder
        .run("trap '' PIPE CHLD USR1; exec \"$ob\" -r 2 true")
        .ends_with(0);
}

#[test]
fn closed_streams_lead_nowhere() {
    let folder = Folder::new();
    for closed in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        let script = format!(
            "rm -f o.json; \"$ob\" -r 2 --export-json o.json 'sh -c \"echo out; echo err >&2\"' {closed}"
        );
        folder.run(&script).ends_with(0);
        let text = folder.read("o.json");
        assert!(
            text.starts_with('{') && !text.contains("\nout"),
            "{closed}: {text}"
        );
        folder.json("o.json");
    }
    // Nobody could read the result.
    folder
        .run("\"$ob\" -r 2 true >&-")
        .ends_with(1)
        .says("closed");
}

#[test]
fn a_removed_working_directory_is_no_obstacle() {
    let folder = Folder::new();
    folder
        .run("mkdir gone; cd gone; rmdir ../gone; \"$ob\" -r 2 true")
        .ends_with(0);
}

#[test]
fn few_descriptors_are_enough_or_named() {
    let folder = Folder::new();
    folder
        .run("ulimit -n 12; \"$ob\" -r 3 --export-json o.json --export-jsonl o.jsonl true")
        .ends_with(0);
    folder.run("ulimit -n 10; \"$ob\" -r 3 true").ends_with(0);
    for limit in 4..10 {
        let finished = folder.run(&format!("ulimit -n {limit}; \"$ob\" -r 3 true"));
        let code = finished.code().unwrap();
        assert!(
            code < 3,
            "{limit} descriptors: {code} {}",
            finished.stderr()
        );
        assert!(code == 0 || finished.stderr().contains("error: "));
        // Where runs can be made, too few for explaining is no error.
        if code == 0 {
            let script = format!("ulimit -n {limit}; \"$ob\" --explain always -r 3 true");
            folder.run(&script).ends_with(0);
        }
    }
}

#[test]
fn few_processes_are_named_with_the_limit() {
    if !root() {
        return;
    }
    let folder = Folder::new();
    let finished = folder.run(
        "d=$(mktemp -d); cp \"$ob\" $d/ob; chmod -R a+rx $d; cd $d; \
         setpriv --reuid=54321 --regid=54321 --clear-groups \
         prlimit --nproc=1 ./ob -r 2 true; code=$?; rm -r $d; exit $code",
    );
    finished.says("ulimit -u");
    assert!(matches!(finished.code(), Some(1 | 2)), "{finished:?}");
}

#[test]
fn a_small_stack_is_enough() {
    let folder = Folder::new();
    // An unoptimised build takes more than a released one, which lives on 64.
    for size in [512, 1024] {
        folder
            .run(&format!("ulimit -s {size}; \"$ob\" -r 2 true"))
            .ends_with(0);
    }
}

#[test]
fn a_full_disk_keeps_the_old_export_and_shows_the_report() {
    let folder = Folder::new();
    let finished = folder.run("\"$ob\" -r 2 --export-json /dev/full true");
    finished.ends_with(1).says("/dev/full");
    assert!(finished.stdout().contains("true"));
    let limited =
        folder.run("echo KEEP >o.json; ulimit -f 1; \"$ob\" -r 200 --export-json o.json true");
    limited.ends_with(1).says("o.json");
    assert_eq!(folder.read("o.json"), "KEEP\n");
    assert!(limited.stdout().contains("true"));
    folder.run("\"$ob\" -r 2 true >/dev/full").ends_with(1);
    let others = fs::read_dir(&folder.path).unwrap().count();
    assert_eq!(others, 1, "a temporary file was left");
}

#[test]
fn a_small_file_system_keeps_the_old_export() {
    if !root() {
        return;
    }
    let folder = Folder::new();
    let finished = folder.run(
        "unshare -m sh -c 'mkdir m && mount -t tmpfs -o size=16k none m || exit 77; echo KEEP >m/o.json; \
         \"$ob\" -r 300 --export-json m/o.json true; code=$?; cat m/o.json; ls -A m; exit $code'",
    );
    if finished.code() == Some(77) || finished.stderr().contains("unshare") {
        return;
    }
    finished.ends_with(1);
    assert!(
        finished.stdout().ends_with("KEEP\no.json\n"),
        "{finished:?}"
    );
}

#[test]
fn a_command_with_a_file_size_limit_is_not_ended_by_us() {
    let folder = Folder::new();
    folder
        .run("ulimit -f 1; \"$ob\" -r 3 'sh -c \"head -c 100000 /dev/zero >&2\"'")
        .ends_with(0);
}

#[test]
fn without_proc_runs_are_measured_all_the_same() {
    if !root() {
        return;
    }
    let folder = Folder::new();
    let finished = folder.run(
        "unshare -m sh -c 'mount -t tmpfs none /proc || exit 77; exec \"$ob\" -r 3 --export-json o.json true'",
    );
    if finished.code() == Some(77) || finished.stderr().contains("unshare") {
        return;
    }
    finished.ends_with(0);
    assert_eq!(
        folder.json("o.json")["results"][0]["offbench"]["wall"]["runs"],
        3
    );
}

#[test]
fn without_proc_what_is_left_is_ended_or_unknown() {
    if !root() {
        return;
    }
    let folder = Folder::new();
    let inner = "mount -t tmpfs none /proc || exit 77
        \"$ob\" --doctor >doctor
        \"$ob\" -w0 -r 1 --export-json o.json 'sh -c \"sleep 1 & exit 0\"' || exit 1
        \"$ob\" -w0 -r 1 'sh -c \"sleep $mark & touch there; sleep $mark\"' & p=$!
        while [ ! -e there ]; do sleep 0.01; done; kill -INT $p; wait $p";
    fs::write(folder.path.join("inner"), inner).unwrap();
    let finished = folder.run("unshare -m sh inner");
    let left = folder.left();
    folder.end_what_is_left();
    if finished.code() == Some(77) || finished.stderr().contains("unshare") {
        return;
    }
    finished.ends_with(130);
    assert!(left.is_empty(), "{left:?}");
    let runs = &folder.json("o.json")["results"][0]["offbench"]["runs"];
    assert!(runs[0].get("leftovers").is_none(), "{}", runs[0]);
    let doctor = folder.read("doctor");
    assert!(doctor.contains("/proc is not mounted"), "{doctor}");
    assert!(!doctor.contains("this kernel"), "{doctor}");
}

#[test]
fn a_bare_environment_is_enough() {
    let folder = Folder::new();
    let finished = folder.run("exec env -i \"$ob\" -r 3 --export-json o.json /bin/true");
    finished.ends_with(0);
    assert!(finished.0.stdout.is_ascii(), "{}", finished.stdout());
    for environment in [
        "TMPDIR=/no/such HOME=/no/such",
        "LC_ALL=C LANG=C",
        "LC_ALL=de_DE.ISO-8859-1",
        "-u TERM",
        "TERM=",
        "TERM=dumb",
        "PATH=",
        "COLUMNS=0",
        "COLUMNS=-5",
    ] {
        folder
            .run(&format!("env {environment} \"$ob\" -r 2 /bin/true"))
            .ends_with(0);
    }
}

#[test]
fn the_narrowest_terminals_are_drawn_on() {
    if Command::new("script").arg("--version").output().is_err() {
        return;
    }
    let folder = Folder::new();
    for columns in [0, 1, 2, 5] {
        for term in ["xterm", "dumb"] {
            let finished = folder.run(&format!(
                "TERM={term} script -qec 'stty cols {columns} rows 1; \"$ob\" -r 20 \"sleep 0.01\" true' /dev/null"
            ));
            finished.ends_with(0);
            let text = finished.stdout();
            assert_eq!(
                text.matches("\u{1b}[?25l").count(),
                text.matches("\u{1b}[?25h").count()
            );
            assert!(term != "dumb" || !text.contains('\u{1b}'), "{text:?}");
        }
    }
}

/// `^C` typed on a terminal reaches us and the command at once.
#[test]
fn a_terminal_is_as_before_after_an_interrupt() {
    use std::io::{Read, Write};
    let folder = Folder::new();
    let pty = nix::pty::openpty(None, None).unwrap();
    let before = nix::sys::termios::tcgetattr(&pty.slave).unwrap();
    let slave = || Stdio::from(pty.slave.try_clone().unwrap());
    let mut command = folder.shell(&format!("exec setsid -c \"$ob\" {HANGS}"));
    let mut child = command
        .stdin(slave())
        .stdout(slave())
        .stderr(slave())
        .spawn()
        .unwrap();
    drop(command);
    folder.await_lines("runs", 3);
    let mut master = fs::File::from(pty.master);
    master.write_all(&[3]).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    let after = nix::sys::termios::tcgetattr(&pty.slave).unwrap();
    assert_eq!(before.local_flags, after.local_flags);
    drop(pty.slave);
    let mut text = Vec::new();
    let _ = master.read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text);
    assert_eq!(
        text.matches("\u{1b}[?25l").count(),
        text.matches("\u{1b}[?25h").count()
    );
    assert_eq!(folder.lines("cleaned"), 1);
    folder.nothing_is_left();
}

#[test]
fn a_reader_that_goes_away_loses_no_export() {
    let folder = Folder::new();
    let finished =
        folder.run("{ \"$ob\" -r 3 --export-json o.json true true true; echo $? >code; } | true");
    finished.ends_with(0);
    await_that("the code", || !folder.read("code").is_empty());
    assert_eq!(folder.read("code").trim(), "141");
    assert!(
        !folder.json("o.json")["results"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn arguments_and_environments_beyond_the_limit_are_named() {
    let folder = Folder::new();
    let finished = folder.run(
        "long=$(head -c 131072 /dev/zero | tr '\\0' x); printf '%s' \"cat $long\" >c; \
         \"$ob\" -r 2 \"true $(head -c 131000 /dev/zero | tr '\\0' y)\"",
    );
    finished.ends_with(0);
    let big: Vec<(String, String)> = (0..15)
        .map(|place| (format!("BIG{place}"), "x".repeat(130_000)))
        .collect();
    // Up to the limit the padding is left out, beyond it the error says so.
    for rest in (110_000..130_000).step_by(1_000) {
        let mut command = Command::new(OFFBENCH);
        let command = command
            .args(["-r", "2", "/bin/true"])
            .envs(big.iter().map(|(name, value)| (name, value)))
            .env("REST", "x".repeat(rest));
        let Ok(output) = command.output() else { break };
        let finished = Finished(output);
        match finished.code() {
            Some(0) => {}
            Some(1 | 2) => drop(finished.says("too long")),
            other => panic!("{rest}: {other:?} {}", finished.stderr()),
        }
    }
}

#[test]
fn many_commands_cost_what_they_are() {
    let folder = Folder::new();
    let finished = folder.run(
        "\"$ob\" -r 1 --style none --export-json o.json --export-markdown o.md \
         $(seq 300 | sed 's/.*/true-&/' | sed 's/^/-n /') -P a 1 300 'true {a}'",
    );
    finished.ends_with(0);
    assert_eq!(
        folder.json("o.json")["results"].as_array().unwrap().len(),
        300
    );
}

#[test]
fn borrowed_rights_are_refused() {
    if !root() {
        return;
    }
    let folder = Folder::new();
    let finished = folder.run(
        "cp \"$ob\" ob; chown 54321 ob; chmod 4755 ob; ./ob -r 2 --export-json made true; code=$?; \
         ls made 2>/dev/null; exit $code",
    );
    if finished.code() == Some(0) {
        // A file system that knows no such rights.
        return;
    }
    finished.ends_with(1).says("rights");
    assert!(!finished.stdout().contains("made"));
}

#[test]
fn commands_and_hooks_do_not_get_our_capabilities() {
    if !root() {
        return;
    }
    let folder = Folder::new();
    let finished = folder.run(
        "d=$(mktemp -d); cp \"$ob\" $d/ob; chmod -R a+rwx $d; cd $d; \
         setcap cap_net_admin+ep ob || exit 77; \
         setpriv --reuid=54321 --regid=54321 --clear-groups ./ob -N -w0 -r 1 --output inherit \
         --setup 'grep -h Cap.*: /proc/self/status' 'grep -h Cap.*: /proc/self/status'; \
         code=$?; rm -r $d; exit $code",
    );
    if finished.code() == Some(77) {
        return;
    }
    finished.ends_with(0);
    let text = finished.stdout();
    for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        let none = format!("{set}:\t0000000000000000");
        assert_eq!(text.matches(&none).count(), 2, "{text}");
    }
}

#[test]
fn exports_on_their_way_are_private() {
    let folder = Folder::new();
    // A command that looks at the folder sees no half-written export, and a link in the way of
    // nothing is followed.
    let finished = folder.run(
        "umask 077; echo KEEP >real; ln -s real o.json; \"$ob\" -r 2 --export-json o.json true; \
         stat -c %a real; test -L o.json",
    );
    finished.ends_with(0).says("600");
    folder.json("real");
}

#[test]
fn nothing_is_lost_when_a_later_command_fails() {
    let folder = Folder::new();
    folder
        .run("\"$ob\" --order sequential -w 0 -r 3 --export-json o.json --export-jsonl o.jsonl true false")
        .ends_with(1);
    let lines = folder.read("o.jsonl");
    let runs = lines
        .lines()
        .filter(|line| line.contains("\"type\":\"run\""));
    assert_eq!(runs.count(), 4);
    assert_eq!(
        folder.json("o.json")["results"].as_array().unwrap().len(),
        2
    );
}

/// offbench or its command is killed at a random moment: no process is left, and every run that
/// was over is in the lines.
#[test]
#[ignore = "takes minutes"]
fn kill_at_random() {
    let mut random = u64::from(std::process::id()) | 1;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    for turn in 0..200 {
        let folder = Folder::new();
        let mut child = folder.start(
            "-i -r 100000 --style none --export-jsonl o.jsonl \
             'sh -c \"sleep 0.00$mark & wait; echo >>runs\"'",
        );
        std::thread::sleep(Duration::from_millis(5 + next() % 150));
        if turn % 2 == 0 {
            child.kill().unwrap();
        } else {
            folder.end_what_is_left();
            kill(
                Pid::from_raw(i32::try_from(child.id()).unwrap()),
                Signal::SIGKILL,
            )
            .unwrap();
        }
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        folder.nothing_is_left();
        let text = folder.read("o.jsonl");
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let lines = whole
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let runs = lines.filter(|line| line["type"] == "run").count();
        // The last run may have been over for the command and not yet for us.
        let over = folder.lines("runs");
        assert!(runs + 1 >= over, "turn {turn}: {runs} of {over}");
    }
}

/// A memory group of so many bytes, of version 1 or 2, if we may make one.
fn memory_group(mark: &str, bytes: u64) -> Option<PathBuf> {
    let places = [
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        ("/sys/fs/cgroup", "memory.max"),
    ];
    places.into_iter().find_map(|(parent, limit)| {
        let group = Path::new(parent).join(format!("offbench-test-{mark}"));
        fs::create_dir(&group).ok()?;
        let set = fs::write(group.join(limit), bytes.to_string());
        if set.is_err() {
            let _ = fs::remove_dir(&group);
        }
        set.is_ok().then_some(group)
    })
}

#[test]
fn a_command_killed_for_want_of_memory_is_told_so() {
    let folder = Folder::new();
    let told = "memory ran out";
    let killed = folder.run("\"$ob\" -r 2 'kill -9 $$'");
    killed.ends_with(1).says("killed by SIGKILL");
    assert!(!killed.stderr().contains(told), "{}", killed.stderr());
    // Without the right to make a group there is nothing else to be seen.
    let Some(group) = memory_group(&folder.mark, 40 << 20) else {
        return;
    };
    let enter = format!("echo 0 > '{}/cgroup.procs';", group.display());
    let hungry = "'head -c 200000000 /dev/zero | tail -n 1 >/dev/null'";
    let starved = folder.run(&format!("{enter} \"$ob\" -r 2 {hungry}"));
    let ignored = folder.run(&format!("{enter} \"$ob\" -r 2 -i {hungry}"));
    let in_hook = folder.run(&format!(
        "{enter} \"$ob\" -w0 -r 2 -p {} 'sleep 0.03; kill -9 $$'",
        hungry.replace(">/dev/null'", ">/dev/null; :'")
    ));
    // Memory runs out in the first run, which does not mind, and the third one kills itself.
    let thirdly = "test -e b && kill -9 $$; test -e a && >b; >a";
    let firstly = "test -e b || head -c 200000000 /dev/zero | tail -n 1 >/dev/null";
    let later = format!("\"$ob\" -w0 -r 6 -S '{thirdly}; {firstly}; :'");
    let later = folder.run(&format!("{enter} {later}"));
    let gone = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        fs::remove_dir(&group).is_ok()
    });
    assert!(gone, "the group is not empty");
    starved.ends_with(1).says(told).says("out of memory");
    ignored.ends_with(0).says("while memory ran out");
    in_hook.ends_with(1).says("killed by SIGKILL");
    assert!(!in_hook.stderr().contains(told), "{}", in_hook.stderr());
    later.ends_with(1).says("killed by SIGKILL in run 3");
    assert!(!later.stderr().contains(told), "{}", later.stderr());
}

#[test]
fn what_winds_up_is_finished_after_an_interrupt() {
    let slow = "touch begun; sleep 0.6; touch done";
    let both = [
        format!("--conclude '{slow}' --cleanup 'touch clean'"),
        format!("--cleanup '{slow}; touch clean'"),
    ];
    for hooks in both {
        let folder = Folder::new();
        let script = format!(
            "\"$ob\" -w0 -r 1 {hooks} true & p=$!
             while [ ! -e begun ]; do sleep 0.01; done; kill -TERM $p; wait $p"
        );
        folder.run(&script).ends_with(143);
        for name in ["done", "clean"] {
            assert!(folder.path.join(name).exists(), "{hooks}: {name}");
        }
    }
}
