//! Runs far from the others, and a slow first run. They are named, never removed.

use super::Series;
use super::moments;
use super::order::median_of;

/// Robust z above which a run is far outside.
pub const FAR: f64 = 10.0;

/// Below these amounts, in the unit of the series, nothing is called remarkable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floors {
    /// Resolution of what measured the values; 0 when unknown.
    pub resolution: f64,
    /// Least excess of a slow first run.
    pub first_run: f64,
}

/// Center and scale that a few far values do not move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Robust {
    /// Median.
    pub median: f64,
    /// Median absolute deviation from the median, unscaled.
    pub mad: f64,
    /// Estimate of the standard deviation: MAD / 0.6745, or 1.253314 times the mean absolute
    /// deviation when the MAD is 0; 0 when all values are equal.
    pub scale: f64,
}

impl Robust {
    /// Median and scale of `values` (Iglewicz and Hoaglin 1993, modified z-score).
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let median = median_of(&mut values.to_vec());
        Self::around(values, median)
    }

    /// The scale around a median already known.
    fn around(values: &[f64], median: f64) -> Self {
        let mut deviations: Vec<f64> = values.iter().map(|value| (value - median).abs()).collect();
        let mad = median_of(&mut deviations);
        let scale = if mad > 0.0 {
            mad / 0.6745
        } else {
            1.253_314 * moments::mean(&deviations)
        };
        Self { median, mad, scale }
    }

    /// Median and scale of a series, without moving its values where the MAD is not 0.
    fn of_series(series: &Series) -> Self {
        let median = series.median();
        let mad = deviation_of_sorted(series.sorted(), median);
        if mad > 0.0 {
            let scale = mad / 0.6745;
            Self { median, mad, scale }
        } else {
            Self::around(series.values(), median)
        }
    }

    /// Distance of `value` from the median in scales; 0 at the median even without scale.
    #[must_use]
    pub fn z(&self, value: f64) -> f64 {
        let deviation = value - self.median;
        if deviation == 0.0 {
            0.0
        } else {
            deviation / self.scale
        }
    }
}

/// Median of |x − median| of ascending values: the deviations below and above the median ascend
/// away from it, so that halving finds how many of the smallest lie on which side.
fn deviation_of_sorted(sorted: &[f64], median: f64) -> f64 {
    let split = sorted.partition_point(|value| *value < median);
    let (below, above) = sorted.split_at(split);
    let low = |place: usize| {
        below
            .iter()
            .rev()
            .nth(place)
            .map(|value| (value - median).abs())
    };
    let high = |place: usize| above.get(place).map(|value| (value - median).abs());
    let far = |found: Option<f64>| found.unwrap_or(f64::INFINITY);
    // The deviation of that rank, from 0.
    let ranked = |rank: usize| {
        // So many of the `rank` smallest are below.
        let (mut from, mut until) = (rank.saturating_sub(above.len()), rank.min(below.len()));
        while from < until {
            let middle = from.midpoint(until);
            if far(low(middle)) < far(high(rank - middle - 1)) {
                from = middle + 1;
            } else {
                until = middle;
            }
        }
        far(low(from)).min(far(high(rank - from)))
    };
    let upper = ranked(sorted.len() / 2);
    if sorted.len() % 2 == 1 {
        return upper;
    }
    let lower = ranked(sorted.len() / 2 - 1);
    lower + 0.5 * (upper - lower)
}

/// A run far outside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlier {
    /// Position in run order, 0-based.
    pub index: usize,
    /// Its value.
    pub value: f64,
    /// Its robust z, negative for a fast run.
    pub z: f64,
}

/// Runs with robust |z| > 10, in run order, from 5 runs on. A deviation below `resolution` (in the
/// unit of the series) or below 1% of the median is none.
#[must_use]
pub fn outliers(series: &Series, resolution: f64) -> Vec<Outlier> {
    if series.runs() < 5 || series.min() >= series.max() {
        return Vec::new();
    }
    let robust = Robust::of_series(series);
    let near = |value: f64| robust.z(value).abs() <= FAR;
    if near(series.min()) && near(series.max()) {
        return Vec::new();
    }
    let floor = resolution.max(0.01 * robust.median.abs());
    let judged = series.values().iter().enumerate().map(|(index, &value)| {
        let z = robust.z(value);
        Outlier { index, value, z }
    });
    judged
        .filter(|run| run.z.abs() > FAR && (run.value - robust.median).abs() >= floor)
        .collect()
}

/// The first run against all others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FirstRun {
    /// Median of the other runs.
    pub median_of_rest: f64,
    /// Unscaled MAD of the other runs.
    pub mad_of_rest: f64,
    /// (first − median) / median.
    pub excess: f64,
    /// Whether it is slower than every other run.
    pub slowest: bool,
    /// (first − median) / (1.4826 MAD); `None` when the MAD is 0.
    pub z: Option<f64>,
    /// (first − median), in the unit of the series.
    pub difference: f64,
}

