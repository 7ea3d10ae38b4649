//! Commands are run as written, bad input is refused before anything runs, and nothing is lost.

use crate::support::{Folder, does, number};

#[test]
fn measures_a_command() {
    let folder = Folder::new();
    let document = folder.measure(["-r", "5", &does("spin 5")]);
    let result = &document["results"][0];
    assert_eq!(result["times"].as_array().unwrap().len(), 5);
    assert!(number(&result["mean"]) >= 0.005);
    let ours = &result["offbench"];
    assert_eq!(ours["phases"]["measured"], 5);
    assert_eq!(ours["phases"]["warmup"], 1);
    assert_eq!(ours["via_shell"], false);
    assert_eq!(ours["partial"], false);
    assert_eq!(ours["runs"].as_array().unwrap().len(), 6);
}

#[test]
fn shell_syntax_goes_through_a_shell_and_says_so() {
    let folder = Folder::new();
    for command in [
        "echo a>f",
        "echo a;echo b",
        "true 2>/dev/null",
        "echo $HOME *",
        "exit 0",
    ] {
        let document = folder.measure(["-r", "1", command]);
        assert_eq!(
            document["results"][0]["offbench"]["via_shell"], true,
            "{command}"
        );
    }
    assert!(folder.exists("f"));
    let finished = folder.offbench(["-r", "1", "echo a > g"]).run();
    finished.says("(via sh)");
}

#[test]
fn without_a_shell_everything_is_literal() {
    let folder = Folder::new();
    folder.measure(["-N", "-r", "1", "echo a>f"]);
    assert!(!folder.exists("f"));
    let finished = folder
        .offbench([
            "-N",
            "-r",
            "1",
            "-w",
            "0",
            "--show-output",
            r#"printf [%s] a "" "b c" d\\ x"y z""#,
        ])
        .run();
    finished.says(r"[a][][b c][d\][xy z]");
}

#[test]
fn iterations_are_in_the_environment() {
    let folder = Folder::new();
    folder.measure([
        "-r",
        "2",
        "-w",
        "1",
        "echo $OFFBENCH_ITERATION-$HYPERFINE_ITERATION >>log",
    ]);
    assert_eq!(folder.read("log"), "warmup-0-warmup-0\n0-0\n1-1\n");
}

#[test]
fn bad_input_is_refused_before_anything_runs() {
    let cases: &[(&[&str], &str)] = &[
        (&[], "no command"),
        (&[""], "empty"),
        (&["   "], "empty"),
        (&["-r", "0", "touch x"], "--runs"),
        (&["-r", "-3", "touch x"], "--runs"),
        (&["-r", "99999999999999999999", "touch x"], "--runs"),
        (&["-m", "0", "touch x"], "--min-runs"),
        (&["-m", "10", "-M", "5", "touch x"], "--min-runs"),
        (&["--min-time", "inf", "touch x"], "--min-time"),
        (&["--min-benchmarking-time", "nan", "touch x"], "--min-time"),
        (&["-w", "-1", "touch x"], "--warmup"),
        (&["-N", "echo \"a"], "quote"),
        (&["-S", "bash", "touch x"], "--shell bash"),
        (&["--fail-if", "wal > 3s", "touch x"], "did you mean `wall`"),
        (&["--fail-if", "wall > 3", "touch x"], "byte 7"),
        (&["--fail-if", "wall", "touch x"], "--fail-if"),
        (&["--export-json", "/no/dir/x", "touch x"], "/no/dir/x"),
        (&["--export-json", ".", "touch x"], "--export-json"),
        (
            &["--export-json", "a", "--export-csv", "a", "touch x"],
            "same place",
        ),
        (&["-P", "a", "5", "1", "touch x"], "empty"),
        (&["-P", "a", "0", "99999999", "touch x"], "100,000"),
        (&["-P", "a", "nan", "1", "touch x"], "nan"),
        (&["-L", "a", "1,2", "-L", "a", "3", "touch x"], "a"),
        (&["-n", "a", "-n", "b", "touch x"], "names"),
        (&["-u", "fortnight", "touch x"], "fortnight"),
        (&["--color", "sometimes", "touch x"], "sometimes"),
        (&["--cpu", "x", "touch x"], "CPU"),
        (&["-i=300", "touch x"], "300"),
        (&["--no-such-option", "touch x"], "--no-such-option"),
    ];
    for (args, word) in cases {
        let folder = Folder::new();
        let finished = folder.offbench(*args).run();
        assert_eq!(finished.code(), Some(2), "{args:?}: {finished:?}");
        assert!(
            finished.stderr().contains(word),
            "{args:?}: {}",
            finished.stderr()
        );
        assert!(!folder.exists("x"), "{args:?} ran something");
        assert_eq!(finished.stdout(), "", "{args:?}");
    }
}

