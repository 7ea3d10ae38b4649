//! Exact laws of rank statistics without a difference, and the critical values from them.

use super::distribution::normal_quantile;

/// Up to this many pairs the signed-rank law is computed exactly.
pub const EXACT_PAIRS: usize = 300;

/// Up to this many runs of each command the Mann–Whitney law is computed exactly.
pub const EXACT_RUNS: usize = 100;

/// A critical value: 0-based position of the lower limit among the ordered estimates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Critical {
    /// The largest c with 2 P(T ≤ c) ≤ α.
    pub position: usize,
    /// The law it comes from.
    pub law: Law,
}

/// Where a critical value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    /// The exact law.
    Exact,
    /// Its normal limit.
    Normal,
    /// Its normal limit with a deviation widened for runs that resemble their neighbours.
    Widened,
}

/// Critical value of the Wilcoxon (1945) signed-rank statistic for `pairs` pairs at `level`.
///
/// `None` when there are too few pairs for any (see [`fewest_pairs`]).
#[must_use]
pub fn signed_rank(pairs: usize, level: f64) -> Option<Critical> {
    if pairs <= EXACT_PAIRS {
        return critical(&signed_rank_law(pairs), level);
    }
    normal(signed_rank_limit(pairs), level)
}

/// Number of Walsh averages and deviation of the signed-rank statistic.
fn signed_rank_limit(pairs: usize) -> (f64, f64) {
    let count = pairs as f64;
    let variance = count * (count + 1.0) * (2.0 * count + 1.0) / 24.0;
    (count * (count + 1.0) / 2.0, variance.sqrt())
}

/// Critical value of the Mann–Whitney (1947) statistic for `first` and `second` runs at `level`.
///
/// `None` when there are too few runs for any.
#[must_use]
pub fn rank_sum(first: usize, second: usize, level: f64) -> Option<Critical> {
    if first <= EXACT_RUNS && second <= EXACT_RUNS {
        return critical(&rank_sum_law(first, second), level);
    }
    normal(rank_sum_limit(first, second), level)
}

/// Critical value for runs that resemble their neighbours: the normal limit with its deviation
/// times `widening`; the outermost differences when that leaves none.
///
/// `None` when there are too few runs for any.
#[must_use]
pub fn rank_sum_widened(
    first: usize,
    second: usize,
    level: f64,
    widening: f64,
) -> Option<Critical> {
    let limit = rank_sum_limit(first, second);
    rank_sum(first, second, level).map(|_| widened(limit, level, widening))
}

/// Number of differences and deviation of the Mann–Whitney statistic.
fn rank_sum_limit(first: usize, second: usize) -> (f64, f64) {
    let (m, n) = (first as f64, second as f64);
    (m * n, (m * n * (m + n + 1.0) / 12.0).sqrt())
}

/// Fewest pairs for an interval at `level`: the smallest n with 2 · 2⁻ⁿ ≤ α.
///
/// `None` when `level` is not inside 0..1.
#[must_use]
pub fn fewest_pairs(level: f64) -> Option<usize> {
    let alpha = 1.0 - level;
    (alpha > 0.0 && alpha < 1.0).then(|| ((2.0 / alpha).log2() - 1e-9).ceil().max(1.0) as usize)
}

/// Largest c whose doubled lower tail fits in 1 − level.
fn critical(law: &[f64], level: f64) -> Option<Critical> {
    let mut below = 0.0;
    let fits = law.iter().take_while(|probability| {
        below += **probability;
        2.0 * below <= 1.0 - level + 1e-12
    });
    fits.count().checked_sub(1).map(|position| Critical {
        position,
        law: Law::Exact,
    })
}

/// ⌊m/2 − ½ − z σ⌋ for m ordered estimates (Hollander and Wolfe 1999, equation 3.37).
fn normal((estimates, deviation): (f64, f64), level: f64) -> Option<Critical> {
    let position = normal_position(estimates, deviation, level);
    (position >= 0.0).then_some(Critical {
        position: position as usize,
        law: Law::Normal,
    })
}

/// The normal limit with its deviation times `widening`, kept within the estimates.
fn widened((estimates, deviation): (f64, f64), level: f64, widening: f64) -> Critical {
    let position = normal_position(estimates, deviation * widening, level).max(0.0);
    Critical {
        position: position as usize,
        law: Law::Widened,
    }
}

