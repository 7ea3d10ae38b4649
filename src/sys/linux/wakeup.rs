//! A timer that ends a blocking wait of one thread. A wait that nothing is due in costs nothing
//! this way; polling with a timeout costs every run.

use std::cell::Cell;
use std::io;
use std::ptr;
use std::time::Duration;

use nix::sys::resource::Resource;

use crate::sys::{Error, clock, session, unix};

/// From here on a timer that is still on ends no call between two runs.
const LATE: Duration = Duration::from_millis(100);

/// A timer of the thread that made it.
#[derive(Debug)]
pub(crate) struct Wakeups {
    timer: libc::timer_t,
    /// When it ends a wait first; long ago while it is off.
    due: Cell<u64>,
    /// How often it does so then.
    every: Cell<Duration>,
}

impl Wakeups {
    /// A timer that is off.
    ///
    /// # Errors
    /// The system has no timer left.
    pub(crate) fn new() -> Result<Self, Error> {
        session::allow_wakeups()?;
        // SAFETY: all zero is a valid sigevent.
        let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = libc::SIGALRM;
        event.sigev_notify_thread_id = nix::unistd::gettid().as_raw();
        let mut timer = ptr::null_mut();
        // SAFETY: both places outlive the call.
        let made =
            unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) };
        if made < 0 {
            return Err(refused());
        }
        Ok(Self {
            timer,
            due: Cell::new(0),
            every: Cell::new(Duration::ZERO),
        })
    }

    /// Wakes the thread after `first` and then `every` so often. Repeating is not only for ticks: a
    /// signal that arrives just before a wait begins does not end it.
    pub(crate) fn start(&self, first: Duration, every: Duration) {
        self.set(first.max(Duration::from_nanos(1)), every);
    }

    /// The same, but `first` may be as short as half of it: between short runs the timer is left as
    /// it is, which saves two calls a run.
    pub(crate) fn start_about(&self, first: Duration, every: Duration) {
        let left = self.left();
        if self.every.get() != every || left > first || left < first / 2 {
            self.start(first, every);
        }
    }

    /// Turns it off, unless it is due too late to disturb what is done between runs.
    pub(crate) fn rest(&self) {
        if self.left() < LATE || self.every.get() < LATE {
            self.stop();
        }
    }

    /// Turns it off.
    pub(crate) fn stop(&self) {
        self.set(Duration::ZERO, Duration::ZERO);
    }

    /// How long until it ends a wait first; nothing after that, and while it is off.
    fn left(&self) -> Duration {
        Duration::from_nanos(self.due.get().saturating_sub(clock::now()))
    }

    fn set(&self, first: Duration, every: Duration) {
        let off = first.is_zero();
        let due = clock::now().saturating_add(first.as_nanos() as u64);
        self.due.set(if off { 0 } else { due });
        self.every.set(every);
        let setting = libc::itimerspec {
            it_interval: timespec(every),
            it_value: timespec(first),
        };
        // SAFETY: our timer, and a setting that outlives the call.
        unsafe { libc::timer_settime(self.timer, 0, &raw const setting, ptr::null_mut()) };
    }
}

impl Drop for Wakeups {
    fn drop(&mut self) {
        // SAFETY: our timer, deleted once.
        unsafe { libc::timer_delete(self.timer) };
    }
}

/// Why the last call made no timer.
fn refused() -> Error {
    let error = Error::last("timer_create");
    match error {
        Error::Call { source, .. } if source.kind() == io::ErrorKind::WouldBlock => {
            Error::NoTimer {
                limit: unix::limit(Resource::RLIMIT_SIGPENDING),
            }
        }
        error => error,
    }
}

fn timespec(duration: Duration) -> libc::timespec {
    let seconds = duration.as_secs().min(u64::from(u32::MAX));
    *nix::sys::time::TimeSpec::from_duration(Duration::new(seconds, duration.subsec_nanos()))
        .as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_short_runs_the_timer_stays_as_it_is() {
        let (second, tenth) = (Duration::from_secs(1), Duration::from_millis(100));
        let wakeups = Wakeups::new().unwrap();
        wakeups.start_about(second, tenth);
        let due = wakeups.due.get();
        wakeups.rest();
        wakeups.start_about(second, tenth);
        assert_eq!(wakeups.due.get(), due);
        // Too late, too early, and another rhythm.
        wakeups.start_about(second * 9 / 10, tenth);
        assert_ne!(wakeups.due.get(), due);
        for other in [second * 2, second * 5] {
            let before = wakeups.due.get();
            wakeups.start_about(other, tenth);
            assert!(wakeups.due.get() > before);
        }
        let before = wakeups.due.get();
        wakeups.start_about(second * 5, second);
        assert!(wakeups.due.get() > before);
        wakeups.start(tenth / 2, tenth);
        wakeups.rest();
        assert_eq!(wakeups.left(), Duration::ZERO);
        // If nothing began before it is due, it would not stop.
        wakeups.start(second, tenth / 100);
        wakeups.rest();
        assert_eq!(wakeups.left(), Duration::ZERO);
    }
}
