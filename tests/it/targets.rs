//! Files that are hard to write: full disks, files that nothing can take the place of, and what is
//! left of them when a signal comes in the middle.

use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::support::{Folder, sh};

/// Somebody who is neither root nor an owner of anything.
const NOBODY: u32 = 65534;

fn root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// A script in a mount namespace of its own, where one can be had. It may mount in `m`.
fn apart(folder: &Folder, script: &str) -> Option<Output> {
    let script =
        format!("unshare -m bash -c 'mkdir m; mount -t tmpfs none m || exit 77; {script}'");
    let found = sh(folder, &script);
    let cannot = String::from_utf8_lossy(&found.stderr).contains("unshare");
    (root() && !cannot && found.status.code() != Some(77)).then_some(found)
}

/// Lines that are all whole: how many are runs.
fn runs(lines: &str) -> usize {
    assert!(lines.ends_with('\n'), "torn: {lines}");
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["type"] == "run").count()
}

#[test]
fn a_full_disk_tears_no_line() {
    let folder = Folder::new();
    for old in ["echo KEEP >o", ": >o", "true"] {
        let found = sh(
            &folder,
            &format!("rm -f o; {old}; ulimit -f 16; $T -N -r200 --export-jsonl o true"),
        );
        assert_eq!(found.status.code(), Some(1), "{found:?}");
        let report = String::from_utf8(found.stdout).unwrap();
        assert!(report.contains("200 runs"), "{report}");
        let count = runs(&folder.read("o"));
        assert!(count > 0 && count < 200, "{old}: {count}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn what_a_full_disk_does_not_take_replaces_nothing() {
    let folder = Folder::new();
    let script = "cd m; echo KEEP >o; mount -o remount,size=16k . ; cat /dev/zero >f 2>/dev/null; \
         $T -N -r9 --export-jsonl o true; echo $?; cat o; ls -A";
    let Some(found) = apart(&folder, script) else {
        return;
    };
    let text = String::from_utf8(found.stdout).unwrap();
    assert!(
        text.contains("9 runs") && text.ends_with("1\nKEEP\nf\no\n"),
        "{text}"
    );
}

#[test]
fn a_file_that_is_mounted_is_written_in_place() {
    let folder = Folder::new();
    for format in ["json", "jsonl", "csv"] {
        let script = format!(
            "rm -f b; yes KEEP | head -c 99999 >b; mount --bind b b; $T -N -w0 -r2 --export-{format} b true; \
             echo $?; grep -c KEEP b; umount b; mv b {format}; ls -A",
        );
        let Some(found) = apart(&folder, &format!("cd m; {script}; cp {format} ..")) else {
            return;
        };
        let text = String::from_utf8(found.stdout.clone()).unwrap();
        assert!(text.ends_with(&format!("\n0\n0\n{format}\n")), "{found:?}");
        let new = folder.read(format);
        match format {
            "json" => drop(serde_json::from_str::<Value>(&new).unwrap()),
            "jsonl" => assert_eq!(runs(&new), 2),
            _ => assert_eq!(new.lines().count(), 2),
        }
        std::fs::remove_dir(folder.join("m")).unwrap();
    }
}

#[test]
fn a_file_in_a_folder_of_somebody_else_is_written_in_place() {
    let folder = Folder::new();
    if root() {
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    }
    for mode in [0o555, 0o1777] {
        for format in ["json", "jsonl", "csv"] {
            let inner = folder.join("inner");
            std::fs::create_dir(&inner).unwrap();
            let file = inner.join("o");
            std::fs::write(&file, "KEEP\n".repeat(9)).unwrap();
            std::fs::set_permissions(&file, PermissionsExt::from_mode(0o666)).unwrap();
            std::fs::set_permissions(&inner, PermissionsExt::from_mode(mode)).unwrap();
            let export = format!("--export-{format}");
            let mut invocation = folder.offbench(["-N", "-r2", &export, "inner/o", "true"]);
            if root() {
                // Neither the folder's nor the file's owner.
                chown(&file, Some(NOBODY - 2), None).unwrap();
                invocation.command.uid(NOBODY).gid(NOBODY);
            }
            // Where nobody may reach the program there is nothing to test.
            if let Ok(found) = invocation.command.output() {
                assert_eq!(found.status.code(), Some(0), "{mode:o} {format}: {found:?}");
                let new = std::fs::read_to_string(&file).unwrap();
                assert!(!new.contains("KEEP") && !new.is_empty(), "{format}: {new}");
                assert_eq!(std::fs::read_dir(&inner).unwrap().count(), 1);
            }
            std::fs::set_permissions(&inner, PermissionsExt::from_mode(0o755)).unwrap();
            std::fs::remove_dir_all(&inner).unwrap();
        }
    }
}

/// Signals an invocation once a temporary file is there; what it left, and whether there was time.
fn interrupted(folder: &Folder, args: &[&str], signal: Signal) -> bool {
    let temporary = || {
        let entries = std::fs::read_dir(folder.path()).unwrap().flatten();
        let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.any(|name| name.starts_with('.'))
    };
    let mut invocation = folder.offbench(args);
    let command = invocation
        .command
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let begun = Instant::now();
    while !temporary() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        if child.try_wait().unwrap().is_some() {
            return false;
        }
    }
    kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
    let code = child.wait().unwrap().code();
    assert!(!temporary(), "{args:?} left a file");
    code == Some(128 + signal as i32)
}

#[test]
fn a_signal_leaves_no_temporary_file() {
    let folder = Folder::new();
    let times = vec!["0.25"; 20_000].join(",");
    let session = format!(r#"{{"results":[{{"command":"x","times":[{times}]}}]}}"#);
    folder.write("x.json", &session);
    let compare = ["--compare", "x.json", "--export-json", "o.json"];
    for signal in [
        Signal::SIGTERM,
        Signal::SIGINT,
        Signal::SIGHUP,
        Signal::SIGQUIT,
    ] {
        for args in [&compare[..], &["--doctor"]] {
            // It may be done before the signal comes.
            let met = (0..20).any(|_| interrupted(&folder, args, signal));
            assert!(met || args == ["--doctor"], "{signal} {args:?}");
        }
    }
}
