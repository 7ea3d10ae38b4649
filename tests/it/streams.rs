//! Streams that are closed, full, or not what one would expect, and bytes that are no text.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::{Folder, sh};

#[test]
fn a_reader_that_goes_away_stops_the_rest() {
    let folder = Folder::new();
    let begun = Instant::now();
    let script = "$T -w0 -r99 --export-json o.json 'sleep 0.3' 'sleep 0.31' | head -1; \
                  echo ${PIPESTATUS[0]}";
    let found = sh(&folder, script);
    let text = String::from_utf8(found.stdout).unwrap();
    assert!(
        text.ends_with("141\n"),
        "{text} {}",
        String::from_utf8_lossy(&found.stderr)
    );
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "it went on without a reader"
    );
    assert!(
        folder.read("o.json").contains("sleep 0.3"),
        "the export is written all the same"
    );
}

#[test]
fn a_reader_that_goes_away_is_told_by_the_exit_code() {
    let folder = Folder::new();
    let lines =
        "$T -N -w0 -r400 --export-jsonl - 'sleep 0.005' | head -1 >&2; echo ${PIPESTATUS[0]}";
    let mut scripts = vec![lines.to_owned()];
    for format in ["json", "csv-runs", "markdown"] {
        // The reader has gone for certain, at once or while the command runs.
        for reader in ["true", "sleep 0.2"] {
            let command = format!("$T -N -w0 -r1 --export-{format} - 'sleep 0.5'");
            scripts.push(format!("{command} | {reader}; echo ${{PIPESTATUS[0]}}"));
        }
    }
    for script in scripts {
        let found = sh(&folder, &script);
        assert_eq!(found.stdout, b"141\n", "{script}: {found:?}");
        let told = String::from_utf8_lossy(&found.stderr);
        assert!(!told.contains("error: "), "{script}: {told}");
    }
    let others =
        "$T -N -w0 -r1 --export-json - --export-csv=/dev/full true | true; echo ${PIPESTATUS[0]}";
    let found = sh(&folder, others);
    assert_eq!(found.stdout, b"141\n");
    assert!(String::from_utf8_lossy(&found.stderr).contains("/dev/full"));
}

#[test]
fn a_full_disk_is_an_error_in_one_line() {
    let folder = Folder::new();
    for script in [
        "$T -r2 true >/dev/full",
        "$T -r2 --export-json /dev/full true",
        "$T -r2 --export-json - true >/dev/full",
        "$T -r2 --export-jsonl /dev/full true",
        "$T -h >/dev/full",
        "$T --help >/dev/full",
        "$T --version >/dev/full",
        "$T --help-cause cpu-queue >/dev/full",
        "$T --completions bash >/dev/full",
    ] {
        let found = sh(&folder, script);
        assert_eq!(found.status.code(), Some(1), "{script}: {found:?}");
        let told = String::from_utf8(found.stderr).unwrap();
        let errors = told
            .lines()
            .filter(|line| line.starts_with("error: "))
            .count();
        assert_eq!(errors, 1, "{script}: {told}");
        assert!(told.contains("No space left"), "{script}: {told}");
    }
}

#[test]
fn closed_streams_are_no_trouble() {
    let folder = Folder::new();
    let found = sh(&folder, "$T -r2 true >&-");
    assert_eq!(found.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&found.stderr).contains("closed"));
    let found = sh(&folder, "$T -r2 --export-json o.json true 1</dev/null");
    assert_eq!(found.status.code(), Some(0), "{found:?}");
    let found = sh(&folder, "$T -r2 --export-json o.json true >&-");
    assert_eq!(found.status.code(), Some(0), "{found:?}");
    let found = sh(&folder, "$T -r2 true 2>&-");
    assert_eq!(found.status.code(), Some(0), "{found:?}");
    let found = sh(&folder, "$T -r2 cat <&-");
    assert_eq!(found.status.code(), Some(0), "{found:?}");
}

