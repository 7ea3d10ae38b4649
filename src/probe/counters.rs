//! Hardware counters of a run: instructions, cycles, cache and branch misses, where the kernel lets
//! us count them. Opt-in: opening them takes some microseconds before each run.

use std::io;

use crate::evidence::{Availability, Missing};
use crate::sample::Readings;
use crate::sys::HardwareCounters;

/// The counters of the next run, if they are wanted and there.
#[derive(Debug)]
pub struct Counters(Option<HardwareCounters>);

impl Counters {
    /// Opens them for the next program that is started.
    #[must_use]
    pub fn open(wanted: bool) -> Self {
        Self(wanted.then(HardwareCounters::open).and_then(Result::ok))
    }

    /// Adds what they counted to the readings of the run.
    pub fn read(self, readings: &mut Readings) {
        let Some(mut counters) = self.0 else { return };
        [
            readings.cycles,
            readings.instructions,
            readings.cache_references,
            readings.cache_misses,
            readings.branch_misses,
        ] = counters.read();
    }
}

/// Whether there are any here.
#[must_use]
pub fn availability() -> Availability<()> {
    match HardwareCounters::open() {
        Ok(_) => Availability::Ready(()),
        Err(error) => Availability::Missing(missing(&error)),
    }
}

/// What cannot be counted here though other things can: asked for together, each may be missing.
#[must_use]
pub fn lacking() -> Vec<&'static str> {
    const NAMES: [&str; 5] = [
        "cycles",
        "instructions",
        "cache references",
        "cache misses",
        "branch misses",
    ];
    let present = HardwareCounters::open().map_or([true; 5], |counters| counters.present());
    let each = NAMES.into_iter().zip(present);
    each.filter_map(|(name, there)| (!there).then_some(name))
        .collect()
}

fn missing(error: &io::Error) -> Missing {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::Unsupported => {
            Missing::because("this machine shows no hardware counters")
        }
        io::ErrorKind::PermissionDenied => Missing {
            reason: "hardware counters are not permitted".into(),
            remedy: Some("sysctl kernel.perf_event_paranoid=2".into()),
        },
        _ => Missing::because(format!("hardware counters cannot be read: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_wanted_is_not_read() {
        let mut readings = Readings::default();
        Counters::open(false).read(&mut readings);
        assert_eq!(readings, Readings::default());
    }

    #[test]
    fn a_refusal_has_its_reason_and_remedy() {
        let told = |kind| missing(&io::Error::from(kind));
        assert!(told(io::ErrorKind::NotFound).remedy.is_none());
        assert!(told(io::ErrorKind::PermissionDenied).remedy.is_some());
        assert!(told(io::ErrorKind::Other).reason.contains("cannot be read"));
    }
}
