//! For every documented option of hyperfine 1.20 and 2.0: it does the same here. Where it does not,
//! `docs/from-hyperfine.md` says why.

use serde_json::{Value, json};

use crate::support::{Folder, does, number};

fn commands(document: &Value) -> Vec<String> {
    let results = document["results"].as_array().unwrap();
    let text = |one: &Value| one["command"].as_str().unwrap().to_owned();
    results.iter().map(text).collect()
}

fn runs(document: &Value) -> usize {
    document["results"][0]["times"].as_array().unwrap().len()
}

#[test]
fn warmup_runs_are_made_and_not_counted() {
    let folder = Folder::new();
    for (short, count) in [("-w", "3"), ("--warmup", "0")] {
        let document = folder.measure([short, count, "-r", "2", "echo x >>log"]);
        assert_eq!(runs(&document), 2);
        let made = folder.read("log").lines().count();
        assert_eq!(made, 2 + count.parse::<usize>().unwrap());
        folder.write("log", "");
    }
}

#[test]
fn numbers_of_runs_are_bounds() {
    let folder = Folder::new();
    assert_eq!(runs(&folder.measure(["-r", "3", "true"])), 3);
    let quick = ["--min-benchmarking-time", "0", "true"];
    assert_eq!(
        runs(&folder.measure(["-m", "4"].into_iter().chain(quick))),
        4
    );
    assert_eq!(runs(&folder.measure(["-M", "5", "true"])), 5);
    assert_eq!(runs(&folder.measure(quick)), 10);
    let both = ["--min-runs", "2", "--max-runs", "4", "true"];
    assert_eq!(runs(&folder.measure(both)), 4);
}

#[test]
fn shells_are_chosen() {
    let folder = Folder::new();
    for (args, shell) in [
        (&["-S"][..], true),
        (&["--shell=default"], true),
        (&["--shell", "bash"], true),
        (&["--shell=bash --norc"], true),
        (&["--shell", "none", "--shell", "sh"], true),
        (&["-N"], false),
        (&["--shell=none"], false),
        (&["--shell=auto"], false),
    ] {
        let document = folder.measure(args.iter().copied().chain(["-r", "1", "true a"]));
        let via = &document["results"][0]["offbench"]["via_shell"];
        assert_eq!(*via, json!(shell), "{args:?}");
    }
    let args = [
        "--shell",
        "bash",
        "-w0",
        "-r1",
        "--show-output",
        "echo $BASH",
    ];
    let finished = folder.offbench(args).run();
    finished.says("/bash");
}

#[test]
fn hooks_are_for_all_or_per_command() {
    let folder = Folder::new();
    let once = ["-w0", "-r1", "-p", "echo p >>log", "-C", "echo n >>log"];
    folder.measure(once.into_iter().chain(["echo a >>log", "echo b >>log"]));
    let log: String = folder.read("log").split_whitespace().collect();
    assert!(["panpbn", "pbnpan"].contains(&log.as_str()), "{log}");
    let each = ["-w0", "-r1", "-p", "echo 1 >>own", "-p", "echo 2 >>own"];
    folder.measure(each.into_iter().chain(["echo a >>own", "echo b >>own"]));
    let log: String = folder.read("own").split_whitespace().collect();
    assert!(["1a2b", "2b1a"].contains(&log.as_str()), "{log}");
    let three = ["-p", "a", "-p", "b", "-p", "c", "true", "true"];
    let finished = folder.offbench(three).run();
    assert_eq!(finished.code(), Some(2));
    assert!(
        finished
            .stderr()
            .contains("--prepare was given 3 times for 2")
    );
}

#[test]
fn hooks_run_in_a_shell_whatever_the_commands_do() {
    let folder = Folder::new();
    let args = [
        "-N",
        "-w0",
        "-r1",
        "-s",
        "echo s | cat >>log",
        "-c",
        "exit 0",
        "true",
    ];
    folder.measure(args);
    assert_eq!(folder.read("log"), "s\n");
}

