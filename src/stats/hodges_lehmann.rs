//! Ordered pairwise means and differences, by which Hodges and Lehmann (1963) estimate a shift.
//!
//! Up to a few million they are listed; beyond, single ones are found by bracketing, in memory that
//! grows with the runs only.

/// Most estimates that are listed: the Walsh averages of 2,000 pairs.
const LISTED: usize = 2_001_000;

/// A multiset of pairwise estimates whose ordered members can be asked for.
pub(super) enum Pairwise {
    /// All of them, unordered.
    Listed(Vec<f64>),
    /// Walsh averages (vᵢ + vⱼ)/2, i ≤ j, of ascending values.
    Walsh(Vec<f64>),
    /// Differences bⱼ − aᵢ of ascending values.
    Differences(Vec<f64>, Vec<f64>),
}

impl Pairwise {
    /// Walsh averages of `values`.
    pub(super) fn walsh(mut values: Vec<f64>) -> Self {
        if values.len() * (values.len() + 1) / 2 > LISTED {
            values.sort_unstable_by(f64::total_cmp);
            return Self::Walsh(values);
        }
        let rows = values.iter().enumerate();
        Self::Listed(
            rows.flat_map(|(row, a)| values[row..].iter().map(move |b| 0.5 * (a + b)))
                .collect(),
        )
    }

    /// Differences of every value of `second` and every one of `first`.
    pub(super) fn differences(mut first: Vec<f64>, mut second: Vec<f64>) -> Self {
        if first.len() * second.len() > LISTED {
            first.sort_unstable_by(f64::total_cmp);
            second.sort_unstable_by(f64::total_cmp);
            return Self::Differences(first, second);
        }
        Self::Listed(
            second
                .iter()
                .flat_map(|b| first.iter().map(move |a| b - a))
                .collect(),
        )
    }

    /// Number of estimates.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Listed(all) => all.len(),
            Self::Walsh(values) => values.len() * (values.len() + 1) / 2,
            Self::Differences(first, second) => first.len() * second.len(),
        }
    }

    /// Median of the estimates.
    pub(super) fn median(&mut self) -> f64 {
        let count = self.count();
        let upper = self.nth(count / 2);
        if count % 2 == 1 {
            upper
        } else {
            0.5 * (self.nth(count / 2 - 1) + upper)
        }
    }

    /// The estimate at 0-based `position` in ascending order.
    pub(super) fn nth(&mut self, position: usize) -> f64 {
        let (low, high) = match self {
            Self::Listed(all) => {
                return *all.select_nth_unstable_by(position, f64::total_cmp).1;
            }
            Self::Walsh(values) => (values[0], values[values.len() - 1]),
            Self::Differences(first, second) => (
                second[0] - first[first.len() - 1],
                second[second.len() - 1] - first[0],
            ),
        };
        let mut bracket = Bracket {
            low,
            below_low: 0,
            high,
            below_high: self.count(),
        };
        while bracket.wide() {
            let width = bracket.high - bracket.low;
            let guess = bracket.interpolate(position);
            // two probes close around a good guess leave a fiftieth, the middle always a half
            for probe in [guess - 0.01 * width, guess + 0.01 * width] {
                bracket.narrow(probe, position, self);
            }
            if bracket.high - bracket.low > 0.5 * width {
                bracket.narrow(0.5 * (bracket.low + bracket.high), position, self);
            }
        }
        0.5 * (bracket.low + bracket.high)
    }

    /// Number of estimates not above `limit`, with two pointers over the ascending values.
    fn not_above(&self, limit: f64) -> usize {
        match self {
            Self::Listed(all) => all.iter().filter(|estimate| **estimate <= limit).count(),
            Self::Walsh(values) => {
                let mut end = values.len();
                let rows = values.iter().enumerate().map(|(row, value)| {
                    while end > 0 && 0.5 * (value + values[end - 1]) > limit {
                        end -= 1;
                    }
                    end.saturating_sub(row)
                });
                rows.sum()
            }
            Self::Differences(first, second) => {
                let mut start = 0;
                let rows = second.iter().map(|value| {
                    while start < first.len() && value - first[start] > limit {
                        start += 1;
                    }
                    first.len() - start
                });
                rows.sum()
            }
        }
    }
}

/// Where one ordered estimate must lie, with the numbers of estimates up to both ends.
struct Bracket {
    low: f64,
    below_low: usize,
    high: f64,
    below_high: usize,
}

impl Bracket {
    /// Whether it is wider than rounding; 1e-13 of a logarithm is a relative 1e-13 of a ratio.
    fn wide(&self) -> bool {
        self.high - self.low > 1e-13 * (1.0 + self.low.abs())
    }

    /// Where the estimate would be if all in the bracket were evenly spread.
    fn interpolate(&self, position: usize) -> f64 {
        let inside = self.below_high.saturating_sub(self.below_low).max(1) as f64;
        let share = (position.saturating_sub(self.below_low) as f64 + 0.5) / inside;
        self.low + share.min(1.0) * (self.high - self.low)
    }

    /// Moves an end to `probe`, if that is inside.
    fn narrow(&mut self, probe: f64, position: usize, estimates: &Pairwise) {
        if probe <= self.low || probe >= self.high {
            return;
        }
        let below = estimates.not_above(probe);
        if below > position {
            (self.high, self.below_high) = (probe, below);
        } else {
            (self.low, self.below_low) = (probe, below);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;

    fn values(seed: u64, count: usize) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..count)
            .map(|_| (random.unit() * 50.0).round() / 50.0 + 0.01 * random.unit())
            .collect()
    }

    fn ascending(mut values: Vec<f64>) -> Vec<f64> {
        values.sort_unstable_by(f64::total_cmp);
        values
    }

    #[test]
    fn bracketing_finds_the_walsh_averages_that_listing_finds() {
        let values = values(1, 61);
        let mut listed = Pairwise::walsh(values.clone());
        let mut found = Pairwise::Walsh(ascending(values));
        assert_eq!(listed.count(), found.count());
        for position in [0, 1, 500, 945, 946, 1_889, 1_890] {
            assert!((listed.nth(position) - found.nth(position)).abs() < 1e-12);
        }
        assert!((listed.median() - found.median()).abs() < 1e-12);
    }

    #[test]
    fn bracketing_finds_the_differences_that_listing_finds() {
        let (first, second) = (values(2, 30), values(3, 41));
        let mut listed = Pairwise::differences(first.clone(), second.clone());
        let mut found = Pairwise::Differences(ascending(first), ascending(second));
        assert_eq!(listed.count(), found.count());
        for position in [0, 7, 614, 615, 1_228, 1_229] {
            assert!((listed.nth(position) - found.nth(position)).abs() < 1e-12);
        }
        assert!((listed.median() - found.median()).abs() < 1e-12);
    }

    #[test]
    fn equal_values_differ_by_nothing() {
        let mut same = Pairwise::Differences(vec![0.5; 9], vec![0.5; 7]);
        assert_eq!((same.nth(0), same.median()), (0.0, 0.0));
    }
}
