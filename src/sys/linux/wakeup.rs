//! A timer that ends a blocking wait of one thread. A wait that nothing is due in costs nothing
//! this way; polling with a timeout costs every run.

use std::io;
use std::ptr;
use std::time::Duration;

use nix::sys::resource::Resource;

use crate::sys::{Error, session, unix};

/// A timer of the thread that made it.
#[derive(Debug)]
pub(crate) struct Wakeups {
    timer: libc::timer_t,
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
        Ok(Self { timer })
    }

    /// Wakes the thread after `first` and then `every` so often. Repeating is not only for ticks: a
    /// signal that arrives just before a wait begins does not end it.
    pub(crate) fn start(&self, first: Duration, every: Duration) {
        self.set(first.max(Duration::from_nanos(1)), every);
    }

    /// Turns it off.
    pub(crate) fn stop(&self) {
        self.set(Duration::ZERO, Duration::ZERO);
    }

    fn set(&self, first: Duration, every: Duration) {
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
