//! Where the time of a session comes from: the system, or in tests a value set by hand.

use std::time::Duration;

use crate::sys;

/// A clock that only goes forward.
pub trait Clock {
    /// Time since the session began.
    fn now(&self) -> Duration;
}

/// The monotonic clock of the system, counted from the beginning of the session.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    origin: u64,
}

impl SystemClock {
    /// A session that begins now.
    #[must_use]
    pub fn begin() -> Self {
        Self {
            origin: sys::clock::now(),
        }
    }

    /// A reading of the system's clock as time of the session.
    pub(super) fn at(self, nanoseconds: u64) -> Duration {
        Duration::from_nanos(nanoseconds.saturating_sub(self.origin))
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.at(sys::clock::now())
    }
}
