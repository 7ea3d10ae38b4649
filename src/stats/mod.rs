//! Pure mathematics on series of numbers.
//!
//! This module knows no seconds, no commands, and no clock. It prints nothing, and chance enters
//! only through a seed. Formulas with author and year stand at each function; `docs/methods.md`
//! explains the choices.

use std::sync::OnceLock;

use thiserror::Error;

pub mod attribution;
pub mod bootstrap;
pub mod center_ratio;
pub mod compare;
pub mod decision;
pub mod density;
mod distribution;
pub mod estimate;
pub mod exact;
mod hodges_lehmann;
mod memo;
pub mod moments;
pub mod order;
pub mod outlier;
pub mod precision;
pub mod random;
pub mod rank;
pub mod ratio;
pub mod session;
pub mod statistic;
pub mod summary;
pub mod trend;
pub mod verdict;
pub mod warmup;
pub mod warning;

pub use compare::Comparison;
pub use estimate::{Estimate, Interval, Method};
pub use statistic::{STATISTICS, Statistic};
pub use summary::{Settings, Summary};
pub use verdict::Verdict;

/// Why numbers do not make a series; fits after "cannot use these values: ".
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SeriesError {
    /// There is no value.
    #[error("the series is empty")]
    Empty,
    /// A value is infinite or not a number.
    #[error("value {value} of run {run} is not finite")]
    NotFinite {
        /// 1-based position in run order.
        run: usize,
        /// The offending value.
        value: f64,
    },
}

/// One quantity over the measured runs: not empty, all finite, in run order.
///
/// The sorted values and the moments are computed once, when they are first asked for.
#[derive(Debug, Clone)]
pub struct Series {
    values: Vec<f64>,
    sorted: OnceLock<Vec<f64>>,
    moments: OnceLock<moments::Moments>,
}

impl PartialEq for Series {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl Series {
    /// Checks and keeps `values`, which are in run order.
    ///
    /// # Errors
    ///
    /// [`SeriesError`] when there is no value or one is not finite.
    pub fn new(values: Vec<f64>) -> Result<Self, SeriesError> {
        if values.is_empty() {
            return Err(SeriesError::Empty);
        }
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            return Err(SeriesError::NotFinite {
                run: index + 1,
                value: values[index],
            });
        }
        Ok(Self {
            values,
            sorted: OnceLock::new(),
            moments: OnceLock::new(),
        })
    }

    /// The values in run order.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The values in ascending order.
    #[must_use]
    pub fn sorted(&self) -> &[f64] {
        self.sorted.get_or_init(|| {
            let mut sorted = self.values.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            sorted
        })
    }

    /// Arithmetic mean, as [`moments::mean`].
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.moments().mean
    }

    /// Standard deviation with divisor n − 1, as [`moments::deviation`]; `None` for one run.
    #[must_use]
    pub fn deviation(&self) -> Option<f64> {
        self.moments().variance().map(f64::sqrt)
    }

    fn moments(&self) -> &moments::Moments {
        self.moments
            .get_or_init(|| moments::Moments::of(&self.values))
    }

    /// Number of runs, at least 1.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.values.len()
    }

    /// Smallest value.
    #[must_use]
    pub fn min(&self) -> f64 {
        self.sorted()[0]
    }

    /// Largest value.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.sorted()[self.values.len() - 1]
    }

    /// Quantile of order `q` in 0..=1 (Hyndman and Fan 1996, type 7; see [`order::quantile`]).
    #[must_use]
    pub fn quantile(&self, q: f64) -> f64 {
        order::quantile(self.sorted(), q)
    }

    /// The median: the quantile of order 0.5.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_refuses_what_it_cannot_hold() {
        assert_eq!(Series::new(vec![]), Err(SeriesError::Empty));
        let error = Series::new(vec![1.0, f64::INFINITY]).unwrap_err();
        assert_eq!(error.to_string(), "value inf of run 2 is not finite");
        assert!(Series::new(vec![f64::NAN]).is_err());
    }

    #[test]
    fn a_series_keeps_run_order_and_sorts_once() {
        let series = Series::new(vec![3.0, 1.0, 2.0]).unwrap();
        assert_eq!(series.values(), [3.0, 1.0, 2.0]);
        assert_eq!(series.sorted(), [1.0, 2.0, 3.0]);
        assert_eq!(
            (series.min(), series.median(), series.max()),
            (1.0, 2.0, 3.0)
        );
    }
}
