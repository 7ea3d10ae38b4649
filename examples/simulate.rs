//! Coverage of the intervals and false verdicts between equal commands, over models of noise.
//!
//! Prints the table of `docs/methods.md`: `cargo run --release --example simulate [TRIALS]`.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "this example is a program of its own"
)]

use offbench::stats::random::Random;
use offbench::stats::{Estimate, Series, SeriesError, Settings, Summary, Verdict, compare};

/// Relative spread of every model without its disturbance.
const SPREAD: f64 = 0.02;

/// What disturbs the runs.
#[derive(Clone, Copy)]
enum Model {
    Independent,
    Skewed,
    Drift,
    Autocorrelated(f64),
    Bimodal,
    RareOutliers,
}

const MODELS: [(&str, Model); 7] = [
    ("independent", Model::Independent),
    ("skewed (exponential tail)", Model::Skewed),
    ("drift of 3% over the session", Model::Drift),
    ("autocorrelated, lag-1 0.3", Model::Autocorrelated(0.3)),
    ("autocorrelated, lag-1 0.7", Model::Autocorrelated(0.7)),
    ("two speeds, 70% and 30%, 8% apart", Model::Bimodal),
    ("3% of runs four times slower", Model::RareOutliers),
];

/// A machine whose state goes on from run to run.
struct Machine {
    random: Random,
    model: Model,
    state: f64,
    run: f64,
    runs: f64,
}

impl Machine {
    fn new(seed: u64, model: Model, runs: usize) -> Self {
        let mut random = Random::new(seed);
        let state = normal(&mut random);
        Self {
            random,
            model,
            state,
            run: 0.0,
            runs: runs as f64,
        }
    }

    /// Time of the next run of a command whose undisturbed time is 1.
    fn next(&mut self) -> f64 {
        let noise = normal(&mut self.random);
        let unit = self.random.unit();
        let position = self.run / self.runs - 0.5;
        self.run += 1.0;
        let relative = match self.model {
            Model::Independent => SPREAD * noise,
            Model::Skewed => -SPREAD * (1.0 - unit).ln(),
            Model::Drift => SPREAD * noise + 0.03 * position,
            Model::Autocorrelated(resemblance) => {
                self.state =
                    resemblance * self.state + (1.0 - resemblance * resemblance).sqrt() * noise;
                SPREAD * self.state
            }
            Model::Bimodal => SPREAD * 0.5 * noise + if unit < 0.3 { 0.08 } else { 0.0 },
            Model::RareOutliers => SPREAD * noise + if unit < 0.03 { 3.0 } else { 0.0 },
        };
        1.0 + relative
    }
}

/// A standard normal number (Box and Muller 1958).
fn normal(random: &mut Random) -> f64 {
    (-2.0 * (1.0 - random.unit()).ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

/// Median and mean of the law of one run, from a long simulation.
fn truth(model: Model) -> Result<(f64, f64), SeriesError> {
    let runs = 2_000_000;
    let mut machine = Machine::new(u64::MAX, model, runs);
    let series = Series::new((0..runs).map(|_| machine.next()).collect())?;
    let mean = series.values().iter().sum::<f64>() / runs as f64;
    Ok((series.median(), mean))
}

/// Two equal commands in rounds of random order, reversed every second time.
fn in_rounds(machine: &mut Machine, runs: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let mut swapped = false;
    for round in 0..runs {
        swapped = if round % 2 == 0 {
            machine.random.below(2) == 1
        } else {
            !swapped
        };
        let (one, other) = (machine.next(), machine.next());
        let (a, b) = if swapped { (other, one) } else { (one, other) };
        first.push(a);
        second.push(b);
    }
    (first, second)
}

/// How often something happened, as a percentage with its standard error.
fn percentage(count: u32, trials: u32) -> String {
    let share = f64::from(count) / f64::from(trials);
    let error = (share * (1.0 - share) / f64::from(trials)).sqrt();
    format!("{:.1} ± {:.1}", 100.0 * share, 100.0 * error)
}

fn is_verdict(ratio: &Estimate) -> bool {
    matches!(Verdict::of(ratio, None), Verdict::Slower | Verdict::Faster)
}

/// One row: coverage of median and mean, verdicts in rounds and one after another.
fn row(model: Model, runs: usize, trials: u32) -> Result<[u32; 4], Box<dyn std::error::Error>> {
    let (median, mean) = truth(model)?;
    let settings = Settings {
        resamples: 1_000,
        ..Settings::default()
    };
    let mut counts = [0; 4];
    for trial in 0..trials {
        let mut machine = Machine::new(u64::from(trial), model, runs);
        let series = Series::new((0..runs).map(|_| machine.next()).collect())?;
        let summary = Summary::of(&series, &settings, 0.0);
        for (count, (id, truth)) in counts.iter_mut().zip([("median", median), ("mean", mean)]) {
            let interval = summary.get(id).and_then(|estimate| estimate.interval);
            *count += u32::from(interval.is_some_and(|interval| interval.contains(truth)));
        }
        let mut machine = Machine::new(u64::from(trial) + (1 << 40), model, 2 * runs);
        let (first, second) = in_rounds(&mut machine, runs);
        let (first, second) = (Series::new(first)?, Series::new(second)?);
        counts[2] += u32::from(is_verdict(&compare::paired(
            &first,
            &second,
            settings.level,
        )?));
        let mut machine = Machine::new(u64::from(trial) + (1 << 41), model, 2 * runs);
        let first = Series::new((0..runs).map(|_| machine.next()).collect())?;
        let second = Series::new((0..runs).map(|_| machine.next()).collect())?;
        counts[3] += u32::from(is_verdict(&compare::separate(
            &first,
            &second,
            settings.level,
        )?));
    }
    Ok(counts)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
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
    Ok(())
}
