//! The table of statistics: gates, file formats, and help follow it.
//!
//! A row names, explains, and computes one statistic; nothing else in the crate lists them.

use super::Series;
use super::distribution::student_factor;
use super::estimate::{Estimate, Interval, Method};
use super::order;
use super::summary::{Facts, LEVEL};

/// A named function of a series.
#[derive(Debug, Clone, Copy)]
pub struct Statistic {
    /// Stable kebab-case id.
    pub id: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// The value; `None` when the series is too short for it.
    pub value: fn(&Series) -> Option<f64>,
    interval: fn(&Facts<'_>) -> Option<Interval>,
    fewest: fn(f64) -> Option<usize>,
}

/// All statistics, in the order of every table.
pub static STATISTICS: [Statistic; 9] = [
    Statistic {
        id: "median",
        help: "Half of the runs are faster, half are slower",
        value: |series| Some(series.median()),
        interval: |facts| facts.median_interval(),
        fewest: |level| order::fewest_runs(0.5, level),
    },
    Statistic {
        id: "mean",
        help: "The sum over all runs, divided by their number",
        value: |series| Some(series.mean()),
        interval: mean_interval,
        fewest: |_| Some(2),
    },
    point("min", "The smallest value", |series| Some(series.min())),
    point("max", "The largest value", |series| Some(series.max())),
    Statistic {
        id: "p90",
        help: "90% of the runs are not above this",
        value: |series| Some(series.quantile(0.90)),
        interval: |facts| quantile_interval(facts, 0.90),
        fewest: |level| order::fewest_runs(0.90, level),
    },
    Statistic {
        id: "p95",
        help: "95% of the runs are not above this",
        value: |series| Some(series.quantile(0.95)),
        interval: |facts| quantile_interval(facts, 0.95),
        fewest: |level| order::fewest_runs(0.95, level),
    },
    Statistic {
        id: "p99",
        help: "99% of the runs are not above this",
        value: |series| Some(series.quantile(0.99)),
        interval: |facts| quantile_interval(facts, 0.99),
        fewest: |level| order::fewest_runs(0.99, level),
    },
    point(
        "stddev",
        "Standard deviation, divisor n - 1",
        super::Series::deviation,
    ),
    point("cv", "Standard deviation divided by the mean", |series| {
        let center = series.mean();
        series
            .deviation()
            .filter(|_| center != 0.0)
            .map(|spread| spread / center)
    }),
];

/// A row without interval.
const fn point(
    id: &'static str,
    help: &'static str,
    value: fn(&Series) -> Option<f64>,
) -> Statistic {
    Statistic {
        id,
        help,
        value,
        interval: |_| None,
        fewest: |_| None,
    }
}

impl Statistic {
    /// The row with this id.
    #[must_use]
    pub fn named(id: &str) -> Option<&'static Self> {
        STATISTICS.iter().find(|statistic| statistic.id == id)
    }

    /// Fewest runs for an interval at the usual level; `None` when the statistic never has one and
    /// decisions about it go by the point.
    #[must_use]
    pub fn fewest_runs(&self) -> Option<usize> {
        (self.fewest)(LEVEL)
    }

    /// Value and interval; `None` when the series is too short for the value.
    pub(super) fn estimate(&self, facts: &Facts<'_>) -> Option<Estimate> {
        let value = (self.value)(facts.series)?;
        Some(Estimate {
            value,
            interval: (self.interval)(facts),
        })
    }
}

/// Student t interval of the mean (Student 1908), x̄ ± t s/√n; with the number of effective runs
/// for an autocorrelated series.
fn mean_interval(facts: &Facts<'_>) -> Option<Interval> {
    let center = facts.series.mean();
    let spread = facts.series.deviation()?;
    let (runs, method) = match facts.correlation {
        Some(found) => (found.effective_runs, Method::StudentTEffective),
        None => (facts.series.runs() as f64, Method::StudentT),
    };
    // fewer than two effective runs still leave one degree of freedom
    let factor = student_factor(facts.level, (runs - 1.0).max(1.0));
    let half = factor * spread / runs.sqrt();
    Some(Interval {
        low: center - half,
        high: center + half,
        level: facts.level,
        method,
    })
}

/// Order-statistic interval of a quantile.
fn quantile_interval(facts: &Facts<'_>, q: f64) -> Option<Interval> {
    order::interval(facts.series.sorted(), q, facts.level).map(|found| found.interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_unique_kebab_case_ids_and_texts() {
        for (index, row) in STATISTICS.iter().enumerate() {
            assert!(
                row.id
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
            );
            assert!(STATISTICS[..index].iter().all(|other| other.id != row.id));
            assert!(!row.help.is_empty() && !row.help.ends_with('.'));
            assert!(std::ptr::eq(Statistic::named(row.id).unwrap(), row));
        }
        assert!(Statistic::named("mode").is_none());
    }

    #[test]
    fn fewest_runs_are_what_the_rule_gives() {
        let found = STATISTICS
            .iter()
            .filter_map(|row| Some((row.id, row.fewest_runs()?)));
        let known = [
            ("median", 6),
            ("mean", 2),
            ("p90", 36),
            ("p95", 72),
            ("p99", 368),
        ];
        assert_eq!(found.collect::<Vec<_>>(), known);
        assert_eq!((STATISTICS[0].fewest)(0.99), Some(8));
    }
}
