//! When a measurement is precise enough: the looks and the stop rule of `--precision`.
//!
//! It stops on the width of an interval, never on significance.

use super::Series;
use super::distribution::normal_quantile;
use super::estimate::{Estimate, Interval};
use super::order;
use super::trend::significant_autocorrelation;
use super::verdict::SLIGHT;

/// The first look.
pub const FIRST_LOOK: usize = 20;

/// The first planned look after `runs` runs: 20, 30, 45, 68, 102, … (×1.5, rounded half up).
#[must_use]
pub fn next_look(runs: usize) -> usize {
    let mut look = FIRST_LOOK;
    while look <= runs {
        look = (3 * look).div_ceil(2);
    }
    look
}

/// Whether `runs` is a planned look.
#[must_use]
pub fn is_look(runs: usize) -> bool {
    runs > 0 && next_look(runs - 1) == runs
}

/// What a look saw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Relative half-width of the interval, such as 0.018 for ±1.8%.
    pub achieved: f64,
    /// Whether it is within the wanted precision.
    pub reached: bool,
}

/// Looks at one command: order-statistic interval of the median, widened for an autocorrelated
/// series, against `wanted` (0.01 is ±1%). `None` when there is no interval yet.
#[must_use]
pub fn look(series: &Series, level: f64, wanted: f64) -> Option<Look> {
    let interval = median_interval(series, level)?;
    Some(judge(interval.relative_half_width(series.median()), wanted))
}

/// Looks at a ratio with its interval; `None` when there is none yet.
#[must_use]
pub fn look_at_ratio(ratio: &Estimate, wanted: f64) -> Option<Look> {
    ratio
        .interval
        .map(|interval| judge(interval.relative_half_width(ratio.value), wanted))
}

/// The smallest relative difference that is found with probability `power` by as many runs: the
/// half-width of the interval on the logarithm, times 1 + z(power)/z(level); never below what gets a
/// verdict. `None` without an interval.
#[must_use]
pub fn detectable(ratio: &Estimate, power: f64) -> Option<f64> {
    let interval = ratio.interval.filter(|found| found.low > 0.0)?;
    let half = 0.5 * (interval.high / interval.low).ln();
    let factor = 1.0 + normal_quantile(power) / normal_quantile(0.5 + interval.level / 2.0);
    Some((half * factor).exp_m1().max(SLIGHT))
}

fn judge(achieved: f64, wanted: f64) -> Look {
    Look {
        achieved,
        reached: achieved <= wanted,
    }
}

/// Order-statistic interval of the median, its ranks moved apart for an autocorrelated series.
pub(super) fn median_interval(series: &Series, level: f64) -> Option<Interval> {
    match significant_autocorrelation(series) {
        Some(found) => order::widened_median(series.sorted(), level, found.widening),
        None => order::interval(series.sorted(), 0.5, level).map(|found| found.interval),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_grow_by_half() {
        let mut looks = vec![next_look(0)];
        while looks.len() < 7 {
            looks.push(next_look(looks[looks.len() - 1]));
        }
        assert_eq!(looks, [20, 30, 45, 68, 102, 153, 230]);
        assert!(is_look(45) && !is_look(46) && !is_look(0));
    }

    #[test]
    fn quiet_series_reach_what_noisy_ones_do_not() {
        // a fixed scramble, so that neighbours do not resemble each other
        let scrambled = |spread: f64| {
            let values = (0..30).map(|run| 100.0 + spread * f64::from(run * 13 % 30));
            Series::new(values.collect()).unwrap()
        };
        assert!(look(&scrambled(0.01), 0.95, 0.01).unwrap().reached);
        let noisy = look(&scrambled(1.0), 0.95, 0.01).unwrap();
        assert!(!noisy.reached && noisy.achieved > 0.04);
        assert_eq!(look(&Series::new(vec![1.0; 5]).unwrap(), 0.95, 0.01), None);
    }
}