#[test]
fn programs_that_cannot_run_are_named_with_the_reason() {
    let folder = Folder::new();
    folder.write("plain", "text");
    let script = folder.write("script", "#!/no/interpreter\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(script, mode).unwrap();
    for (command, words) in [
        ("no-such-program-here a b", "'no-such-program-here'"),
        ("./plain", "not executable"),
        ("/", "directory"),
        ("./script", "/no/interpreter"),
    ] {
        let finished = folder.offbench(["-N", "-r", "1", command]).run();
        assert_eq!(finished.code(), Some(2), "{finished:?}");
        finished.complains(words);
    }
}

#[test]
fn a_failing_command_stops_and_says_how() {
    let folder = Folder::new();
    let finished = folder
        .offbench(["-r", "3", "sh -c 'echo oops >&2; exit 3'"])
        .run();
    assert_eq!(finished.code(), Some(1));
    finished.complains("exit code 3");
    finished.complains("oops");
    let finished = folder.offbench(["-r", "3", "sh -c 'kill -SEGV $$'"]).run();
    finished.complains("SIGSEGV");
}

#[test]
fn ignored_failures_are_counted_apart() {
    let folder = Folder::new();
    let command = "test $OFFBENCH_ITERATION -lt 2";
    let document = folder.measure(["-i", "-w", "0", "-r", "4", command]);
    let result = &document["results"][0];
    assert_eq!(result["offbench"]["failed"], 2);
    assert_eq!(result["exit_codes"], serde_json::json!([0, 0, 1, 1]));
    let finished = folder.offbench(["-i", "-w", "0", "-r", "4", command]).run();
    finished.says("failed 2 of 4");
}

#[test]
fn an_old_export_survives_a_failing_command() {
    let folder = Folder::new();
    folder.write("o.json", "KEEP");
    let args = ["-r", "2", "--export-json", "o.json", "no-such-program-here"];
    folder.offbench(args).run();
    assert_eq!(folder.read("o.json"), "KEEP");
    let leftovers = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(leftovers, 1);
}

#[test]
fn json_on_stdout_is_one_clean_document() {
    let folder = Folder::new();
    for target in ["-", "/dev/stdout"] {
        let finished = folder
            .offbench(["-r", "2", "--export-json", target, "true", "true"])
            .run();
        let document: serde_json::Value = serde_json::from_str(&finished.stdout()).unwrap();
        assert_eq!(document["results"].as_array().unwrap().len(), 2);
        assert!(
            finished.stderr().contains("true"),
            "the report moves to standard error"
        );
    }
}

#[test]
fn several_commands_run_in_rounds() {
    let folder = Folder::new();
    folder.measure(["-w", "0", "-r", "6", "echo A >>log", "echo B >>log"]);
    let log: String = folder.read("log").split_whitespace().collect();
    assert_eq!(log.len(), 12);
    for round in log.as_bytes().chunks(4) {
        assert!(round == b"ABBA" || round == b"BAAB", "{log}");
    }
}

#[test]
fn hooks_run_in_order() {
    let folder = Folder::new();
    folder.measure([
        "-w",
        "1",
        "-r",
        "2",
        "-s",
        "echo s >>log",
        "-p",
        "echo p >>log",
        "-C",
        "echo n >>log",
        "-c",
        "echo c >>log",
        "echo r >>log",
    ]);
    let log: String = folder.read("log").split_whitespace().collect();
    assert_eq!(log, "sprnprnprnc");
}

#[test]
fn cleanup_runs_after_a_failure() {
    let folder = Folder::new();
    let finished = folder
        .offbench([
            "-r", "3", "-s", "touch S", "-C", "touch N", "-c", "touch C", "false",
        ])
        .run();
    assert_eq!(finished.code(), Some(1));
    assert!(folder.exists("S") && folder.exists("N") && folder.exists("C"));
}