/// Compares the first run with the rest; `None` below 5 runs.
#[must_use]
pub fn first_run(series: &Series) -> Option<FirstRun> {
    let [first, rest @ ..] = series.values() else {
        return None;
    };
    if rest.len() < 4 {
        return None;
    }
    let robust = Robust::of(rest);
    let difference = first - robust.median;
    Some(FirstRun {
        median_of_rest: robust.median,
        mad_of_rest: robust.mad,
        excess: difference / robust.median,
        slowest: rest.iter().all(|value| value < first),
        z: (robust.mad > 0.0).then(|| difference / (1.4826 * robust.mad)),
        difference,
    })
}

/// The first run, if it is slow: slowest of all, at least 5% of the median of the rest and `floor`
/// (in the unit of the series) above each of them, and z > 5.
#[must_use]
pub fn slow_first_run(series: &Series, floor: f64) -> Option<FirstRun> {
    if series.values()[0] < series.max() {
        return None;
    }
    let first = first_run(series)?;
    // Where times have two levels, the median and its deviation know only one of them.
    let next = *series.sorted().iter().nth_back(1)?;
    let least = floor.max(0.05 * first.median_of_rest);
    let far = first.z.is_none_or(|z| z > 5.0);
    (first.slowest && first.difference >= least && series.max() - next >= least && far)
        .then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[f64]) -> Series {
        Series::new(values.to_vec()).unwrap()
    }

    #[test]
    fn the_deviation_of_sorted_values_is_that_of_any_order() {
        let mut random = crate::stats::random::Random::new(2);
        for runs in 1..200 {
            let most = 1 + random.index(30);
            let values: Vec<f64> = (0..runs).map(|_| random.index(most) as f64).collect();
            let series = series(&values);
            let mut all: Vec<f64> = values.iter().map(|x| (x - series.median()).abs()).collect();
            let found = deviation_of_sorted(series.sorted(), series.median());
            assert_eq!(found.to_bits(), median_of(&mut all).to_bits(), "{values:?}");
        }
    }

    #[test]
    fn a_far_run_is_named_in_run_order() {
        let found = outliers(&series(&[10.0, 10.1, 40.0, 9.9, 10.2, 1.0]), 0.0);
        assert_eq!(
            found.iter().map(|run| run.index).collect::<Vec<_>>(),
            [2, 5]
        );
        assert!(found[0].z > 0.0 && found[1].z < 0.0);
    }

    #[test]
    fn what_is_below_resolution_or_one_percent_is_no_outlier() {
        let values = [
            1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.009,
        ];
        assert!(outliers(&series(&values), 0.0).is_empty());
        let mut farther = values;
        farther[14] = 1.02;
        assert_eq!(outliers(&series(&farther), 0.0).len(), 1);
        assert!(outliers(&series(&farther), 0.05).is_empty());
    }

    #[test]
    fn outliers_do_not_depend_on_unit_or_order() {
        let values = [3.0, 3.1, 2.9, 3.05, 50.0, 3.02];
        let mut turned = values.map(|value| value * 1e6);
        turned.reverse();
        let (plain, turned) = (
            outliers(&series(&values), 0.0),
            outliers(&series(&turned), 0.0),
        );
        assert_eq!((plain.len(), turned.len()), (1, 1));
        assert!((plain[0].z - turned[0].z).abs() < 1e-6);
    }

    #[test]
    fn a_slow_first_run_needs_all_conditions() {
        let cold = series(&[15.0, 10.0, 10.1, 9.9, 10.0, 10.2]);
        assert!(slow_first_run(&cold, 1.0).is_some());
        assert!(slow_first_run(&cold, 6.0).is_none());
        assert!(slow_first_run(&series(&[10.3, 10.0, 10.1, 9.9, 10.0, 10.2]), 0.0).is_none());
        assert!(slow_first_run(&series(&[15.0, 10.0, 10.1, 16.0, 10.0, 10.2]), 0.0).is_none());
        assert!(slow_first_run(&series(&[15.0, 10.0, 10.0, 10.0, 10.0]), 0.0).is_some());
        assert_eq!(first_run(&series(&[15.0, 10.0, 10.0, 10.0])), None);
    }

    #[test]
    fn a_first_run_like_many_later_ones_is_not_slow() {
        let levels = [102.0, 1.0, 101.0, 0.9, 101.2, 0.9, 101.1, 1.1, 100.9, 1.0];
        assert_eq!(slow_first_run(&series(&levels), 1.0), None);
        assert_eq!(
            slow_first_run(&series(&[15.0, 10.0, 14.7, 10.1, 9.9]), 0.0),
            None
        );
        assert!(slow_first_run(&series(&[15.0, 10.0, 12.0, 10.1, 9.9]), 0.0).is_some());
    }
}
