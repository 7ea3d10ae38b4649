//! Decisions against a limit: the question is put to the interval, not to the point.

use super::estimate::{Estimate, Interval};
use super::session::over_sessions;

/// Smallest relative regression that can be asked for.
pub const LEAST_REGRESSION: f64 = 0.01;

/// Fewest sessions from which a baseline threshold is computed.
pub const FEWEST_SESSIONS: usize = 5;

/// More than this many times the runs is no reasonable time.
const MOST_TIMES: f64 = 20.0;

/// Which values are past the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Past {
    /// Values above it.
    Above,
    /// Values below it.
    Below,
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Past the limit.
    Fail,
    /// Not past the limit.
    Ok,
    /// The interval contains the limit, or there is no interval and one is needed.
    Unsure,
}

impl Decision {
    /// The stable identifier.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Fail => "fail",
            Self::Unsure => "unsure",
        }
    }

    /// The word for people, a failure loud.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Fail => "FAIL",
            other => other.id(),
        }
    }
}

/// Decides by the interval: fail if all of it is past `limit`, ok if none of it is, else unsure.
/// Unsure without interval.
#[must_use]
pub fn by_interval(interval: Option<&Interval>, limit: f64, past: Past) -> Decision {
    let Some(interval) = interval else {
        return Decision::Unsure;
    };
    let (nearest, farthest) = match past {
        Past::Above => (interval.low > limit, interval.high > limit),
        Past::Below => (interval.high < limit, interval.low < limit),
    };
    match (nearest, farthest) {
        (true, _) => Decision::Fail,
        (false, false) => Decision::Ok,
        (false, true) => Decision::Unsure,
    }
}

/// Decides by the point, for statistics that never have an interval.
#[must_use]
pub fn by_point(value: f64, limit: f64, past: Past) -> Decision {
    let failed = match past {
        Past::Above => value > limit,
        Past::Below => value < limit,
    };
    if failed { Decision::Fail } else { Decision::Ok }
}

/// How many runs would decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunsToDecide {
    /// About this many in total.
    About(usize),
    /// More than twenty times as many: not in reasonable time.
    Unreasonable,
}

/// About how many runs would decide: n (half-width of ln value / |ln value − ln limit|)², at least
/// one more than the `runs` there are. `None` without interval or when a logarithm does not exist.
#[must_use]
pub fn runs_to_decide(estimate: &Estimate, limit: f64, runs: usize) -> Option<RunsToDecide> {
    let interval = estimate.interval?;
    if limit <= 0.0 || interval.low <= 0.0 || estimate.value <= 0.0 {
        return None;
    }
    let half = 0.5 * (interval.high / interval.low).ln();
    let times = (half / (estimate.value / limit).ln()).powi(2);
    if times.is_nan() || times > MOST_TIMES {
        return Some(RunsToDecide::Unreasonable);
    }
    let needed = (runs as f64 * times).ceil() as usize;
    Some(RunsToDecide::About(needed.max(runs + 1)))
}

/// Decides on a ratio new/old: fail if all of its interval is above 1 + `regression` (0.05 is
/// 5%), ok if none of it is, else unsure.
#[must_use]
pub fn max_regression(ratio: &Estimate, regression: f64) -> Decision {
    by_interval(ratio.interval.as_ref(), 1.0 + regression, Past::Above)
}

/// Geometric mean of the medians of k ≥ 5 sessions with the prediction interval for one more
/// session: exp(mean ln m ∓ t₍k₋₁₎ s √(1 + 1/k)) (Hahn and Meeker 1991, 4.6).
///
/// `None` below five sessions or when a median is not above 0.
#[must_use]
pub fn usual(medians: &[f64], level: f64) -> Option<Estimate> {
    let enough = medians.len() >= FEWEST_SESSIONS;
    let factor = (1.0 + 1.0 / medians.len() as f64).sqrt();
    over_sessions(medians, level, factor).filter(|_| enough)
}

/// Decides on a new median against several sessions: fail only beyond the prediction limit *and*
/// beyond `1 + regression` times their geometric mean. Without a prediction limit unsure.
#[must_use]
pub fn against_sessions(median: f64, medians: &[f64], regression: f64, level: f64) -> Decision {
    let Some(usual) = usual(medians, level) else {
        return Decision::Unsure;
    };
    let limit = usual.value * (1.0 + regression);
    let limit = usual.interval.map_or(limit, |found| found.high.max(limit));
    by_point(median, limit, Past::Above)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_decides() {
        let interval = Estimate::within(1.0, 1.1, 1.2).interval;
        let decide = |limit, past| by_interval(interval.as_ref(), limit, past);
        assert_eq!(decide(0.9, Past::Above), Decision::Fail);
        assert_eq!(decide(1.1, Past::Above), Decision::Unsure);
        assert_eq!(decide(1.2, Past::Above), Decision::Ok);
        assert_eq!(decide(1.3, Past::Below), Decision::Fail);
        assert_eq!(decide(1.1, Past::Below), Decision::Unsure);
        assert_eq!(decide(1.0, Past::Below), Decision::Ok);
        assert_eq!(by_interval(None, 1.0, Past::Above), Decision::Unsure);
        assert_eq!(by_point(1.0, 1.0, Past::Above), Decision::Ok);
        assert_eq!(by_point(0.9, 1.0, Past::Below), Decision::Fail);
    }

    #[test]
    fn runs_grow_with_the_square_of_the_distance() {
        // half-width ln 1.1, distance ln 1.05: about 3.8 times the runs
        let estimate = Estimate::within(1.0 / 1.1, 1.0, 1.1);
        let needed = runs_to_decide(&estimate, 1.05, 30).unwrap();
        assert_eq!(needed, RunsToDecide::About(115));
        assert_eq!(
            runs_to_decide(&estimate, 1.001, 30),
            Some(RunsToDecide::Unreasonable)
        );
        assert_eq!(
            runs_to_decide(&estimate, 1.0, 30),
            Some(RunsToDecide::Unreasonable)
        );
        assert_eq!(runs_to_decide(&estimate, 0.0, 30), None);
        assert_eq!(runs_to_decide(&Estimate::point(1.0), 2.0, 30), None);
    }

    #[test]
    fn the_whole_interval_decides_on_a_regression() {
        let decide = |low, value, high| max_regression(&Estimate::within(low, value, high), 0.05);
        assert_eq!(decide(1.06, 1.08, 1.1), Decision::Fail);
        assert_eq!(decide(1.01, 1.02, 1.05), Decision::Ok);
        assert_eq!(decide(1.04, 1.05, 1.06), Decision::Unsure);
    }

    #[test]
    fn sessions_need_both_limits_passed() {
        let quiet = [1.0, 1.001, 0.999, 1.0005, 0.9995];
        let noisy = [1.0, 1.1, 0.9, 1.05, 0.95];
        let decide = |median, medians: &[f64]| against_sessions(median, medians, 0.05, 0.95);
        assert_eq!(decide(1.03, &quiet), Decision::Ok);
        assert_eq!(decide(1.06, &quiet), Decision::Fail);
        assert_eq!(decide(1.06, &noisy), Decision::Ok);
        assert_eq!(decide(1.40, &noisy), Decision::Fail);
        assert_eq!(decide(1.40, &noisy[..4]), Decision::Unsure);
    }
}
