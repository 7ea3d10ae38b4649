//! Commands that wait for nothing: how often something is said against them.
//!
//! `cargo build --release && cargo run --release --example clean [INVOCATIONS]` prints for each command in
//! how many invocations there was a tier, which is that of the loudest finding, and the causes beside
//! it. Only a quiet machine tells anything: on a busy one, queues are real. `OFFBENCH` names another program than
//! target/release/offbench; further arguments are options for it, such as `--explain always`.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "this example is a program of its own"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::hint::black_box;
use std::process::{Command, Stdio};

use serde_json::Value;

type Any<T> = Result<T, Box<dyn Error>>;

/// Runs in one invocation.
const RUNS: &str = "10";

fn main() -> Any<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((word, _)) if word == "threads" => threads(),
        Some((count, options)) => table(count.parse()?, options)?,
        None => table(200, &[])?,
    }
    Ok(())
}

/// Four threads that only compute, about 10 ms each.
fn threads() {
    let spin = || {
        let mut value: u64 = 1;
        for turn in 0..10_000_000_u64 {
            value = black_box(
                value
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(turn),
            );
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(spin);
        }
    });
}

fn commands() -> Any<Vec<(&'static str, String)>> {
    let source = std::env::temp_dir().join(format!("clean-{}.c", std::process::id()));
    std::fs::write(&source, "int main(void) { return 0; }\n")?;
    let itself = std::env::current_exe()?;
    Ok(vec![
        ("true", "true".to_owned()),
        ("ls -R", "ls -R /usr/include".to_owned()),
        (
            "compiler",
            format!("cc -c -o /dev/null {}", source.display()),
        ),
        ("python3 -c pass", "python3 -c pass".to_owned()),
        ("4 threads", format!("{} threads", itself.display())),
    ])
}

fn table(invocations: u32, options: &[String]) -> Any<()> {
    println!("| command | silent | of | what was said |");
    println!("| --- | --- | --- | --- |");
    for (name, command) in commands()? {
        let mut said: BTreeMap<String, u32> = BTreeMap::new();
        let mut silent = 0;
        for _ in 0..invocations {
            let words = findings(&command, options)?;
            silent += u32::from(words.is_empty());
            for word in words {
                *said.entry(word).or_default() += 1;
            }
        }
        let said: Vec<String> = said
            .iter()
            .map(|(word, times)| format!("{word} {times}x"))
            .collect();
        println!(
            "| {name} | {silent} | {invocations} | {} |",
            said.join(", ")
        );
    }
    Ok(())
}

/// The tier and the causes of a tier; nothing where there is none.
fn findings(command: &str, options: &[String]) -> Any<Vec<String>> {
    let path = std::env::var("OFFBENCH").unwrap_or_else(|_| "target/release/offbench".to_owned());
    let output = Command::new(path)
        .args(["-N", "-r", RUNS, "--style", "none", "--export-json", "-"])
        .args(options)
        .arg(command)
        .stderr(Stdio::null())
        .output()?;
    let document: Value = serde_json::from_slice(&output.stdout)?;
    let result = &document["results"][0]["offbench"];
    let tier = result["tier"].as_str().ok_or("a result without a tier")?;
    if tier == "none" {
        return Ok(Vec::new());
    }
    let mut all = vec![format!("tier {tier}")];
    for cause in result["causes"].as_array().into_iter().flatten() {
        if cause["share"].as_f64().is_some_and(|share| share >= 0.05) {
            all.push(cause["id"].as_str().unwrap_or_default().to_owned());
        }
    }
    Ok(all)
}