#[test]
fn the_iteration_is_known_to_hooks_too() {
    let folder = Folder::new();
    let hook = "echo $1$HYPERFINE_ITERATION >>log";
    folder.measure(["-w1", "-r1", "-p", hook, "-C", hook, "true"]);
    assert_eq!(folder.read("log"), "warmup-0\nwarmup-0\n0\n0\n");
}

#[test]
fn a_failing_hook_reports_its_code_and_what_it_wrote() {
    let folder = Folder::new();
    for (option, name) in [
        ("-s", "setup"),
        ("-p", "prepare"),
        ("-C", "conclude"),
        ("-c", "cleanup"),
    ] {
        let hook = "echo $'no \\tspace' left >&2; exit 7";
        let finished = folder
            .offbench(["-i", "-r", "2", option, hook, "true"])
            .run();
        assert_eq!(finished.code(), Some(1), "{finished:?}");
        let told = finished.stderr();
        assert!(
            told.contains(&format!("the {name} command failed: exit code 7")),
            "{told}"
        );
        assert!(
            told.contains("= note: its standard error ends with:"),
            "{told}"
        );
        assert!(told.contains("left"), "{told}");
    }
}

#[test]
fn results_before_a_failing_hook_are_kept() {
    let folder = Folder::new();
    let args = [
        "-i",
        "-w0",
        "-r3",
        "-C",
        "test $OFFBENCH_ITERATION != 2",
        "--export-json=o",
        "true",
    ];
    let finished = folder.offbench(args).run();
    assert_eq!(finished.code(), Some(1));
    let document: Value = serde_json::from_str(&folder.read("o")).unwrap();
    assert_eq!(runs(&document), 2);
    assert_eq!(document["results"][0]["offbench"]["partial"], true);
}

#[test]
fn scans_count_in_decimals_and_below_zero() {
    let folder = Folder::new();
    for (args, expected) in [
        (&["-P", "x", "1", "3"][..], &["1", "2", "3"][..]),
        (
            &["-P", "x", "0.1", "0.3", "-D", "0.1"],
            &["0.1", "0.2", "0.3"],
        ),
        (&["-P", "x", "-3", "-1"], &["-3", "-2", "-1"]),
        (
            &["-P", "x", "-1", "0", "-D", "0.5"],
            &["-1.0", "-0.5", "0.0"],
        ),
        (
            &["-P", "x", "2147483646", "2147483647"],
            &["2147483646", "2147483647"],
        ),
        (
            &["-P", "x", "9223372036854775806", "9223372036854775807"],
            &["9223372036854775806", "9223372036854775807"],
        ),
        (
            &[
                "--parameter-scan",
                "x",
                "1",
                "5",
                "--parameter-step-size",
                "3",
            ],
            &["1", "4"],
        ),
    ] {
        let document = folder.measure(args.iter().copied().chain(["-r1", "-w0", "true {x}"]));
        let expected: Vec<String> = expected.iter().map(|x| format!("true {x}")).collect();
        assert_eq!(commands(&document), expected, "{args:?}");
    }
}

#[test]
fn several_scans_and_lists_are_combined_or_zipped() {
    let folder = Folder::new();
    let both = ["-w0", "-r1", "-P", "a", "1", "2", "-L", "b", "x,y\\,z"];
    let all = folder.measure(both.into_iter().chain(["true {a} {b}"]));
    let expected = ["true 1 x", "true 1 y,z", "true 2 x", "true 2 y,z"];
    let mut found = commands(&all);
    found.sort();
    assert_eq!(found, expected);
    let zipped = folder.measure(both.into_iter().chain(["--zip", "true {a} {b}"]));
    assert_eq!(commands(&zipped), ["true 1 x", "true 2 y,z"]);
    let value = &zipped["results"][1]["parameters"]["b"]["value"];
    assert_eq!(*value, json!("y,z"));
    let uneven = [
        "--zip",
        "-P",
        "a",
        "1",
        "3",
        "-L",
        "b",
        "x,y",
        "true {a}{b}",
    ];
    assert_eq!(folder.offbench(uneven).run().code(), Some(2));
}

