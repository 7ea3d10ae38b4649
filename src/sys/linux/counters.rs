//! Hardware counters of the next program that this thread starts (`perf_event_open(2)`): opened
//! disabled on ourselves, inherited by the child, and enabled by its exec, so that nothing of ours
//! is counted. User mode only, which needs `kernel.perf_event_paranoid` of 2 or less.

use std::fs::File;
use std::io::{self, Read};

use super::perf_event::{
    Attributes, DISABLED, ENABLE_ON_EXEC, EXCLUDE_HV, EXCLUDE_KERNEL, INHERIT,
};

/// `PERF_TYPE_HARDWARE` is 0; these are its `PERF_COUNT_HW_*`: cycles, instructions, cache
/// references, cache misses, branch misses.
const EVENTS: [u64; 5] = [0, 1, 2, 3, 5];
/// Counted from exec on, with the children, in user mode.
const FLAGS: u64 = DISABLED | INHERIT | EXCLUDE_KERNEL | EXCLUDE_HV | ENABLE_ON_EXEC;
/// The times enabled and running follow the value.
const TIMES: u64 = 1 | 1 << 1;

/// One run's counters, each by itself: a machine may have some and lack others.
#[derive(Debug)]
pub(crate) struct HardwareCounters([Option<File>; 5]);

impl HardwareCounters {
    /// Opens those that there are.
    ///
    /// # Errors
    /// There is none: `ENOENT` without the hardware, `EACCES` or `EPERM` without permission.
    pub(crate) fn open() -> io::Result<Self> {
        let mut refusal = None;
        let files = EVENTS.map(|event| open(event).map_err(|error| refusal = Some(error)).ok());
        match refusal {
            Some(error) if files.iter().all(Option::is_none) => Err(error),
            _ => Ok(Self(files)),
        }
    }

    /// Whether there is each of them, in the order of [`HardwareCounters::read`].
    pub(crate) fn present(&self) -> [bool; 5] {
        self.0.each_ref().map(Option::is_some)
    }

    /// What was counted since exec: cycles, instructions, cache references, cache misses, branch
    /// misses; scaled up where the kernel had to share a counter.
    pub(crate) fn read(&mut self) -> [Option<u64>; 5] {
        self.0.each_mut().map(|file| count(file.as_mut()?))
    }
}

fn open(event: u64) -> io::Result<File> {
    let attributes = Attributes {
        config: event,
        read_format: TIMES,
        flags: FLAGS,
        ..Attributes::default()
    };
    // 0 is this thread, -1 any CPU.
    attributes.open(0, -1).map(File::from)
}

fn count(file: &mut File) -> Option<u64> {
    let mut bytes = [0; 24];
    file.read_exact(&mut bytes).ok()?;
    let word = |place: usize| -> Option<u64> {
        let part = bytes.get(place * 8..place * 8 + 8)?;
        Some(u64::from_ne_bytes(part.try_into().ok()?))
    };
    let (value, enabled, running) = (word(0)?, word(1)?, word(2)?);
    match running {
        0 => None,
        _ if running >= enabled => Some(value),
        _ => Some((value as f64 * enabled as f64 / running as f64) as u64),
    }
}
