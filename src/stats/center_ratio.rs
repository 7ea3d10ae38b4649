//! Ratios of means and of medians, for those who think in them; ranks stand in `compare`.

use super::Series;
use super::bootstrap::{Resampler, draw, percentile_limits};
use super::compare::Pairing;
use super::distribution::student_factor;
use super::estimate::{Estimate, Interval, Method};
use super::exact;
use super::moments;
use super::order;
use super::random::Random;
use super::summary::Settings;

/// Fewest runs of each series for an interval of the ratio of means or medians.
pub const FEWEST_RUNS_OF_RATIO: usize = 10;

/// Most draws that resampling a ratio may take; beyond, formulas answer.
const MOST_DRAWS: usize = 6_000_000;

/// Ratio of means and ratio of medians, with intervals from 10 runs of each on.
#[must_use]
pub fn ratios(
    first: &Series,
    second: &Series,
    pairing: Pairing,
    settings: &Settings,
) -> [Estimate; 2] {
    let (a, b) = (first.values(), second.values());
    let values = [
        moments::mean(b) / moments::mean(a),
        second.median() / first.median(),
    ];
    let intervals = if first.runs().min(second.runs()) < FEWEST_RUNS_OF_RATIO {
        [None, None]
    } else if settings
        .resamples
        .saturating_mul(first.runs() + second.runs())
        <= MOST_DRAWS
    {
        resampled_ratios(first, second, pairing, settings).map(Some)
    } else {
        [
            delta_of_means(first, second, pairing, settings.level),
            mover(first, second, settings.level),
        ]
    };
    [0, 1].map(|index| Estimate {
        value: values[index],
        interval: intervals[index],
    })
}

/// Percentile bootstrap of both ratios; pairs are drawn as pairs.
#[must_use]
pub fn resampled_ratios(
    first: &Series,
    second: &Series,
    pairing: Pairing,
    settings: &Settings,
) -> [Interval; 2] {
    let mut random = Random::new(settings.seed);
    let (mut a, mut b) = (Resampler::new(first), Resampler::new(second));
    let (mut drawn, mut others) = (vec![0; first.runs()], vec![0; second.runs()]);
    let (means, medians) = (0..settings.resamples.max(1))
        .map(|_| {
            draw(&mut random, &mut drawn);
            a.load(&drawn);
            if pairing == Pairing::Paired {
                b.load(&drawn);
            } else {
                draw(&mut random, &mut others);
                b.load(&others);
            }
            (b.mean() / a.mean(), b.median() / a.median())
        })
        .unzip();
    [means, medians].map(|statistics| {
        let (low, high) = percentile_limits(statistics, settings.level);
        Interval {
            low,
            high,
            level: settings.level,
            method: Method::BootstrapPercentile,
        }
    })
}

/// Log-delta interval of the ratio of means, for series too long to resample.
fn delta_of_means(a: &Series, b: &Series, pairing: Pairing, level: f64) -> Option<Interval> {
    let (low_mean, high_mean) = (moments::mean(a.values()), moments::mean(b.values()));
    let part = |values: &[f64], center: f64| {
        moments::variance(values).map(|found| found / values.len() as f64 / center.powi(2))
    };
    let mut variance = part(a.values(), low_mean)? + part(b.values(), high_mean)?;
    if pairing == Pairing::Paired {
        let shared = moments::covariance(a.values(), b.values())? / a.runs() as f64;
        variance = (variance - 2.0 * shared / (low_mean * high_mean)).max(0.0);
    }
    let freedom = (a.runs().min(b.runs()) - 1) as f64;
    let (center, half) = (
        high_mean / low_mean,
        student_factor(level, freedom) * variance.sqrt(),
    );
    let (low, high) = (center * (-half).exp(), center * half.exp());
    Some(Interval {
        low,
        high,
        level,
        method: Method::LogDelta,
    })
}

/// Interval of the ratio of medians from the exact interval of each (Zou and Donner 2008), on the
/// logarithm; too wide rather than too narrow for pairs that move together.
fn mover(first: &Series, second: &Series, level: f64) -> Option<Interval> {
    let logs = |series: &Series| {
        let (low, high) = if series.runs() >= exact::FEWEST_RUNS {
            exact::median_limits(series, level)
        } else {
            let found = order::interval(series.sorted(), 0.5, level)?.interval;
            (found.low, found.high)
        };
        Some((low.ln(), series.median().ln(), high.ln()))
    };
    let ((a_low, a, a_high), (b_low, b, b_high)) = (logs(first)?, logs(second)?);
    let low = (b - a - (b - b_low).hypot(a_high - a)).exp();
    let high = (b - a + (b_high - b).hypot(a - a_low)).exp();
    Some(Interval {
        low,
        high,
        level,
        method: Method::Mover,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(seed: u64, runs: usize, center: f64) -> Series {
        let mut random = Random::new(seed);
        let mut value = || center * (1.0 + 0.1 * (random.unit() + random.unit() - 1.0));
        Series::new((0..runs).map(|_| value()).collect()).unwrap()
    }

    #[test]
    fn long_series_get_intervals_by_formula_that_agree_with_resampling() {
        let (a, b) = (noise(1, 400, 10.0), noise(2, 400, 10.5));
        for pairing in [Pairing::Paired, Pairing::Separate] {
            let drawn = resampled_ratios(
                &a,
                &b,
                pairing,
                &Settings {
                    resamples: 2_000,
                    ..Settings::default()
                },
            );
            let formulas = [
                delta_of_means(&a, &b, pairing, 0.95).unwrap(),
                mover(&a, &b, 0.95).unwrap(),
            ];
            for (drawn, formula) in drawn.iter().zip(formulas) {
                let width = drawn.high - drawn.low;
                assert!(
                    (drawn.low - formula.low).abs() < 0.15 * width,
                    "{drawn:?} {formula:?}"
                );
                assert!(
                    (drawn.high - formula.high).abs() < 0.15 * width,
                    "{drawn:?} {formula:?}"
                );
            }
        }
    }
}
