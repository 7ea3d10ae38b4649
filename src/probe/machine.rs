//! What happened on the whole machine while a benchmark was measured: counters read before and
//! after its runs, never between the stamps of one.
//!
//! Around each run where runs are long enough that reading costs nothing beside them; otherwise
//! once around all of them, together with whatever ran in between.

use std::time::Duration;

use super::{hugepages, memory_limit, pressure, steal, vmstat};
use crate::sample::recording::MachineCounters;
use crate::sys::clock;
use crate::sys::platform::{self, KernelFile, MemoryLimit};

/// Runs at least this long have the counters read around each of them.
pub(super) const LONG: Duration = Duration::from_millis(10);

/// Names of the pressure files, and of the counters they become.
const PRESSURES: [(&str, &str); 3] = [
    ("/proc/pressure/cpu", "cpu_pressure_some_s"),
    ("/proc/pressure/io", "io_pressure_full_s"),
    ("/proc/pressure/memory", "memory_pressure_full_s"),
];

/// Everything read at one time. `None` is "not there".
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Snapshot {
    clock: u64,
    vmstat: [Option<u64>; vmstat::NAMES.len()],
    steal: Option<Duration>,
    busy: Option<Duration>,
    pressure: [Option<Duration>; PRESSURES.len()],
    hugepages: Option<hugepages::Hugepages>,
    limit_hits: Option<u64>,
}

/// Reads snapshots.
#[derive(Debug)]
pub(crate) struct Reader {
    buffer: Vec<u8>,
    kernel: KernelFile,
    limit: Option<MemoryLimit>,
}

impl Reader {
    pub(crate) fn new() -> Self {
        Self {
            buffer: Vec::with_capacity(16 * 1024),
            kernel: KernelFile::new(),
            limit: platform::memory_limit(),
        }
    }

    /// Everything as it is now; about 20 µs.
    pub(crate) fn snapshot(&mut self) -> Snapshot {
        let mut all = Snapshot {
            vmstat: self
                .text("/proc/vmstat")
                .map(vmstat::parse)
                .unwrap_or_default(),
            steal: self.text("/proc/stat").and_then(steal::parse),
            // of the text that was just read
            busy: steal::busy(&self.buffer),
            hugepages: self.text("/proc/meminfo").and_then(hugepages::parse),
            ..Snapshot::default()
        };
        for (place, (path, key)) in PRESSURES.iter().enumerate() {
            let found = self.text(path).map(pressure::parse).unwrap_or_default();
            all.pressure[place] = if key.contains("some") {
                found.some
            } else {
                found.full
            };
        }
        if let Some(limit) = &self.limit {
            let text = self.kernel.reread(&limit.events);
            all.limit_hits = text.and_then(memory_limit::parse);
        }
        all.clock = clock::now();
        all
    }

    fn text(&mut self, path: &str) -> Option<&[u8]> {
        platform::text(path, &mut self.buffer).ok()
    }

    /// The limit of memory that stands above us, in bytes.
    fn limit_bytes(&self) -> Option<u64> {
        self.limit.as_ref().map(|limit| limit.bytes)
    }
}

/// Adds up what happened during the measured runs of one benchmark.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    totals: MachineCounters,
    open: Option<Snapshot>,
    /// The last run was long.
    long: bool,
}

impl Meter {
    /// A run is about to begin.
    pub(crate) fn before(&mut self, reader: &mut Reader) {
        if self.open.is_some() {
            return;
        }
        let now = reader.snapshot();
        if self.totals.is_empty() {
            if let Some(pool) = now.hugepages {
                self.totals
                    .insert("hugepages_total".into(), pool.total as f64);
                self.totals
                    .insert("hugepages_free_start".into(), pool.free as f64);
            }
            if let Some(bytes) = reader.limit_bytes() {
                self.totals
                    .insert("memory_limit_bytes".into(), bytes as f64);
            }
        }
        self.open = Some(now);
    }

    /// A run has ended.
    pub(crate) fn after(&mut self, reader: &mut Reader, wall: Duration) {
        self.long = wall >= LONG;
        if self.long {
            self.close(reader);
        }
    }

    /// No further runs.
    pub(crate) fn close(&mut self, reader: &mut Reader) {
        if let Some(before) = self.open.take() {
            self.add(&before, &reader.snapshot());
        }
    }

    /// What was counted.
    pub(crate) fn take(&mut self) -> MachineCounters {
        std::mem::take(&mut self.totals)
    }

    fn add(&mut self, before: &Snapshot, after: &Snapshot) {
        let mut sum = |key: &str, value: f64| {
            *self.totals.entry(key.to_owned()).or_insert(0.0) += value;
        };
        let seconds = after.clock.saturating_sub(before.clock) as f64 / 1e9;
        sum("observed_s", seconds);
        let vmstat = before.vmstat.iter().zip(after.vmstat);
        for (name, (from, to)) in vmstat::NAMES.iter().zip(vmstat) {
            if let (Some(from), Some(to)) = (from, to) {
                sum(name, to.saturating_sub(*from) as f64);
            }
        }
        let time = |from: Option<Duration>, to: Option<Duration>| {
            Some(to?.saturating_sub(from?).as_secs_f64())
        };
        if let Some(seconds) = time(before.steal, after.steal) {
            sum("steal_s", seconds);
        }
        if let Some(seconds) = time(before.busy, after.busy) {
            sum("busy_s", seconds);
        }
        for (place, (_, key)) in PRESSURES.iter().enumerate() {
            if let Some(seconds) = time(before.pressure[place], after.pressure[place]) {
                sum(key, seconds);
            }
        }
        if let (Some(from), Some(to)) = (before.limit_hits, after.limit_hits) {
            sum("memory_limit_hits", to.saturating_sub(from) as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(at: u64, swapped: u64, stolen: u64) -> Snapshot {
        let mut vmstat = [None; vmstat::NAMES.len()];
        vmstat[0] = Some(swapped);
        Snapshot {
            clock: at * 1_000_000_000,
            vmstat,
            steal: Some(Duration::from_millis(stolen)),
            ..Snapshot::default()
        }
    }

    #[test]
    fn differences_add_up_and_what_is_missing_stays_missing() {
        let mut meter = Meter::default();
        meter.add(&snapshot(1, 10, 0), &snapshot(2, 15, 10));
        meter.add(&snapshot(5, 100, 50), &snapshot(7, 101, 50));
        let totals = meter.take();
        assert_eq!(totals.get("pswpin"), Some(&6.0));
        assert_eq!(totals.get("steal_s"), Some(&0.010));
        assert_eq!(totals.get("observed_s"), Some(&3.0));
        assert_eq!(totals.get("memory_limit_hits"), None);
        assert_eq!(totals.get("htlb_buddy_alloc_fail"), None);
        assert_eq!(totals.get("cpu_pressure_some_s"), None);
    }

    #[test]
    fn short_runs_are_read_once_around_all() {
        let (mut meter, mut reader) = (Meter::default(), Reader::new());
        meter.before(&mut reader);
        meter.after(&mut reader, Duration::from_millis(1));
        assert!(meter.open.is_some());
        meter.before(&mut reader);
        meter.after(&mut reader, Duration::from_millis(50));
        assert!(meter.open.is_none());
    }
}
