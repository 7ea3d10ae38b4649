//! What a computation answers: a value and how sure it is.
//!
//! Only values live here; how they are computed is told by [`Method`].

/// How an interval was computed; its id stands in exported files and never changes its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// Percentile bootstrap (Efron and Tibshirani 1993, chapter 13).
    BootstrapPercentile,
    /// Limit of the percentile bootstrap of a median for endless resamples, by the inverse Beta.
    ExactBeta,
    /// Limit of the percentile bootstrap of a mean for endless resamples, by convolution.
    ExactConvolution,
    /// Order statistics with equal-tailed binomial ranks (David and Nagaraja 2003, 7.1).
    OrderStatistics,
    /// Order statistics of the median, ranks moved apart for autocorrelated runs.
    OrderStatisticsWidened,
    /// Student t.
    StudentT,
    /// Student t with the number of effective runs of an autocorrelated series.
    StudentTEffective,
    /// Delta method on the logarithm of a ratio, with t.
    LogDelta,
    /// Hodges–Lehmann with the exact Wilcoxon signed-rank law.
    SignedRank,
    /// Hodges–Lehmann with the normal limit of the signed-rank law.
    SignedRankNormal,
    /// Hodges–Lehmann with the exact Mann–Whitney law.
    RankSum,
    /// Hodges–Lehmann with the normal limit of the Mann–Whitney law.
    RankSumNormal,
    /// Hodges–Lehmann with the Mann–Whitney law widened for autocorrelated runs.
    RankSumWidened,
    /// Two exact intervals put together (Zou and Donner 2008, MOVER) on the logarithm.
    Mover,
    /// Student t over sessions, each session one value.
    BetweenSessions,
}

impl Method {
    /// Every method, in the order of the documentation.
    pub const ALL: [Self; 15] = [
        Self::BootstrapPercentile,
        Self::ExactBeta,
        Self::ExactConvolution,
        Self::OrderStatistics,
        Self::OrderStatisticsWidened,
        Self::StudentT,
        Self::StudentTEffective,
        Self::LogDelta,
        Self::SignedRank,
        Self::SignedRankNormal,
        Self::RankSum,
        Self::RankSumNormal,
        Self::RankSumWidened,
        Self::Mover,
        Self::BetweenSessions,
    ];

    /// Stable kebab-case id.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::BootstrapPercentile => "bootstrap-percentile",
            Self::ExactBeta => "exact-beta",
            Self::ExactConvolution => "exact-convolution",
            Self::OrderStatistics => "order-statistics",
            Self::OrderStatisticsWidened => "order-statistics-widened",
            Self::StudentT => "student-t",
            Self::StudentTEffective => "student-t-effective-runs",
            Self::LogDelta => "log-delta-t",
            Self::SignedRank => "signed-rank",
            Self::SignedRankNormal => "signed-rank-normal",
            Self::RankSum => "rank-sum",
            Self::RankSumNormal => "rank-sum-normal",
            Self::RankSumWidened => "rank-sum-widened",
            Self::Mover => "mover",
            Self::BetweenSessions => "between-sessions-t",
        }
    }
}

/// A confidence interval, `low <= high`, in the unit of the value it belongs to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower limit.
    pub low: f64,
    /// Upper limit.
    pub high: f64,
    /// Confidence level asked for, such as 0.95.
    pub level: f64,
    /// How it was computed.
    pub method: Method,
}

impl Interval {
    /// Whether `value` lies in the interval, limits included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Larger distance of a limit from `value`, as a fraction of `value`; infinite for 0.
    #[must_use]
    pub fn relative_half_width(&self, value: f64) -> f64 {
        let distance = (self.high - value).max(value - self.low);
        if distance <= 0.0 {
            0.0
        } else if value == 0.0 {
            f64::INFINITY
        } else {
            distance / value.abs()
        }
    }
}

/// A value with its interval; no interval means too few runs or none exists.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The point estimate.
    pub value: f64,
    /// Its confidence interval, if there is one.
    pub interval: Option<Interval>,
}

impl Estimate {
    /// A value without interval.
    #[must_use]
    pub fn point(value: f64) -> Self {
        Self {
            value,
            interval: None,
        }
    }
}

#[cfg(test)]
impl Estimate {
    /// A value inside an interval at the usual level.
    pub(crate) fn within(low: f64, value: f64, high: f64) -> Self {
        let interval = Interval {
            low,
            high,
            level: super::summary::LEVEL,
            method: Method::SignedRank,
        };
        Self {
            value,
            interval: Some(interval),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn method_ids_are_unique_kebab_case() {
        let ids: Vec<_> = Method::ALL.iter().map(|method| method.id()).collect();
        for (index, id) in ids.iter().enumerate() {
            assert!(!ids[..index].contains(id));
            assert!(
                id.chars().all(|c| c.is_ascii_lowercase() || c == '-'),
                "{id}"
            );
        }
    }

    #[test]
    fn half_width_is_the_longer_side() {
        let interval = Interval {
            low: 9.0,
            high: 12.0,
            level: 0.95,
            method: Method::StudentT,
        };
        assert!((interval.relative_half_width(10.0) - 0.2).abs() < 1e-15);
        assert!(interval.contains(9.0) && !interval.contains(12.1));
    }
}