#[test]
fn values_are_replaced_once() {
    let folder = Folder::new();
    let args = [
        "-w0",
        "-r1",
        "-L",
        "foo",
        "a,{bar}",
        "-L",
        "bar",
        "baz",
        "true {foo} {bar}",
    ];
    let document = folder.measure(args);
    assert_eq!(commands(&document), ["true a baz", "true {bar} baz"]);
}

#[test]
fn parameters_are_replaced_everywhere() {
    let folder = Folder::new();
    std::fs::create_dir(folder.join("d1")).unwrap();
    folder.write("i1", "from i1");
    let args = [
        "-w0",
        "-r1",
        "-L",
        "x",
        "1",
        "-n",
        "name {x}",
        "--env",
        "V={x}",
        "--cwd",
        "d{x}",
        "--input",
        "i{x}",
        "-s",
        "echo {x} >s",
        "-p",
        "echo {x} >p",
        "-C",
        "echo {x} >n",
        "-c",
        "echo {x} >c",
        "cat >out; echo $V >v",
    ];
    let document = folder.measure(args);
    assert_eq!(document["results"][0]["name"], "name 1");
    for file in ["s", "p", "n", "c", "v"] {
        assert_eq!(folder.read(&format!("d1/{file}")), "1\n", "{file}");
    }
    assert_eq!(folder.read("d1/out"), "from i1");
}

#[test]
fn unused_and_unknown_names_warn_and_repetitions_run_once() {
    let folder = Folder::new();
    let finished = folder
        .offbench(["-r1", "-L", "a", "1,2", "echo x >>log"])
        .arg("-w0")
        .run();
    let told = finished.stderr();
    assert!(
        told.contains("warning: parameter `a` is used in no command"),
        "{told}"
    );
    assert!(
        told.contains("1 of 2 commands repeat another one"),
        "{told}"
    );
    assert_eq!(folder.read("log"), "x\n");
    assert!(
        !finished.stdout().contains("faster"),
        "{}",
        finished.stdout()
    );
    let finished = folder
        .offbench(["-r1", "-L", "a", "1", "echo {a} {b}"])
        .run();
    finished.complains("`{b}` is no parameter");
    let finished = folder.offbench(["-r1", "awk '{print}' /dev/null"]).run();
    assert_eq!(
        finished.stderr(),
        "",
        "braces without parameters are nobody's business"
    );
}

#[test]
fn variables_are_lists_for_all_or_per_command() {
    let folder = Folder::new();
    let print = "echo $A-$B >>log";
    folder.measure(["-w0", "-r1", "--env", "A=1 B=\"x y\"", print]);
    folder.measure(["-w0", "-r1", "--env", "A=1", "--env", "B=2", print]);
    let each = [
        "--order=sequential",
        "-w0",
        "-r1",
        "--env",
        "A=3",
        print,
        "--env=",
        print,
    ];
    folder.measure(each);
    assert_eq!(folder.read("log"), "1-x y\n1-2\n3-\n-\n");
    let finished = folder.offbench(["--env", "A", "true"]).run();
    assert_eq!(finished.code(), Some(2));
    finished.complains("NAME=VALUE");
}

#[test]
fn input_and_output_are_for_all_or_per_command() {
    let folder = Folder::new();
    folder.write("in", "text");
    folder.measure(["-r2", "--input", "in", "--output", "out", "cat"]);
    assert_eq!(folder.read("out"), "text");
    folder.measure(["-r1", "--output=null", "--output=two", "echo 1", "echo 2"]);
    assert_eq!(folder.read("two"), "2\n");
    folder.measure(["-r1", "--output", "pipe", "head -c 1000000 /dev/zero"]);
    let finished = folder
        .offbench(["-w0", "-r1", "--output=inherit", "echo shown"])
        .run();
    finished.says("shown\n");
    for (bad, word) in [("/no/such", "/no/such"), ("/", "/")] {
        let finished = folder.offbench(["--input", bad, "touch x"]).run();
        assert_eq!(finished.code(), Some(2), "{finished:?}");
        assert!(finished.stderr().contains(word) && !folder.exists("x"));
    }
}

