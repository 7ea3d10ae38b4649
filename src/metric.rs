//! The table of quantities that can be read from a sample.
//!
//! A row here is a row of every summary, comparison, gate and export. Values are in base units:
//! seconds, bytes, counts.

use std::time::Duration;

use crate::sample::Sample;
use crate::unit::Unit;

/// One quantity of a sample.
#[derive(Debug)]
pub struct Metric {
    /// Stable identifier in kebab case, used in gates and options.
    pub id: &'static str,
    /// The key in JSON.
    pub key: &'static str,
    /// The label in tables.
    pub label: &'static str,
    /// What its values are, in base units.
    pub unit: Unit,
    /// One sentence for the manual.
    pub help: &'static str,
    /// Whether it has a place in the table on the terminal by itself.
    pub headline: bool,
    /// The value in base units, `None` where it was not measured.
    pub read: fn(&Sample) -> Option<f64>,
    /// Whether it is a hardware counter: read only when asked for, and told in a line of its own.
    pub counter: bool,
    /// Its place among the metrics of hyperfine 2, and its name there.
    pub hyperfine: Option<(u8, &'static str)>,
    /// Keys of the fields that `read` looks at, so that reading a metric need not put whole samples
    /// together.
    pub fields: &'static [&'static str],
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Metric {}

impl Metric {
    /// Whether it is computed from CPU time, and so as incomplete as that is.
    #[must_use]
    pub fn counts_cpu(&self) -> bool {
        let cpu = ["user_s", "system_s"];
        self.id != QUEUED && cpu.iter().any(|field| self.fields.contains(field))
    }

    /// The metrics that hyperfine 2 has as well, in its order, each with its name there.
    #[must_use]
    pub fn of_hyperfine() -> Vec<(&'static str, &'static Self)> {
        let mut all: Vec<_> = METRICS
            .iter()
            .filter_map(|one| Some((one.hyperfine?, one)))
            .collect();
        all.sort_by_key(|((place, _), _)| *place);
        all.into_iter()
            .map(|((_, name), one)| (name, one))
            .collect()
    }

    /// The same, with what hyperfine 2 calls it.
    const fn called(mut self, place: u8, name: &'static str) -> Self {
        self.hyperfine = Some((place, name));
        self
    }

    /// The metric of that identifier.
    #[must_use]
    pub fn from_id(id: &str) -> Option<&'static Self> {
        METRICS.iter().find(|metric| metric.id == id)
    }
}

/// CPU time in seconds, if it was accounted.
fn cpu(sample: &Sample, time: Duration) -> Option<f64> {
    (!sample.readings.unaccounted.cpu).then_some(time.as_secs_f64())
}

/// A count of faults or switches, if they were accounted.
fn event(sample: &Sample, count: u64) -> Option<f64> {
    (!sample.readings.unaccounted.events).then_some(count as f64)
}

macro_rules! metric {
    ($id:literal, $key:expr, $label:literal, $unit:ident, $headline:literal, $help:literal, $fields:expr, $read:expr) => {
        Metric {
            id: $id,
            key: $key,
            label: $label,
            unit: Unit::$unit,
            help: $help,
            headline: $headline,
            counter: false,
            hyperfine: None,
            read: $read,
            fields: $fields,
        }
    };
}

macro_rules! counter {
    ($id:literal, $field:ident, $label:literal, $help:literal) => {
        Metric {
            counter: true,
            ..metric!(
                $id,
                stringify!($field),
                $label,
                Count,
                false,
                $help,
                &[stringify!($field)],
                |s| s.readings.$field.map(|n| n as f64)
            )
        }
    };
}

/// The identifier of wall time.
pub const WALL: &str = "wall";
/// The identifier of CPU time.
pub const CPU: &str = "cpu";
/// The identifier of wall minus CPU time.
pub const OFF_CPU: &str = "off-cpu";
/// The identifier of peak memory.
pub const RSS: &str = "rss";
/// The identifier of time spent waiting for a CPU.
pub const QUEUED: &str = "queued";
/// The identifier of the ratio of wall to CPU time.
pub const WALL_CPU: &str = "wall/cpu";

/// Fields of wall and CPU time.
const WALL_AND_CPU: &[&str] = &["wall_s", "user_s", "system_s", "orphan_cpu_s", "tree_cpu_s"];

/// Fields of queueing: a tree whose children work queues as a whole.
const QUEUEING: &[&str] = &[
    "queued_s",
    "wall_s",
    "main_run_s",
    "tree_queued_s",
    "user_s",
    "system_s",
    "orphan_cpu_s",
    "tree_cpu_s",
];

