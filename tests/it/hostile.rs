//! Files that block, limits that are too low, folders that are gone, and signals at odd moments.

use crate::support::{Folder, sh};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `timeout` answers 124 where its signal ended the program, 137 where only SIGKILL did.
#[test]
fn one_signal_ends_waiting_for_a_fifo() {
    for args in [
        "--compare fifo",
        "-r2 --baseline fifo --max-regression 5% true",
        "-r2 --export-json fifo true",
        "-r2 --export-jsonl fifo true",
        "-r2 --export-csv fifo true",
        "-r2 --output fifo true",
    ] {
        let folder = Folder::new();
        let script = format!("mkfifo fifo; timeout -k 5 1 $T {args}; echo $?");
        let found = sh(&folder, &script);
        assert_eq!(text(&found.stdout).lines().last(), Some("124"), "{args}");
    }
}

#[test]
fn a_fifo_gets_the_whole_document() {
    let folder = Folder::new();
    let found = sh(
        &folder,
        "mkfifo p; cat p >got & $T -r2 --export-json p true; echo $?; wait",
    );
    assert!(text(&found.stdout).ends_with("0\n"), "{found:?}");
    let document: serde_json::Value = serde_json::from_str(&folder.read("got")).unwrap();
    assert_eq!(document["results"].as_array().unwrap().len(), 1);
}

#[test]
fn what_cannot_be_a_session_is_not_read_to_its_end() {
    let folder = Folder::new();
    folder.measure(["-r2", "true"]);
    for (file, why) in [
        ("/dev/zero", "it is no file and no pipe"),
        ("<(cat /dev/zero)", "it is no JSON object"),
        ("<(yes)", "it is no JSON object"),
        ("<(yes '[')", "it is a list"),
        ("<(echo '{'; cat /dev/zero)", "line 2"),
        ("none", "--export-json write such files"),
    ] {
        let found = sh(&folder, &format!("ulimit -v 500000; $T --compare {file}"));
        assert_eq!(found.status.code(), Some(2), "{file}: {found:?}");
        assert!(text(&found.stderr).contains(why), "{file}: {found:?}");
        assert!(
            !text(&found.stderr).contains("--strict"),
            "{file}: {found:?}"
        );
    }
    let found = sh(&folder, "$T --compare <(printf '%99999s'; cat out.json)");
    assert_eq!(found.status.code(), Some(0), "{found:?}");
}

#[test]
fn a_pipe_is_no_input_for_many_runs() {
    let folder = Folder::new();
    for input in ["fifo", "<(echo data)"] {
        let found = sh(
            &folder,
            &format!("[ -p fifo ] || mkfifo fifo; timeout 5 $T -r2 --input {input} cat"),
        );
        assert_eq!(found.status.code(), Some(2), "{input}: {found:?}");
        assert!(text(&found.stderr).contains("one run only"), "{found:?}");
    }
}

#[test]
fn what_was_never_measured_replaces_no_export() {
    let folder = Folder::new();
    for command in ["false", "--shell=sh 'kill -9 $$'", "--setup false true"] {
        for format in ["json", "jsonl", "csv", "markdown", "junit", "openmetrics"] {
            folder.write("o", "KEEP");
            let script = format!("$T -r2 --export-{format} o {command}");
            let found = sh(&folder, &script);
            assert_eq!(found.status.code(), Some(1), "{script}: {found:?}");
            assert_eq!(folder.read("o"), "KEEP", "{script}");
            assert!(text(&found.stderr).contains("keeps its earlier content"));
        }
    }
    // What runs did find is worth having, and says that it is not all.
    let script = "$T -N -w0 -r9 --export-json o \"sh -c 'test \\$OFFBENCH_ITERATION -lt 3'\"";
    let found = sh(&folder, script);
    assert_eq!(found.status.code(), Some(1), "{found:?}");
    assert!(
        folder.read("o").contains("\"partial\": true")
            || folder.read("o").contains("\"partial\":true")
    );
}

#[test]
fn one_file_takes_one_export_by_whatever_name() {
    let folder = Folder::new();
    let begin = "mkdir d; touch a; ln -sf a link; ln -sf new dangling; ";
    for (one, other) in [
        ("a", "link"),
        ("./a", "d/../a"),
        ("$PWD/a", "a"),
        ("new", "dangling"),
        ("d/x", "./d/x"),
    ] {
        let script = format!("{begin} $T -r1 --export-json {one} --export-csv {other} 'touch ran'");
        let found = sh(&folder, &script);
        assert_eq!(found.status.code(), Some(2), "{one} {other}: {found:?}");
        assert!(!folder.exists("ran"));
    }
    let both = "$T -r1 --export-json /dev/fd/1 --export-csv - 'touch ran'";
    assert_eq!(sh(&folder, both).status.code(), Some(2));
}

#[test]
fn every_name_of_standard_output_gets_a_clean_document() {
    let folder = Folder::new();
    for name in ["/dev/fd/1", "/proc/self/fd/1"] {
        let found = sh(&folder, &format!("$T -r1 --export-json {name} true"));
        serde_json::from_slice::<serde_json::Value>(&found.stdout).unwrap();
    }
}

