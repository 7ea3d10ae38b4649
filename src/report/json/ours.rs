//! Our part of a result: every statistic, the diagnosis, what was asked, and every run.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::shallow;
use super::{limits, object, pair};
use crate::analysis::Subject;
use crate::diagnose::{CauseLine, Diagnosis, Finding, Slices, Tier};
use crate::metric::{METRICS, WALL_CPU};
use crate::sample::recording::list;
use crate::sample::{Host, Recording};
use crate::stats::{STATISTICS, Summary};

/// Metrics whose keys are in every result.
const ALWAYS: [&str; 6] = ["wall", "cpu", "user", "sys", "off-cpu", "rss"];

/// Our part of a result.
pub(in crate::report) struct Ours<'a> {
    subject: &'a Subject<'a>,
    /// The machine that is already told.
    host: Option<&'a Host>,
    /// Whether each run is written.
    runs: bool,
}

impl<'a> Ours<'a> {
    /// With every run.
    pub(in crate::report) fn whole(subject: &'a Subject<'a>, host: Option<&'a Host>) -> Self {
        Self {
            subject,
            host,
            runs: true,
        }
    }

    /// Without the runs.
    pub(in crate::report) fn summary(subject: &'a Subject<'a>, host: Option<&'a Host>) -> Self {
        Self {
            runs: false,
            ..Self::whole(subject, host)
        }
    }

    /// Its keys, for objects that have others as well.
    pub(in crate::report) fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let (subject, recording) = (self.subject, self.subject.recording);
        map.serialize_entry("via_shell", &recording.conditions.shell.is_some())?;
        map.serialize_entry("phases", &Phases(subject))?;
        map.serialize_entry("failed", &subject.counts.failed)?;
        map.serialize_entry("partial", &recording.cut_short.is_some())?;
        self.statistics(map)?;
        self.diagnosis(map)?;
        map.serialize_entry("warnings", &Warnings(subject))?;
        map.serialize_entry("conditions", &recording.conditions)?;
        if self.host != Some(&recording.host) {
            map.serialize_entry("host", &recording.host)?;
        }
        map.serialize_entry("machine", &recording.machine)?;
        map.serialize_entry("cut_short", &recording.cut_short)?;
        map.serialize_entry("notes", &recording.notes)?;
        if self.runs {
            map.serialize_entry("runs", &Runs(recording))?;
        }
        Ok(())
    }

    fn statistics<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        for metric in METRICS.iter().filter(|metric| metric.id != WALL_CPU) {
            let summary = self.subject.summary(metric.id).map(Statistics);
            if summary.is_some() || ALWAYS.contains(&metric.id) {
                map.serialize_entry(metric.key, &summary)?;
            }
        }
        let subject = self.subject;
        map.serialize_entry("rss_at_floor", &subject.rss_at_floor())?;
        map.serialize_entry("wall_near_floor", &subject.wall_near_floor())?;
        map.serialize_entry("split_is_sampled", &subject.split_is_sampled())?;
        map.serialize_entry("instructions_per_cycle", &subject.instructions_per_cycle())?;
        map.serialize_entry("wall_cpu_ratio", &Ratio(self.subject))
    }

    fn diagnosis<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let found = self.subject.diagnosis.as_ref();
        let list = |lines: Option<&'a [CauseLine]>| Causes(lines.unwrap_or_default());
        map.serialize_entry("tier", found.map_or(Tier::None, |found| found.tier).id())?;
        map.serialize_entry("off_cpu_share", &found.and_then(|found| found.off_share))?;
        map.serialize_entry("cpus_busy", &found.and_then(|found| found.cpus_busy))?;
        map.serialize_entry("slices", &found.map(|found| Parts(&found.slices)))?;
        map.serialize_entry("causes", &list(found.map(|found| found.causes.as_slice())))?;
        map.serialize_entry("explain", &self.subject.recording.attribution)?;
        if let Some(trace) = &self.subject.recording.trace {
            map.serialize_entry("trace", trace)?;
        }
        map.serialize_entry(
            "variance",
            &found.and_then(|found| found.variance.map(Spread)),
        )?;
        map.serialize_entry(
            "headline",
            &found.and_then(|found| found.headline.as_deref()),
        )?;
        map.serialize_entry(
            "consequence",
            &found.and_then(|found| found.consequence.as_deref()),
        )?;
        map.serialize_entry("help", &found.map_or(&[][..], |found| &found.help))?;
        map.serialize_entry("findings", &Findings(found))
    }
}

