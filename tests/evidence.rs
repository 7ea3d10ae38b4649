//! Real processes whose waits are known, as root and as a plain user, with and without a control
//! group: what is said must be true, and what cannot be known must be said.
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
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use common::alone;

/// Program and workload where every user can execute them.
struct Place {
    offbench: PathBuf,
    burner: PathBuf,
}

static PLACE: OnceLock<Place> = OnceLock::new();

fn place() -> &'static Place {
    PLACE.get_or_init(|| {
        let folder = common::folder("evidence");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        // SAFETY: the function may be called once at the end, when no test runs any more.
        #[allow(unsafe_code, reason = "nothing else is called at the end of all tests")]
        unsafe {
            nix::libc::atexit(remove_place)
        };
        let offbench = folder.join("offbench");
        fs::copy(env!("CARGO_BIN_EXE_offbench"), &offbench).unwrap();
        let burner = folder.join("burner");
        common::build("burner.rs", &burner);
        Place { offbench, burner }
    })
}

/// The folder of the programs is gone with the tests.
extern "C" fn remove_place() {
    if let Some(folder) = PLACE.get().and_then(|place| place.offbench.parent()) {
        let _ = fs::remove_dir_all(folder);
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum User {
    Ours,
    Nobody,
}

fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

fn has(program: &str) -> bool {
    let found = Command::new("sh")
        .args(["-c", &format!("command -v {program}")])
        .output();
    found.is_ok_and(|output| output.status.success())
}

/// Who can be tried here.
fn users() -> Vec<User> {
    if is_root() && has("setpriv") {
        vec![User::Ours, User::Nobody]
    } else {
        vec![User::Ours]
    }
}

fn offbench(user: User) -> Command {
    let program = &place().offbench;
    let mut command = match user {
        User::Ours => Command::new(program),
        User::Nobody => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
            command.arg(program);
            command
        }
    };
    command.env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    command
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    text
}

/// What is said about some runs of the workload.
fn said(user: User, runs: u32, workload: &str) -> String {
    let line = format!("{} {workload}", place().burner.display());
    output(offbench(user).args(["-N", "-w", "0", "-r", &runs.to_string(), &line]))
}

fn doctor(user: User) -> String {
    output(offbench(user).arg(format!("--doctor={}", std::env::temp_dir().display())))
}

/// Whether that user's runs get a control group, as the doctor says.
fn grouped(user: User) -> bool {
    doctor(user)
        .lines()
        .any(|line| line.starts_with("  ready    own control group"))
}

/// The number before ` ms` that follows some words.
fn milliseconds(text: &str, after: &str) -> f64 {
    let rest = text
        .split(after)
        .nth(1)
        .unwrap_or_else(|| panic!("no `{after}` in\n{text}"));
    let mut words = rest.split_whitespace();
    let number = words.next().unwrap();
    match number.strip_suffix('s') {
        Some(seconds) => seconds.parse::<f64>().unwrap() * 1e3,
        None => number.parse().unwrap(),
    }
}

/// Processes that take every CPU until dropped.
struct Load(Vec<Child>);

impl Load {
    fn new() -> Self {
        let cpus = thread::available_parallelism().unwrap().get();
        let spin = |_| {
            Command::new(&place().burner)
                .args(["spin", "600000"])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        };
        Self((0..2 * cpus).map(spin).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn a_busy_machine_is_named_and_its_share_taken_out() {
    let _alone = alone();
    for user in users() {
        let load = Load::new();
        let text = said(user, 8, "spin 30");
        drop(load);
        assert!(text.contains("[cpu-queue]"), "{user:?}: {text}");
        let without = milliseconds(&text, "Without queueing: ");
        assert!((25.0..60.0).contains(&without), "{user:?}: {text}");
    }
}

#[test]
fn work_of_orphans_is_counted_for_every_user() {
    let _alone = alone();
    for user in users() {
        let text = said(user, 2, "daemon 200 0");
        assert!(text.contains("[hidden-cpu]"), "{user:?}: {text}");
        let missed = milliseconds(&text, "user+sys misses ");
        assert!((190.0..230.0).contains(&missed), "{user:?}: {text}");
    }
}

#[test]
fn processes_left_behind_are_told_and_what_they_used_is_counted() {
    let _alone = alone();
    for user in users() {
        let text = said(user, 2, "daemon 200 300");
        assert!(
            text.contains("1 process of each run was still alive"),
            "{user:?}: {text}"
        );
        let missed = milliseconds(&text, "user+sys misses ");
        assert!((190.0..230.0).contains(&missed), "{user:?}: {text}");
        assert_eq!(
            text.contains("CPU is incomplete"),
            !grouped(user),
            "{user:?}: {text}"
        );
    }
}

#[test]
fn children_the_kernel_reaps_are_counted_by_a_group_or_said_to_be_missing() {
    let _alone = alone();
    for user in users() {
        let text = said(user, 2, "autoreap 200");
        if grouped(user) {
            let missed = milliseconds(&text, "user+sys misses ");
            assert!((190.0..230.0).contains(&missed), "{user:?}: {text}");
        } else {
            assert!(text.contains("[auto-reaped]"), "{user:?}: {text}");
            assert!(text.contains("CPU is incomplete"), "{user:?}: {text}");
        }
        // The queue of a busy machine may be severe; the command's own account is not.
        let own = text.replace("severe cpu-queue", "");
        assert!(!own.contains("severe"), "{user:?}: {text}");
    }
}

#[test]
fn a_stopped_process_is_told_with_the_time() {
    let _alone = alone();
    let script = "p=$$; (sleep 0.05; kill -STOP $p; sleep 0.2; kill -CONT $p) & sleep 0.4; wait";
    for user in users() {
        let text = output(offbench(user).args(["-w", "0", "-r", "2", script]));
        assert!(text.contains("[stopped]"), "{user:?}: {text}");
        let stopped = milliseconds(&text, "(SIGSTOP or a debugger) for ");
        assert!((150.0..400.0).contains(&stopped), "{user:?}: {text}");
    }
}

/// A group with limits, removed when dropped. `None` where that is not permitted.
struct Limited(PathBuf);

impl Limited {
    fn new(controller: &str, limits: &[(&str, &str)]) -> Option<Self> {
        let v1 = Path::new("/sys/fs/cgroup").join(controller);
        let unified = !v1.is_dir();
        let parent = if unified {
            PathBuf::from("/sys/fs/cgroup")
        } else {
            v1
        };
        let folder = parent.join(format!("obtest-{}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        let group = Self(folder);
        let set = |(name, value): &(&str, &str)| {
            let known = group.0.join(name).is_file();
            known && fs::write(group.0.join(name), value).is_ok()
        };
        // Each limit is given in the words of both versions; one has to be known.
        limits
            .iter()
            .filter(|limit| set(limit))
            .count()
            .gt(&0)
            .then_some(group)
    }

    /// Runs a command within.
    fn output(&self, command: &Command) -> String {
        let procs = self.0.join("cgroup.procs");
        let script = format!("echo $$ > {} && exec \"$@\"", procs.display());
        let mut inside = Command::new("sh");
        inside
            .args(["-c", &script, "sh"])
            .arg(command.get_program())
            .args(command.get_args());
        inside.env("LC_ALL", "C.UTF-8");
        output(inside.stdin(Stdio::null()))
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_quota_above_us_is_found_also_without_a_group_of_our_own() {
    let _alone = alone();
    let limits = [("cpu.max", "20000 100000"), ("cpu.cfs_quota_us", "20000")];
    let Some(group) = Limited::new("cpu", &limits) else {
        assert!(doctor(User::Ours).contains("cpu.stat above us"));
        return;
    };
    for user in users() {
        let line = format!("{} spin 100", place().burner.display());
        let text = group.output(offbench(user).args(["-N", "-w", "0", "-r", "3", &line]));
        assert!(text.contains("[cpu-quota]"), "{user:?}: {text}");
        assert!(text.contains("quota (20% of a CPU)"), "{user:?}: {text}");
        assert!(text.contains(" periods: "), "{user:?}: {text}");
    }
}

#[test]
fn a_memory_limit_above_us_is_seen() {
    let _alone = alone();
    let bytes = (256_u64 << 20).to_string();
    let limits = [("memory.max", &*bytes), ("memory.limit_in_bytes", &*bytes)];
    let Some(group) = Limited::new("memory", &limits) else {
        return;
    };
    let text = group.output(offbench(User::Ours).arg("--doctor=."));
    assert!(text.contains("memory limit  256.0 MiB"), "{text}");
}

#[test]
fn the_group_of_a_killed_offbench_is_removed_by_the_next() {
    let _alone = alone();
    if !grouped(User::Ours) {
        return;
    }
    let mut child = offbench(User::Ours)
        .args(["-N", "-r", "1", "sleep 10"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let folder = (0..200).find_map(|_| {
        thread::sleep(Duration::from_millis(10));
        group_of_a_child(child.id())
    });
    let folder = folder.expect("the command entered a group");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(folder.is_dir());
    let begun = Instant::now();
    while folder.exists() && begun.elapsed() < Duration::from_secs(5) {
        output(offbench(User::Ours).args(["-N", "-r", "1", "true"]));
    }
    assert!(!folder.exists());
}

/// The folder below `/sys/fs/cgroup` of offbench's group of some child of that process.
fn group_of_a_child(parent: u32) -> Option<PathBuf> {
    let listed = Command::new("ps")
        .args(["-o", "pid=", "--ppid", &parent.to_string()])
        .output();
    let listed = String::from_utf8(listed.ok()?.stdout).ok()?;
    let pid = listed.split_whitespace().next()?;
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let path = groups
        .lines()
        .find_map(|line| line.split(':').nth(2).filter(|p| p.contains("/offbench-")))?;
    ["", "unified", "cpuacct"]
        .iter()
        .map(|mount| {
            Path::new("/sys/fs/cgroup")
                .join(mount)
                .join(path.trim_start_matches('/'))
        })
        .find(|folder| folder.is_dir())
}

#[test]
fn the_doctor_says_why_something_is_missing_and_what_would_help() {
    let _alone = alone();
    for user in users() {
        let text = doctor(user);
        for (place, line) in text.lines().enumerate() {
            if line.starts_with("  missing") {
                let reason = text.lines().nth(place + 1).unwrap();
                assert!(reason.trim_start().starts_with("= "), "{user:?}: {text}");
            }
        }
        for part in [
            "an empty program takes",
            "fdatasync",
            "fsync",
            "resolution",
            "governor",
        ] {
            assert!(text.contains(part), "{part} is missing: {text}");
        }
        if user == User::Nobody {
            assert!(text.contains("missing  own control group"), "{text}");
            let helps = text.contains("Delegate=yes") || text.contains("writable cgroup");
            assert!(helps, "{text}");
        }
    }
    let nowhere = output(offbench(User::Ours).arg("--doctor=/no/such/folder"));
    assert!(nowhere.contains("not measured: "), "{nowhere}");
}

#[test]
fn causes_are_explained() {
    let text = output(offbench(User::Ours).args(["--help-cause", "cpu-quota"]));
    assert!(text.contains("What to do"), "{text}");
    let wrong = offbench(User::Ours)
        .args(["--help-cause", "cpu-quote"])
        .output()
        .unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    let errors = String::from_utf8(wrong.stderr).unwrap();
    assert!(errors.contains("did you mean `cpu-quota`?"), "{errors}");
}