#[test]
fn a_target_that_cannot_be_made_is_known_before_anything_runs() {
    let folder = Folder::new();
    for script in [
        "$T -r1 --export-json '' 'touch ran'",
        "mkdir -p gone; cd gone; rmdir ../gone; $T -r1 --export-json x.json \"touch $OLDPWD/ran\"",
        "ln -s none/x away; $T -r1 --export-json away 'touch ran'",
    ] {
        let found = sh(&folder, script);
        assert_eq!(found.status.code(), Some(2), "{script}: {found:?}");
        assert!(!folder.exists("ran"), "{script}");
    }
}

#[test]
fn a_file_size_limit_is_a_failed_export() {
    let folder = Folder::new();
    folder.write("o.json", "KEEP");
    let script =
        "ulimit -f 1; $T -N -r5 --export-json o.json true 2>&1 | cat; exit ${PIPESTATUS[0]}";
    let found = sh(&folder, script);
    assert_eq!(found.status.code(), Some(1), "{found:?}");
    let told = text(&found.stdout);
    assert!(
        told.contains("too large") && told.contains("median"),
        "{told}"
    );
    assert_eq!(folder.read("o.json"), "KEEP");
    let script = "ulimit -f 0; env --default-signal=XFSZ $T -N -r1 'sh -c \"echo x >f\"' 2>&1 | cat; exit ${PIPESTATUS[0]}";
    let found = sh(&folder, script);
    assert!(
        text(&found.stdout).contains("SIGXFSZ"),
        "the command dies as ever: {found:?}"
    );
}

#[test]
fn a_small_stack_is_enough() {
    let folder = Folder::new();
    let found = sh(&folder, "ulimit -s 96; $T -r3 true && $T -h >help");
    assert_eq!(found.status.code(), Some(0), "{found:?}");
    // The limit stays the command's, and a signal reaches what is waited for.
    let found = sh(
        &folder,
        "ulimit -s 96; $T -r1 -w0 'sh -c \"ulimit -s >limit\"'",
    );
    assert_eq!(found.status.code(), Some(0), "{found:?}");
    assert_eq!(folder.read("limit"), "96\n");
    let script = "ulimit -s 96; timeout -k 5 0.5 $T -w0 -r2 'sleep 20'; echo $?";
    let told = text(&sh(&folder, script).stdout);
    assert!(
        told.ends_with("124\n") && told.contains("interrupted"),
        "{told}"
    );
}

#[test]
fn what_prepare_began_is_taken_down_whatever_became_of_it() {
    let folder = Folder::new();
    let hooks = "--shell=sh --conclude 'echo conclude >>log' --cleanup 'echo cleanup >>log'";
    for (script, code) in [
        (format!("$T {hooks} --prepare 'exit 3' true"), 1),
        (
            format!("timeout 0.5 $T {hooks} --prepare 'sleep 20' true"),
            124,
        ),
    ] {
        folder.write("log", "");
        let found = sh(&folder, &script);
        assert_eq!(found.status.code(), Some(code), "{script}: {found:?}");
        assert_eq!(folder.read("log"), "conclude\ncleanup\n", "{script}");
    }
}

#[test]
fn single_runs_give_no_difference_in_a_table() {
    let folder = Folder::new();
    let found = sh(
        &folder,
        "$T -N -r1 --style none --export-markdown - true 'sh -c :'",
    );
    let told = text(&found.stdout);
    let row = told.lines().find(|line| line.contains("2. ")).unwrap();
    assert!(!row.contains("% |"), "{told}");
}

#[test]
fn a_command_that_continues_us_each_time_is_measured_all_the_same() {
    let folder = Folder::new();
    let found = sh(
        &folder,
        "timeout 60 $T -w0 -r3 --style none --export-json j 'kill -CONT $PPID; sleep 0.01'",
    );
    assert!(found.status.success(), "{found:?}");
    let document: serde_json::Value = serde_json::from_str(&folder.read("j")).unwrap();
    let result = &document["results"][0]["offbench"];
    assert_eq!(result["phases"]["measured"], 3);
    let notes = result["notes"].as_array().unwrap();
    let kept = notes
        .iter()
        .filter(|note| note.as_str().unwrap().contains("and is kept"));
    assert_eq!(kept.count(), 1, "{notes:?}");
}

#[test]
fn a_limit_without_a_timer_is_named() {
    let found = sh(&Folder::new(), "ulimit -i 0; $T -r1 true");
    assert_eq!(found.status.code(), Some(1), "{found:?}");
    let says = "cannot set a timer: no more signals may be pending (limit 0)";
    assert!(text(&found.stderr).contains(says), "{found:?}");
    assert!(text(&found.stderr).contains("ulimit -i"), "{found:?}");
}

