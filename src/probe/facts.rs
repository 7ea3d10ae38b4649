//! What the sources say about the machine itself, for the host part of a recording.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{PROBES, Probe, When, cpu_stat, hugepages, steal};
use crate::evidence::Availability;
use crate::sys::platform;

/// Facts by key; what is not known is absent. `evidence` tells for each source
/// that plain runs use `ready`, or why not.
pub(crate) fn facts() -> BTreeMap<String, Value> {
    let mut facts = BTreeMap::new();
    let mut buffer = Vec::new();
    let meminfo = platform::text("/proc/meminfo", &mut buffer).ok();
    if let Some(pool) = meminfo.and_then(hugepages::parse) {
        facts.insert("hugepages_total".into(), pool.total.into());
        facts.insert("hugepages_free".into(), pool.free.into());
    }
    let stat = platform::text("/proc/stat", &mut buffer).ok();
    if let Some(share) = stat.and_then(steal::share) {
        facts.insert("steal_share".into(), share.into());
    }
    let quotas = platform::quotas().ready().unwrap_or_default();
    if let Some(cpus) = cpu_stat::tightest(&quotas) {
        facts.insert("quota_cpus".into(), cpus.into());
    }
    if let Some(limit) = platform::memory_limit() {
        facts.insert("memory_limit_bytes".into(), limit.bytes.into());
    }
    // Closing switch records waits for the kernel: only the doctor tries what plain runs do not use.
    let used = |probe: &&Probe| matches!(probe.when, When::Run | When::Batch | When::Beside);
    let evidence = PROBES.iter().filter(used).map(|probe| {
        let state = match probe.availability() {
            Availability::Ready(()) => "ready".to_owned(),
            Availability::Missing(missing) => missing.reason,
        };
        (probe.id.to_owned(), Value::from(state))
    });
    facts.insert("evidence".into(), Value::Object(evidence.collect()));
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_of_plain_runs_has_a_state() {
        let facts = facts();
        let evidence = facts.get("evidence").unwrap().as_object().unwrap();
        let used = PROBES
            .iter()
            .filter(|one| one.when != When::Diagnostic && one.when != When::Wish);
        assert_eq!(evidence.len(), used.count());
        assert_eq!(evidence.get("rusage"), Some(&Value::from("ready")));
    }
}
