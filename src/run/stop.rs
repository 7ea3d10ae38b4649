//! Whether counts and times of a series suffice. Pure; what the times themselves show is seen by
//! `look`.

use std::time::Duration;

use crate::plan::{Limits, Warmup};
use crate::sample::Phase;
use crate::stats::precision::Look;
use crate::stats::warmup::MOST_RUNS;

/// How far one benchmark is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// Warm-up runs made.
    pub warmup: u64,
    /// Measured runs made.
    pub measured: u64,
    /// Time its measured runs took, hooks included.
    pub elapsed: Duration,
    /// Time its warm-up runs took, hooks included.
    pub warming: Duration,
}

impl Tally {
    /// Counts a run that was made and took so long. Warm-up runs take no measuring time.
    pub fn note(&mut self, phase: Phase, with_hooks: Duration) {
        match phase {
            Phase::Warmup => {
                self.warmup += 1;
                self.warming += with_hooks;
            }
            Phase::Measured => {
                self.measured += 1;
                self.elapsed += with_hooks;
            }
            Phase::Diagnostic => {}
        }
    }
}

/// How long a benchmark is warmed up until it is steady, unless `--max-time` says otherwise.
const WARMING_TIME: Duration = Duration::from_secs(60);

/// Whether the warm-up is over: so many runs, or with `auto` when the times are steady, after 100
/// runs or when the time is up.
#[must_use]
pub fn warm(limits: &Limits, tally: &Tally, steady: bool) -> bool {
    match limits.warmup {
        Warmup::Count(count) => tally.warmup >= count,
        Warmup::Auto => {
            steady
                || tally.warmup >= MOST_RUNS as u64
                || tally.warming >= limits.max_time.unwrap_or(WARMING_TIME)
        }
    }
}

/// Whether the measured runs suffice, as far as counts and times tell.
#[must_use]
pub fn enough(limits: &Limits, tally: &Tally) -> bool {
    capped(limits, tally) || (tally.measured >= limits.min_runs && tally.elapsed >= limits.min_time)
}

/// Whether a cap on runs or time forbids any further run.
#[must_use]
pub fn capped(limits: &Limits, tally: &Tally) -> bool {
    limits.max_runs.is_some_and(|most| tally.measured >= most)
        || limits.max_time.is_some_and(|most| tally.elapsed >= most)
}

/// How far the measured runs are, 0 to 1: the slower of count and time. Where a precision is wanted,
/// the last look tells: the width of an interval falls with the root of the number of runs.
#[must_use]
pub fn progress(limits: &Limits, tally: &Tally, look: Option<Look>) -> f64 {
    let simple = by_counts(limits, tally);
    let (Some(wanted), Some(look)) = (limits.precision, look) else {
        return simple;
    };
    let share = (wanted / look.achieved).powi(2).min(1.0);
    let time = limits
        .max_time
        .map_or(0.0, |most| tally.elapsed.as_secs_f64() / most.as_secs_f64());
    simple.min(share.max(time)).clamp(0.0, 1.0)
}

fn by_counts(limits: &Limits, tally: &Tally) -> f64 {
    let count = tally.measured as f64 / limits.min_runs.max(1) as f64;
    let time = if limits.min_time.is_zero() {
        1.0
    } else {
        tally.elapsed.as_secs_f64() / limits.min_time.as_secs_f64()
    };
    let most = limits
        .max_runs
        .map_or(0.0, |most| tally.measured as f64 / most as f64);
    count.min(time).max(most).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(measured: u64, millis: u64) -> Tally {
        Tally {
            measured,
            elapsed: Duration::from_millis(millis),
            ..Tally::default()
        }
    }

    #[test]
    fn both_count_and_time_are_needed() {
        let limits = Limits::default();
        assert!(!enough(&limits, &tally(9, 5_000)));
        assert!(!enough(&limits, &tally(500, 2_999)));
        assert!(enough(&limits, &tally(10, 3_000)));
    }

    #[test]
    fn a_cap_ends_it() {
        let limits = Limits {
            max_runs: Some(4),
            ..Limits::default()
        };
        assert!(enough(&limits, &tally(4, 1)));
        let limits = Limits {
            max_time: Some(Duration::from_secs(1)),
            ..Limits::default()
        };
        assert!(enough(&limits, &tally(1, 1_000)));
    }

    #[test]
    fn an_automatic_warmup_has_an_end() {
        let limits = Limits {
            warmup: Warmup::Auto,
            ..Limits::default()
        };
        let warming = |warmup, seconds| Tally {
            warmup,
            warming: Duration::from_secs(seconds),
            ..Tally::default()
        };
        assert!(!warm(&limits, &warming(99, 59), false));
        assert!(warm(&limits, &warming(30, 1), true));
        assert!(warm(&limits, &warming(100, 1), false));
        assert!(warm(&limits, &warming(7, 60), false));
    }
}
