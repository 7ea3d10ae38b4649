//! What is done while a run is going on: its output is taken, somebody is told that it goes on, and in
//! a diagnostic run a watch looks at it or stops it at its calls.

use std::os::fd::OwnedFd;
use std::time::Duration;

use super::Watch;
use super::family::Family;
use super::waiting::{Attend, Rhythm};
use crate::sys::channel::{self, Channel};
use crate::sys::files::Kept;
use crate::sys::platform::{self, Spawner, Started};
use crate::sys::unix::{self, Event};
use crate::sys::{self, Filter, Stop, Tracer};

/// Shorter runs are never said to be going on.
const TICK_FROM: Duration = Duration::from_secs(1);
/// How often the output of a traced run is taken.
const RELIEF: Duration = Duration::from_millis(1);

/// A watch that is attached to a run.
pub(super) struct Eyes<'w> {
    watch: &'w mut dyn Watch,
    tracer: Option<Tracer>,
    end: Option<OwnedFd>,
}

/// The filter a watched run needs.
pub(super) fn filter(watch: &dyn Watch) -> Option<Filter> {
    let stops = watch.stops();
    (!stops.is_empty()).then(|| Filter::stopping(&stops))
}

/// The rhythm of a watched run.
pub(super) fn rhythm(mut rhythm: Rhythm, watch: &dyn Watch) -> Rhythm {
    let traced = (!watch.stops().is_empty()).then_some(RELIEF);
    if let Some(first) = watch.first_look().or(traced) {
        (rhythm.first, rhythm.every) = (first, first);
    }
    rhythm
}

impl<'w> Eyes<'w> {
    /// Attaches to a process that was just started.
    ///
    /// # Errors
    /// It was to be traced and may not be; it has ended then.
    pub(super) fn open(watch: &'w mut dyn Watch, started: &Started) -> Result<Self, sys::Error> {
        let pid = started.pid;
        let stops = !watch.stops().is_empty();
        let tracer = stops.then(|| {
            if started.is_held() {
                Tracer::attach(pid)
            } else {
                Err(std::io::ErrorKind::Unsupported.into())
            }
        });
        let tracer = tracer.transpose().map_err(|source| {
            unix::kill(pid);
            // Its end is of no interest.
            let _ = unix::reap(pid);
            sys::Error::Call {
                call: "ptrace",
                source,
            }
        })?;
        watch.attach(pid, started.is_held());
        Ok(Self {
            watch,
            tracer,
            end: platform::end_descriptor(pid),
        })
    }

    /// The run has ended and is not reaped.
    pub(super) fn detach(&mut self, pid: i32, begun: u64, ended: u64) {
        self.watch.detach(pid, begun, ended);
    }

    fn wait(&mut self, pid: i32, channel: Option<&mut Channel>) -> Result<Event, sys::Error> {
        let watch = &mut *self.watch;
        if let Some(tracer) = &mut self.tracer {
            return tracer.wait(&mut |tid, time, stop| match stop {
                Stop::Enter { number, args } => watch.stopped(tid, time, Some((number, args))),
                Stop::Leave | Stop::Gone => watch.stopped(tid, time, None),
            });
        }
        match (&self.end, channel) {
            (Some(end), channel) => channel::wait_beside(pid, end, channel, &watch.descriptors()),
            (None, Some(channel)) => channel.wait(pid),
            (None, None) => unix::wait(pid),
        }
    }
}

/// Everything that goes on beside a run.
pub(super) struct Attendance<'a, 'w> {
    pub(super) channel: Option<&'a mut Channel>,
    pub(super) stderr: Option<&'a mut Kept>,
    pub(super) tick: &'a mut dyn FnMut(Duration),
    pub(super) eyes: Option<&'a mut Eyes<'w>>,
    pub(super) spawner: &'a Spawner,
    pub(super) started: &'a Started,
    pub(super) family: &'a mut Family,
}

impl Attend for Attendance<'_, '_> {
    fn wait(&mut self, pid: i32) -> Result<Event, sys::Error> {
        let channel = self.channel.as_deref_mut();
        match (&mut self.eyes, channel) {
            (Some(eyes), channel) => eyes.wait(pid, channel),
            (None, Some(channel)) => channel.wait(pid),
            (None, None) => unix::wait(pid),
        }
    }

    fn meanwhile(&mut self, pid: i32, passed: Duration) -> Option<Duration> {
        if let Some(kept) = &mut self.stderr {
            kept.relieve();
        }
        let Some(eyes) = &mut self.eyes else {
            if passed >= TICK_FROM {
                (self.tick)(passed);
            }
            return None;
        };
        if let Some(channel) = self.channel.as_mut().filter(|_| eyes.tracer.is_some()) {
            channel.relieve();
        }
        let begun = self.spawner.stamped(self.started)?;
        eyes.watch.look(pid, begun)
    }

    fn told(&mut self, pid: i32, signal: i32) {
        self.family.tell(pid, signal);
    }
}
