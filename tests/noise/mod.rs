//! Models of what disturbs runs, for the simulation that is tested and the one that prints tables.

#![allow(unreachable_pub, reason = "shared by a test and an example")]

use offbench::stats::random::Random;
use offbench::stats::{Series, SeriesError};

/// Relative spread of every model without its disturbance.
const SPREAD: f64 = 0.02;

/// What disturbs the runs.
#[derive(Clone, Copy)]
pub enum Model {
    Independent,
    Skewed,
    Drift,
    Autocorrelated(f64),
    Bimodal,
    RareOutliers,
}

/// Every model with its name.
pub const MODELS: [(&str, Model); 7] = [
    ("independent", Model::Independent),
    ("skewed (exponential tail)", Model::Skewed),
    ("drift of 3% over the session", Model::Drift),
    ("autocorrelated, lag-1 0.3", Model::Autocorrelated(0.3)),
    ("autocorrelated, lag-1 0.7", Model::Autocorrelated(0.7)),
    ("two speeds, 70% and 30%, 8% apart", Model::Bimodal),
    ("3% of runs four times slower", Model::RareOutliers),
];

/// A machine whose state goes on from run to run.
pub struct Machine {
    random: Random,
    model: Model,
    state: f64,
    run: f64,
    runs: f64,
}

impl Machine {
    /// A machine with its seed, for that many runs.
    pub fn new(seed: u64, model: Model, runs: usize) -> Self {
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
    #[allow(clippy::should_implement_trait, reason = "a machine never ends")]
    pub fn next(&mut self) -> f64 {
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
pub fn truth(model: Model, runs: usize) -> Result<(f64, f64), SeriesError> {
    let mut machine = Machine::new(u64::MAX, model, runs);
    let series = Series::new((0..runs).map(|_| machine.next()).collect())?;
    let mean = series.values().iter().sum::<f64>() / runs as f64;
    Ok((series.median(), mean))
}

/// Two equal commands in rounds of random order, reversed every second time.
pub fn in_rounds(machine: &mut Machine, runs: usize) -> (Vec<f64>, Vec<f64>) {
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

/// So many runs one after the other.
pub fn apart(machine: &mut Machine, runs: usize) -> Vec<f64> {
    (0..runs).map(|_| machine.next()).collect()
}
