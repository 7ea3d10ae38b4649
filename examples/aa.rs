//! Decisions on real commands: how often a verdict is given of equal commands and of commands that
//! differ by 1%, and how often a gate on a regression fails.
//!
//! `cargo build --release && cargo run --release --example aa [PAIRS [NAME]]` prints a table of
//! verdicts, of the kinds whose name holds NAME; `… --example aa gates [INVOCATIONS]` one of gates. `OFFBENCH` names another program than
//! target/release/offbench; `HYPERFINE` and `HYPERFINE2` add those two tools, 1.x and 2.x, to the
//! verdicts. Conditions: the machine as it is, and with a busy loop that begins halfway.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "this example is a program of its own"
)]

use std::error::Error;
use std::hint::black_box;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

type Any<T> = Result<T, Box<dyn Error>>;

/// Runs of each command in one comparison.
const RUNS: u32 = 25;

fn main() -> Any<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|word| word == "spin") {
        spin(
            arguments
                .get(2)
                .map_or(Ok(u64::MAX), |turns| turns.parse())?,
        );
        return Ok(());
    }
    if arguments.get(1).is_some_and(|word| word == "gates") {
        return gates(arguments.get(2).map_or(Ok(100), |count| count.parse())?);
    }
    let pairs = arguments.get(1).map_or(Ok(60), |pairs| pairs.parse())?;
    table(pairs, arguments.get(2).map_or("", String::as_str))
}

/// Work that nothing shortens.
fn spin(turns: u64) {
    let mut value: u64 = 1;
    for turn in 0..turns {
        value = black_box(
            value
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(turn),
        );
    }
}

/// Turns that take about that long here, by the fastest of several tries.
fn calibrate(wanted: Duration) -> u64 {
    let probe = 5_000_000;
    let once = || {
        let begin = Instant::now();
        spin(probe);
        begin.elapsed()
    };
    let fastest = (0..20).map(|_| once()).min().unwrap_or(wanted);
    (probe as f64 * wanted.as_secs_f64() / fastest.as_secs_f64()) as u64
}

/// One line of the table: two commands and whether the machine is disturbed halfway.
struct Case {
    name: &'static str,
    commands: [String; 2],
    disturbed: Option<Duration>,
}

fn cases() -> Any<Vec<Case>> {
    let program = std::env::current_exe()?.display().to_string();
    let turns = calibrate(Duration::from_millis(20));
    let command = |turns: u64| format!("{program} spin {turns}");
    let (long, short) = (command(turns), command(turns / 100));
    let halfway = |each: u64| Some(Duration::from_millis(u64::from(RUNS) * each));
    let equal = |one: &String| [one.clone(), one.clone()];
    let case = |name, commands, disturbed| Case {
        name,
        commands,
        disturbed,
    };
    Ok(vec![
        case("20 ms loop, equal", equal(&long), None),
        case(
            "20 ms loop, equal, busy from halfway",
            equal(&long),
            halfway(21),
        ),
        case("1 ms, equal", equal(&short), None),
        case("1 ms, equal, busy from halfway", equal(&short), halfway(2)),
        case(
            "20 ms loop, 1% slower",
            [long, command(turns + turns / 100)],
            None,
        ),
    ])
}

fn table(pairs: u32, name: &str) -> Any<()> {
    let tools: [(&str, &str, Judge); 3] = [
        ("OFFBENCH", "target/release/offbench", ours),
        ("HYPERFINE", "", hyperfine_1),
        ("HYPERFINE2", "", hyperfine_2),
    ];
    println!("| pairs of commands | tool | claims | of |");
    println!("| --- | --- | --- | --- |");
    for case in cases()?.into_iter().filter(|case| case.name.contains(name)) {
        for (variable, usual, judge) in tools {
            let path = std::env::var(variable).unwrap_or_else(|_| usual.to_owned());
            if path.is_empty() {
                continue;
            }
            let mut counts: Vec<(&str, u32)> = Vec::new();
            for seed in 0..pairs {
                let child = Busy::after(case.disturbed)?;
                let claims = judge(&path, &case.commands, seed)?;
                drop(child);
                for (name, claimed) in claims {
                    match counts.iter_mut().find(|(known, _)| *known == name) {
                        Some((_, count)) => *count += u32::from(claimed),
                        None => counts.push((name, u32::from(claimed))),
                    }
                }
            }
            for (name, count) in counts {
                println!("| {} | {name} | {count} | {pairs} |", case.name);
            }
        }
    }
    Ok(())
}

/// What `--max-regression 5%` decides with 30 runs of a 20 ms loop, against the old command in the
/// same invocation and against a baseline that an earlier one has saved.
fn gates(invocations: u32) -> Any<()> {
    let program = std::env::current_exe()?.display().to_string();
    let turns = calibrate(Duration::from_millis(20));
    let command = |turns: u64| format!("{program} spin {turns}");
    let old = command(turns);
    let saved = std::env::temp_dir().join(format!("baseline-{}.json", std::process::id()));
    let saved = saved.display().to_string();
    println!("| new command | against | ok | unsure | fail | of |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for (name, new) in [
        ("unchanged", old.clone()),
        ("10% slower", command(turns + turns / 10)),
    ] {
        let mut counts = [[0_u32; 3]; 2];
        for seed in 0..invocations {
            // A baseline of its own each time: one unlucky baseline would decide all of them.
            let named = ["-n", "work"];
            decide(
                &[&["--save-baseline", &saved, &old], &named[..]].concat(),
                seed,
            )?;
            let against = ["--baseline", &saved, GATE, &new];
            let baseline = decide(&[&against, &named[..]].concat(), seed)?;
            let beside = decide(&[GATE, &old, &new], seed)?;
            counts[0][beside] += 1;
            counts[1][baseline] += 1;
        }
        for (against, [ok, unsure, fail]) in
            ["the same invocation", "a baseline"].iter().zip(counts)
        {
            println!("| {name} | {against} | {ok} | {unsure} | {fail} | {invocations} |");
        }
    }
    std::fs::remove_file(saved)?;
    Ok(())
}