#[test]
fn standard_input_is_empty_by_default() {
    let folder = Folder::new();
    folder.measure(["-r1", "-w0", "--output", "out", "wc -c"]);
    assert_eq!(folder.read("out").trim(), "0");
}

#[test]
fn failures_can_be_ignored_all_or_some() {
    let folder = Folder::new();
    let exits = "sh -c 'exit 3'";
    for (option, code) in [
        ("-i", 0),
        ("--ignore-failure", 0),
        ("--ignore-failure=all-non-zero", 0),
        ("--ignore-failure=1,3", 0),
        ("-i=3", 0),
        ("--ignore-failure=1,2", 1),
    ] {
        let finished = folder.offbench(["-r2", option, exits]).run();
        assert_eq!(finished.code(), Some(code), "{option}: {finished:?}");
    }
}

#[test]
fn names_are_given_in_order() {
    let folder = Folder::new();
    let document = folder.measure([
        "-r1",
        "-n",
        "one",
        "--command-name",
        "two",
        "true a",
        "true b",
    ]);
    assert_eq!(document["results"][0]["name"], "one");
    assert_eq!(document["results"][1]["name"], "two");
    let scanned = ["-r1", "-P", "x", "1", "2", "-n", "by {x}", "true {x}"];
    let document = folder.measure(scanned);
    assert_eq!(document["results"][1]["name"], "by 2");
}

#[test]
fn the_reference_comes_first_and_has_its_name() {
    let folder = Folder::new();
    let args = [
        "-r1",
        "--reference",
        "true r",
        "--reference-name",
        "old",
        "-n",
        "new",
        "true a",
    ];
    let document = folder.measure(args);
    assert_eq!(commands(&document), ["true r", "true a"]);
    assert_eq!(document["results"][0]["name"], "old");
    assert_eq!(document["results"][1]["name"], "new");
    let args = ["-r1", "--reference", "true r", "-n", "new", "true a"];
    let document = folder.measure(args);
    assert_eq!(document["results"][1]["name"], "new");
    let finished = folder.offbench(["--reference-name", "x", "true"]).run();
    assert_eq!(finished.code(), Some(2));
}

#[test]
fn with_parameters_the_reference_is_one_of_the_commands() {
    let folder = Folder::new();
    let args = [
        "-r6",
        "-P",
        "x",
        "1",
        "3",
        "--reference",
        "true 2",
        "true {x}",
    ];
    let document = folder.measure(args);
    assert_eq!(commands(&document), ["true 1", "true 2", "true 3"]);
    assert_eq!(document["offbench"]["comparisons"][0]["reference"], 1);
}

#[test]
fn styles_are_taken() {
    let folder = Folder::new();
    for (style, table, escape) in [
        ("auto", false, false),
        ("basic", true, false),
        ("full", true, true),
        ("nocolor", true, false),
        ("color", true, true),
    ] {
        let finished = folder.offbench(["-r1", "--style", style, "true"]).run();
        let text = finished.stdout();
        assert_eq!(text.contains("mean ± σ"), table, "{style}: {text}");
        assert_eq!(text.contains('\x1b'), escape, "{style}: {text}");
    }
    let finished = folder.offbench(["-r1", "--style", "none", "true"]).run();
    assert_eq!(
        (finished.stdout().as_str(), finished.stderr().as_str()),
        ("", "")
    );
}

#[test]
fn tables_are_sorted_on_request() {
    let folder = Folder::new();
    let (slow, fast) = (does("spin 30"), does("spin 1"));
    for (sort, first) in [("command", "1 "), ("auto", "1 "), ("mean-time", "2 ")] {
        let args = [
            "-r2",
            "--style=basic",
            "--sort",
            sort,
            "-n",
            "slow",
            "-n",
            "fast",
        ];
        let finished = folder.offbench(args).arg(&slow).arg(&fast).run();
        let text = finished.stdout();
        let head = text.find("vs 1").unwrap();
        let row = text[head..].lines().nth(1).unwrap();
        assert!(row.trim_start().starts_with(first), "{sort}: {text}");
    }
}