#[test]
fn what_goes_to_a_closed_stdout_is_lost() {
    let folder = Folder::new();
    let formats = [
        "json",
        "hyperfine-v1",
        "jsonl",
        "csv",
        "csv-runs",
        "markdown",
        "asciidoc",
        "orgmode",
        "junit",
        "openmetrics",
        "github-action-benchmark",
    ];
    let mut scripts: Vec<String> = formats
        .iter()
        .map(|format| format!("$T -w0 -r2 --export-{format} - true"))
        .collect();
    let pages = [
        "-r2 --export-jsonl /dev/stdout true",
        "-r2 true",
        "-h",
        "--help",
        "--version",
        "--help-cause cpu-queue",
        "--completions bash",
        "--doctor",
    ];
    scripts.extend(pages.map(|page| format!("$T {page}")));
    for closed in [">&-", "1</dev/null"] {
        for script in &scripts {
            let found = sh(&folder, &format!("{script} {closed}"));
            assert_eq!(found.status.code(), Some(1), "{script} {closed}: {found:?}");
            let told = String::from_utf8(found.stderr).unwrap();
            assert!(told.contains("closed"), "{script} {closed}: {told}");
        }
    }
    let found = sh(&folder, "$T -r2 --export-jsonl - true >&- 2>&-");
    assert_eq!(found.status.code(), Some(1), "{found:?}");
}

#[test]
fn without_a_terminal_a_header_comes_at_once() {
    let folder = Folder::new();
    let waits = "until test -e header-seen; do sleep 0.01; done";
    let args = ["-w0", "-r2", "--timeout=30", "-n", "waits", waits];
    let mut invocation = folder.offbench(args);
    let mut child = invocation.command.stdout(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 15];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut first)
        .unwrap();
    assert_eq!(&first, b"measuring waits");
    folder.write("header-seen", "");
    assert!(child.wait().unwrap().success());
}

#[test]
fn documents_on_stdout_are_alone_there() {
    let folder = Folder::new();
    for target in ["-", "/dev/stdout"] {
        for format in ["json", "hyperfine-v1"] {
            let option = format!("--export-{format}");
            let finished = folder
                .offbench(["-r1", &option, target, "true", "true b"])
                .run();
            let document: serde_json::Value = serde_json::from_str(&finished.stdout()).unwrap();
            assert_eq!(document["results"].as_array().unwrap().len(), 2);
        }
        let finished = folder
            .offbench(["-r1", "--export-jsonl", target, "true"])
            .run();
        for line in finished.stdout().lines() {
            serde_json::from_str::<serde_json::Value>(line).unwrap();
        }
    }
    let found = sh(
        &folder,
        "$T -r1 --export-json >(cat >part; mv part ok) true true; code=$?
         for _ in {1..300}; do [ -e ok ] || sleep 0.1; done; exit $code",
    );
    assert_eq!(found.status.code(), Some(0), "{found:?}");
    assert!(folder.read("ok").contains("results"));
    let both = ["-r1", "--export-json", "-", "--export-csv", "-", "touch x"];
    assert_eq!(folder.offbench(both).run().code(), Some(2));
    assert!(!folder.exists("x"));
}

#[test]
fn json_lines_come_of_saved_files_too() {
    let folder = Folder::new();
    folder.measure(["-w1", "-r3", "true"]);
    let out = ["--compare", "out.json", "--export-jsonl"];
    let found = folder.offbench(out).arg("o").run();
    assert_eq!(found.code(), Some(0), "{found:?}");
    let of_type = |kind: &str| {
        let lines = folder.read("o");
        let lines = lines
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        lines.filter(|line| line["type"] == kind).count()
    };
    assert_eq!(
        (of_type("header"), of_type("run"), of_type("summary")),
        (1, 4, 1)
    );
    let found = folder.offbench(out).arg("-").run();
    // but for the command line in the first
    let rest = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(rest(&found.stdout()), rest(&folder.read("o")));
}

#[test]
fn targets_that_cannot_be_written_are_all_named_before_anything_runs() {
    let folder = Folder::new();
    let args = [
        "--export-json",
        "/no/dir/x",
        "--export-csv",
        "/no/dir/y",
        "--export-junit",
        "/",
        "touch x",
    ];
    let finished = folder.offbench(args).run();
    assert_eq!(finished.code(), Some(2));
    for word in ["/no/dir/x", "/no/dir/y", "--export-junit"] {
        finished.complains(word);
    }
    assert!(!folder.exists("x"));
}

#[test]
fn a_shorter_document_replaces_a_longer_one() {
    let folder = Folder::new();
    folder.write("o.json", &" ".repeat(200_000));
    folder
        .offbench(["-r1", "--export-json", "o.json", "true"])
        .run();
    serde_json::from_str::<serde_json::Value>(&folder.read("o.json")).unwrap();
}

