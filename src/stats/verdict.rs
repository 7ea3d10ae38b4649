//! What may be said about a ratio, and at which level among several commands.

use super::estimate::Estimate;

/// Relative difference below which a difference is a number and no verdict.
pub const SLIGHT: f64 = 0.005;

/// What may be said about a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The second is slower: the interval is above 1.
    Slower,
    /// The second is faster: the interval is below 1.
    Faster,
    /// No difference is shown: the interval includes 1.
    NoneShown,
    /// Equal within the practical limit: the whole interval is inside it.
    Equal,
    /// The interval excludes 1, but the difference is below 0.5%: a number, no verdict.
    Slight,
    /// There is no interval: too few runs.
    TooFewRuns,
}

impl Verdict {
    /// The verdict on a ratio; `limit` is the practical limit, such as 0.05: equal means inside
    /// 1/(1 + limit) ..= 1 + limit.
    #[must_use]
    pub fn of(ratio: &Estimate, limit: Option<f64>) -> Self {
        let Some(interval) = ratio.interval else {
            return Self::TooFewRuns;
        };
        let inside =
            |limit: f64| interval.low >= 1.0 / (1.0 + limit) && interval.high <= 1.0 + limit;
        if limit.is_some_and(inside) {
            Self::Equal
        } else if interval.contains(1.0) {
            Self::NoneShown
        } else if (ratio.value - 1.0).abs() < SLIGHT {
            Self::Slight
        } else if interval.low > 1.0 {
            Self::Slower
        } else {
            Self::Faster
        }
    }
}

/// Level of each of the `commands` − 1 intervals against a reference named before the run:
/// 1 − (1 − level)/(k − 1) (Bonferroni).
#[must_use]
pub fn level_against_reference(level: f64, commands: usize) -> f64 {
    1.0 - (1.0 - level) / commands.saturating_sub(1).max(1) as f64
}

/// Level when the reference is the observed fastest: all k (k − 1)/2 pairs count.
#[must_use]
pub fn level_against_fastest(level: f64, commands: usize) -> f64 {
    let pairs = commands * commands.saturating_sub(1) / 2;
    1.0 - (1.0 - level) / pairs.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::rank;
    use super::*;

    #[test]
    fn verdicts_follow_the_interval() {
        assert_eq!(
            Verdict::of(&Estimate::within(1.02, 1.04, 1.06), None),
            Verdict::Slower
        );
        assert_eq!(
            Verdict::of(&Estimate::within(0.92, 0.94, 0.99), None),
            Verdict::Faster
        );
        assert_eq!(
            Verdict::of(&Estimate::within(0.98, 1.01, 1.03), None),
            Verdict::NoneShown
        );
        assert_eq!(
            Verdict::of(&Estimate::within(0.98, 1.01, 1.03), Some(0.05)),
            Verdict::Equal
        );
        assert_eq!(
            Verdict::of(&Estimate::within(0.98, 1.01, 1.06), Some(0.05)),
            Verdict::NoneShown
        );
        assert_eq!(
            Verdict::of(&Estimate::within(1.001, 1.002, 1.003), None),
            Verdict::Slight
        );
        assert_eq!(
            Verdict::of(&Estimate::point(1.5), Some(0.05)),
            Verdict::TooFewRuns
        );
    }

    #[test]
    fn levels_tighten_with_the_number_of_commands() {
        assert!((level_against_reference(0.95, 2) - 0.95).abs() < 1e-15);
        let pairs =
            [3, 5, 10].map(|k| rank::fewest_pairs(level_against_reference(0.95, k)).unwrap());
        assert_eq!(pairs, [7, 8, 9]);
        assert!((level_against_fastest(0.95, 5) - 0.995).abs() < 1e-15);
    }
}