#[test]
fn times_are_shown_in_the_unit_that_was_asked_for() {
    let folder = Folder::new();
    for (unit, word) in [
        ("millisecond", "ms"),
        ("microsecond", "µs"),
        ("second", "s"),
        ("minutes", "min"),
        ("h", "h"),
    ] {
        let finished = folder.offbench(["-r2", "-u", unit, &does("spin 2")]).run();
        let text = finished.stdout();
        let wall = text
            .lines()
            .find(|line| line.contains("wall median="))
            .unwrap();
        let value = wall.split("median=").nth(1).unwrap();
        let value = value.split_whitespace().next().unwrap();
        let letters = value.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        assert_eq!(letters, word, "{text}");
    }
    let finished = folder.offbench(["-u", "MS", "true"]).run();
    finished.complains("did you mean `ms`");
}

#[test]
fn metrics_are_chosen_with_units() {
    let folder = Folder::new();
    let shown = |list: &str| {
        let finished = folder.offbench(["-r2", "--metrics", list, "true"]).run();
        assert_eq!(finished.code(), Some(0), "{finished:?}");
        finished.stdout()
    };
    let text = shown("memory_peak_resident:MiB,time_wall_clock:us");
    assert!(
        text.contains("MiB") && text.contains("µs") && !text.contains("user"),
        "{text}"
    );
    let text = shown("time");
    for word in ["wall", "CPU", "user", "sys"] {
        assert!(text.contains(&format!("{word} median=")), "{text}");
    }
    let text = shown("all");
    assert!(
        text.contains("rss median=") && text.contains("counters"),
        "{text}"
    );
    assert!(shown("default").contains("user"), "as without the option");
    for (list, word) in [
        ("rss:ms", "MiB"),
        ("wal", "did you mean"),
        ("wall,wall", "twice"),
    ] {
        let finished = folder.offbench(["--metrics", list, "touch x"]).run();
        assert_eq!(finished.code(), Some(2));
        finished.complains(word);
    }
    assert!(!folder.exists("x"));
}

#[test]
fn hyperfine_exports_have_their_options() {
    let folder = Folder::new();
    for format in ["asciidoc", "csv", "json", "markdown", "orgmode"] {
        let option = format!("--export-{format}");
        let finished = folder.offbench(["-r2", &option, "file", "true"]).run();
        assert_eq!(finished.code(), Some(0), "{finished:?}");
        assert!(!folder.read("file").is_empty(), "{format}");
        let finished = folder.offbench(["-r2", &option, "-", "true"]).run();
        assert!(
            finished.stderr().contains("wall"),
            "the report makes room: {format}"
        );
    }
}

#[test]
fn help_and_version_are_there() {
    let folder = Folder::new();
    for option in ["-h", "--help", "-V", "--version"] {
        let finished = folder.offbench([option]).run();
        assert_eq!(finished.code(), Some(0));
        assert!(finished.stdout().to_lowercase().contains("offbench"));
    }
    let short = folder.offbench(["-h"]).run().stdout();
    assert!(short.lines().count() <= 50 && short.lines().all(|line| line.len() <= 90));
    let long = folder.offbench(["--help"]).run().stdout();
    assert!(long.contains("Exit status:") && long.contains("Examples:"));
}

#[test]
fn a_time_limit_ends_everything_and_leaves_no_ratio() {
    let folder = Folder::new();
    let args = [
        "-i",
        "-r2",
        "--timeout",
        "200ms",
        "sh -c 'sleep 47 & echo $! >pid; wait'",
        "true",
    ];
    let finished = folder.offbench(args).run();
    let text = finished.stdout();
    assert!(text.contains("> 200 ms (timed out)"), "{text}");
    assert!(
        text.contains("no ratio") && !text.contains("faster"),
        "{text}"
    );
    let found = std::process::Command::new("ps")
        .args(["-o", "stat=", "-p", folder.read("pid").trim()])
        .output();
    let state = String::from_utf8(found.unwrap().stdout).unwrap();
    let ended = state.trim().is_empty() || state.starts_with('Z');
    assert!(ended, "the sleep is still there: {state}");
}

