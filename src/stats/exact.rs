//! The laws that resampling approximates, for series where drawing would be felt.
//!
//! The median by the inverse Beta, the mean by the Fourier transform of the empirical law. Both are
//! what a percentile bootstrap tends to for endless resamples, so they need no seed.

use std::f64::consts::TAU;
use std::sync::OnceLock;

use super::Series;
use super::distribution::uniform_order_place;
use super::memo::Memo;

/// From this many runs on the exact laws replace resampling.
pub const FEWEST_RUNS: usize = 200;

/// A term of the transformed law, of sum 1, that no longer matters.
const NEGLIGIBLE: f64 = 1e-24;

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
        let [low, high] =
            [lower, upper].map(|rank| series.sorted()[place(runs, rank, probability)]);
        low + 0.5 * (high - low)
    };
    let tail = (1.0 - level) / 2.0;
    (at(tail), at(1.0 - tail))
}

/// Where the quantile of the `rank`-th of as many uniforms falls, as a 0-based run.
fn place(runs: usize, rank: usize, probability: f64) -> usize {
    thread_local!(static PLACES: Memo<usize> = const { Memo::new() });
    let key = (runs, rank as u64, probability.to_bits());
    PLACES.with(|known| known.get(key, || uniform_order_place(runs, rank, probability)))
}

/// Percentile limits of the resampled mean: the n-fold convolution of the empirical law, by one
/// fast Fourier transform, a complex power, and its inverse.
#[must_use]
pub fn mean_limits(series: &Series, level: f64) -> (f64, f64) {
    let values = series.values();
    let (runs, center) = (values.len() as f64, series.mean());
    let spread = series.deviation().unwrap_or(0.0);
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
            // within half the ring on either side, so that the cast wraps as the ring does; without
            // a call of `floor`
            let towards_zero = position as i64;
            let cell = towards_zero - i64::from(towards_zero as f64 > position);
            let index = cell as usize % CELLS;
            let upper = (position - cell as f64) * share;
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
        // what is below this is beyond the last digit of every number here
        let least = (2.0 * NEGLIGIBLE.ln() / draws).exp();
        for (real, imaginary) in self.real.iter_mut().zip(&mut self.imaginary) {
            if *real * *real + *imaginary * *imaginary < least {
                (*real, *imaginary) = (0.0, 0.0);
                continue;
            }
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
/// a power of two of at most [`CELLS`], `sign` is −1 forwards and 1 backwards.
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
    let turns = turns();
    let mut half = 1;
    while half < count {
        let stride = CELLS / (2 * half);
        for block in 0..count / (2 * half) {
            let (from, middle) = (2 * half * block, 2 * half * block + half);
            let (real_low, real_high) = real.split_at_mut(middle);
            let (imaginary_low, imaginary_high) = imaginary.split_at_mut(middle);
            for offset in 0..half {
                let (cosine, sine) = turns[offset * stride];
                let sine = sign * sine;
                let (r, i) = (real_high[offset], imaginary_high[offset]);
                let turned_real = r * cosine - i * sine;
                let turned_imaginary = r * sine + i * cosine;
                let place = from + offset;
                real_high[offset] = real_low[place] - turned_real;
                imaginary_high[offset] = imaginary_low[place] - turned_imaginary;
                real_low[place] += turned_real;
                imaginary_low[place] += turned_imaginary;
            }
        }
        half *= 2;
    }
}

/// Cosine and sine of the first half of a turn in steps of one [`CELLS`]th, computed once.
fn turns() -> &'static [(f64, f64)] {
    static TURNS: OnceLock<Vec<(f64, f64)>> = OnceLock::new();
    TURNS.get_or_init(|| {
        let angle = |step: usize| TAU * step as f64 / CELLS as f64;
        (0..CELLS / 2)
            .map(|step| (angle(step).cos(), angle(step).sin()))
            .collect()
    })
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
