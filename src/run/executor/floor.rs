//! The floor: how long a run of an empty program takes here. No command can be faster.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::time::Duration;

use super::ready;
use crate::sys::platform::{self, Spawner};
use crate::sys::unix::{self, Launch};
use crate::sys::{self, Environment, Prepared, Slots, Words, clock, session};

/// Runs made; the first one is not counted.
const RUNS: usize = 12;

/// Below this, what starting a program costs may matter: 20 times what it takes on slow machines.
const SHORT: Duration = Duration::from_millis(10);

/// The floor of a session, measured when it is known to matter.
#[derive(Debug, Default)]
pub(super) struct Floor {
    /// Some run was short.
    wanted: bool,
    seconds: Option<f64>,
}

impl Floor {
    /// A run took so long.
    pub(super) fn note(&mut self, wall: Duration) {
        self.wanted |= wall < SHORT;
    }

    /// Measures it if it matters and is not known yet.
    pub(super) fn ensure(&mut self, spawner: &mut Spawner, slots: &mut Slots, null: &File) {
        if self.wanted && self.seconds.is_none() {
            self.seconds = measure(spawner, slots, null);
        }
    }

    /// In seconds, once it is known.
    pub(super) fn seconds(&self) -> Option<f64> {
        self.seconds
    }
}

/// The median, in seconds; nothing if no empty program can be run.
fn measure(spawner: &mut Spawner, slots: &mut Slots, null: &File) -> Option<f64> {
    let own = platform::empty_program();
    let words: Vec<OsString> = match &own {
        Some((_, path)) => vec![path.into()],
        None => vec!["true".into()],
    };
    slots.set_padding(None);
    let mut times = Vec::with_capacity(RUNS);
    let environment = Environment::new(&[]).ok()?;
    let words = Words {
        all: &words,
        variables: &[],
        directory: None,
    };
    let mut program = Prepared::new(&words, &environment).ok()?;
    for _ in 0..RUNS {
        times.push(once(spawner, slots, &mut program, null).ok()?);
    }
    let times = times.get_mut(1..)?;
    times.sort_unstable();
    times.get(times.len() / 2).map(Duration::as_secs_f64)
}

fn once(
    spawner: &mut Spawner,
    slots: &Slots,
    program: &mut Prepared,
    null: &File,
) -> Result<Duration, sys::Error> {
    let launch = Launch {
        stdio: [null.as_raw_fd(); 3],
        cgroup: -1,
        folder: -1,
        held: false,
        unless_stopped: true,
    };
    let started = spawner.start(program, slots, &launch)?;
    while unix::wait(started.pid)? != unix::Event::Ended {}
    let end = clock::now();
    let stamp = spawner.stamp(&started, program);
    session::leave();
    unix::reap(started.pid)?;
    Ok(Duration::from_nanos(end.saturating_sub(stamp?)))
}

/// The floor by itself, without a plan.
#[must_use]
pub fn alone() -> Option<f64> {
    let mut spawner = Spawner::new(&ready::cpus(&crate::plan::Placement::Free)).ok()?;
    let null = sys::files::null().ok()?;
    spawner.settle();
    measure(&mut spawner, &mut Slots::new(), &null)
}
