//! Coverage of the intervals, false verdicts between equal commands, and what gates decide, over
//! models of noise.
//!
//! Prints the tables of `docs/methods.md`: `cargo run --release --example simulate [TRIALS]`.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "this example is a program of its own"
)]

#[path = "../tests/noise/mod.rs"]
mod noise;

use std::error::Error;

use noise::{MODELS, Machine, Model, apart, in_rounds, truth};
use offbench::stats::decision::{Decision, max_regression};
use offbench::stats::{Estimate, Series, Settings, Summary, Verdict, compare};

/// The limit of the simulated gate, `--max-regression 5%`.
const LIMIT: f64 = 0.05;
/// How much slower the slower command is.
const SLOWER: f64 = 1.10;

/// How often something happened, as a percentage with its standard error.
fn percentage(count: u32, trials: u32) -> String {
    let share = f64::from(count) / f64::from(trials);
    let error = (share * (1.0 - share) / f64::from(trials)).sqrt();
    format!("{:.1} ± {:.1}", 100.0 * share, 100.0 * error)
}

fn is_verdict(ratio: &Estimate) -> bool {
    matches!(Verdict::of(ratio, None), Verdict::Slower | Verdict::Faster)
}

fn fails(ratio: &Estimate) -> bool {
    max_regression(ratio, LIMIT) == Decision::Fail
}

/// One row: coverage of median and mean, verdicts in rounds and one after another.
fn row(model: Model, runs: usize, trials: u32) -> Result<[u32; 4], Box<dyn Error>> {
    let (median, mean) = truth(model, 2_000_000)?;
    let settings = Settings {
        resamples: 1_000,
        ..Settings::default()
    };
    let mut counts = [0; 4];
    for trial in 0..trials {
        let mut machine = Machine::new(u64::from(trial), model, runs);
        let series = Series::new(apart(&mut machine, runs))?;
        let summary = Summary::of(&series, &settings, 0.0);
        for (count, (id, truth)) in counts.iter_mut().zip([("median", median), ("mean", mean)]) {
            let interval = summary.get(id).and_then(|estimate| estimate.interval);
            *count += u32::from(interval.is_some_and(|interval| interval.contains(truth)));
        }
        let (paired, separate) = ratios(model, (trial, runs), 1.0)?;
        counts[2] += u32::from(is_verdict(&paired));
        counts[3] += u32::from(is_verdict(&separate));
    }
    Ok(counts)
}

/// Ratios of two commands in rounds and one after the other, the second `factor` times slower.
fn ratios(
    model: Model,
    (trial, runs): (u32, usize),
    factor: f64,
) -> Result<(Estimate, Estimate), Box<dyn Error>> {
    let level = Settings::default().level;
    let scaled = |values: Vec<f64>| Series::new(values.iter().map(|v| v * factor).collect());
    let mut machine = Machine::new(u64::from(trial) + (1 << 40), model, 2 * runs);
    let (first, second) = in_rounds(&mut machine, runs);
    let paired = compare::paired(&Series::new(first)?, &scaled(second)?, level)?;
    let mut machine = Machine::new(u64::from(trial) + (1 << 41), model, 2 * runs);
    let first = Series::new(apart(&mut machine, runs))?;
    let separate = compare::separate(&first, &scaled(apart(&mut machine, runs))?, level)?;
    Ok((paired, separate))
}

/// How often `--max-regression 5%` fails with 30 runs: on the same command and on a slower one, in
/// rounds and one after the other.
fn gates(model: Model, trials: u32) -> Result<[u32; 4], Box<dyn Error>> {
    let mut counts = [0; 4];
    for trial in 0..trials {
        for (place, factor) in [1.0, SLOWER].into_iter().enumerate() {
            let (paired, separate) = ratios(model, (trial, 30), factor)?;
            counts[place] += u32::from(fails(&paired));
            counts[2 + place] += u32::from(fails(&separate));
        }
    }
    Ok(counts)
}

fn main() -> Result<(), Box<dyn Error>> {
    let trials = std::env::args()
        .nth(1)
        .map_or(Ok(2_000), |trials| trials.parse())?;
    println!(
        "| noise | runs | median covered % | mean covered % | verdict in rounds % | verdict apart % |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    for (name, model) in MODELS {
        for runs in [10, 30, 200] {
            let counts = row(model, runs, trials)?;
            let cells = counts.map(|count| percentage(count, trials)).join(" | ");
            println!("| {name} | {runs} | {cells} |");
        }
    }
    println!();
    println!(
        "| noise | same, in rounds % | 10% slower, in rounds % | same, apart % | 10% slower, apart % |"
    );
    println!("| --- | --- | --- | --- | --- |");
    for (name, model) in MODELS {
        let counts = gates(model, trials)?;
        let cells = counts.map(|count| percentage(count, trials)).join(" | ");
        println!("| {name} | {cells} |");
    }
    Ok(())
}