impl Serialize for Ours<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.entries(&mut map)?;
        map.end()
    }
}

struct Phases<'a>(&'a Subject<'a>);

impl Serialize for Phases<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counts = self.0.counts;
        object!(serializer,
            "warmup": counts.warmup,
            "measured": counts.measured,
            "diagnostic": counts.diagnostic,
        )
    }
}

/// Every statistic of one metric.
struct Statistics<'a>(&'a Summary);

impl Serialize for Statistics<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let summary = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("runs", &summary.runs)?;
        for row in &STATISTICS {
            let found = summary.get(row.id);
            map.serialize_entry(row.id, &found.map(|found| found.value))?;
            if row.fewest_runs().is_some() {
                map.serialize_entry(&format!("{}_interval", row.id), &limits(found))?;
            }
        }
        let method = |id: &str| {
            let interval = summary.get(id).and_then(|found| found.interval);
            interval.map(|found| found.method.id())
        };
        map.serialize_entry("median_method", &method("median"))?;
        map.serialize_entry("mean_method", &method("mean"))?;
        let ranks = summary.median_ranks.as_ref();
        map.serialize_entry(
            "median_exact_interval",
            &ranks.map(|found| pair(found.interval)),
        )?;
        map.serialize_entry(
            "median_exact_coverage",
            &ranks.map(|found| found.ranks.coverage),
        )?;
        map.serialize_entry(
            "median_bootstrap_interval",
            &summary.median_resampled.map(pair),
        )?;
        map.serialize_entry("mean_bootstrap_interval", &summary.mean_resampled.map(pair))?;
        map.serialize_entry(
            "p99_lower",
            &summary.p99_lower.as_ref().map(|found| found.value),
        )?;
        let outliers: Vec<usize> = summary.outliers.iter().map(|found| found.index).collect();
        map.serialize_entry("outliers", &outliers)?;
        map.end()
    }
}

struct Ratio<'a>(&'a Subject<'a>);

impl Serialize for Ratio<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ratio = self.0.ratio;
        object!(serializer,
            "value": ratio.map(|found| found.value),
            "interval": limits(ratio),
        )
    }
}

struct Parts<'a>(&'a Slices);

impl Serialize for Parts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let slices = self.0;
        object!(serializer,
            "user": slices.user,
            "system": slices.system,
            "hidden_cpu": slices.hidden_cpu,
            "queued": slices.queued,
            "throttled": slices.throttled,
            "waiting": slices.waiting,
            "disk": slices.disk,
            "memory_stall": slices.memory_stall,
            "stopped": slices.stopped,
        )
    }
}

struct Causes<'a>(&'a [CauseLine]);

impl Serialize for Causes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(One))
    }
}

struct One<'a>(&'a CauseLine);

impl Serialize for One<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let line = self.0;
        object!(serializer,
            "id": line.cause.id(),
            "class": line.cause.class().id(),
            "share": line.share,
            "seconds": line.seconds,
            "at_least": line.at_least,
            "detail": line.detail,
            "remark": line.remark,
            "depth": line.depth.id(),
        )
    }
}

struct Spread(crate::diagnose::Variance);

impl Serialize for Spread {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        object!(serializer,
            "cpu": self.0.cpu,
            "queued": self.0.queued,
            "waiting": self.0.waiting,
        )
    }
}

struct Findings<'a>(Option<&'a Diagnosis>);

impl Serialize for Findings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let found = self.0.map_or(&[][..], |found| &found.findings);
        serializer.collect_seq(found.iter().map(Said))
    }
}

struct Said<'a>(&'a Finding);

impl Serialize for Said<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        object!(serializer,
            "id": self.0.cause.map(crate::evidence::Cause::id),
            "tier": self.0.tier.id(),
            "text": self.0.text,
        )
    }
}

struct Warnings<'a>(&'a Subject<'a>);

impl Serialize for Warnings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Warning<'a> {
            id: &'a str,
            text: &'a str,
        }
        let all = self.0.warnings.iter();
        serializer.collect_seq(all.map(|warning| Warning {
            id: warning.id,
            text: &warning.text,
        }))
    }
}

struct Runs<'a>(&'a Recording);

impl Serialize for Runs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pieces = list::whole_run();
        shallow::runs(
            serializer,
            &self.0.samples,
            None,
            pieces,
            shallow::LINE_EACH,
        )
    }
}
