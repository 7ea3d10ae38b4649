//! All statistics of one series as estimates, computed once.

use super::Series;
use super::bootstrap::{self, Plan};
use super::estimate::{Estimate, Interval, Method};
use super::exact;
use super::order::{self, LowerBound, RankInterval};
use super::outlier::{Outlier, outliers};
use super::statistic::{STATISTICS, Statistic};
use super::trend::{Autocorrelation, significant_autocorrelation};

/// The confidence level where none is asked for.
pub const LEVEL: f64 = 0.95;
/// Fewest runs whose p99 is not simply the largest value.
const P99_IS_NOT_MAX: usize = 100;

/// How to compute intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Confidence level, inside 0..1.
    pub level: f64,
    /// Seed of resampling.
    pub seed: u64,
    /// Number of resamples, at least 1.
    pub resamples: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            level: LEVEL,
            seed: 42,
            resamples: 5_000,
        }
    }
}

impl Settings {
    /// The same settings at another confidence level.
    #[must_use]
    pub fn at_level(self, level: f64) -> Self {
        Self { level, ..self }
    }

    /// The resampling plan.
    #[must_use]
    pub fn plan(&self) -> Plan {
        Plan {
            seed: self.seed,
            resamples: self.resamples,
        }
    }
}

/// What several statistics need, computed once.
pub(super) struct Facts<'a> {
    pub(super) series: &'a Series,
    pub(super) level: f64,
    /// Present when autocorrelation is significant.
    pub(super) correlation: Option<Autocorrelation>,
    median: Option<Interval>,
    mean: Option<Interval>,
}

impl<'a> Facts<'a> {
    fn of(series: &'a Series, settings: &Settings) -> Self {
        let correlation = significant_autocorrelation(series);
        let (median, mean) = resampled(series, settings);
        Self {
            series,
            level: settings.level,
            correlation,
            median,
            mean,
        }
    }

    /// Headline interval of the median, widened for an autocorrelated series.
    pub(super) fn median_interval(&self) -> Option<Interval> {
        match self.correlation {
            Some(found) => order::widened_median(self.series.sorted(), self.level, found.widening),
            None => self.median,
        }
    }
}

/// Intervals of median and mean by resampling, or by the law it approximates from 200 runs on.
fn resampled(series: &Series, settings: &Settings) -> (Option<Interval>, Option<Interval>) {
    let (runs, level) = (series.runs(), settings.level);
    if runs < 2 {
        return (None, None);
    }
    let make = |(low, high), method| Interval {
        low,
        high,
        level,
        method,
    };
    let (median, mean) = if runs >= exact::FEWEST_RUNS {
        let median = exact::median_limits(series, level);
        let mean = exact::mean_limits(series, level);
        (
            make(median, Method::ExactBeta),
            make(mean, Method::ExactConvolution),
        )
    } else {
        let limits = bootstrap::limits(series, level, settings.plan());
        let method = Method::BootstrapPercentile;
        (make(limits.median, method), make(limits.mean, method))
    };
    let enough = order::fewest_runs(0.5, level).is_some_and(|fewest| runs >= fewest);
    (enough.then_some(median), Some(mean))
}

/// All statistics of one series, with what is remarkable about their intervals.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Number of runs.
    pub runs: usize,
    /// The settings it was computed with.
    pub settings: Settings,
    /// Estimates in the order of [`STATISTICS`]; `None` where the series is too short.
    estimates: [Option<Estimate>; STATISTICS.len()],
    /// Percentile bootstrap of the mean, or its exact law, beside the headline t interval.
    pub mean_resampled: Option<Interval>,
    /// Percentile bootstrap of the median, or its exact law, not widened.
    pub median_resampled: Option<Interval>,
    /// Exact order-statistic interval of the median with its true coverage.
    pub median_ranks: Option<RankInterval>,
    /// One-sided lower bound of the p99; `None` where that is the maximum.
    pub p99_lower: Option<LowerBound>,
    /// Runs far outside (see [`outliers`]); they count in every number.
    pub outliers: Vec<Outlier>,
    /// Present when neighbouring runs resemble each other and the intervals of median and mean
    /// are therefore widened.
    pub widened: Option<Autocorrelation>,
}

impl Summary {
    /// Whether there are so few runs that the p99 is the largest value.
    #[must_use]
    pub fn p99_is_max(&self) -> bool {
        self.runs < P99_IS_NOT_MAX
    }

