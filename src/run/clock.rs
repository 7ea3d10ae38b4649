//! Time as the schedule sees it. The product reads the system's monotonic clock, tests wind theirs.

use std::time::Duration;

/// A clock that never goes back.
pub trait Clock {
    /// Time since an arbitrary fixed point.
    fn now(&self) -> Duration;
}
