//! Decisions through the real program: baselines, regressions, saved sessions, precision, exit codes.
//! Nothing here depends on how fast the machine is; where a difference must be found it is large.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    unreachable_pub,
    missing_docs,
    reason = "a test that fails may panic, and it runs programs"
)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A folder of its own, removed at the end, with a program that spins.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        Self(common::folder("decisions"))
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    /// Runs offbench in the folder.
    fn run(&self, arguments: &[&str]) -> Done {
        let output = Command::new(env!("CARGO_BIN_EXE_offbench"))
            .args(arguments)
            .current_dir(&self.0)
            .env("LC_ALL", "C.UTF-8")
            .output()
            .unwrap();
        Done {
            code: output.status.code().unwrap(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&fs::read_to_string(self.0.join(name)).unwrap()).unwrap()
    }

    /// Writes the document with its host changed.
    fn moved(&self, from: &str, to: &str, change: impl FnOnce(&mut Value)) {
        let mut document = self.json(from);
        change(&mut document["offbench"]["host"]);
        fs::write(self.0.join(to), document.to_string()).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[derive(Debug)]
struct Done {
    code: i32,
    out: String,
    err: String,
}

impl Done {
    /// Checks the exit code.
    fn code(self, wanted: i32) -> Self {
        assert_eq!(self.code, wanted, "{self:?}");
        self
    }

    fn says(&self, text: &str) {
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            flat(&self.out).contains(text),
            "`{text}` is not in {self:?}"
        );
    }

    fn complains(&self, text: &str) {
        assert!(self.err.contains(text), "`{text}` is not in {self:?}");
    }
}

/// The words that ask for a regression against that baseline.
fn against(baseline: &str) -> [&str; 6] {
    ["-r", "6", "--baseline", baseline, "--max-regression", "5%"]
}

/// A loop of so many turns.
fn spin(turns: u32) -> String {
    format!("i=0; while [ $i -lt {turns} ]; do i=$((i+1)); done")
}

#[test]
fn a_slower_command_is_a_regression_against_the_first() {
    let folder = Folder::new();
    let (old, new) = (spin(10_000), spin(12_000));
    let base = ["-r", "20", "-n", "old", "-n", "new", "--max-regression"];
    let done = folder.run(&[&base[..], &["cpu=5%", &old, &new]].concat());
    done.code(3).says("FAIL 2 cpu vs 1 +5%");
    let done = folder.run(&[&base[..], &["cpu=80%", &old, &new]].concat());
    done.code(0).says("ok 2 cpu vs 1 +80%");
}

#[test]
fn a_baseline_is_saved_and_compared() {
    let folder = Folder::new();
    let command = spin(10_000);
    let save = [
        "-r",
        "20",
        "-n",
        "loop",
        "--save-baseline",
        "main.json",
        &command,
    ];
    folder.run(&save).code(0);
    let again = ["-r", "20", "-n", "loop", "--baseline", "main.json"];
    let done = folder.run(&[&again[..], &["--max-regression", "cpu=50%", &command]].concat());
    done.says("ok cpu main.json +50%");
    done.code(0).says("the baseline is another session");
    let slower = spin(20_000);
    let done = folder.run(&[&again[..], &["--max-regression", "cpu=50%", &slower]].concat());
    done.code(3).says("FAIL cpu main.json +50%");
}

#[test]
fn a_spoilt_session_becomes_no_baseline() {
    let folder = Folder::new();
    folder
        .run(&["-r", "6", "--save-baseline", "main.json", "true"])
        .code(0);
    let before = fs::read(folder.path("main.json")).unwrap();
    let done = folder.run(&["-r", "6", "--save-baseline", "main.json", "false"]);
    done.code(1).complains("not saved");
    let gate = ["--fail-if", "wall > 1ns", "--save-baseline", "main.json"];
    let done = folder.run(&[&["-r", "6"], &gate[..], &["true"]].concat());
    done.code(3).complains("not saved");
    assert_eq!(fs::read(folder.path("main.json")).unwrap(), before);
}

/// Changes a document.
type Change = fn(&mut Value);

#[test]
fn another_machine_is_named_and_decides_nothing() {
    let folder = Folder::new();
    folder
        .run(&["-r", "8", "--save-baseline", "main.json", "true"])
        .code(0);
    let changes: [(&str, Change); 3] = [
        ("CPU model", |host| host["cpu_model"] = "Another CPU".into()),
        ("number of CPUs", |host| host["cpus"] = 4096.into()),
        ("kernel", |host| host["kernel"] = "Linux 0.99".into()),
    ];
    for (what, change) in changes {
        folder.moved("main.json", "other.json", change);
        let base = [
            "-r",
            "8",
            "--baseline",
            "other.json",
            "--max-regression",
            "5%",
        ];
        let done = folder.run(&[&base[..], &["true"]].concat()).code(0);
        done.says("unsure wall other.json +5%");
        done.says(&format!("not comparable: {what}"));
        folder
            .run(&[&base[..], &["--strict", "true"]].concat())
            .code(4);
    }
}

#[test]
fn an_unknown_format_is_named_and_decides_nothing() {
    let folder = Folder::new();
    let newer = r#"{"offbench": {"schema": "offbench/99"}, "results": []}"#;
    fs::write(folder.path("new.json"), newer).unwrap();
    let done = folder.run(&[&against("new.json")[..], &["true"]].concat());
    done.code(0).says("has the unknown format offbench/99");
}

#[test]
fn an_empty_folder_of_baselines_says_how_the_first_is_made() {
    let folder = Folder::new();
    fs::create_dir(folder.path("history")).unwrap();
    let asked = against("history");
    let done = folder.run(&[&asked[..], &["true"]].concat()).code(0);
    let why = "history holds no .json file (--save-baseline history/1.json makes the first)";
    done.says(&format!("no baseline: {why}"));
    done.says("unsure wall history +5% has no baseline");
    let done = folder.run(&[&asked[..], &["--strict", "touch ran"]].concat());
    let done = done.code(4);
    done.complains("cannot read history: it holds no .json file");
    done.complains("--save-baseline history/1.json makes the first");
    assert!(!folder.0.join("ran").exists());
}

#[test]
fn a_missing_baseline_is_a_warning_until_strict() {
    let folder = Folder::new();
    let base = against("none.json");
    let done = folder.run(&[&base[..], &["true"]].concat()).code(0);
    done.says("none.json does not exist");
    let done = folder.run(&[&base[..], &["--strict", "touch ran"]].concat());
    done.code(4)
        .complains("cannot read none.json: there is no such file");
    assert!(!Path::new(&folder.path("ran")).exists(), "it ran");
}

#[test]
fn wrong_use_ends_before_anything_runs() {
    let folder = Folder::new();
    fs::write(folder.path("bad.json"), "{").unwrap();
    let touch = "touch ran";
    let cases: [(&[&str], &str); 9] = [
        (
            &["--max-regression", "0.5%", touch, touch],
            "0.5% is below 1%",
        ),
        (
            &["--max-regression", "wal=5%", touch, touch],
            "did you mean `wall`?",
        ),
        (&["--max-regression", "5", touch, touch], "--max-regression"),
        (
            &["--max-regression", "5%", touch],
            "nothing to compare with",
        ),
        (&["--baseline", "bad.json", touch], "cannot read bad.json"),
        (&["--noise", touch, touch], "--noise measures one command"),
        (&["--equal-within", "0%", touch, touch], "not above 0%"),
        (&[touch, "--compare", "bad.json"], "--compare runs nothing"),
        (&["--compare", "none.json"], "there is no such file"),
    ];
    for (arguments, text) in cases {
        folder.run(arguments).code(2).complains(text);
    }
    assert!(!Path::new(&folder.path("ran")).exists(), "it ran");
}

#[test]
fn strict_makes_an_open_question_exit_4() {
    let folder = Folder::new();
    let base = ["-r", "3", "--fail-if", "wall > 1us"];
    folder
        .run(&[&base[..], &["true"]].concat())
        .code(0)
        .says("unsure");
    let done = folder.run(&[&base[..], &["--strict", "true"]].concat());
    done.code(4).complains("1 gate not decided");
}

#[test]
fn saved_files_are_analysed_without_a_run() {
    let folder = Folder::new();
    let (short, long) = (spin(4_000), spin(12_000));
    let names = ["-n", "short", "-n", "long", "-r", "10"];
    for file in ["mon.json", "tue.json", "wed.json"] {
        folder
            .run(&[&names[..], &["--save-baseline", file, &short, &long]].concat())
            .code(0);
    }
    let one = folder.run(&["--compare", "mon.json"]).code(0);
    one.says("2 is");
    one.says("10 pairs");
    let all = ["--compare", "mon.json", "tue.json", "wed.json"];
    let done = folder.run(&[&all[..], &["--max-regression", "cpu=20%"]].concat());
    let done = done.code(3);
    done.says("1 short: 3 sessions");
    done.says("between sessions");
    done.says("3 sessions)");
    done.says("FAIL 2 cpu vs 1 +20%");
    let twice = folder.run(&["--compare", "mon.json", "./mon.json"]);
    twice.code(2).complains("given twice");
}

#[test]
fn files_of_hyperfine_are_compared_and_decide_nothing_as_baseline() {
    let folder = Folder::new();
    let times: Vec<String> = (0..12)
        .map(|run| format!("0.{}", 100 + run * 5 % 12))
        .collect();
    let one = |command: &str| {
        let times = times.join(",");
        format!(r#"{{"command": "{command}", "times": [{times}]}}"#)
    };
    let document = format!(r#"{{"results": [{}, {}]}}"#, one("true"), one("b"));
    fs::write(folder.path("h.json"), document).unwrap();
    let done = folder.run(&["--compare", "h.json"]).code(0);
    done.says("no difference shown: 2 is between");
    let done = folder.run(&["--compare", "h.json", "--equal-within", "20%"]);
    done.code(0).says("1 and 2 are equal within 20%");
    let done = folder.run(&[&against("h.json")[..], &["true"]].concat());
    done.code(0).says("does not say on what machine");
}

#[test]
fn a_folder_of_sessions_is_a_baseline() {
    let folder = Folder::new();
    fs::create_dir(folder.path("history")).unwrap();
    let command = spin(6_000);
    for day in 1..=5 {
        let file = format!("history/{day}.json");
        folder
            .run(&["-r", "8", "-n", "loop", "--save-baseline", &file, &command])
            .code(0);
    }
    let base = [
        "-r",
        "8",
        "-n",
        "loop",
        "--baseline",
        "history",
        "--max-regression",
    ];
    let done = folder
        .run(&[&base[..], &["cpu=300%", &command]].concat())
        .code(0);
    done.says("ok cpu 5 sessions +300%");
    done.says("among 5 sessions");
}

#[test]
fn noise_tells_the_smallest_detectable_difference() {
    let folder = Folder::new();
    let done = folder.run(&["--noise", "-r", "10", &spin(3_000)]).code(0);
    done.says("noise: the smallest difference detectable here now is");
    done.says("10 pairs, 9 times in 10");
}

#[test]
fn precision_is_reached_or_said_to_be_missed() {
    let folder = Folder::new();
    let base = ["--export-json", "out.json", "--max-time"];
    let easy = folder.run(&[&base[..], &["20", "--precision", "90%", "sleep 0.01"]].concat());
    let runs = folder.json("out.json")["results"][0]["offbench"]["phases"]["measured"].clone();
    let looks = [20, 30, 45, 68, 102, 153, 230];
    assert!(looks.iter().any(|look| runs == *look), "{easy:?}");
    assert!(!easy.code(0).out.contains("not reached"));
    let hard = folder.run(&[&base[..], &["0.5", "--precision", "0.001%", "sleep 0.01"]].concat());
    hard.code(0).says("±0.001% not reached");
}

#[test]
fn a_warm_up_until_steady_is_recorded() {
    let folder = Folder::new();
    let base = [
        "--warmup",
        "auto",
        "-r",
        "6",
        "--export-json",
        "out.json",
        "true",
    ];
    let done = folder.run(&base).code(0);
    let result = &folder.json("out.json")["results"][0]["offbench"];
    let (runs, report) = (&result["phases"]["warmup"], &result["conditions"]["warmup"]);
    assert_eq!(&report["runs"], runs);
    assert!((25..=100).contains(&runs.as_u64().unwrap()), "{done:?}");
    done.says(if report["steady"] == true {
        "steady within"
    } else {
        "not steady after"
    });
}

#[test]
fn references_are_named_before_the_run_or_found() {
    let folder = Folder::new();
    let (slow, quick) = (spin(12_000), "true");
    let done = folder
        .run(&["-r", "10", "--reference", &slow, quick])
        .code(0);
    done.says("2 is");
    done.says("faster than 1");
    let done = folder
        .run(&["-r", "10", "--reference", "fastest", &slow, quick, &slow])
        .code(0);
    done.says("slower than 2 (98.3%");
}

#[test]
fn a_single_run_and_a_failed_command_get_no_verdict() {
    let folder = Folder::new();
    let done = folder.run(&["-r", "1", "true", "sleep 0.05"]).code(0);
    done.says("no verdict on 2 and 1: too few runs");
    let done = folder.run(&["-r", "6", "-i", "true", "false"]).code(0);
    done.says("no ratio: 2 failed 6 of 6");
}

#[test]
fn a_wait_without_cpu_time_fails_by_its_bound() {
    let folder = Folder::new();
    let sleep = ["-r", "8", "--fail-if", "wall/cpu > 3", "sleep 0.1"];
    folder.run(&sleep).code(3).says("FAIL wall/cpu > 3");
}

/// Stands in for the tools of the recipes: offbench in a hurry, GNU parallel and Slurm one by one.
fn stand_ins(folder: &Folder) {
    let offbench = env!("CARGO_BIN_EXE_offbench");
    let tools = [
        (
            "offbench",
            format!(
                "case \"$*\" in *--compare*) exec {offbench} \"$@\";; esac\n\
                 exec {offbench} --max-time 0.05 \"$@\"\n"
            ),
        ),
        (
            "parallel",
            "shift 2; line=\nwhile [ \"$1\" != ::: ]; do line=\"$line $1\"; shift; done; shift\n\
             for value; do sh -c \"$(echo \"$line\" | sed \"s/{}/$value/g\")\"; done\n"
                .to_owned(),
        ),
        (
            "sbatch",
            "case $1 in --parsable) for n in 1 2 3; do SLURM_ARRAY_TASK_ID=$n sh \"$2\" >&2; done; \
             echo 7;; *) shift; sh -c \"${1#--wrap=}$2\" ;; esac\n"
                .replace("${1#--wrap=}$2", "$2"),
        ),
        ("old", spin(1_000) + "\n"),
        ("new", spin(1_000) + "\n"),
    ];
    for (name, body) in tools {
        let path = folder.path(name);
        fs::write(&path, format!("#!/bin/sh\n{body}")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&path, mode).unwrap();
    }
}

/// The shell lines of the manual: its `sh` blocks, and the `run:` lines of its workflow.
fn recipes(manual: &str) -> Vec<String> {
    let blocks = manual.split("```sh\n").skip(1);
    let blocks = blocks.map(|rest| rest.split("```").next().unwrap().to_owned());
    let lines = manual
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- run: "));
    let lines = lines.map(|line| line.replace("${{ matrix.session }}", "9"));
    blocks.chain(lines).collect()
}

#[test]
fn the_recipes_of_the_manual_work() {
    let folder = Folder::new();
    stand_ins(&folder);
    fs::write(folder.path("words"), "b\na\n").unwrap();
    let path = format!("{}:{}", folder.0.display(), std::env::var("PATH").unwrap());
    let shell = |script: &str| {
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .current_dir(&folder.0)
            .env("PATH", &path);
        command.output().unwrap()
    };
    let first = "mkdir -p results; offbench -n old -n new --export-json results/0.json ./old ./new";
    assert!(shell(first).status.success());
    let all = recipes(include_str!("../docs/sessions.md"));
    assert!(all.len() >= 7, "{all:#?}");
    for script in all {
        if script.starts_with("#!") {
            fs::write(folder.path("measure.sh"), script).unwrap();
            continue;
        }
        let output = shell(&script);
        let err = String::from_utf8_lossy(&output.stderr);
        // Noise may make a gate fail; nothing else may go wrong.
        assert!(
            matches!(output.status.code(), Some(0 | 3)),
            "{script}\n{err}"
        );
        assert!(
            !err.contains("error: cannot") && !err.contains("not found"),
            "{script}\n{err}"
        );
    }
    for file in [
        "history/5.json",
        "results/3.json",
        "results/5.json",
        "session-9.json",
    ] {
        assert!(Path::new(&folder.path(file)).exists(), "{file}");
    }
}