fn normal_position(estimates: f64, deviation: f64, level: f64) -> f64 {
    let z = -normal_quantile((1.0 - level) / 2.0);
    (estimates / 2.0 - 0.5 - z * deviation).floor()
}

/// P(T = t) for t up to half of the largest sum of ranks: each rank counts with probability ½.
fn signed_rank_law(pairs: usize) -> Vec<f64> {
    let half = pairs * (pairs + 1) / 4;
    let mut law = vec![0.0; half + 1];
    law[0] = 1.0;
    for rank in 1..=pairs {
        for sum in (0..=half).rev() {
            let with = sum.checked_sub(rank).map_or(0.0, |rest| law[rest]);
            law[sum] = 0.5 * (law[sum] + with);
        }
    }
    law
}

/// P(U = u) for u up to half of `first` · `second`: the Gaussian binomial coefficients, one factor
/// (1 − qᵐ⁺ⁱ)/(1 − qⁱ) after another, each divided by its sum (m + i)/i.
fn rank_sum_law(first: usize, second: usize) -> Vec<f64> {
    let half = first * second / 2;
    let mut law = vec![0.0; half + 1];
    law[0] = 1.0;
    for step in 1..=second {
        for sum in (first + step..=half).rev() {
            law[sum] -= law[sum - first - step];
        }
        for sum in step..=half {
            law[sum] += law[sum - step];
        }
        let scale = step as f64 / (first + step) as f64;
        for probability in &mut law {
            *probability *= scale;
        }
    }
    law
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_laws_equal_counting() {
        // n = 3: sums 0 1 2 3 3 4 5 6 of eight
        assert_eq!(signed_rank_law(3), [0.125, 0.125, 0.125, 0.25]);
        // 2 + 2 runs: U = 0 1 2 2 3 4 of six
        let law = rank_sum_law(2, 2);
        for (got, expected) in law.iter().zip([1.0 / 6.0, 1.0 / 6.0, 2.0 / 6.0]) {
            assert!((got - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn laws_are_symmetric_and_sum_to_one() {
        for (first, second) in [(1, 1), (4, 7), (30, 30), (100, 100), (7, 100)] {
            let law = rank_sum_law(first, second);
            let mut total = 2.0 * law.iter().sum::<f64>();
            if first * second % 2 == 0 {
                total -= law[law.len() - 1];
            }
            assert!((total - 1.0).abs() < 1e-9, "{first} {second} {total}");
            assert!(law.iter().all(|probability| *probability > 0.0));
            assert_eq!(rank_sum(first, second, 0.95), rank_sum(second, first, 0.95));
        }
    }

    #[test]
    fn the_normal_limit_meets_the_exact_law() {
        let exact = signed_rank(300, 0.95).unwrap().position as f64;
        let limit = normal(signed_rank_limit(300), 0.95).unwrap().position as f64;
        assert!((exact - limit).abs() < 0.001 * exact, "{exact} {limit}");
        let exact = rank_sum(100, 100, 0.95).unwrap().position as f64;
        let limit = normal(rank_sum_limit(100, 100), 0.95).unwrap().position as f64;
        assert!((exact - limit).abs() <= 2.0, "{exact} {limit}");
    }

    #[test]
    fn widening_moves_the_limits_outwards_and_stays_inside() {
        let plain = rank_sum(50, 40, 0.95).unwrap().position;
        assert!(
            rank_sum_widened(50, 40, 0.95, 1.0)
                .unwrap()
                .position
                .abs_diff(plain)
                <= 2
        );
        assert!(rank_sum_widened(50, 40, 0.95, 1.5).unwrap().position < plain);
        assert_eq!(rank_sum_widened(30, 30, 0.95, 9.0).unwrap().position, 0);
        assert_eq!(rank_sum_widened(3, 3, 0.95, 1.0), None);
    }

    #[test]
    fn intervals_exist_exactly_from_the_fewest_pairs_on() {
        for level in [0.9, 0.95, 0.975, 0.9875, 0.99, 0.995, 0.999] {
            let fewest = fewest_pairs(level).unwrap();
            assert!(signed_rank(fewest, level).is_some());
            assert_eq!(signed_rank(fewest - 1, level), None);
        }
        assert_eq!(rank_sum(3, 3, 0.95), None);
        assert!(rank_sum(4, 4, 0.95).is_some());
        assert_eq!(signed_rank(0, 0.95), None);
    }
}