    /// Computes everything; `resolution` is that of the clock, in the unit of the series, 0 when
    /// unknown.
    #[must_use]
    pub fn of(series: &Series, settings: &Settings, resolution: f64) -> Self {
        let facts = Facts::of(series, settings);
        let sorted = series.sorted();
        let estimates = STATISTICS
            .each_ref()
            .map(|statistic| statistic.estimate(&facts));
        let p99_lower = order::lower_bound(sorted, 0.99, settings.level);
        Self {
            runs: series.runs(),
            settings: *settings,
            estimates,
            mean_resampled: facts.mean,
            median_resampled: facts.median,
            median_ranks: order::interval(sorted, 0.5, settings.level),
            p99_lower: p99_lower.filter(|_| series.runs() >= P99_IS_NOT_MAX),
            outliers: outliers(series, resolution),
            widened: facts.correlation,
        }
    }

    /// The estimate of a statistic by id; `None` for an unknown id or a series too short for it.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<Estimate> {
        self.iter()
            .find(|(statistic, _)| statistic.id == id)
            .and_then(|(_, estimate)| estimate)
    }

    /// Every statistic with its estimate, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Statistic, Option<Estimate>)> {
        STATISTICS.iter().zip(self.estimates)
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;

    fn summary(values: Vec<f64>) -> Summary {
        Summary::of(&Series::new(values).unwrap(), &Settings::default(), 0.0)
    }

    fn normal(random: &mut Random) -> f64 {
        (-2.0 * (1.0 - random.unit()).ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
    }

    #[test]
    fn a_single_run_has_a_value_and_no_interval() {
        let single = summary(vec![0.125]);
        let median = single.get("median").unwrap();
        assert_eq!((median.value, median.interval), (0.125, None));
        assert_eq!(single.get("stddev"), None);
        assert_eq!(single.get("nonsense"), None);
    }

    #[test]
    fn estimates_move_and_stretch_with_the_values() {
        let mut random = Random::new(4);
        let values: Vec<f64> = (0..50).map(|_| 5.0 + random.unit()).collect();
        let stretched = summary(values.iter().map(|value| 1e6 * value).collect());
        for (statistic, estimate) in summary(values).iter() {
            let unit = if statistic.id == "cv" { 1.0 } else { 1e6 };
            let (plain, scaled) = (estimate.unwrap(), stretched.get(statistic.id).unwrap());
            assert!(
                (plain.value * unit / scaled.value - 1.0).abs() < 1e-9,
                "{}",
                statistic.id
            );
            let both = plain.interval.zip(scaled.interval);
            assert!(both.is_none_or(|(a, b)| (a.low * unit / b.low - 1.0).abs() < 1e-9));
        }
    }

    #[test]
    fn the_order_of_independent_runs_does_not_matter_to_exact_numbers() {
        let mut random = Random::new(8);
        let mut values: Vec<f64> = (0..400).map(|_| random.unit()).collect();
        let first = summary(values.clone());
        random.shuffle(&mut values);
        let second = summary(values);
        assert!(first.widened.is_none() && second.widened.is_none());
        for ((statistic, a), (_, b)) in first.iter().zip(second.iter()) {
            let (a, b) = (a.unwrap(), b.unwrap());
            assert!((a.value - b.value).abs() < 1e-9, "{}", statistic.id);
            let both = a.interval.zip(b.interval);
            assert!(both.is_none_or(|(a, b)| (a.low - b.low).abs() < 1e-9));
        }
    }

    #[test]
    fn intervals_cover_about_as_often_as_they_say() {
        let settings = Settings {
            resamples: 400,
            ..Settings::default()
        };
        let mut random = Random::new(21);
        let (mut median, mut mean, trials) = (0, 0, 400);
        for _ in 0..trials {
            let values = (0..25).map(|_| 10.0 + normal(&mut random)).collect();
            let summary = Summary::of(&Series::new(values).unwrap(), &settings, 0.0);
            let covers = |id| summary.get(id).unwrap().interval.unwrap().contains(10.0);
            median += i32::from(covers("median"));
            mean += i32::from(covers("mean"));
        }
        // 95% of 400 is 380; 365 is 3.4 sigma below
        assert!(median >= 365 && mean >= 365, "{median} {mean} of {trials}");
    }

    #[test]
    fn autocorrelated_runs_widen_median_and_mean() {
        let mut random = Random::new(3);
        let mut level = 0.0;
        let values = (0..200).map(|_| {
            level = 0.7 * level + normal(&mut random);
            100.0 + level
        });
        let summary = summary(values.collect());
        assert!(summary.widened.unwrap().widening > 1.5);
        let (median, mean) = (summary.get("median").unwrap(), summary.get("mean").unwrap());
        assert_eq!(
            median.interval.unwrap().method,
            Method::OrderStatisticsWidened
        );
        assert_eq!(mean.interval.unwrap().method, Method::StudentTEffective);
        let plain = summary.mean_resampled.unwrap();
        assert!(mean.interval.unwrap().high > plain.high && mean.interval.unwrap().low < plain.low);
    }
}
