//! Quantiles and tails of the distributions behind the intervals.
//!
//! Student t and normal come from `statrs`. Its incomplete Beta stops after 140 steps and loses
//! digits for thousands of runs, so binomial tails are summed here term by term.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::gamma::ln_gamma;

/// Quantile of the standard normal distribution, `probability` in 0..1.
pub(super) fn normal_quantile(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

/// Two-sided p value of a standard normal `z`.
pub(super) fn normal_two_sided(z: f64) -> f64 {
    (2.0 * Normal::standard().sf(z.abs())).min(1.0)
}

/// Two-sided Student t factor: the `1 - (1 - level) / 2` quantile for `freedom` > 0 degrees.
pub(super) fn student_factor(level: f64, freedom: f64) -> f64 {
    let tail = (1.0 - level) / 2.0;
    if freedom > 10_000.0 {
        return student_expansion(-normal_quantile(tail), freedom);
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |student| -student.inverse_cdf(tail))
}

/// Expansion of the t quantile around the normal one `z` (Abramowitz and Stegun 1964, 26.7.5).
fn student_expansion(z: f64, freedom: f64) -> f64 {
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    z + first / freedom + second / freedom.powi(2)
}

/// Logarithm of the probability that a Bin(`runs`, `p`) variable equals `count`, 0 < p < 1.
fn ln_binomial(runs: usize, p: f64, count: usize) -> f64 {
    let (n, k) = (runs as f64, count as f64);
    ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0)
        + k * p.ln()
        + (n - k) * (-p).ln_1p()
}

/// P(X ≤ `count`) for X ~ Bin(`runs`, `p`), 0 < p < 1.
pub(super) fn binomial_at_most(runs: usize, p: f64, count: usize) -> f64 {
    if count >= runs {
        return 1.0;
    }
    if (count as f64) < runs as f64 * p {
        lower_sum(runs, p, count)
    } else {
        1.0 - upper_sum(runs, p, count + 1)
    }
}

/// P(X ≥ `count`) for X ~ Bin(`runs`, `p`), 0 < p < 1.
pub(super) fn binomial_at_least(runs: usize, p: f64, count: usize) -> f64 {
    if count == 0 {
        return 1.0;
    }
    if count > runs {
        return 0.0;
    }
    if count as f64 > runs as f64 * p {
        upper_sum(runs, p, count)
    } else {
        1.0 - lower_sum(runs, p, count - 1)
    }
}

/// Sum of the probabilities of `count`, `count - 1`, … for a `count` below the mean.
fn lower_sum(runs: usize, p: f64, count: usize) -> f64 {
    let odds = (1.0 - p) / p;
    let (mut term, mut sum) = (1.0, 1.0);
    for k in (1..=count).rev() {
        term *= k as f64 / (runs - k + 1) as f64 * odds;
        sum += term;
        if term < sum * 1e-17 {
            break;
        }
    }
    (ln_binomial(runs, p, count) + f64::ln(sum)).exp()
}

/// Sum of the probabilities of `count`, `count + 1`, … for a `count` above the mean.
fn upper_sum(runs: usize, p: f64, count: usize) -> f64 {
    lower_sum(runs, 1.0 - p, runs - count)
}

/// Where the quantile of Beta(`rank`, `runs` - `rank` + 1), the law of the `rank`-th of `runs`
/// uniforms, falls among `runs` equal parts of 0..1: the part's number from 0.
///
/// Uses that its distribution function at x is P(Bin(`runs`, x) ≥ `rank`).
pub(super) fn uniform_order_place(runs: usize, rank: usize, probability: f64) -> usize {
    let place = |share: f64| ((share * runs as f64) as usize).min(runs - 1);
    let (mut low, mut high) = (0.0, 1.0);
    // halving 50 times reaches 1e-15, far below one run in a million
    for _ in 0..50 {
        if place(low) == place(high) {
            break;
        }
        let middle = 0.5 * (low + high);
        if binomial_at_least(runs, middle, rank) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    place(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, expected: f64) {
        assert!(
            (got / expected - 1.0).abs() < 1e-9,
            "{got} is not {expected}"
        );
    }

    #[test]
    fn student_factors_equal_scipy() {
        for (freedom, expected) in [
            (0.6, 67.844_395_329_571_97),
            (1.0, 12.706_204_736_174_694),
            (5.0, 2.570_581_835_636_314_7),
            (10_000.0, 1.960_201_239_890_626),
            (10_001.0, 1.960_201_216_164_641),
            (999_999.0, 1.959_966_356_816_479_1),
        ] {
            close(student_factor(0.95, freedom), expected);
        }
    }

    #[test]
    fn binomial_tails_equal_scipy() {
        close(binomial_at_most(6, 0.5, 0), 1.0 / 64.0);
        close(binomial_at_least(6, 0.5, 6), 1.0 / 64.0);
        close(
            binomial_at_most(10, 0.5, 9) + binomial_at_least(10, 0.5, 10),
            1.0,
        );
        close(
            binomial_at_least(10_000, 0.99, 9_920),
            0.022_130_829_355_983_365,
        );
        // logarithms of factorials near a million carry seven digits fewer
        let far = binomial_at_most(1_000_000, 0.5, 499_020);
        assert!(
            (far / 0.025_056_366_266_390_226 - 1.0).abs() < 1e-7,
            "{far}"
        );
    }

    #[test]
    fn order_quantiles_equal_scipy() {
        // 0.5664133450249882 and 0.49901951919531184 of the whole
        assert_eq!(uniform_order_place(200, 100, 0.975), 113);
        assert_eq!(uniform_order_place(1_000_000, 500_000, 0.025), 499_019);
    }

    #[test]
    fn normal_tails_equal_scipy() {
        close(normal_quantile(0.025), -1.959_963_984_540_054_5);
        assert!(
            (normal_two_sided(7.289_971_751_357_697) / 3.100_200_207_597e-13 - 1.0).abs() < 1e-6
        );
    }
}