const GATE: &str = "--max-regression=5%";

/// 0 if all gates are ok, 1 if one is unsure, 2 if one failed.
fn decide(arguments: &[&str], seed: u32) -> Any<usize> {
    let path = std::env::var("OFFBENCH").unwrap_or_else(|_| "target/release/offbench".to_owned());
    let status = Command::new(path)
        .args(["-N", "-r", "30", "--style", "none", "--strict"])
        .args(["--seed", &seed.to_string()])
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    match status.code() {
        Some(0) => Ok(0),
        Some(4) => Ok(1),
        Some(3) => Ok(2),
        _ => Err(format!("{arguments:?} ended with {status}").into()),
    }
}

/// A process that keeps a CPU busy after a while, ended when dropped.
struct Busy(Option<Child>);

impl Busy {
    fn after(delay: Option<Duration>) -> Any<Self> {
        let Some(delay) = delay else {
            return Ok(Self(None));
        };
        let script = format!("sleep {}; exec \"$0\" spin", delay.as_secs_f64());
        let child = Command::new("sh")
            .args(["-c", &script])
            .arg(std::env::current_exe()?)
            .spawn()?;
        Ok(Self(Some(child)))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What a tool claims of two commands, by name of the claim.
type Judge = fn(&str, &[String; 2], u32) -> Any<Vec<(&'static str, bool)>>;

fn ours(path: &str, commands: &[String; 2], seed: u32) -> Any<Vec<(&'static str, bool)>> {
    let runs = RUNS.to_string();
    let output = Command::new(path)
        .args(["-N", "-r", &runs, "--seed", &seed.to_string()])
        .args(["--style", "none", "--export-json", "-"])
        .args(commands)
        .stderr(Stdio::null())
        .output()?;
    let document: Value = serde_json::from_slice(&output.stdout)?;
    let verdict = |metric: &str| {
        let all = document["offbench"]["comparisons"].as_array();
        all.into_iter().flatten().any(|one| {
            let word = one["verdict"].as_str();
            one["metric"] == metric && matches!(word, Some("slower" | "faster"))
        })
    };
    let (wall, cpu) = (verdict("wall"), verdict("cpu"));
    Ok(vec![
        ("offbench, wall", wall),
        ("offbench, CPU", cpu),
        ("offbench, wall or CPU", wall || cpu),
    ])
}

/// hyperfine 1 names a winner with a ratio ± its uncertainty; a claim is a ratio past it.
fn hyperfine_1(path: &str, commands: &[String; 2], _seed: u32) -> Any<Vec<(&'static str, bool)>> {
    let text = hyperfine(path, commands)?;
    let line = text.lines().find(|line| line.contains("times faster than"));
    let numbers: Vec<f64> = line
        .into_iter()
        .flat_map(str::split_whitespace)
        .filter_map(|word| word.parse().ok())
        .collect();
    let past = |sigmas: f64| match numbers.as_slice() {
        [ratio, error, ..] => ratio - 1.0 > sigmas * error,
        _ => false,
    };
    Ok(vec![
        ("hyperfine 1, ratio past its ±", past(1.0)),
        ("hyperfine 1, ratio past twice its ±", past(2.0)),
        (
            "hyperfine 1, names 1.01 or more",
            numbers.first().is_some_and(|r| *r >= 1.01),
        ),
    ])
}

/// hyperfine 2 labels a command faster or slower.
fn hyperfine_2(path: &str, commands: &[String; 2], _seed: u32) -> Any<Vec<(&'static str, bool)>> {
    let text = hyperfine(path, commands)?;
    let wall = text
        .lines()
        .skip_while(|line| !line.contains("Wall"))
        .take(8);
    let labelled = wall
        .into_iter()
        .any(|line| line.contains("faster") || line.contains("slower"));
    let change = text
        .split_whitespace()
        .filter_map(|word| word.trim_matches(['(', ')']).strip_suffix('%'))
        .filter(|word| word.starts_with(['+', '-']))
        .find_map(|word| word.parse::<f64>().ok());
    Ok(vec![
        ("hyperfine 2, faster or slower", labelled),
        (
            "hyperfine 2, prints 1% or more",
            change.is_some_and(|c| c.abs() >= 1.0),
        ),
    ])
}

fn hyperfine(path: &str, commands: &[String; 2]) -> Any<String> {
    let output = Command::new(path)
        .args(["-N", "-w", "1", "-r", &RUNS.to_string(), "--style", "basic"])
        .args(commands)
        .stderr(Stdio::null())
        .output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
