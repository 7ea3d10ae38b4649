//! The table of everything a sample holds as numbers: one row a field, for storage and files.
//!
//! Adding a number to a sample is a row here; columns, JSON and CSV follow. Entries of a release
//! are never renamed, `docs/format.md` lists them.

use std::time::Duration;

use super::{Outcome, Phase, Readings, Sample, Usage};

/// How the raw number of a field is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nanoseconds; files carry seconds.
    Nanoseconds,
    /// Microseconds of rusage; files carry seconds.
    Microseconds,
    /// Bytes.
    Bytes,
    /// KiB of rusage; files carry bytes.
    Kibibytes,
    /// A plain count.
    Count,
}

impl Kind {
    /// How many of the raw unit make one of the file's.
    #[must_use]
    pub fn per_file_unit(self) -> f64 {
        match self {
            Self::Nanoseconds => 1e9,
            Self::Microseconds => 1e6,
            Self::Kibibytes => 1.0 / 1024.0,
            Self::Bytes | Self::Count => 1.0,
        }
    }
}

/// One number of a sample.
#[derive(Debug)]
pub struct Field {
    /// Its key in files, with the unit as suffix where it has one.
    pub key: &'static str,
    /// How the raw number is to be read.
    pub kind: Kind,
    /// The raw number, `None` where it was not measured.
    pub read: fn(&Sample) -> Option<u64>,
    /// Puts a raw number back.
    pub write: fn(&mut Sample, Option<u64>),
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX - 1)
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX - 1)
}

macro_rules! plain {
    ($key:literal, $kind:ident, $($path:ident).+) => {
        Field {
            key: $key,
            kind: Kind::$kind,
            read: |s| Some(s.$($path).+),
            write: |s, v| s.$($path).+ = v.unwrap_or_default(),
        }
    };
}

/// A part of `Usage`, `None` where the whole part is unaccounted.
macro_rules! accounted {
    ($key:literal, $part:ident, $name:ident) => {
        accounted!($key, Count, $part, $name, |n| n, |n| n)
    };
    ($key:literal, $kind:ident, $part:ident, $name:ident, $raw:expr, $back:expr) => {
        Field {
            key: $key,
            kind: Kind::$kind,
            read: |s| (!s.readings.unaccounted.$part).then(|| $raw(s.usage.$name)),
            write: |s, v| {
                s.readings.unaccounted.$part = v.is_none();
                s.usage.$name = $back(v.unwrap_or_default());
            },
        }
    };
}

macro_rules! reading {
    ($key:literal, Nanoseconds, $name:ident) => {
        Field {
            key: $key,
            kind: Kind::Nanoseconds,
            read: |s| s.readings.$name.map(nanos),
            write: |s, v| s.readings.$name = v.map(Duration::from_nanos),
        }
    };
    ($key:literal, $kind:ident, $name:ident) => {
        Field {
            key: $key,
            kind: Kind::$kind,
            read: |s| s.readings.$name,
            write: |s, v| s.readings.$name = v,
        }
    };
}