/// Every quantity. All are better when smaller.
pub static METRICS: &[Metric] = &[
    metric!(
        "wall",
        "wall",
        "wall",
        Time,
        true,
        "Time from exec to the collected exit.",
        &["wall_s"],
        |s| Some(s.wall.as_secs_f64())
    )
    .called(0, "time_wall_clock"),
    metric!(
        "user",
        "user",
        "user",
        Time,
        true,
        "CPU time in user mode, with the children waited for.",
        &["user_s"],
        |s| cpu(s, s.usage.user)
    )
    .called(2, "time_user"),
    metric!(
        "sys",
        "system",
        "sys",
        Time,
        true,
        "CPU time in the kernel, with the children waited for.",
        &["system_s"],
        |s| cpu(s, s.usage.system)
    )
    .called(3, "time_system"),
    metric!(
        "cpu",
        "cpu",
        "CPU",
        Time,
        false,
        "User plus system time of the whole process tree, as far as it is known.",
        Sample::TREE_CPU,
        |s| cpu(s, s.tree_cpu())
    )
    .called(1, "time_cpu"),
    metric!(
        "off-cpu",
        "off_cpu",
        "off-CPU",
        Time,
        false,
        "Wall minus CPU time; not defined where CPU exceeds wall.",
        WALL_AND_CPU,
        |s| {
            let known = !s.readings.unaccounted.cpu;
            Some(s.off_cpu_seconds()).filter(|off| known && *off >= 0.0)
        }
    ),
    metric!(
        "wall/cpu",
        "wall_cpu",
        "wall/CPU",
        Ratio,
        false,
        "Wall time over CPU time, of the sums over all runs.",
        WALL_AND_CPU,
        |s| {
            let cpu = cpu(s, s.tree_cpu())?;
            (cpu > 0.0).then(|| s.wall.as_secs_f64() / cpu)
        }
    ),
    metric!(
        "rss",
        "rss",
        "peak RSS",
        Bytes,
        false,
        "Peak resident memory of the largest process.",
        &["rss_bytes"],
        |s| (!s.readings.unaccounted.memory).then_some(s.usage.max_rss as f64)
    )
    .called(4, "memory_peak_resident"),
    metric!(
        "queued",
        "queued",
        "queued",
        Time,
        false,
        "Time the command was ready to run and no CPU was free: of its main thread, or of its tree.",
        QUEUEING,
        |s| s.queued().map(|queued| queued.as_secs_f64())
    ),
    metric!(
        "major-faults",
        "major_faults",
        "major faults",
        Count,
        false,
        "Page faults that needed the disk.",
        &["major_faults"],
        |s| event(s, s.usage.major_faults)
    ),
    metric!(
        "minor-faults",
        "minor_faults",
        "minor faults",
        Count,
        false,
        "Page faults served from memory.",
        &["minor_faults"],
        |s| event(s, s.usage.minor_faults)
    ),
    metric!(
        "voluntary-switches",
        "voluntary_switches",
        "voluntary switches",
        Count,
        false,
        "Times the command gave up the CPU to wait.",
        &["voluntary_switches"],
        |s| event(s, s.usage.voluntary_switches)
    ),
    metric!(
        "involuntary-switches",
        "involuntary_switches",
        "involuntary switches",
        Count,
        false,
        "Times the CPU was taken from the command.",
        &["involuntary_switches"],
        |s| event(s, s.usage.involuntary_switches)
    ),
    counter!(
        "instructions",
        instructions,
        "instructions",
        "Instructions retired in user mode."
    )
    .called(6, "instructions"),
    counter!("cycles", cycles, "cycles", "CPU cycles in user mode.").called(5, "cpu_cycles"),
    counter!(
        "branch-misses",
        branch_misses,
        "branch misses",
        "Branches mispredicted in user mode."
    )
    .called(9, "branch_misses"),
    counter!(
        "cache-references",
        cache_references,
        "cache references",
        "Accesses that reached the last-level cache in user mode."
    )
    .called(7, "cache_references"),
    counter!(
        "cache-misses",
        cache_misses,
        "cache misses",
        "Accesses that missed the last-level cache in user mode."
    )
    .called(8, "cache_misses"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Unaccounted;
    use crate::sample::field::FIELDS;

    #[test]
    fn table_is_consistent() {
        let mut ids: Vec<_> = METRICS.iter().map(|metric| metric.id).collect();
        for metric in METRICS {
            assert!(
                metric
                    .id
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b == b'-' || b == b'/'),
                "{}",
                metric.id
            );
            assert!(metric.help.ends_with('.') && !metric.label.is_empty());
        }
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), METRICS.len());
    }

    #[test]
    fn a_metric_reads_its_fields_and_no_others() {
        for metric in METRICS {
            let mut only = Sample::default();
            let mut but = Sample::default();
            only.readings.unaccounted = Unaccounted::ALL;
            for (place, field) in FIELDS.iter().enumerate() {
                let listed = metric.fields.contains(&field.key);
                let value = Some(4_000_000_000 + 1_000_000 * place as u64);
                (field.write)(if listed { &mut only } else { &mut but }, value);
            }
            let mut whole = only;
            for field in FIELDS
                .iter()
                .filter(|field| !metric.fields.contains(&field.key))
            {
                (field.write)(&mut whole, (field.read)(&but));
            }
            assert_eq!((metric.read)(&only), (metric.read)(&whole), "{}", metric.id);
            for key in metric.fields {
                assert!(FIELDS.iter().any(|field| field.key == *key), "{key}");
            }
        }
    }

    #[test]
    fn off_cpu_is_undefined_where_cpu_exceeds_wall() {
        let mut sample = Sample {
            wall: Duration::from_millis(10),
            ..Sample::default()
        };
        sample.usage.user = Duration::from_millis(30);
        let off = Metric::from_id("off-cpu").unwrap();
        assert_eq!((off.read)(&sample), None);
        sample.usage.user = Duration::from_millis(4);
        assert!(((off.read)(&sample).unwrap() - 0.006).abs() < 1e-12);
    }
}
