//! Several sessions of one benchmark merged on two levels: runs within a session, and sessions.
//!
//! Runs of one session share its machine state, so pooling them as if independent would make
//! intervals far too narrow. Each session counts as one value here.

use super::Series;
use super::distribution::{normal_quantile, student_factor};
use super::estimate::{Estimate, Interval, Method};
use super::moments;
use super::precision::median_interval;

/// Sessions of one benchmark as one estimate.
#[derive(Debug, Clone, PartialEq)]
pub struct Sessions {
    /// Median of each session, in the order given.
    pub medians: Vec<f64>,
    /// Geometric mean of the session medians, with a t interval over the sessions.
    pub typical: Estimate,
    /// Standard deviation between sessions, beyond what the spread of runs explains: relative,
    /// 0.02 is about 2%. `None` for one session or when no session has an interval.
    pub between: Option<f64>,
    /// Typical relative standard error of a session median from its runs; `None` when no session
    /// has enough runs for an interval.
    pub within: Option<f64>,
}

/// Merges sessions by the random-effects model on the logarithm of their medians, in the moments
/// estimate τ² = s² − mean of the squared standard errors (`DerSimonian` and Laird 1986, equation 5,
/// with equal weights).
///
/// `None` without sessions or when a median is not above 0.
#[must_use]
pub fn merge(sessions: &[Series], level: f64) -> Option<Sessions> {
    let medians: Vec<f64> = sessions.iter().map(Series::median).collect();
    if medians.is_empty() || medians.iter().any(|median| *median <= 0.0) {
        return None;
    }
    let logs: Vec<f64> = medians.iter().map(|median| median.ln()).collect();
    let variance = moments::variance(&logs);
    let errors: Vec<f64> = sessions
        .iter()
        .filter_map(|series| error(series, level))
        .collect();
    let within = (!errors.is_empty()).then(|| moments::mean(&errors));
    let center = moments::mean(&logs);
    let interval = variance.map(|variance| {
        let count = logs.len() as f64;
        let half = student_factor(level, count - 1.0) * (variance / count).sqrt();
        let (low, high) = ((center - half).exp(), (center + half).exp());
        Interval {
            low,
            high,
            level,
            method: Method::BetweenSessions,
        }
    });
    Some(Sessions {
        medians,
        typical: Estimate {
            value: center.exp(),
            interval,
        },
        between: variance
            .zip(within)
            .map(|(total, within)| (total - within).max(0.0).sqrt()),
        within: within.map(f64::sqrt),
    })
}

/// A new median over the typical one of earlier sessions, with the interval that one more session of
/// the same would be in: exp(ln now − mean ln mᵢ ∓ t₍k₋₁₎ s √(1 + 1/k)) (Hahn and Meeker 1991, 4.6).
///
/// `None` below two sessions or when a median is not above 0.
#[must_use]
pub fn one_more(now: f64, earlier: &[f64], level: f64) -> Option<Estimate> {
    let count = earlier.len() as f64;
    over_sessions(earlier, level, (1.0 + 1.0 / count).sqrt()).and_then(|typical| {
        let interval = typical.interval?;
        (now > 0.0).then(|| Estimate {
            value: now / typical.value,
            interval: Some(Interval {
                low: now / interval.high,
                high: now / interval.low,
                ..interval
            }),
        })
    })
}

/// Ratios found within sessions as one: their geometric mean with a t interval over sessions, no
/// interval of a single one. `None` without any or when one is not above 0.
#[must_use]
pub fn combine(ratios: &[f64], level: f64) -> Option<Estimate> {
    match ratios {
        [one] if *one > 0.0 => Some(Estimate::point(*one)),
        _ => over_sessions(ratios, level, (1.0 / ratios.len() as f64).sqrt()),
    }
}

