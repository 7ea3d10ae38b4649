//! This machine as a place to benchmark on: sources of evidence, facts, the cost of starting a
//! program and of making data durable.
//!
//! It changes nothing but a temporary file and an empty control group of its own.

mod page;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::evidence::Missing;
use crate::probe::{PROBES, Probe};
use crate::run::{executor, session};
use crate::sample::Host;
use crate::sys::{clock, durability};

pub use page::write;

/// One source of evidence, looked at.
#[derive(Debug)]
pub struct Source {
    /// Which.
    pub probe: &'static Probe,
    /// Why it cannot be had.
    pub missing: Option<Missing>,
    /// Time of one reading, if it is there and was measured.
    pub cost: Option<Duration>,
}

/// What making small appends durable costs in a folder, median seconds of one append.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Durability {
    /// Only written.
    pub write: f64,
    /// With `fdatasync`.
    pub fdatasync: f64,
    /// With `fsync`.
    pub fsync: f64,
}

/// Everything that was found.
#[derive(Debug)]
pub struct Examination {
    /// Every source of evidence, in table order.
    pub sources: Vec<Source>,
    /// The machine.
    pub host: Host,
    /// Nanoseconds between two readings of the clock.
    pub clock_reading_ns: u64,
    /// Wall time of an empty program, in seconds.
    pub spawn_floor: Option<f64>,
    /// The folder that was tried.
    pub folder: PathBuf,
    /// What durability costs there, or why that is not known.
    pub durability: Result<Durability, String>,
}

/// Looks at everything. Takes about a second.
#[must_use]
pub fn examine(folder: &Path) -> Examination {
    let sources = PROBES.iter().map(source).collect();
    let appends = durability::appends(folder).map(|found| Durability {
        write: found.write,
        fdatasync: found.fdatasync,
        fsync: found.fsync,
    });
    Examination {
        sources,
        host: session::host(),
        clock_reading_ns: clock_reading(),
        spawn_floor: executor::spawn_floor(),
        folder: folder.to_path_buf(),
        durability: appends.map_err(|error| error.to_string()),
    }
}

fn source(probe: &'static Probe) -> Source {
    let missing = probe.availability().missing();
    let cost = if missing.is_none() {
        (probe.cost)()
    } else {
        None
    };
    Source {
        probe,
        missing,
        cost,
    }
}

/// The smallest difference of readings in a row.
fn clock_reading() -> u64 {
    let times: Vec<u64> = (0..1000).map(|_| clock::now()).collect();
    let steps = times.windows(2).map(|pair| pair[1] - pair[0]);
    steps.filter(|step| *step > 0).min().unwrap_or(0)
}
