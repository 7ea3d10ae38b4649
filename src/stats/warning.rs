//! What a reader must know about a series before believing its numbers.
//!
//! Structured findings with the numbers their sentences need; the sentences are written elsewhere.

use super::Series;
use super::density::{self, Valley};
use super::outlier::{self, FirstRun, Floors, Outlier};
use super::trend::{self, Autocorrelation, Halves, MannKendall};

/// One finding about a series.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Finding {
    /// The session did not hold still: Mann–Kendall p < 1% and halves differ by 1% or more.
    Drift {
        /// The test.
        trend: MannKendall,
        /// The medians of the halves.
        halves: Halves,
    },
    /// Neighbouring runs resemble each other; intervals are widened.
    Autocorrelated(Autocorrelation),
    /// Every second run is slower.
    Alternating {
        /// Lag-1 autocorrelation, negative.
        lag_one: f64,
    },
    /// Two speeds.
    TwoSpeeds(Valley),
    /// Runs far outside, in run order.
    Outliers(Vec<Outlier>),
    /// The first run is slow.
    SlowFirstRun(FirstRun),
    /// The values come in steps.
    CoarseSteps(Steps),
}

impl Finding {
    /// Stable kebab-case id.
    #[must_use]
    pub fn id(&self) -> &'static str {
        match self {
            Self::Drift { .. } => "drift",
            Self::Autocorrelated(_) => "autocorrelated",
            Self::Alternating { .. } => "alternating",
            Self::TwoSpeeds(_) => "two-speeds",
            Self::Outliers(_) => "outliers",
            Self::SlowFirstRun(_) => "slow-first-run",
            Self::CoarseSteps(_) => "coarse-steps",
        }
    }
}

/// Values that come in steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steps {
    /// The common step, in the unit of the series.
    pub step: f64,
    /// Number of distinct values.
    pub distinct: usize,
    /// Number of runs.
    pub runs: usize,
}

/// Everything remarkable about a series, in the order of the documentation.
#[must_use]
pub fn findings(series: &Series, floors: Floors) -> Vec<Finding> {
    let runs = series.runs();
    let correlation = trend::autocorrelation(series);
    let alternating = correlation.filter(|found| trend::alternates(found.lag_one, runs));
    let far = outlier::outliers(series, floors.resolution);
    let speeds = (runs >= 30).then(|| density::valley(series)).flatten();
    [
        drift(series),
        correlation
            .filter(|found| found.significant)
            .map(Finding::Autocorrelated),
        alternating.map(|found| Finding::Alternating {
            lag_one: found.lag_one,
        }),
        speeds
            .filter(|found| found.two_speeds)
            .map(Finding::TwoSpeeds),
        (!far.is_empty()).then_some(Finding::Outliers(far)),
        outlier::slow_first_run(series, floors.first_run).map(Finding::SlowFirstRun),
        coarse_steps(series).map(Finding::CoarseSteps),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Drift, from 10 runs on.
fn drift(series: &Series) -> Option<Finding> {
    if series.runs() < 10 {
        return None;
    }
    let halves = trend::halves(series).filter(|halves| halves.shift.abs() >= 0.01)?;
    let trend = trend::mann_kendall(series);
    (trend.p < 0.01).then_some(Finding::Drift { trend, halves })
}

/// Steps of the clock: from 10 runs on, at most half as many distinct values as runs, all of them
/// whole multiples of one step apart, and the step at least 0.5% of the median.
#[must_use]
pub fn coarse_steps(series: &Series) -> Option<Steps> {
    let runs = series.runs();
    let sorted = series.sorted();
    let gaps = || sorted.windows(2).map(|pair| pair[1] - pair[0]);
    let rounding = 4.0 * f64::EPSILON * series.max().abs().max(series.min().abs());
    let step = gaps()
        .filter(|gap| *gap > rounding)
        .fold(f64::INFINITY, f64::min);
    let distinct = 1 + gaps().filter(|gap| *gap > rounding).count();
    let coarse = runs >= 10 && 2 * distinct <= runs && step >= 0.005 * series.median().abs();
    if !coarse || !step.is_finite() {
        return None;
    }
    let whole = gaps().all(|gap| (gap / step - (gap / step).round()).abs() < 1e-3);
    whole.then_some(Steps {
        step,
        distinct,
        runs,
    })
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;

    const FLOORS: Floors = Floors {
        resolution: 0.0,
        first_run: 0.0,
    };

    fn series(values: Vec<f64>) -> Series {
        Series::new(values).unwrap()
    }

    #[test]
    fn steps_are_seen_and_fine_clocks_are_not() {
        let coarse = [
            21.0, 21.0, 20.0, 19.0, 18.0, 20.0, 21.0, 19.0, 20.0, 20.0, 19.0, 21.0,
        ];
        let found = coarse_steps(&series(coarse.map(|value| value / 1000.0).to_vec())).unwrap();
        assert!((found.step - 0.001).abs() < 1e-9);
        assert_eq!((found.distinct, found.runs), (4, 12));
        let mut random = Random::new(1);
        let fine = (0..40).map(|_| 1.0 + random.unit()).collect();
        assert_eq!(coarse_steps(&series(fine)), None);
        assert_eq!(coarse_steps(&series(vec![2.0; 20])), None);
    }

    #[test]
    fn plain_noise_is_rarely_remarkable() {
        let mut random = Random::new(9);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..600 {
            let noise = |random: &mut Random| (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
            let values = (0..40).map(|_| 100.0 + 3.0 * noise(&mut random)).collect();
            for finding in findings(&series(values), FLOORS) {
                *counts.entry(finding.id()).or_insert(0) += 1;
            }
        }
        // 1% of 600 is 6; 15 leaves room for chance
        for (id, count) in counts {
            assert!(count <= 15, "{id}: {count} of 600");
        }
    }
}