/// Geometric mean with a t interval of `factor` standard deviations on the logarithm.
pub(super) fn over_sessions(values: &[f64], level: f64, factor: f64) -> Option<Estimate> {
    if values.len() < 2 || values.iter().any(|value| *value <= 0.0) {
        return None;
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let (center, spread) = (moments::mean(&logs), moments::deviation(&logs)?);
    let half = student_factor(level, logs.len() as f64 - 1.0) * spread * factor;
    Some(Estimate {
        value: center.exp(),
        interval: Some(Interval {
            low: (center - half).exp(),
            high: (center + half).exp(),
            level,
            method: Method::BetweenSessions,
        }),
    })
}

/// Squared standard error of ln median, from the order-statistic interval of the median.
fn error(series: &Series, level: f64) -> Option<f64> {
    let interval = median_interval(series, level)?;
    let width = (interval.low > 0.0).then(|| (interval.high / interval.low).ln())?;
    Some((width / (-2.0 * normal_quantile((1.0 - level) / 2.0))).powi(2))
}

#[cfg(test)]
mod tests {
    use super::super::order;
    use super::super::random::Random;
    use super::*;

    /// Sessions whose centers spread by `between` and whose runs by `within`.
    fn sessions(seed: u64, count: usize, between: f64, within: f64) -> Vec<Series> {
        let mut random = Random::new(seed);
        let mut noise = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        let mut session = || {
            let center = 10.0 * (between * noise()).exp();
            (0..40).map(|_| center * (within * noise()).exp()).collect()
        };
        (0..count)
            .map(|_| Series::new(session()).unwrap())
            .collect()
    }

    #[test]
    fn spread_between_sessions_is_told_from_spread_within() {
        let moving = merge(&sessions(1, 30, 0.03, 0.01), 0.95).unwrap();
        assert!((moving.between.unwrap() - 0.03).abs() < 0.012, "{moving:?}");
        let still = merge(&sessions(2, 30, 0.0, 0.03), 0.95).unwrap();
        assert!(still.between.unwrap() < 0.003, "{still:?}");
        assert!(still.within.unwrap() > 0.003);
    }

    #[test]
    fn merged_intervals_cover_the_truth_that_pooled_runs_miss() {
        let (mut merged, mut pooled) = (0, 0);
        for seed in 0..300 {
            let sessions = sessions(seed, 5, 0.02, 0.01);
            let all = sessions
                .iter()
                .flat_map(|series| series.values().to_vec())
                .collect();
            let all = Series::new(all).unwrap();
            let pool = order::interval(all.sorted(), 0.5, 0.95).unwrap().interval;
            let found = merge(&sessions, 0.95).unwrap().typical.interval.unwrap();
            merged += i32::from(found.contains(10.0));
            pooled += i32::from(pool.contains(10.0));
        }
        // 95% of 300 is 285; 3 sigma below is 274
        assert!(merged >= 274 && pooled < 200, "{merged} {pooled} of 300");
    }

    #[test]
    fn one_more_session_agrees_with_the_limit_of_prediction() {
        let earlier = [1.0, 1.02, 0.99, 1.01, 0.98];
        let usual = super::super::decision::usual(&earlier, 0.95).unwrap();
        let limit = usual.interval.unwrap().high;
        let low = |now| one_more(now, &earlier, 0.95).unwrap().interval.unwrap().low;
        assert!((low(limit) - 1.0).abs() < 1e-12);
        assert_eq!(one_more(1.0, &[1.0], 0.95), None);
        let ratio = combine(&[1.1, 1.1, 1.1], 0.95).unwrap();
        assert!((ratio.value - 1.1).abs() < 1e-12 && ratio.interval.is_some());
        assert_eq!(combine(&[1.1], 0.95), Some(Estimate::point(1.1)));
        assert_eq!(combine(&[], 0.95), None);
    }

    #[test]
    fn one_session_has_no_interval() {
        let one = merge(&sessions(1, 1, 0.0, 0.01), 0.95).unwrap();
        assert_eq!((one.typical.interval, one.between), (None, None));
        assert_eq!(merge(&[], 0.95), None);
    }
}
