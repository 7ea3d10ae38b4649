//! The ratio of two series by ranks, which few slow runs do not move.
//!
//! Ratios are second over first: above 1 the second is slower. Nothing here knows commands.

use thiserror::Error;

use super::Series;
use super::center_ratio::ratios;
use super::estimate::{Estimate, Interval, Method};
use super::hodges_lehmann::Pairwise;
use super::rank::{self, Critical, Law};
use super::summary::Settings;
use super::trend::significant_autocorrelation;

/// Why two series have no ratio; fits after "cannot compare: ".
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum CompareError {
    /// A ratio needs values above 0.
    #[error("value {value} of run {run} is not above 0")]
    NotPositive {
        /// 1-based position in run order.
        run: usize,
        /// The offending value.
        value: f64,
    },
    /// Pairs need as many runs in both series.
    #[error("{first} and {second} runs do not make pairs")]
    NotPaired {
        /// Runs of the first series.
        first: usize,
        /// Runs of the second series.
        second: usize,
    },
}

/// How the runs of two series belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// Run i of both was measured in one round.
    Paired,
    /// The series were measured apart.
    Separate,
}

/// The ratio of two series, second over first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// How the runs belong together.
    pub pairing: Pairing,
    /// Hodges–Lehmann ratio with its rank interval; the headline.
    pub ratio: Estimate,
    /// Ratio of the means, with an interval from 10 runs on.
    pub ratio_of_means: Estimate,
    /// Ratio of the medians, with an interval from 10 runs on.
    pub ratio_of_medians: Estimate,
    /// Whether few slow runs make the difference of the means: their ratio lies outside the
    /// headline interval, and its own interval excludes the headline estimate.
    pub few_slow_runs: bool,
}

/// Compares two series of values above 0.
///
/// # Errors
///
/// [`CompareError`] when a value is not above 0 or paired series differ in length.
pub fn compare(
    first: &Series,
    second: &Series,
    pairing: Pairing,
    settings: &Settings,
) -> Result<Comparison, CompareError> {
    let ratio = match pairing {
        Pairing::Paired => paired(first, second, settings.level)?,
        Pairing::Separate => separate(first, second, settings.level)?,
    };
    let [means, medians] = ratios(first, second, pairing, settings);
    let outside = |estimate: &Estimate, value| {
        estimate
            .interval
            .is_some_and(|interval| !interval.contains(value))
    };
    let few_slow_runs = outside(&ratio, means.value) && outside(&means, ratio.value);
    Ok(Comparison {
        pairing,
        ratio,
        ratio_of_means: means,
        ratio_of_medians: medians,
        few_slow_runs,
    })
}

/// Paired ratio: exp of the Hodges–Lehmann estimate of ln(bᵢ/aᵢ) with the signed-rank interval
/// (Hollander and Wolfe 1999, sections 3.2 and 3.3). Rounds in random order keep what
/// neighbouring runs share out of the ratio, so it is not widened.
///
/// # Errors
///
/// [`CompareError`] when a value is not above 0 or the lengths differ.
pub fn paired(first: &Series, second: &Series, level: f64) -> Result<Estimate, CompareError> {
    if first.runs() != second.runs() {
        return Err(CompareError::NotPaired {
            first: first.runs(),
            second: second.runs(),
        });
    }
    check_positive(first)?;
    check_positive(second)?;
    let pairs = first.values().iter().zip(second.values());
    let logs = pairs.map(|(a, b)| (b / a).ln()).collect();
    let critical = rank::signed_rank(first.runs(), level);
    Ok(hodges_lehmann(
        Pairwise::walsh(logs),
        critical,
        level,
        |law| match law {
            Law::Exact => Method::SignedRank,
            Law::Normal | Law::Widened => Method::SignedRankNormal,
        },
    ))
}

/// Ratio of series measured apart: exp of the Hodges–Lehmann estimate of ln(bⱼ/aᵢ) with the
/// Mann–Whitney interval (Hollander and Wolfe 1999, sections 4.2 and 4.3); from 4 + 4 runs. Widened
/// when neighbouring runs of a series resemble each other, by the larger factor of the two.
///
/// # Errors
///
/// [`CompareError::NotPositive`] when a value is not above 0.
pub fn separate(first: &Series, second: &Series, level: f64) -> Result<Estimate, CompareError> {
    check_positive(first)?;
    check_positive(second)?;
    let logs = |series: &Series| series.values().iter().map(|value| value.ln()).collect();
    let found = [first, second].map(significant_autocorrelation);
    let widening = found
        .iter()
        .flatten()
        .map(|found| found.widening)
        .reduce(f64::max);
    let (m, n) = (first.runs(), second.runs());
    let critical = match widening {
        _ if m.min(n) < 4 => None,
        Some(widening) => rank::rank_sum_widened(m, n, level, widening),
        None => rank::rank_sum(m, n, level),
    };
    let differences = Pairwise::differences(logs(first), logs(second));
    Ok(hodges_lehmann(
        differences,
        critical,
        level,
        |law| match law {
            Law::Exact => Method::RankSum,
            Law::Normal => Method::RankSumNormal,
            Law::Widened => Method::RankSumWidened,
        },
    ))
}

