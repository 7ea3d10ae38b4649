//! The laws that resampling approximates, for series where drawing would be felt.
//!
//! The median by the inverse Beta, the mean by the Fourier transform of the empirical law. Both are
//! what a percentile bootstrap tends to for endless resamples, so they need no seed.

use std::f64::consts::TAU;

use super::Series;
use super::distribution::uniform_order_quantile;
use super::moments;

/// From this many runs on the exact laws replace resampling.
pub const FEWEST_RUNS: usize = 200;

/// Cells of the grid that carries the law of the sum.
const CELLS: usize = 1 << 13;

/// Percentile limits of the resampled median (Beta law of a uniform order statistic; David and
/// Nagaraja 2003, 2.1.5).
///
/// For an even number of runs the limits of the two middle order statistics are averaged.
#[must_use]
pub fn median_limits(series: &Series, level: f64) -> (f64, f64) {
    let runs = series.runs();
    let (lower, upper) = (runs.div_ceil(2), runs / 2 + 1);
    let at = |probability: f64| {
        let [low, high] = [lower, upper].map(|rank| {
            let share = uniform_order_quantile(runs, rank, probability);
            series.sorted()[((share * runs as f64) as usize).min(runs - 1)]
        });
        low + 0.5 * (high - low)
    };
    let tail = (1.0 - level) / 2.0;
    (at(tail), at(1.0 - tail))
}

/// Percentile limits of the resampled mean: the n-fold convolution of the empirical law, by one
/// fast Fourier transform, a complex power, and its inverse.
#[must_use]
pub fn mean_limits(series: &Series, level: f64) -> (f64, f64) {
    let values = series.values();
    let (runs, center) = (values.len() as f64, moments::mean(values));
    let spread = moments::deviation(values).unwrap_or(0.0);
    if spread <= 0.0 {
        return (center, center);
    }
    let farthest = (series.max() - center).max(center - series.min());
    // all but 1e-12 of the law of the sum lies within this distance of its center
    let reach = 9.0 * spread * runs.sqrt() + 8.0 * farthest;
    let step = 2.0 * reach / CELLS as f64;
    let mut law = Law::of_one_draw(values, center, step);
    law.convolve(runs);
    let tail = (1.0 - level) / 2.0;
    let at = |probability| center + law.quantile(probability) * step / runs;
    (at(tail), at(1.0 - tail))
}

/// A probability law on a ring of cells; cell 0 is the center, negative positions wrap around.
struct Law {
    real: Vec<f64>,
    imaginary: Vec<f64>,
}

impl Law {
    /// The law of one draw; a value is split over its two neighbouring cells, so that the mean
    /// stays exact.
    fn of_one_draw(values: &[f64], center: f64, step: f64) -> Self {
        let mut real = vec![0.0; CELLS];
        let share = 1.0 / values.len() as f64;
        for value in values {
            let position = (value - center) / step;
            let cell = position.floor();
            let index = cell.rem_euclid(CELLS as f64) as usize % CELLS;
            let upper = (position - cell) * share;
            real[index] += share - upper;
            real[(index + 1) % CELLS] += upper;
        }
        Self {
            real,
            imaginary: vec![0.0; CELLS],
        }
    }

    /// Replaces the law by that of the sum of `draws` independent draws.
    fn convolve(&mut self, draws: f64) {
        transform(&mut self.real, &mut self.imaginary, -1.0);
        for (real, imaginary) in self.real.iter_mut().zip(&mut self.imaginary) {
            let radius = real.hypot(*imaginary).powf(draws);
            let (sine, cosine) = (imaginary.atan2(*real) * draws).sin_cos();
            (*real, *imaginary) = (radius * cosine, radius * sine);
        }
        transform(&mut self.real, &mut self.imaginary, 1.0);
    }

    /// Position, in cells from the center, below which `probability` of the mass lies.
    fn quantile(&self, probability: f64) -> f64 {
        let half = CELLS / 2;
        let mut below = 0.0;
        for offset in 0..CELLS {
            let mass = (self.real[(offset + half) % CELLS] / CELLS as f64).max(0.0);
            if mass > 0.0 && below + mass >= probability {
                // the mass of a cell is spread evenly around its middle
                return offset as f64 - half as f64 - 0.5 + (probability - below) / mass;
            }
            below += mass;
        }
        half as f64
    }
}

/// Radix-2 Fourier transform in place, without scaling (Cooley and Tukey 1965); the length must be
/// a power of two, `sign` is −1 forwards and 1 backwards.
fn transform(real: &mut [f64], imaginary: &mut [f64], sign: f64) {
    let count = real.len();
    let unused = usize::BITS - count.trailing_zeros();
    for index in 0..count {
        let mirrored = index.reverse_bits() >> unused;
        if index < mirrored {
            real.swap(index, mirrored);
            imaginary.swap(index, mirrored);
        }
    }
    let mut half = 1;
    while half < count {
        for offset in 0..half {
            let (sine, cosine) = (sign * TAU * offset as f64 / (2 * half) as f64).sin_cos();
            for low in (offset..count).step_by(2 * half) {
                let high = low + half;
                let turned_real = real[high] * cosine - imaginary[high] * sine;
                let turned_imaginary = real[high] * sine + imaginary[high] * cosine;
                real[high] = real[low] - turned_real;
                imaginary[high] = imaginary[low] - turned_imaginary;
                real[low] += turned_real;
                imaginary[low] += turned_imaginary;
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::super::bootstrap::{Plan, limits};
    use super::super::random::Random;
    use super::*;

    #[test]
    fn there_and_back_is_the_identity_times_the_length() {
        let mut random = Random::new(1);
        let values: Vec<f64> = (0..64).map(|_| random.unit()).collect();
        let (mut real, mut imaginary) = (values.clone(), vec![0.0; 64]);
        transform(&mut real, &mut imaginary, -1.0);
        assert!((real[0] - values.iter().sum::<f64>()).abs() < 1e-12);
        transform(&mut real, &mut imaginary, 1.0);
        for (got, value) in real.iter().zip(values) {
            assert!((got / 64.0 - value).abs() < 1e-12);
        }
    }

    #[test]
    fn exact_limits_are_where_many_resamples_tend() {
        let mut random = Random::new(7);
        let values = (0..240).map(|_| 1.0 + random.unit().powi(4)).collect();
        let series = Series::new(values).unwrap();
        let drawn = limits(
            &series,
            0.95,
            Plan {
                seed: 1,
                resamples: 20_000,
            },
        );
        let width = drawn.mean.1 - drawn.mean.0;
        let exact = mean_limits(&series, 0.95);
        assert!((exact.0 - drawn.mean.0).abs() < 0.03 * width);
        assert!((exact.1 - drawn.mean.1).abs() < 0.03 * width);
        let width = drawn.median.1 - drawn.median.0;
        let exact = median_limits(&series, 0.95);
        assert!((exact.0 - drawn.median.0).abs() < 0.06 * width);
        assert!((exact.1 - drawn.median.1).abs() < 0.06 * width);
    }

    #[test]
    fn equal_values_have_no_width() {
        let series = Series::new(vec![0.3; 300]).unwrap();
        assert_eq!(mean_limits(&series, 0.95), (0.3, 0.3));
        assert_eq!(median_limits(&series, 0.95), (0.3, 0.3));
    }
}