#[test]
fn a_late_refusal_names_what_refused() {
    let folder = Folder::new();
    folder.write("prog", "#!/bin/sh\n:\n");
    let script =
        "chmod +x prog; $T -N -w0 -r5 --conclude 'printf \"#!/nonexist/x\\n\" >prog' ./prog";
    let found = sh(&folder, script);
    assert_eq!(found.status.code(), Some(1), "{found:?}");
    assert!(text(&found.stderr).contains("/nonexist/x"), "{found:?}");
}

#[test]
fn a_session_that_measures_nothing_keeps_the_old_file_one_after_the_other_too() {
    let folder = Folder::new();
    folder.write("o.json", "KEEP");
    let script = "$T -N --order sequential -r3 --export-json o.json false true";
    let found = sh(&folder, script);
    assert_eq!(found.status.code(), Some(1), "{found:?}");
    assert_eq!(folder.read("o.json"), "KEEP");
}

#[test]
fn what_is_finished_is_written_before_the_next_command_begins() {
    let folder = Folder::new();
    let found = sh(
        &folder,
        "$T -N --order sequential -w0 -r3 --style none --export-json now.json --export-csv now.csv \
         --save-baseline base.json true 'cp now.json now.csv early/' 'cp now.json late.json'",
    );
    assert!(
        !found.status.success(),
        "there is no folder early: {found:?}"
    );
    std::fs::create_dir(folder.join("early")).unwrap();
    let found = sh(
        &folder,
        "$T -N --order sequential -w0 -r3 --style none --export-json now.json --export-csv now.csv \
         --save-baseline base.json true 'cp now.json now.csv early/' 'cp now.json late.json'",
    );
    assert!(found.status.success(), "{found:?}");
    let results = |name: &str| {
        let document: serde_json::Value = serde_json::from_str(&folder.read(name)).unwrap();
        document["results"].as_array().unwrap().len()
    };
    assert_eq!(results("early/now.json"), 1);
    assert_eq!(results("late.json"), 2);
    assert_eq!(results("now.json"), 3);
    assert_eq!(folder.read("early/now.csv").lines().count(), 2);
}

#[test]
fn what_is_finished_is_written_whichever_command_is_the_reference() {
    for (reference, compared) in [("fastest", 1), ("./keep 3", 0)] {
        let folder = Folder::new();
        folder.write("keep", "#!/bin/sh\ncp now.json json$1; cp now.md md$1; :\n");
        let script = format!(
            "chmod +x keep; $T -N --order sequential -w0 -r6 --style none --reference '{reference}' \
             --export-json now.json --export-markdown now.md -L n 1,2,3 './keep {{n}}'"
        );
        let found = sh(&folder, &script);
        assert!(found.status.success(), "{found:?}");
        let document =
            |name: &str| -> serde_json::Value { serde_json::from_str(&folder.read(name)).unwrap() };
        let count = |value: &serde_json::Value| value.as_array().unwrap().len();
        let (early, last) = (document("json3"), document("now.json"));
        assert_eq!(count(&document("json2")["results"]), 1, "{reference}");
        assert_eq!(count(&early["results"]), 2, "{reference}");
        assert_eq!(count(&early["offbench"]["conclusions"]), compared);
        assert_eq!(count(&last["offbench"]["conclusions"]), 2);
        // A command that is not there yet is nobody's reference, and no other takes its place.
        let results = early["results"].as_array().unwrap().iter();
        let references = results.filter(|one| one["is_reference"] == true);
        assert_eq!(references.count(), compared);
        let table = folder.read("md3");
        let cells = table.matches("| reference |").count();
        assert_eq!(cells, compared, "{table}");
    }
}

/// A foreign file with `count` results, whose names come from `name`.
fn foreign(folder: &Folder, count: usize, name: impl Fn(usize) -> String) {
    let one = |place| {
        let name = serde_json::Value::from(name(place));
        format!("{{\"command\":{name},\"times\":[1.0]}}")
    };
    let all: Vec<String> = (0..count).map(one).collect();
    let document = format!("{{\"results\":[{}]}}", all.join(","));
    std::fs::write(folder.join("foreign.json"), document).unwrap();
}

#[test]
fn a_foreign_name_is_no_control_sequence() {
    let folder = Folder::new();
    foreign(&folder, 2, |place| {
        format!("\u{1b}]0;x\u{7}\r{place}\u{202e}")
    });
    for args in [
        "--annotate github --fail-if 'wall > 1ns'",
        "--export-csv -",
        "--export-openmetrics -",
        "--export-markdown -",
        "--export-junit -",
        "--style nocolor",
    ] {
        let found = sh(&folder, &format!("$T --compare foreign.json {args}"));
        let all = text(&found.stdout) + &text(&found.stderr);
        let raw = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!all.contains(raw), "{args}: {all:?}");
        assert!(all.contains("]0;x"), "{args}: {all:?}");
    }
}

#[test]
fn many_foreign_results_take_no_time_each_with_each() {
    let folder = Folder::new();
    foreign(&folder, 20_000, |place| format!("c{}", place % 10_000));
    // Quadratic work took a minute for this.
    let found = sh(
        &folder,
        "timeout 40 $T --compare foreign.json --style none; echo $?",
    );
    assert_eq!(text(&found.stdout).lines().last(), Some("0"));
}
