//! What the order of the runs tells: drift, resemblance of neighbours, alternation.

use super::Series;
use super::distribution::normal_two_sided;
use super::order::median_of;

/// The test of Mann (1945) and Kendall (1975) for a monotonic trend, with the correction for ties.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannKendall {
    /// Rising minus falling pairs of runs.
    pub s: i64,
    /// Variance of `s` without trend.
    pub variance: f64,
    /// Standardised `s`, moved by one towards 0.
    pub z: f64,
    /// Two-sided p value.
    pub p: f64,
}

/// Mann–Kendall test over run order, in O(n log n) by counting inversions.
#[must_use]
pub fn mann_kendall(series: &Series) -> MannKendall {
    let pairs = |count: usize| signed(count * count.saturating_sub(1) / 2);
    let weight = |count: usize| {
        let count = count as f64;
        count * (count - 1.0) * (2.0 * count + 5.0)
    };
    let runs = series.runs();
    let (mut untied, mut variance) = (pairs(runs), weight(runs));
    for group in series.sorted().chunk_by(|a, b| a.total_cmp(b).is_eq()) {
        untied -= pairs(group.len());
        variance -= weight(group.len());
    }
    let falling = inversions(&mut series.values().to_vec(), &mut vec![0.0; runs]);
    let s = untied - 2 * falling;
    let variance = variance.max(0.0) / 18.0;
    let towards_zero = (s - s.signum()) as f64;
    let z = if variance > 0.0 {
        towards_zero / variance.sqrt()
    } else {
        0.0
    };
    MannKendall {
        s,
        variance,
        z,
        p: normal_two_sided(z),
    }
}

/// A count of pairs with room for a sign.
#[allow(
    clippy::cast_possible_wrap,
    reason = "pairs of runs in memory stay far below 2^63"
)]
fn signed(count: usize) -> i64 {
    count as i64
}

/// Number of pairs with the larger value first; sorts `values` by merging through `spare`.
fn inversions(values: &mut [f64], spare: &mut [f64]) -> i64 {
    let count = values.len();
    if count <= FEW {
        return insertions(values);
    }
    let middle = count / 2;
    let (left, right) = values.split_at_mut(middle);
    let (spare_left, spare_right) = spare.split_at_mut(middle);
    let mut found = inversions(left, spare_left) + inversions(right, spare_right);
    found += merge(left, right, spare);
    values.copy_from_slice(spare);
    found
}

/// Merges two ascending halves and counts the pairs with the larger value on the left; the right
/// half may be longer by one.
///
/// From both ends at once, and computed with instead of branched on: which side comes next is a
/// matter of chance, and two chains of steps do not wait for each other.
fn merge(left: &[f64], right: &[f64], target: &mut [f64]) -> i64 {
    let (count, all) = (left.len(), target.len());
    let (mut a, mut b) = (0, 0);
    let (mut left_end, mut right_end) = (count, right.len());
    let mut found = 0;
    for step in 0..count {
        let right_first = right[b] < left[a];
        target[step] = if right_first { right[b] } else { left[a] };
        found += usize::from(right_first) * (count - a);
        b += usize::from(right_first);
        a += usize::from(!right_first);

        let (x, y) = (left[left_end - 1], right[right_end - 1]);
        let left_last = y < x;
        target[all - 1 - step] = if left_last { x } else { y };
        found += usize::from(!left_last) * (count - left_end);
        left_end -= usize::from(left_last);
        right_end -= usize::from(!left_last);
    }
    // One is left in the middle if their number is odd.
    if a < left_end {
        target[count] = left[a];
    } else if b < right_end {
        target[count] = right[b];
        found += count - a;
    }
    signed(found)
}

/// Up to here inserting is quicker than merging.
const FEW: usize = 24;

/// [`inversions`] of few values: sorts by inserting and counts the steps.
fn insertions(values: &mut [f64]) -> i64 {
    let mut found = 0;
    for place in 1..values.len() {
        let value = values[place];
        let mut free = place;
        while free > 0 && value < values[free - 1] {
            values[free] = values[free - 1];
            free -= 1;
        }
        values[free] = value;
        found += signed(place - free);
    }
    found
}

/// Medians of the first and the last ⌊n/2⌋ runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Halves {
    /// Runs in each half.
    pub runs: usize,
    /// Median of the earlier half.
    pub earlier: f64,
    /// Median of the later half.
    pub later: f64,
    /// later / earlier − 1.
    pub shift: f64,
}

