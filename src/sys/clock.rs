//! Clocks. Durations come from the monotonic clock only; dates are for display.

use std::time::Duration;

use nix::time::{ClockId, clock_getres, clock_gettime};

/// The name of the clock that wall times come from.
pub(crate) const NAME: &str = "CLOCK_MONOTONIC";

/// Nanoseconds of the monotonic clock: the origin is arbitrary and it stands still in suspend.
pub(crate) fn now() -> u64 {
    nanoseconds(ClockId::CLOCK_MONOTONIC).unwrap_or_default()
}

/// What the system says its resolution is, in nanoseconds.
pub(crate) fn resolution() -> Option<u64> {
    let step = clock_getres(ClockId::CLOCK_MONOTONIC).ok()?;
    u64::try_from(Duration::from(step).as_nanos()).ok()
}

/// Seconds since 1970.
pub(crate) fn unix_seconds() -> Option<u64> {
    nanoseconds(ClockId::CLOCK_REALTIME).map(|ns| ns / 1_000_000_000)
}

/// Nanoseconds of any clock.
pub(super) fn nanoseconds(id: ClockId) -> Option<u64> {
    let time = clock_gettime(id).ok()?;
    let seconds = u64::try_from(time.tv_sec()).ok()?;
    let part = u64::try_from(time.tv_nsec()).ok()?;
    Some(seconds * 1_000_000_000 + part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_forward() {
        let first = now();
        assert!(first > 0);
        assert!(now() >= first);
        assert!(resolution().is_some_and(|ns| ns > 0));
        assert!(unix_seconds().is_some_and(|s| s > 1_600_000_000));
    }
}
