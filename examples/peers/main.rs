//! offbench and its peers, measured side by side: what they report of commands whose duration is
//! known, how quick they are, and what they take themselves.
//!
//!     cargo build --release
//!     cargo run --release --example peers -- [ROUNDS] [NAME=PATH]...
//!
//! A NAME that begins with `hyperfine` or `hf` is called as hyperfine, every other as offbench;
//! without any, the offbench beside this program and the `hyperfine` of PATH. Rounds are interleaved
//! and the table holds medians over them, with the ratio to the last tool: on a busy machine believe
//! the ratios only. Linux on `x86_64` and `aarch64`; `rustc` must be in PATH.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a program of its own, for people"
)]

mod tool;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tool::{Facts, Tool};

/// One row of the table.
struct Row {
    name: &'static str,
    /// Per tool, one value a round.
    values: Vec<Vec<f64>>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut rounds = 5;
    let mut tools = Vec::new();
    for word in std::env::args().skip(1) {
        match word.split_once('=') {
            Some((name, path)) => tools.push(Tool::new(name, path.into())),
            None => rounds = word.parse()?,
        }
    }
    if tools.is_empty() {
        let beside = std::env::current_exe()?.with_file_name("../offbench");
        tools.push(Tool::new("offbench", beside));
        tools.push(Tool::new("hyperfine", "hyperfine".into()));
    }
    let folder = std::env::temp_dir().join(format!("offbench-peers-{}", std::process::id()));
    std::fs::create_dir(&folder)?;
    let done = program(&folder).and_then(|program| table(&tools, rounds, &folder, &program));
    std::fs::remove_dir_all(&folder)?;
    done
}

/// Builds the program that is run.
fn program(folder: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/peers/program.rs");
    let target = folder.join("program");
    let options = "--edition=2024 -O -Cpanic=abort -Crelocation-model=static \
        -Clink-arg=-nostartfiles -Clink-arg=-nostdlib -Clink-arg=-static";
    let status = Command::new("rustc")
        .args(options.split_whitespace())
        .arg("-o")
        .args([&target, &source])
        .status()?;
    if status.success() {
        Ok(target)
    } else {
        Err("the program does not build".into())
    }
}

fn table(
    tools: &[Tool],
    rounds: usize,
    folder: &Path,
    program: &Path,
) -> Result<(), Box<dyn Error>> {
    let program = program.display();
    let stamp = folder.join("stamp");
    let quiet: Vec<(&str, String, f64)> = vec![
        ("no-op, reported (us)", program.to_string(), 0.0),
        (
            "bias of 0.3 ms (us)",
            format!("{program} spin 300000"),
            3e-4,
        ),
        ("bias of 1 ms (us)", format!("{program} spin 1000000"), 1e-3),
        ("bias of 5 ms (us)", format!("{program} spin 5000000"), 5e-3),
    ];
    let busy: Vec<(&str, String, f64)> = vec![
        ("under load, bias of 1 ms (us)", quiet[2].1.clone(), 1e-3),
        ("under load, bias of 5 ms (us)", quiet[3].1.clone(), 5e-3),
    ];
    let mut rows = biases(tools, rounds, folder, &quiet)?;
    let spinners = spinners(&program.to_string())?;
    let loaded = biases(tools, rounds, folder, &busy);
    for mut spinner in spinners {
        spinner.kill()?;
        spinner.wait()?;
    }
    rows.extend(loaded?);
    let command = format!("{program} stamp {}", stamp.display());
    rows.extend(costs(tools, rounds, folder, &command)?);
    print(tools, &rows);
    Ok(())
}

/// What is reported beyond the known duration.
fn biases(
    tools: &[Tool],
    rounds: usize,
    folder: &Path,
    cases: &[(&'static str, String, f64)],
) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for (name, command, truth) in cases {
        let mut values = vec![Vec::new(); tools.len()];
        for _ in 0..rounds {
            for (place, tool) in tools.iter().enumerate() {
                let facts = tool.measure(command, 100, folder)?;
                values[place].push((median(&facts.times) - truth) * 1e6);
            }
        }
        rows.push(Row { name, values });
    }
    Ok(rows)
}

/// What the tools themselves take for many runs.
fn costs(
    tools: &[Tool],
    rounds: usize,
    folder: &Path,
    command: &str,
) -> Result<Vec<Row>, Box<dyn Error>> {
    const RUNS: usize = 3_000;
    type Of = fn(&Facts) -> f64;
    let wanted: [(&'static str, Of); 5] = [
        ("runs a second", |facts| RUNS as f64 / facts.elapsed),
        ("own CPU a run (us)", |facts| {
            facts.own_cpu / RUNS as f64 * 1e6
        }),
        ("after the last run, with JSON (ms)", |facts| {
            facts.after * 1e3
        }),
        ("own peak memory (MiB)", |facts| facts.peak / 1_048_576.0),
        ("drift of a run's peak memory (KiB)", |facts| {
            facts.drift / 1024.0
        }),
    ];
    let mut rows: Vec<Row> = wanted
        .iter()
        .map(|(name, _)| Row {
            name,
            values: vec![Vec::new(); tools.len()],
        })
        .collect();
    for _ in 0..rounds {
        for (place, tool) in tools.iter().enumerate() {
            let facts = tool.measure(command, RUNS, folder)?;
            for (row, (_, of)) in rows.iter_mut().zip(&wanted) {
                row.values[place].push(of(&facts));
            }
        }
    }
    Ok(rows)
}

/// Three busy loops a CPU.
fn spinners(program: &str) -> Result<Vec<Child>, Box<dyn Error>> {
    let count = 3 * std::thread::available_parallelism()?.get();
    let start = |_| {
        Command::new(program)
            .args(["spin", "600000000000"])
            .stdin(Stdio::null())
            .spawn()
    };
    Ok((0..count).map(start).collect::<Result<_, _>>()?)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

fn print(tools: &[Tool], rows: &[Row]) {
    print!("{:36}", "");
    for tool in tools {
        print!("{:>14}", tool.name);
    }
    println!("   ratio to the last");
    for row in rows {
        print!("{:36}", row.name);
        let medians: Vec<f64> = row.values.iter().map(|values| median(values)).collect();
        for value in &medians {
            print!("{value:>14.1}");
        }
        let last = medians.last().copied().unwrap_or(f64::NAN);
        for value in &medians[..medians.len().saturating_sub(1)] {
            print!("  {:.2}", value / last);
        }
        println!();
    }
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("load average {}", load.trim());
}
