//! What a run costs here, against the standard library's `Command`, interleaved in blocks.
//!
//!     cargo run --release --example spawn_cost -- [RUNS] [PROGRAM [ARGUMENT]...]
//!
//! `reported` is the wall time that is measured, `loop` what a run takes in all, both as medians.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program of its own, for people"
)]

use std::error::Error;
use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use offbench::plan::{Benchmark, Hooks, IgnoreFailure, Input, Invocation, Output};
use offbench::plan::{Explain, Limits, Order, Placement, Plan};
use offbench::run::executor::{Executor, ProcessExecutor, Request};
use offbench::run::{SystemClock, session};
use offbench::sample::Phase;

const BLOCK: usize = 50;

fn plan(words: Vec<OsString>) -> Plan {
    Plan {
        benchmarks: vec![Benchmark {
            command: OsString::new(),
            invocation: Invocation::Direct(words),
            name: None,
            parameters: std::collections::BTreeMap::new(),
            env: Vec::new(),
            cwd: None,
            input: Input::Null,
            output: Output::Null,
            hooks: Hooks::default(),
        }],
        limits: Limits::default(),
        order: Order::Rounds,
        seed: 1,
        timeout: None,
        sleep: Duration::ZERO,
        ignore_failure: IgnoreFailure::All,
        placement: Placement::Free,
        wait_descendants: false,
        counters: false,
        check_output: false,
        expect_wait: false,
        explain: Explain::Never,
        trace: false,
        environment: std::env::vars_os().collect(),
    }
}

/// Times of one way of running, in nanoseconds.
#[derive(Default)]
struct Column {
    reported: Vec<u128>,
    all: Vec<u128>,
}

fn median(values: &mut [u128]) -> f64 {
    values.sort_unstable();
    values
        .get(values.len() / 2)
        .map_or(f64::NAN, |ns| *ns as f64 / 1e3)
}

fn standard(words: &[OsString]) -> Result<Duration, Box<dyn Error>> {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    command.spawn()?.wait()?;
    Ok(begun.elapsed())
}

fn main() -> Result<(), Box<dyn Error>> {
    session::begin()?;
    let mut arguments = std::env::args_os().skip(1);
    let runs = arguments
        .next()
        .and_then(|text| text.to_str()?.parse().ok());
    let runs: usize = runs.unwrap_or(2_000);
    let mut words: Vec<OsString> = arguments.collect();
    if words.is_empty() {
        words.push("/bin/true".into());
    }
    let plan = plan(words.clone());
    let mut executor = ProcessExecutor::new(&plan, SystemClock::begin())?;
    executor.begin(0)?;
    let mut columns = [Column::default(), Column::default()];
    let mut request = Request {
        benchmark: 0,
        phase: Phase::Measured,
        index: 0,
        round: 0,
        position: 0,
        padding: 0,
    };
    for _ in 0..runs.div_ceil(BLOCK) {
        for (way, column) in columns.iter_mut().enumerate() {
            for _ in 0..BLOCK {
                let begun = Instant::now();
                let wall = if way == 0 {
                    request.index += 1;
                    executor.run(&request, &mut |_| {})?.sample.wall
                } else {
                    standard(&words)?
                };
                column.all.push(begun.elapsed().as_nanos());
                column.reported.push(wall.as_nanos());
            }
        }
    }
    executor.end(0)?;
    let manner = executor.manner();
    println!(
        "stamp {:?}, peak memory floor {:?} bytes",
        manner.stamp, manner.rss_floor
    );
    let [ours, theirs] = columns.map(|mut c| (median(&mut c.reported), median(&mut c.all)));
    println!("us           reported     loop");
    println!("offbench     {:8.1} {:8.1}", ours.0, ours.1);
    println!("std Command  {:8.1} {:8.1}", theirs.0, theirs.1);
    println!(
        "ratio        {:8.2} {:8.2}",
        ours.0 / theirs.0,
        ours.1 / theirs.1
    );
    Ok(())
}
