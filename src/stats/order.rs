//! Quantiles and the intervals that order statistics give them, exact for any continuous law.
//!
//! Ranks are 1-based, as in the literature. No resampling happens here.

use super::distribution::{binomial_at_least, binomial_at_most, normal_quantile};
use super::estimate::{Interval, Method};
use super::memo::Memo;

/// Quantile of order `q` in 0..=1 of ascending values (Hyndman and Fan 1996, type 7):
/// h = q (n − 1), k = ⌊h⌋, x₍k₎ + (h − k) (x₍k+1₎ − x₍k₎), 0-based.
///
/// Not a number for an empty slice.
#[must_use]
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let position = q.clamp(0.0, 1.0) * last as f64;
    let index = (position as usize).min(last);
    let low = sorted[index];
    let high = sorted[(index + 1).min(last)];
    low + (position - index as f64) * (high - low)
}

/// Median of unsorted values, by selection; the slice is reordered. Not a number when empty.
#[must_use]
pub fn median_of(values: &mut [f64]) -> f64 {
    let count = values.len();
    if count == 0 {
        return f64::NAN;
    }
    let (below, middle, _) = values.select_nth_unstable_by(count / 2, f64::total_cmp);
    let upper = *middle;
    if count % 2 == 1 {
        return upper;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    lower + 0.5 * (upper - lower)
}

/// Two ranks whose order statistics enclose a quantile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranks {
    /// Rank of the lower limit, 1-based.
    pub low: usize,
    /// Rank of the upper limit, 1-based.
    pub high: usize,
    /// True probability that the interval covers the quantile, for a continuous law.
    pub coverage: f64,
}

/// Equal-tailed ranks for the quantile of order `q` (David and Nagaraja 2003, 7.1):
/// the largest l with P(X ≤ l − 1) ≤ α/2 and the smallest u with P(X ≥ u) ≤ α/2, X ~ Bin(n, q).
///
/// `None` when one of them does not exist for so few runs, or `q` is not inside 0..1.
#[must_use]
pub fn ranks(runs: usize, q: f64, level: f64) -> Option<Ranks> {
    thread_local!(static RANKS: Memo<Option<Ranks>> = const { Memo::new() });
    let key = (runs, q.to_bits(), level.to_bits());
    RANKS.with(|known| known.get(key, || find_ranks(runs, q, level)))
}

fn find_ranks(runs: usize, q: f64, level: f64) -> Option<Ranks> {
    let tail = (1.0 - level) / 2.0 + 1e-12;
    let low = low_rank(runs, q, tail)?;
    // P(X >= u) falls in u: the smallest u within the tail
    let high = first_where(1, runs, |rank| binomial_at_least(runs, q, rank) <= tail)?;
    let coverage = binomial_at_most(runs, q, high - 1) - binomial_at_most(runs, q, low - 1);
    Some(Ranks {
        low,
        high,
        coverage,
    })
}

/// The largest rank l with P(X ≤ l − 1) ≤ `tail`.
fn low_rank(runs: usize, q: f64, tail: f64) -> Option<usize> {
    if !(q > 0.0 && q < 1.0) {
        return None;
    }
    let beyond = first_where(1, runs, |rank| binomial_at_most(runs, q, rank - 1) > tail);
    match beyond {
        Some(rank) => (rank > 1).then(|| rank - 1),
        None => Some(runs),
    }
}

/// Smallest number in `low..=high` for which the monotonic `holds` is true.
fn first_where(low: usize, high: usize, holds: impl Fn(usize) -> bool) -> Option<usize> {
    let (mut low, mut end) = (low, high + 1);
    while low < end {
        let middle = low.midpoint(end);
        if holds(middle) {
            end = middle;
        } else {
            low = middle + 1;
        }
    }
    (low <= high).then_some(low)
}

/// An interval of a quantile with the ranks it came from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankInterval {
    /// The interval.
    pub interval: Interval,
    /// Ranks and true coverage.
    pub ranks: Ranks,
}

/// Order-statistic interval of the quantile of order `q`; `None` below [`fewest_runs`].
#[must_use]
pub fn interval(sorted: &[f64], q: f64, level: f64) -> Option<RankInterval> {
    let ranks = ranks(sorted.len(), q, level)?;
    let interval = Interval {
        low: sorted[ranks.low - 1],
        high: sorted[ranks.high - 1],
        level,
        method: Method::OrderStatistics,
    };
    Some(RankInterval { interval, ranks })
}