/// The values of the rounds that both have. Both lists hold round and value in the order of rounds.
#[must_use]
pub fn common_rounds(a: &[(u64, f64)], b: &[(u64, f64)]) -> (Vec<f64>, Vec<f64>) {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let mut rest = b.iter().peekable();
    for (round, value) in a {
        while rest.peek().is_some_and(|(other, _)| other < round) {
            rest.next();
        }
        if let Some((_, other)) = rest.next_if(|(other, _)| other == round) {
            first.push(*value);
            second.push(*other);
        }
    }
    (first, second)
}

fn check_positive(series: &Series) -> Result<(), CompareError> {
    match series.values().iter().position(|value| *value <= 0.0) {
        Some(index) => Err(CompareError::NotPositive {
            run: index + 1,
            value: series.values()[index],
        }),
        None => Ok(()),
    }
}

/// Estimate and interval from ordered pairwise logarithms, back on the scale of ratios.
fn hodges_lehmann(
    mut logs: Pairwise,
    critical: Option<Critical>,
    level: f64,
    method: impl Fn(Law) -> Method,
) -> Estimate {
    let last = logs.count() - 1;
    let interval = critical.map(|critical| Interval {
        low: logs.nth(critical.position).exp(),
        high: logs.nth(last - critical.position).exp(),
        level,
        method: method(critical.law),
    });
    Estimate {
        value: logs.median().exp(),
        interval,
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::super::verdict::Verdict;
    use super::*;

    const SETTINGS: Settings = Settings {
        level: 0.95,
        seed: 42,
        resamples: 300,
    };

    fn noise(seed: u64, runs: usize, center: f64) -> Series {
        let mut random = Random::new(seed);
        let mut value = || center * (1.0 + 0.1 * (random.unit() + random.unit() - 1.0));
        Series::new((0..runs).map(|_| value()).collect()).unwrap()
    }

    #[test]
    fn only_rounds_that_both_have_are_pairs() {
        let a = [(0, 1.0), (1, 2.0), (3, 3.0), (4, 4.0)];
        let b = [(1, 20.0), (2, 25.0), (3, 30.0)];
        assert_eq!(common_rounds(&a, &b), (vec![2.0, 3.0], vec![20.0, 30.0]));
    }

    #[test]
    fn swapping_the_series_inverts_the_ratio() {
        let (a, b) = (noise(1, 40, 10.0), noise(2, 40, 11.0));
        for compare in [paired, separate] {
            let (there, back) = (
                compare(&a, &b, 0.95).unwrap(),
                compare(&b, &a, 0.95).unwrap(),
            );
            assert!((there.value * back.value - 1.0).abs() < 1e-12);
            let (there, back) = (there.interval.unwrap(), back.interval.unwrap());
            assert!((there.low * back.high - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn what_cannot_be_compared_says_why() {
        let zero = Series::new(vec![1.0, 0.0]).unwrap();
        let one = Series::new(vec![1.0]).unwrap();
        let error = compare(&zero, &one, Pairing::Paired, &SETTINGS).unwrap_err();
        assert_eq!(error.to_string(), "2 and 1 runs do not make pairs");
        let error = compare(&one, &zero, Pairing::Separate, &SETTINGS).unwrap_err();
        assert_eq!(error.to_string(), "value 0 of run 2 is not above 0");
        let single = compare(&one, &one, Pairing::Paired, &SETTINGS).unwrap();
        assert_eq!(Verdict::of(&single.ratio, None), Verdict::TooFewRuns);
    }

    #[test]
    fn few_slow_runs_are_told_from_a_shift() {
        let a = noise(1, 30, 10.0);
        let mut values: Vec<f64> = a.values().iter().map(|value| value * 1.001).collect();
        for index in [3, 9, 20, 27] {
            values[index] = 40.0;
        }
        let b = Series::new(values).unwrap();
        assert!(
            compare(&a, &b, Pairing::Paired, &SETTINGS)
                .unwrap()
                .few_slow_runs
        );
        let shifted = noise(2, 30, 12.0);
        assert!(
            !compare(&a, &shifted, Pairing::Paired, &SETTINGS)
                .unwrap()
                .few_slow_runs
        );
    }

    #[test]
    fn equal_commands_rarely_get_a_verdict() {
        let mut wrong = [0, 0];
        for seed in 0..500 {
            let (a, b) = (noise(2 * seed, 20, 10.0), noise(2 * seed + 1, 20, 10.0));
            for (count, compare) in wrong.iter_mut().zip([paired, separate]) {
                let ratio = compare(&a, &b, 0.95).unwrap();
                let verdict = Verdict::of(&ratio, None);
                *count += i32::from(matches!(verdict, Verdict::Slower | Verdict::Faster));
            }
        }
        // 5% of 500 is 25; 40 is 3 sigma above
        assert!(wrong.iter().all(|count| *count <= 40), "{wrong:?} of 500");
    }

    #[test]
    fn runs_that_resemble_their_neighbours_widen_the_separate_ratio() {
        let slow = |seed| {
            let (noise, mut level) = (noise(seed, 60, 1.0), 0.0);
            let values = noise.values().iter().map(|value| {
                level = 0.8 * level + value - 1.0;
                10.0 + level
            });
            Series::new(values.collect()).unwrap()
        };
        let (a, b) = (slow(1), slow(2));
        let interval = separate(&a, &b, 0.95).unwrap().interval.unwrap();
        assert_eq!(interval.method, Method::RankSumWidened);
        let plain = separate(&noise(1, 60, 1.0), &noise(2, 60, 1.0), 0.95).unwrap();
        assert_eq!(plain.interval.unwrap().method, Method::RankSum);
    }
}