/// Every number of a sample.
pub static FIELDS: &[Field] = &[
    Field {
        key: "phase",
        kind: Kind::Count,
        read: |s| Some(s.phase as u64),
        write: |s, v| s.phase = Phase::from_raw(v),
    },
    plain!("index", Count, index),
    plain!("round", Count, round),
    plain!("position", Count, position),
    Field {
        key: "start_s",
        kind: Kind::Nanoseconds,
        read: |s| Some(nanos(s.start)),
        write: |s, v| s.start = Duration::from_nanos(v.unwrap_or_default()),
    },
    Field {
        key: "wall_s",
        kind: Kind::Nanoseconds,
        read: |s| Some(nanos(s.wall)),
        write: |s, v| s.wall = Duration::from_nanos(v.unwrap_or_default()),
    },
    accounted!(
        "user_s",
        Microseconds,
        cpu,
        user,
        micros,
        Duration::from_micros
    ),
    accounted!(
        "system_s",
        Microseconds,
        cpu,
        system,
        micros,
        Duration::from_micros
    ),
    reading!("queued_s", Nanoseconds, queued),
    accounted!(
        "rss_bytes",
        Kibibytes,
        memory,
        max_rss,
        |n| n / 1024,
        |n: u64| n.saturating_mul(1024)
    ),
    accounted!("major_faults", events, major_faults),
    accounted!("minor_faults", events, minor_faults),
    accounted!("voluntary_switches", events, voluntary_switches),
    accounted!("involuntary_switches", events, involuntary_switches),
    plain!("blocks_in", Count, usage.blocks_in),
    plain!("blocks_out", Count, usage.blocks_out),
    Field {
        key: "outcome",
        kind: Kind::Count,
        read: |s| Some(s.outcome.to_raw()),
        write: |s, v| s.outcome = Outcome::from_raw(v.unwrap_or_default()),
    },
    plain!("padding", Count, padding),
    reading!("spawn_latency_s", Nanoseconds, spawn_latency),
    reading!("spawn_cpu_s", Nanoseconds, spawn_cpu),
    reading!("main_run_s", Nanoseconds, main_run),
    reading!("tree_queued_s", Nanoseconds, tree_queued),
    reading!("stopped_s", Nanoseconds, stopped),
    reading!("orphans", Count, orphans),
    reading!("orphan_cpu_s", Nanoseconds, orphan_cpu),
    reading!("leftovers", Count, leftovers),
    reading!("auto_reaps", Count, auto_reaps),
    reading!("tree_cpu_s", Nanoseconds, tree_cpu),
    reading!("throttled_s", Nanoseconds, throttled),
    reading!("throttled_periods", Count, throttled_periods),
    reading!("quota_periods", Count, quota_periods),
    reading!("io_stall_s", Nanoseconds, io_stall),
    reading!("memory_stall_s", Nanoseconds, memory_stall),
    reading!("read_bytes", Bytes, read_bytes),
    reading!("write_bytes", Bytes, write_bytes),
    reading!("instructions", Count, instructions),
    reading!("cycles", Count, cycles),
    reading!("branch_misses", Count, branch_misses),
    reading!("cache_misses", Count, cache_misses),
    reading!("cache_references", Count, cache_references),
];

impl Default for Sample {
    fn default() -> Self {
        Self {
            phase: Phase::Measured,
            index: 0,
            round: 0,
            position: 0,
            start: Duration::ZERO,
            wall: Duration::ZERO,
            usage: Usage::default(),
            outcome: Outcome::Exited(0),
            padding: 0,
            readings: Readings::default(),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A sample in which every field has a value of its own.
    pub(crate) fn distinct() -> Sample {
        let mut sample = Sample::default();
        for (place, field) in FIELDS.iter().enumerate() {
            let value = match field.key {
                "phase" => 2,
                "outcome" => 256 + 11,
                _ => 1_000 + place as u64,
            };
            (field.write)(&mut sample, Some(value));
        }
        sample
    }

    #[test]
    fn keys_are_unique() {
        let mut keys: Vec<_> = FIELDS.iter().map(|field| field.key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), FIELDS.len());
    }

    #[test]
    fn every_field_reads_what_was_written() {
        let sample = distinct();
        for (place, field) in FIELDS.iter().enumerate() {
            let value = match field.key {
                "phase" => 2,
                "outcome" => 267,
                _ => 1_000 + place as u64,
            };
            assert_eq!((field.read)(&sample), Some(value), "{}", field.key);
        }
    }

    #[test]
    fn what_is_unaccounted_stays_so() {
        let mut original = distinct();
        original.usage = Usage {
            blocks_in: 1,
            ..Usage::default()
        };
        original.readings.unaccounted = super::super::Unaccounted::ALL;
        let mut copy = Sample::default();
        for field in FIELDS {
            (field.write)(&mut copy, (field.read)(&original));
        }
        assert_eq!(copy, original);
    }

    #[test]
    fn fields_carry_the_whole_sample() {
        let original = distinct();
        let mut copy = Sample::default();
        for field in FIELDS {
            (field.write)(&mut copy, (field.read)(&original));
        }
        assert_eq!(copy, original);
    }
}