/// Order-statistic interval of the median with ranks moved apart by the factor `widening` ≥ 1:
/// l = max(1, ⌊n/2 − (z/2) w √n⌋), u = n + 1 − l.
///
/// `None` below the runs that a plain interval needs.
#[must_use]
pub fn widened_median(sorted: &[f64], level: f64, widening: f64) -> Option<Interval> {
    let runs = sorted.len();
    ranks(runs, 0.5, level)?;
    let half_z = -normal_quantile((1.0 - level) / 2.0) / 2.0;
    let low = (runs as f64 / 2.0 - half_z * widening * (runs as f64).sqrt())
        .floor()
        .max(1.0);
    let low = low as usize;
    let (low, high) = (sorted[low - 1], sorted[runs - low]);
    Some(Interval {
        low,
        high,
        level,
        method: Method::OrderStatisticsWidened,
    })
}

/// A one-sided bound: with confidence `level` the quantile is not below `value`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LowerBound {
    /// Rank of the bound, 1-based.
    pub rank: usize,
    /// The value at that rank.
    pub value: f64,
    /// Confidence level.
    pub level: f64,
}

/// One-sided lower bound of the quantile of order `q`: the value at the largest rank l with
/// P(Bin(n, q) ≤ l − 1) ≤ 1 − level. `None` when there is no such rank.
#[must_use]
pub fn lower_bound(sorted: &[f64], q: f64, level: f64) -> Option<LowerBound> {
    let rank = low_rank(sorted.len(), q, 1.0 - level + 1e-12)?;
    Some(LowerBound {
        rank,
        value: sorted[rank - 1],
        level,
    })
}

/// Fewest runs for a two-sided interval of the quantile of order `q` in 0..1 at `level`:
/// qⁿ and (1 − q)ⁿ must both fit in one tail.
///
/// `None` when `q` or `level` is not inside 0..1.
#[must_use]
pub fn fewest_runs(q: f64, level: f64) -> Option<usize> {
    fewest(q.max(1.0 - q), (1.0 - level) / 2.0)
}

/// Fewest runs whose maximum bounds the quantile of order `q` from above with `level`.
///
/// `None` when `q` or `level` is not inside 0..1.
#[must_use]
pub fn fewest_runs_one_sided(q: f64, level: f64) -> Option<usize> {
    fewest(q, 1.0 - level)
}

/// Smallest n with baseⁿ ≤ tail.
fn fewest(base: f64, tail: f64) -> Option<usize> {
    let inside = base > 0.0 && base < 1.0 && tail > 0.0 && tail < 1.0;
    inside.then(|| ((tail.ln() / base.ln() - 1e-9).ceil().max(1.0)) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate_between_order_statistics() {
        let sorted = [1.0, 2.0, 4.0];
        let expected = [(0.0, 1.0), (0.25, 1.5), (0.5, 2.0), (0.75, 3.0), (1.0, 4.0)];
        for (q, expected) in expected {
            assert!((quantile(&sorted, q) - expected).abs() < 1e-15);
        }
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn selection_agrees_with_sorting() {
        for values in [
            vec![3.0],
            vec![4.0, 1.0],
            vec![5.0, 1.0, 9.0, 2.0, 2.0],
            vec![8.0, 1.0, 7.0, 3.0],
        ] {
            let mut sorted = values.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            assert!((median_of(&mut values.clone()) - quantile(&sorted, 0.5)).abs() < 1e-15);
        }
    }

    #[test]
    fn intervals_exist_exactly_from_the_fewest_runs_on() {
        for q in [0.5, 0.9, 0.95, 0.99] {
            for level in [0.9, 0.95, 0.99] {
                let fewest = fewest_runs(q, level).unwrap();
                assert!(ranks(fewest, q, level).is_some(), "{q} {level}");
                assert!(ranks(fewest - 1, q, level).is_none(), "{q} {level}");
            }
        }
        assert_eq!(fewest_runs(1.0, 0.95), None);
    }

    #[test]
    fn coverage_is_never_below_the_level() {
        for runs in [6, 17, 99, 1_000, 100_000] {
            let ranks = ranks(runs, 0.5, 0.95).unwrap();
            assert!(ranks.coverage >= 0.95 && ranks.coverage < 0.99);
            assert_eq!(ranks.low + ranks.high, runs + 1);
        }
    }

    #[test]
    fn widening_never_narrows() {
        let sorted: Vec<f64> = (0..200).map(f64::from).collect();
        let plain = widened_median(&sorted, 0.95, 1.0).unwrap();
        let wide = widened_median(&sorted, 0.95, 2.2).unwrap();
        assert!(wide.low < plain.low && wide.high > plain.high);
        let extreme = widened_median(&sorted, 0.95, 100.0).unwrap();
        assert_eq!((extreme.low, extreme.high), (0.0, 199.0));
    }
}