#[test]
fn an_old_file_stays_when_nothing_was_measured() {
    let folder = Folder::new();
    for format in ["json", "jsonl", "csv", "markdown"] {
        let option = format!("--export-{format}");
        let cases: [(&[&str], i32); 3] = [
            (&["/no/such"], 2),
            (&["--setup", "true", "/no/such"], 1),
            (&["--setup", "false", "true"], 1),
        ];
        for (rest, code) in cases {
            folder.write("old", "KEEP");
            let args = [&["-r2", option.as_str(), "old"], rest].concat();
            assert_eq!(folder.offbench(args).run().code(), Some(code));
            assert_eq!(folder.read("old"), "KEEP", "{format} {rest:?}");
        }
    }
}

#[test]
fn a_journal_grows_run_by_run() {
    let folder = Folder::new();
    let mut invocation = folder.offbench(["-w0", "-r400", "--export-jsonl=j", "sleep 0.1"]);
    let mut child = invocation.command.stdout(Stdio::null()).spawn().unwrap();
    for _ in 0..600 {
        std::thread::sleep(Duration::from_millis(50));
        if folder.exists("j") && folder.read("j").lines().count() > 4 {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let text = folder.read("j");
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["type"], "header");
    assert!(
        lines.len() > 3 && lines[1..].iter().all(|line| line["type"] == "run"),
        "{text}"
    );
}

#[test]
fn a_shared_summary_is_added_to() {
    let folder = Folder::new();
    let file = folder.write("summary.md", "before\n");
    let file = file.to_str().unwrap();
    for _ in 0..2 {
        let args = ["-r2", "--export-markdown", file, "true"];
        let finished = folder.offbench(args).env("GITHUB_STEP_SUMMARY", file).run();
        assert_eq!(finished.code(), Some(0), "{finished:?}");
    }
    let text = folder.read("summary.md");
    assert!(
        text.starts_with("before\n") && text.matches("`true`").count() >= 2,
        "{text}"
    );
}

#[test]
fn annotations_are_for_build_services() {
    let folder = Folder::new();
    let args = ["-r6", "--fail-if", "wall > 1ns", "true"];
    let finished = folder.offbench(args).env("GITHUB_ACTIONS", "true").run();
    let lines = finished.stdout();
    assert!(lines.contains("::error title="), "{lines}");
    let args = [
        "-r6",
        "--annotate=github",
        "--fail-if",
        "wall > 1ns",
        "true",
    ];
    assert!(
        folder
            .offbench(args)
            .run()
            .stdout()
            .contains("::error title=")
    );
    let args = ["-r6", "--annotate=never", "--fail-if", "wall > 1ns", "true"];
    let finished = folder.offbench(args).env("GITHUB_ACTIONS", "true").run();
    assert!(!finished.stdout().contains("::error"));
}

#[test]
fn control_characters_are_never_raw() {
    let folder = Folder::new();
    for args in [
        &["-r1", "-n", "a\x1b[31mRED\nB\r\u{202e}", "true"][..],
        &["-r1", "true \x1b[31m\x07"],
        &["-r1", "-L", "x", "\x1b[1m,\x07", "true {x}"],
        &["-r1", "/no/\x1b[31msuch"],
        &["-r1", "--metrics", "\x1b[31m", "true"],
        &["-r1", "--style", "\x1b[31m", "true"],
        &["--\x1b[31m", "true"],
        &["-r1", "sh -c 'printf \"\\033[31m\" >&2; exit 1'"],
        &["-r1", "--export-json", "/no/\x1b[31m/x", "true"],
        &["-r1", "--cwd", "/no/\x1b[31m", "true"],
        &["-r1", "--fail-if", "\x1b[31m > 3", "true"],
    ] {
        let finished = folder.offbench(args).run();
        let all = finished.stdout() + &finished.stderr();
        let raw = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!all.contains(raw), "{args:?}: {all:?}");
    }
}

fn bytes(text: &[u8]) -> OsString {
    OsString::from_vec(text.to_vec())
}

/// An invocation that must succeed and whose report must be text.
fn with_bytes(folder: &Folder, args: &[&[u8]]) {
    let finished = folder.offbench(args.iter().map(|arg| bytes(arg))).run();
    assert_eq!(finished.code(), Some(0), "{finished:?}");
    std::str::from_utf8(&finished.0.stdout).unwrap();
}

