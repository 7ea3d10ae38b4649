//! Percentile bootstrap with a fixed seed, for the sizes where resampling is cheap.
//!
//! One index vector per resample serves every statistic. Medians come from counts over the values
//! sorted once; nothing is sorted per resample. Quantiles above the median are never bootstrapped.

use super::Series;
use super::order::quantile;
use super::random::Random;

/// How often and from which seed to resample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Seed of the generator.
    pub seed: u64,
    /// Number of resamples, at least 1.
    pub resamples: usize,
}

/// Lower and upper percentile limits of resampled statistics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Limits of the mean.
    pub mean: (f64, f64),
    /// Limits of the median.
    pub median: (f64, f64),
}

/// One series made ready for resampling: counts per run, and the runs in ascending order.
#[derive(Debug, Clone)]
pub struct Resampler<'a> {
    values: &'a [f64],
    ascending: Vec<usize>,
    counts: Vec<u32>,
}

impl<'a> Resampler<'a> {
    /// Prepares `series`; no resample is loaded yet.
    #[must_use]
    pub fn new(series: &'a Series) -> Self {
        let values = series.values();
        let mut ascending: Vec<usize> = (0..values.len()).collect();
        ascending.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
        Self {
            values,
            ascending,
            counts: vec![0; values.len()],
        }
    }

    /// Loads the resample that takes the runs at `indices`, 0-based in run order.
    pub fn load(&mut self, indices: &[usize]) {
        self.counts.fill(0);
        for &index in indices {
            self.counts[index] += 1;
        }
    }

    /// Mean of the loaded resample.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let origin = self.values[0];
        let (mut sum, mut taken) = (0.0, 0_u32);
        for (value, &count) in self.values.iter().zip(&self.counts) {
            sum += (value - origin) * f64::from(count);
            taken += count;
        }
        origin + sum / f64::from(taken)
    }

    /// Median of the loaded resample.
    #[must_use]
    pub fn median(&self) -> f64 {
        let taken: u32 = self.counts.iter().sum();
        let (lower, upper) = (taken.div_ceil(2), taken / 2 + 1);
        let (mut seen, mut low) = (0, None);
        for &run in &self.ascending {
            seen += self.counts[run];
            if seen >= lower && low.is_none() {
                low = Some(self.values[run]);
            }
            if seen >= upper {
                let high = self.values[run];
                return low.map_or(high, |low| low + 0.5 * (high - low));
            }
        }
        f64::NAN
    }
}

/// Fills `indices` with runs drawn with replacement from as many runs.
pub(super) fn draw(random: &mut Random, indices: &mut [usize]) {
    let runs = indices.len();
    for index in indices {
        *index = random.index(runs);
    }
}

/// Percentile limits of resampled statistics (type 7 quantiles of the resamples).
#[must_use]
pub fn percentile_limits(mut statistics: Vec<f64>, level: f64) -> (f64, f64) {
    statistics.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - level) / 2.0;
    (
        quantile(&statistics, tail),
        quantile(&statistics, 1.0 - tail),
    )
}

/// Percentile bootstrap limits of mean and median (Efron and Tibshirani 1993, 13.3).
#[must_use]
pub fn limits(series: &Series, level: f64, plan: Plan) -> Limits {
    let mut random = Random::new(plan.seed);
    let mut indices = vec![0; series.runs()];
    let mut resampler = Resampler::new(series);
    let (means, medians) = (0..plan.resamples.max(1))
        .map(|_| {
            draw(&mut random, &mut indices);
            resampler.load(&indices);
            (resampler.mean(), resampler.median())
        })
        .unzip();
    Limits {
        mean: percentile_limits(means, level),
        median: percentile_limits(medians, level),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: Plan = Plan {
        seed: 42,
        resamples: 1_000,
    };

    fn series(values: &[f64]) -> Series {
        Series::new(values.to_vec()).unwrap()
    }

    #[test]
    fn limits_move_and_stretch_with_the_values() {
        let values = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.3];
        let plain = limits(&series(&values), 0.95, PLAN);
        let moved = values.map(|value| 2.0 * value + 100.0);
        let moved = limits(&series(&moved), 0.95, PLAN);
        let near = |a: f64, b: f64| (2.0 * a + 100.0 - b).abs() < 1e-9;
        assert!(near(plain.mean.0, moved.mean.0) && near(plain.mean.1, moved.mean.1));
        assert!(near(plain.median.0, moved.median.0) && near(plain.median.1, moved.median.1));
    }

    #[test]
    fn a_seed_never_changes_its_meaning() {
        let mut random = Random::new(42);
        let mut indices = [0; 8];
        draw(&mut random, &mut indices);
        assert_eq!(indices, [6, 2, 7, 5, 6, 4, 1, 4]);
        let series = series(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
        assert_eq!(limits(&series, 0.95, PLAN), limits(&series, 0.95, PLAN));
    }

    #[test]
    fn equal_values_have_intervals_of_no_width() {
        let limits = limits(&series(&[0.1; 9]), 0.95, PLAN);
        assert_eq!((limits.mean, limits.median), ((0.1, 0.1), (0.1, 0.1)));
    }
}
