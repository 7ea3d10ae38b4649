//! What a run costs here: as offbench makes it, the same without reading any evidence, and by the
//! standard library's `Command`, interleaved in blocks.
//!
//!     cargo run --release --example spawn_cost -- [RUNS] [PROGRAM [ARGUMENT]...]
//!
//! `reported` is the wall time that is measured, `loop` what a run takes in all, both as medians. The
//! last line is what reading evidence changes of the reported time, in pairs of runs.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program of its own, for people"
)]

use std::error::Error;
use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use offbench::plan::{Benchmark, IgnoreFailure, Plan};
use offbench::run::executor::{Executor, ProcessExecutor, Request};
use offbench::run::{SystemClock, session};
use offbench::sample::Phase;
use offbench::stats::{Series, compare};

const BLOCK: usize = 10;

fn plan(words: Vec<OsString>) -> Plan {
    Plan {
        ignore_failure: IgnoreFailure::All,
        environment: std::env::vars_os().collect(),
        ..Plan::of(vec![Benchmark::direct(words)])
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

/// Makes one run and tells its wall time.
type Way<'a> = Box<dyn FnMut() -> Result<Duration, Box<dyn Error>> + 'a>;

/// One run after the other by an executor.
fn by(mut executor: ProcessExecutor<'_>) -> Result<Way<'_>, Box<dyn Error>> {
    executor.begin(0)?;
    let mut request = Request {
        benchmark: 0,
        phase: Phase::Measured,
        index: 0,
        round: 0,
        position: 0,
        padding: 0,
    };
    Ok(Box::new(move || {
        request.index += 1;
        Ok(executor.run(&request, &mut |_| {})?.sample.wall)
    }))
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
    let executor = || ProcessExecutor::new(&plan, SystemClock::begin());
    let mut ways: [(&str, Way<'_>, Column); 3] = [
        ("offbench", by(executor()?)?, Column::default()),
        (
            "no evidence",
            by(executor()?.without_evidence())?,
            Column::default(),
        ),
        (
            "std Command",
            Box::new(|| standard(&words)),
            Column::default(),
        ),
    ];
    for block in 0..runs.div_ceil(BLOCK) {
        for place in 0..ways.len() {
            // Every other time backwards, so that a drift hits all alike.
            let place = if block % 2 == 0 {
                place
            } else {
                ways.len() - 1 - place
            };
            let (_, way, column) = &mut ways[place];
            for _ in 0..BLOCK {
                let begun = Instant::now();
                let wall = way()?;
                column.all.push(begun.elapsed().as_nanos());
                column.reported.push(wall.as_nanos());
            }
        }
    }
    report(&mut ways)
}

/// The table, and the effect of reading evidence.
fn report(ways: &mut [(&str, Way<'_>, Column); 3]) -> Result<(), Box<dyn Error>> {
    let series = |column: &Column| column.reported.iter().map(|ns| *ns as f64).collect();
    let (with, without) = (
        Series::new(series(&ways[0].2))?,
        Series::new(series(&ways[1].2))?,
    );
    let effect = compare::paired(&without, &with, 0.95)?;
    let last = (median(&mut ways[2].2.reported), median(&mut ways[2].2.all));
    println!("us           reported     loop   of std Command");
    for (name, _, column) in ways {
        let (reported, all) = (median(&mut column.reported), median(&mut column.all));
        let of = (reported / last.0, all / last.1);
        println!(
            "{name:12} {reported:8.1} {all:8.1}   {:.2} {:.2}",
            of.0, of.1
        );
    }
    let percent = |ratio: f64| 100.0 * (ratio - 1.0);
    let limits = effect.interval.map(|i| (percent(i.low), percent(i.high)));
    let (low, high) = limits.unwrap_or((f64::NAN, f64::NAN));
    println!(
        "evidence changes the reported time by {:.2}% (95%: {low:.2}% to {high:.2}%)",
        percent(effect.value)
    );
    Ok(())
}
