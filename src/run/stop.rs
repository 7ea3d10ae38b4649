//! Whether a series is good enough: counts, time and wanted precision. Pure.

use std::time::Duration;

use crate::plan::{Limits, Warmup};
use crate::sample::Phase;

/// How far one benchmark is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// Warm-up runs made.
    pub warmup: u64,
    /// Measured runs made.
    pub measured: u64,
    /// Time its measured runs took, hooks included.
    pub elapsed: Duration,
}

impl Tally {
    /// Counts a run that was made. Warm-up runs take no measuring time.
    pub fn note(&mut self, phase: Phase, _wall: Duration, with_hooks: Duration) {
        match phase {
            Phase::Warmup => self.warmup += 1,
            Phase::Measured => {
                self.measured += 1;
                self.elapsed += with_hooks;
            }
            Phase::Diagnostic => {}
        }
    }
}

/// Whether the warm-up is over.
#[must_use]
pub fn warm(limits: &Limits, tally: &Tally) -> bool {
    match limits.warmup {
        Warmup::Count(count) => tally.warmup >= count,
        Warmup::Auto => tally.warmup >= 100,
    }
}

/// Whether the measured runs suffice.
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

/// How far the measured runs are, 0 to 1: the slower of count and time.
#[must_use]
pub fn progress(limits: &Limits, tally: &Tally) -> f64 {
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
            warmup: 0,
            measured,
            elapsed: Duration::from_millis(millis),
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
}