/// Compares the halves of the session; `None` for a single run.
#[must_use]
pub fn halves(series: &Series) -> Option<Halves> {
    let values = series.values();
    let runs = values.len() / 2;
    if runs == 0 {
        return None;
    }
    let earlier = median_of(&mut values[..runs].to_vec());
    let later = median_of(&mut values[values.len() - runs..].to_vec());
    Some(Halves {
        runs,
        earlier,
        later,
        shift: later / earlier - 1.0,
    })
}

/// How much neighbouring runs resemble each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Autocorrelation {
    /// Lag-1 autocorrelation r.
    pub lag_one: f64,
    /// r + (1 + 4r)/n, at most 0.95: its small-sample bias removed (Kendall 1954).
    pub corrected: f64,
    /// Number of independent runs that would tell as much: n (1 − r') / (1 + r') (Bayley and
    /// Hammersley 1946); n when r' is not positive.
    pub effective_runs: f64,
    /// √(n / effective runs), at least 1.
    pub widening: f64,
    /// Whether it is beyond chance: from 20 runs, r > max(2/√n, 0.1).
    pub significant: bool,
}

/// Lag-1 autocorrelation Σ dᵢdᵢ₊₁ / Σ dᵢ², d = x − mean (Box and Jenkins 1970, 2.1.5), and what it
/// costs; `None` below 3 runs or without spread.
#[must_use]
pub fn autocorrelation(series: &Series) -> Option<Autocorrelation> {
    let moments = series.moments();
    if series.runs() < 3 || moments.squares <= 0.0 {
        return None;
    }
    let lag_one = moments.products / moments.squares;
    let runs = series.runs() as f64;
    let corrected = (lag_one + (1.0 + 4.0 * lag_one) / runs).min(0.95);
    let factor = if corrected > 0.0 {
        (1.0 - corrected) / (1.0 + corrected)
    } else {
        1.0
    };
    Some(Autocorrelation {
        lag_one,
        corrected,
        effective_runs: runs * factor,
        widening: factor.sqrt().recip(),
        significant: runs >= 20.0 && lag_one > (2.0 / runs.sqrt()).max(0.1),
    })
}

/// The autocorrelation, if it is beyond chance.
#[must_use]
pub fn significant_autocorrelation(series: &Series) -> Option<Autocorrelation> {
    autocorrelation(series).filter(|found| found.significant)
}

/// Whether every second run is slower, beyond chance: from 20 runs, r < −2.33/√n − 1/n.
#[must_use]
pub fn alternates(lag_one: f64, runs: usize) -> bool {
    let count = runs as f64;
    runs >= 20 && lag_one < -2.33 / count.sqrt() - 1.0 / count
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;

    fn series(values: &[f64]) -> Series {
        Series::new(values.to_vec()).unwrap()
    }

    #[test]
    fn counting_inversions_equals_comparing_all_pairs() {
        let mut random = Random::new(3);
        for runs in [1, 2, 3, 17, 64, 101] {
            let values: Vec<f64> = (0..runs).map(|_| random.index(12) as f64).collect();
            let mut expected = 0;
            for (index, first) in values.iter().enumerate() {
                for later in &values[index + 1..] {
                    expected += i64::from(later > first) - i64::from(later < first);
                }
            }
            assert_eq!(mann_kendall(&series(&values)).s, expected);
        }
    }

    #[test]
    fn a_constant_series_has_no_trend_and_no_correlation() {
        let same = series(&[0.25; 12]);
        let trend = mann_kendall(&same);
        assert_eq!((trend.s, trend.p), (0, 1.0));
        assert_eq!(autocorrelation(&same), None);
        assert!(halves(&same).unwrap().shift.abs() < f64::EPSILON);
    }

    #[test]
    fn strictly_rising_runs_have_the_largest_s() {
        let rising: Vec<f64> = (0..50).map(f64::from).collect();
        let trend = mann_kendall(&series(&rising));
        assert_eq!(trend.s, 50 * 49 / 2);
        assert!(trend.p < 1e-10);
        let falling: Vec<f64> = rising.iter().rev().copied().collect();
        assert_eq!(mann_kendall(&series(&falling)).s, -trend.s);
    }

    #[test]
    fn alternation_is_negative_correlation() {
        let values: Vec<f64> = (0..24).map(|run| f64::from(run % 2)).collect();
        let correlation = autocorrelation(&series(&values)).unwrap();
        assert!(alternates(correlation.lag_one, 24) && !correlation.significant);
        assert!((correlation.widening - 1.0).abs() < f64::EPSILON);
    }
}
