//! The ratio of two series and the verdict on "is there a difference".
//!
//! Ratios are second over first: above 1 the second is slower. Nothing here knows commands.

use thiserror::Error;

use super::Series;
use super::bootstrap::{Resampler, draw, percentile_limits};
use super::distribution::student_factor;
use super::estimate::{Estimate, Interval, Method};
use super::exact;
use super::hodges_lehmann::Pairwise;
use super::moments;
use super::order;
use super::random::Random;
use super::rank::{self, Critical, Law};
use super::summary::Settings;
use super::trend::significant_autocorrelation;

/// Relative difference below which a difference is a number and no verdict.
pub const SLIGHT: f64 = 0.005;

/// Fewest runs of each series for an interval of the ratio of means or medians.
pub const FEWEST_RUNS_OF_RATIO: usize = 10;

/// Most draws that resampling a ratio may take; beyond, formulas answer.
const MOST_DRAWS: usize = 6_000_000;

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

    /// Stable kebab-case id.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::NoneShown => "none-shown",
            Self::Equal => "equal",
            Self::Slight => "slight",
            Self::TooFewRuns => "too-few-runs",
        }
    }
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
    let found = [first, second].map(|series| significant_autocorrelation(series.values()));
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

/// Whether two ratios of the same commands disagree with certainty, one above 1, one below: wall
/// and CPU time, for instance.
#[must_use]
pub fn disagree(one: &Estimate, other: &Estimate) -> bool {
    let sign = |estimate: &Estimate| {
        estimate.interval.map_or(0, |found| {
            i32::from(found.low > 1.0) - i32::from(found.high < 1.0)
        })
    };
    sign(one) * sign(other) < 0
}

#[cfg(test)]
mod tests {
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

    fn with(low: f64, value: f64, high: f64) -> Estimate {
        let interval = Interval {
            low,
            high,
            level: 0.95,
            method: Method::SignedRank,
        };
        Estimate {
            value,
            interval: Some(interval),
        }
    }

    #[test]
    fn verdicts_follow_the_interval() {
        assert_eq!(Verdict::of(&with(1.02, 1.04, 1.06), None), Verdict::Slower);
        assert_eq!(Verdict::of(&with(0.92, 0.94, 0.99), None), Verdict::Faster);
        assert_eq!(
            Verdict::of(&with(0.98, 1.01, 1.03), None),
            Verdict::NoneShown
        );
        assert_eq!(
            Verdict::of(&with(0.98, 1.01, 1.03), Some(0.05)),
            Verdict::Equal
        );
        assert_eq!(
            Verdict::of(&with(0.98, 1.01, 1.06), Some(0.05)),
            Verdict::NoneShown
        );
        assert_eq!(
            Verdict::of(&with(1.001, 1.002, 1.003), None),
            Verdict::Slight
        );
        assert_eq!(
            Verdict::of(&Estimate::point(1.5), Some(0.05)),
            Verdict::TooFewRuns
        );
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
                    ..SETTINGS
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

    #[test]
    fn levels_tighten_with_the_number_of_commands() {
        assert!((level_against_reference(0.95, 2) - 0.95).abs() < 1e-15);
        let pairs =
            [3, 5, 10].map(|k| rank::fewest_pairs(level_against_reference(0.95, k)).unwrap());
        assert_eq!(pairs, [7, 8, 9]);
        assert!((level_against_fastest(0.95, 5) - 0.995).abs() < 1e-15);
    }

    #[test]
    fn clocks_disagree_only_with_certainty() {
        assert!(disagree(&with(1.1, 1.2, 1.3), &with(0.8, 0.9, 0.95)));
        assert!(!disagree(&with(1.1, 1.2, 1.3), &with(0.8, 0.9, 1.05)));
        assert!(!disagree(&with(1.1, 1.2, 1.3), &Estimate::point(0.5)));
    }
}
