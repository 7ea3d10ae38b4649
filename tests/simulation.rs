//! What intervals, verdicts and gates do on simulated noise, with fixed seeds: the promises of
//! `docs/methods.md` in a few seconds. `examples/simulate.rs` prints the full tables.
#![allow(
    clippy::unwrap_used,
    unreachable_pub,
    missing_docs,
    dead_code,
    reason = "a test that fails may panic"
)]

mod noise;

use noise::{MODELS, Machine, Model, apart, in_rounds, truth};
use offbench::stats::decision::{Decision, max_regression};
use offbench::stats::order;
use offbench::stats::{Series, Verdict, compare};

const TRIALS: u32 = 400;
const RUNS: usize = 30;

/// Three standard errors of a share of that size, in trials.
fn three_sigma(share: f64) -> f64 {
    3.0 * (share * (1.0 - share) * f64::from(TRIALS)).sqrt()
}

fn count(mut happens: impl FnMut(u64) -> bool) -> f64 {
    let all = (0..u64::from(TRIALS)).filter(|seed| happens(*seed));
    all.count() as f64
}

/// The ratio of two commands in rounds, the second `factor` times slower.
fn paired(model: Model, seed: u64, factor: f64) -> offbench::stats::Estimate {
    let mut machine = Machine::new(seed, model, 2 * RUNS);
    let (first, second) = in_rounds(&mut machine, RUNS);
    let second = second.iter().map(|value| value * factor).collect();
    let (first, second) = (Series::new(first).unwrap(), Series::new(second).unwrap());
    compare::paired(&first, &second, 0.95).unwrap()
}

#[test]
fn order_statistics_cover_the_median_of_independent_runs() {
    let independent = [
        Model::Independent,
        Model::Skewed,
        Model::Bimodal,
        Model::RareOutliers,
    ];
    for model in independent {
        let (median, _) = truth(model, 400_000).unwrap();
        let covered = count(|seed| {
            let values = apart(&mut Machine::new(seed, model, RUNS), RUNS);
            let series = Series::new(values).unwrap();
            let found = order::interval(series.sorted(), 0.5, 0.95).unwrap();
            found.interval.contains(median)
        });
        let least = 0.95 * f64::from(TRIALS) - three_sigma(0.95);
        assert!(covered >= least, "{covered} of {TRIALS}, at least {least}");
    }
}

#[test]
fn equal_commands_in_rounds_rarely_get_a_verdict_under_any_noise() {
    for (name, model) in MODELS {
        let wrong = count(|seed| {
            let verdict = Verdict::of(&paired(model, seed, 1.0), None);
            matches!(verdict, Verdict::Slower | Verdict::Faster)
        });
        // Resemblance of neighbours costs about one percentage point: docs/methods.md.
        let most = 0.06 * f64::from(TRIALS) + three_sigma(0.06);
        assert!(wrong <= most, "{name}: {wrong} of {TRIALS}, at most {most}");
    }
}

#[test]
fn a_gate_tells_the_same_command_from_a_slower_one_under_any_noise() {
    let fails =
        |model, seed, factor| max_regression(&paired(model, seed, factor), 0.05) == Decision::Fail;
    for (name, model) in MODELS {
        let wrong = count(|seed| fails(model, seed, 1.0));
        assert!(
            wrong <= 0.01 * f64::from(TRIALS),
            "{name}: {wrong} of {TRIALS} fail"
        );
        let found = count(|seed| fails(model, seed, 1.1));
        assert!(
            found >= 0.95 * f64::from(TRIALS),
            "{name}: {found} of {TRIALS} found"
        );
    }
}