#[test]
fn a_pause_stands_before_each_run() {
    let folder = Folder::new();
    let begun = std::time::Instant::now();
    folder.measure(["-w0", "-r3", "--sleep", "100ms", "true"]);
    assert!(begun.elapsed().as_millis() >= 300);
}

#[test]
fn outputs_must_agree_when_that_is_asked_for() {
    let folder = Folder::new();
    folder.measure(["-r2", "--check-output", "echo a", "printf 'a\\n'"]);
    let finished = folder
        .offbench(["-r2", "--check-output", "echo a", "echo b"])
        .run();
    assert_eq!(finished.code(), Some(1));
    let told = finished.stderr();
    assert!(
        told.contains("`echo a`") && told.contains("`echo b`"),
        "{told}"
    );
    let finished = folder
        .offbench(["-w0", "-r2", "--check-output", "echo $OFFBENCH_ITERATION"])
        .run();
    assert!(
        finished
            .stderr()
            .contains("run 2 wrote something else than run 1"),
        "{finished:?}"
    );
    let finished = folder
        .offbench(["--check-output", "--show-output", "true"])
        .run();
    assert_eq!(finished.code(), Some(2));
}

#[test]
fn words_can_be_given_one_by_one() {
    let folder = Folder::new();
    let args = [
        "-w0",
        "-r1",
        "--output=out",
        "--argv",
        "--",
        "printf",
        "[%s]",
        "a b",
        "$HOME",
        "",
    ];
    folder.measure_with(&["--export-json=out.json"], args);
    assert_eq!(folder.read("out"), "[a b][$HOME][]");
}

#[test]
fn order_is_chosen_and_given_up_for_own_setups() {
    let folder = Folder::new();
    folder.measure([
        "--order",
        "sequential",
        "-w0",
        "-r3",
        "echo A >>log",
        "echo B >>log",
    ]);
    let log: String = folder.read("log").split_whitespace().collect();
    assert_eq!(log, "AAABBB");
    let args = [
        "-w0",
        "-r2",
        "-s",
        "echo 1 >>own",
        "-s",
        "echo 2 >>own",
        "echo A >>own",
        "echo B >>own",
    ];
    let finished = folder.offbench(args).run();
    finished.complains("one after the other");
    let log: String = folder.read("own").split_whitespace().collect();
    assert_eq!(log, "1AA2BB");
}

#[test]
fn commands_run_where_they_are_told_to() {
    let folder = Folder::new();
    let found = folder.measure(["-w0", "-r1", "--cpu", "0", "--output=out", "nproc"]);
    let placement = &found["results"][0]["offbench"]["conditions"]["placement"];
    assert_eq!(placement["cpus"], serde_json::json!([0]));
    assert_eq!(folder.read("out"), "1\n");
    std::fs::create_dir(folder.join("sub")).unwrap();
    folder.measure(["-w0", "-r1", "--cwd=sub", "--output=where", "pwd"]);
    assert!(folder.read("where").ends_with("/sub\n"));
    let finished = folder.offbench(["--cpu", "1000", "true"]).run();
    assert_eq!(finished.code(), Some(2), "{finished:?}");
}

#[test]
fn a_short_command_in_a_shell_learns_what_the_shell_takes() {
    let folder = Folder::new();
    let finished = folder.offbench(["-r9", "exit 0"]).run();
    let text = finished.stdout();
    assert!(text.contains("note: `sh` alone takes"), "{text}");
    let document = folder.measure(["-r2", &format!("{} | cat", does("spin 30"))]);
    let notes = &document["results"][0]["offbench"]["notes"];
    assert!(!notes.to_string().contains("alone takes"), "{notes}");
    assert!(number(&document["results"][0]["mean"]) > 0.02);
}