#[test]
fn arguments_that_are_no_text_pass_through() {
    let folder = Folder::new();
    for shell in [b"-N", b"-S"] {
        let export: &[u8] = b"--export-json=o.json";
        let args: [&[u8]; 5] = [shell, b"-r1", b"--output=out", export, b"printf %s '\xff'"];
        with_bytes(&folder, &args);
        assert_eq!(std::fs::read(folder.join("out")).unwrap(), b"\xff");
        let document: serde_json::Value = serde_json::from_str(&folder.read("o.json")).unwrap();
        let result = &document["results"][0];
        assert!(
            result["command"].as_str().unwrap().contains("\\xff"),
            "{result}"
        );
        assert!(result.to_string().contains("\"lossy\":true"), "{result}");
    }
    std::fs::copy("/bin/true", folder.path().join(bytes(b"p\xff"))).unwrap();
    with_bytes(&folder, &[b"-N", b"-r1", b"./p\xff"]);
}

#[test]
fn values_and_names_that_are_no_text_pass_through() {
    let folder = Folder::new();
    with_bytes(&folder, &[b"-r1", b"-n", b"n\xff", b"true"]);
    with_bytes(&folder, &[b"-r1", b"-L", b"x", b"\xff,\xfe", b"true {x}"]);
    let print: [&[u8]; 6] = [
        b"-r1",
        b"-w0",
        b"--env",
        b"V=\xff",
        b"--output=env",
        b"printenv V",
    ];
    with_bytes(&folder, &print);
    assert_eq!(std::fs::read(folder.join("env")).unwrap(), b"\xff\n");
    with_bytes(&folder, &[b"-r1", b"--export-json", b"o\xff.json", b"true"]);
    assert!(folder.path().join(bytes(b"o\xff.json")).exists());
    with_bytes(&folder, &[b"-r1", b"-p", b"touch h\xff", b"true"]);
    assert!(folder.path().join(bytes(b"h\xff")).exists());
}

#[test]
fn what_commands_write_is_unchanged() {
    let folder = Folder::new();
    let args = [
        "-w0",
        "-r1",
        "--show-output",
        "--style=none",
        r"printf '\377\0\n'",
    ];
    let finished = folder.offbench(args).run();
    assert_eq!(finished.0.stdout, b"\xff\0\n");
    let big = ["-w0", "-r1", "--output=pipe", "head -c 300000000 /dev/zero"];
    assert_eq!(folder.offbench(big).run().code(), Some(0));
}

#[test]
fn a_termination_is_told_by_the_exit_code() {
    let folder = Folder::new();
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let found = sh(
            &folder,
            &format!("timeout -s {signal} 1 $T -w0 -r50 -c 'touch C{signal}' 'sleep 0.2'"),
        );
        let code_found = found.status.code().or(found.status.signal());
        assert!([Some(124), Some(code)].contains(&code_found), "{found:?}");
        assert!(folder.exists(&format!("C{signal}")));
        assert!(String::from_utf8_lossy(&found.stdout).contains("interrupted"));
    }
}

/// Nobody reads any more: that is no result to keep in place of a better one.
#[test]
fn a_reader_that_goes_away_spoils_no_earlier_file() {
    let folder = Folder::new();
    let first = "$T -r 3 --save-baseline b.json --export-json o.json 'sleep 0.02' >whole";
    assert!(sh(&folder, first).status.success());
    let kept = [folder.read("b.json"), folder.read("o.json")];
    let gone =
        "($T -r 40 --save-baseline b.json --export-json o.json 'sleep 0.02'; echo $? >code) | true";
    sh(&folder, gone);
    assert_eq!(folder.read("code").trim(), "141");
    assert_eq!(folder.read("b.json"), kept[0]);
    let after: serde_json::Value = serde_json::from_str(&folder.read("o.json")).unwrap();
    let runs = after["results"][0]["times"].as_array().unwrap().len();
    assert!(folder.read("o.json") == kept[1] || runs > 0);
    // Without a report nobody has to read.
    let silent = "($T -r 5 --style none --save-baseline b.json 'sleep 0.02'; echo $? >code) | true";
    sh(&folder, silent);
    assert_eq!(folder.read("code").trim(), "0");
    let after: serde_json::Value = serde_json::from_str(&folder.read("b.json")).unwrap();
    assert_eq!(after["results"][0]["times"].as_array().unwrap().len(), 5);
}
