//! Findings from the machine's counters over the runs: steal, swap, memory, hugepages. What they
//! count may have come from other programs, so each asks for a sign in the runs themselves.

use super::balance::Slices;
use super::finding::Finding;
use super::tier::Tier;
use super::words;
use crate::evidence::Cause;
use crate::sample::Recording;

/// Blocks of 512 bytes in a page of 4 KiB.
const PAGE_BLOCKS: f64 = 8.0;
/// Share of the machine's CPU time above which steal is a finding.
const STEAL_SHARE: f64 = 0.01;
/// Steal is counted in ticks of 10 ms: fewer than these say nothing.
const STEAL_FLOOR: f64 = 0.03;
/// Share of the time in which some program waited for a CPU, from which the machine is crowded.
const CROWD_SHARE: f64 = 0.3;
/// Share of wall, or of what is off the CPU, from which a crowd matters; and its floor in seconds.
const OFF_SHARE: f64 = 0.1;
const CROWD_FLOOR: f64 = 1e-3;
/// Share of the machine's CPUs above which nobody else can have been in the way.
pub(super) const ALL_CPUS: f64 = 0.95;
/// Share of wall above which memory reclaim is a finding.
const MEMORY_SHARE: f64 = 0.05;
/// Stalls of compaction or failed large pages a run that matter.
const COMPACTION_A_RUN: f64 = 1.0;
/// Share of wall in the kernel that compaction needs to be the command's.
const SYSTEM_SHARE: f64 = 0.05;
/// The same for reclaim at a memory limit.
const RECLAIM_SHARE: f64 = 0.1;
/// Bytes of a hugepage of the default size where it matters.
const HUGEPAGE: f64 = 2_097_152.0;

/// One benchmark's runs as the machine saw them.
pub(super) struct Machine<'a> {
    recording: &'a Recording,
    slices: &'a Slices,
    runs: f64,
    major_faults: u64,
    blocks_in: u64,
    peak: u64,
    /// A control group has told how long children queued.
    grouped: bool,
}

impl<'a> Machine<'a> {
    pub(super) fn new(recording: &'a Recording, slices: &'a Slices) -> Self {
        let (mut runs, mut major_faults, mut peak, mut grouped) = (0, 0_u64, 0, true);
        let mut blocks_in = 0_u64;
        let keys = ["major_faults", "blocks_in", "rss_bytes", "tree_queued_s"];
        recording.visit_measured(Some(&keys), |sample| {
            runs += 1;
            major_faults = sample.usage.major_faults.saturating_add(major_faults);
            blocks_in = sample.usage.blocks_in.saturating_add(blocks_in);
            peak = peak.max(sample.usage.max_rss);
            grouped &= sample.readings.tree_queued.is_some();
        });
        Self {
            recording,
            slices,
            runs: f64::from(runs),
            major_faults,
            blocks_in,
            peak,
            grouped,
        }
    }

    /// A counter, if it was read.
    fn counter(&self, key: &str) -> Option<f64> {
        self.recording.machine.get(key).copied()
    }

    /// Everything the counters say.
    pub(super) fn findings(&self) -> impl Iterator<Item = Finding> {
        [
            self.steal(),
            self.crowd(),
            self.swap(),
            self.memory(),
            self.pool(),
            self.compaction(),
        ]
        .into_iter()
        .flatten()
    }

    fn steal(&self) -> Option<Finding> {
        let stolen = self.counter("steal_s")?;
        let cpus = self.recording.host.cpus? as f64;
        let share = stolen / (cpus * self.counter("observed_s")?).max(1e-9);
        if share < STEAL_SHARE || stolen < STEAL_FLOOR {
            return None;
        }
        Some(Finding::new(
            Tier::Warning,
            Cause::Steal,
            words::steal(share),
        ))
    }

    /// Without a control group the queueing of a command's children is not known: then the machine's
    /// pressure has to do.
    fn crowd(&self) -> Option<Finding> {
        let pressed = self.counter("cpu_pressure_some_s")?;
        let share = pressed / self.counter("observed_s")?.max(1e-9);
        let slices = self.slices;
        let cpu = slices.user + slices.system + slices.hidden_cpu.unwrap_or(0.0);
        let cpus = self.recording.host.cpus? as f64;
        let own = cpu >= ALL_CPUS * cpus * slices.wall;
        let off = slices.wall - cpu;
        let told = slices
            .queued
            .is_some_and(|queued| queued >= OFF_SHARE * off);
        let matters = off >= OFF_SHARE * slices.wall && off >= CROWD_FLOOR;
        if self.grouped || own || told || !matters || !slices.queued_at_least {
            return None;
        }
        (share >= CROWD_SHARE)
            .then(|| Finding::new(Tier::Note, Cause::CpuQueue, words::crowd(share)))
    }

    /// Pages that came back from swap for the command: it must have waited for pages itself.
    pub(super) fn swapped(&self) -> Option<f64> {
        let pages = self.counter("pswpin")?;
        (pages > 0.0 && self.major_faults > 0).then_some(pages)
    }

    /// Whether most of what the command read came back from swap: its waiting for the disk is that.
    pub(super) fn reads_swap(&self) -> bool {
        let blocks = |pages: f64| pages * PAGE_BLOCKS;
        self.swapped()
            .is_some_and(|pages| blocks(pages) >= 0.5 * self.blocks_in as f64)
    }

    fn swap(&self) -> Option<Finding> {
        let pages = self.swapped()?;
        let text = words::swap(pages, self.limit());
        Some(Finding::new(Tier::Warning, Cause::Swap, text))
    }

    /// The limit of memory, if it was hit.
    fn limit(&self) -> Option<f64> {
        let hits = self.counter("memory_limit_hits")?;
        self.counter("memory_limit_bytes").filter(|_| hits > 0.0)
    }

    fn memory(&self) -> Option<Finding> {
        let Some(stalled) = self.slices.memory_stall else {
            return self.limit_hit();
        };
        if stalled < MEMORY_SHARE * self.slices.wall {
            return None;
        }
        let asleep = stalled > 2.0 * self.slices.system;
        let text = words::memory(stalled / self.slices.wall, asleep, self.limit());
        Some(Finding::new(Tier::Warning, Cause::MemoryPressure, text))
    }

    /// Without an account of stalls: the limit was hit in every run, and the kernel had work.
    fn limit_hit(&self) -> Option<Finding> {
        let hits = self.counter("memory_limit_hits")?;
        let in_kernel = self.slices.system >= RECLAIM_SHARE * self.slices.wall;
        if hits < self.runs || !in_kernel {
            return None;
        }
        let text = words::limit_hit(hits, self.limit()?);
        Some(Finding::new(Tier::Note, Cause::MemoryPressure, text))
    }

    fn pool(&self) -> Option<Finding> {
        let total = self
            .counter("hugepages_total")
            .filter(|pages| *pages > 0.0)?;
        let free = self.counter("hugepages_free_start")?;
        let text = if free == 0.0 {
            words::pool_empty(total)
        } else if free * HUGEPAGE < self.peak as f64 {
            words::pool_small(free * HUGEPAGE, self.peak as f64)
        } else {
            return None;
        };
        Some(Finding::new(Tier::Note, Cause::Hugepages, text))
    }

    fn compaction(&self) -> Option<Finding> {
        let stalls = self.counter("compact_stall")?;
        let fallbacks = self.counter("thp_fault_fallback")?;
        let enough = |count: f64| count >= COMPACTION_A_RUN * self.runs;
        let in_kernel = self.slices.system >= SYSTEM_SHARE * self.slices.wall;
        if !in_kernel || !(enough(stalls) || enough(fallbacks)) {
            return None;
        }
        let text = words::compaction(stalls, fallbacks);
        Some(Finding::new(Tier::Note, Cause::Hugepages, text))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::sample::{Conditions, Host, Sample};

    fn recording(counters: &[(&str, f64)]) -> Recording {
        let host = Host {
            cpus: Some(2),
            ..Host::default()
        };
        let mut recording = Recording::new(host, Conditions::default());
        let mut sample = Sample {
            wall: Duration::from_millis(100),
            ..Sample::default()
        };
        sample.usage.system = Duration::from_millis(20);
        sample.usage.max_rss = 128 << 20;
        for _ in 0..10 {
            recording.samples.push(&sample);
        }
        let counters = counters.iter().map(|(key, value)| ((*key).into(), *value));
        recording.machine = counters.collect();
        recording
    }

    fn found(counters: &[(&str, f64)]) -> Vec<(Option<Cause>, String)> {
        findings(&recording(counters))
    }

    fn findings(recording: &Recording) -> Vec<(Option<Cause>, String)> {
        let slices = super::super::balance::slices(recording).unwrap();
        let machine = Machine::new(recording, &slices);
        machine
            .findings()
            .map(|one| (one.cause, one.text))
            .collect()
    }

    #[test]
    fn steal_needs_a_share_and_some_ticks() {
        let seen = found(&[("steal_s", 0.14), ("observed_s", 1.0)]);
        assert_eq!(seen[0].0, Some(Cause::Steal));
        assert!(seen[0].1.contains("7%"));
        assert!(found(&[("steal_s", 0.02), ("observed_s", 0.1)]).is_empty());
        assert!(found(&[("steal_s", 0.05), ("observed_s", 5.0)]).is_empty());
    }

    #[test]
    fn a_crowd_is_told_where_the_queue_of_children_is_not_known() {
        let counters = [("cpu_pressure_some_s", 0.9), ("observed_s", 1.0)];
        let mut recording = recording(&counters);
        assert!(findings(&recording).is_empty(), "the main thread works");
        let mut sample = recording.samples.get(0);
        sample.readings.main_run = Some(Duration::from_millis(1));
        recording.samples = vec![sample; 5].into_iter().collect();
        let seen = findings(&recording);
        assert!(seen[0].1.contains("90% of the time"), "{seen:?}");
        sample.readings.tree_queued = Some(Duration::ZERO);
        recording.samples = vec![sample; 5].into_iter().collect();
        assert!(findings(&recording).is_empty(), "the group knows");
    }

    #[test]
    fn swap_of_others_is_not_the_commands() {
        assert!(found(&[("pswpin", 24_565.0)]).is_empty(), "no major fault");
    }

    #[test]
    fn waiting_for_the_disk_is_for_swap_where_most_was_read_from_there() {
        let reads_swap = |pages: f64, blocks: u64| {
            let mut recording = recording(&[("pswpin", pages)]);
            let mut sample = recording.samples.get(0);
            sample.usage.major_faults = 10;
            sample.usage.blocks_in = blocks;
            recording.samples = vec![sample; 5].into_iter().collect();
            let slices = crate::diagnose::balance::slices(&recording).unwrap();
            Machine::new(&recording, &slices).reads_swap()
        };
        assert!(reads_swap(500.0, 1_000), "4,000 of 5,000 blocks");
        assert!(!reads_swap(100.0, 1_000), "800 of 5,000 blocks");
        assert!(!reads_swap(0.0, 0));
    }

    #[test]
    fn a_limit_that_was_hit_is_told_where_stalls_are_not_known() {
        let limit = [
            ("memory_limit_bytes", 50_331_648.0),
            ("memory_limit_hits", 400.0),
        ];
        let seen = found(&limit);
        assert_eq!(seen[0].0, Some(Cause::MemoryPressure));
        assert!(seen[0].1.contains("48.0 MiB"), "{seen:?}");
        assert!(found(&[limit[0], ("memory_limit_hits", 3.0)]).is_empty());
    }

    #[test]
    fn an_empty_pool_and_failed_large_pages() {
        let seen = found(&[("hugepages_total", 32.0), ("hugepages_free_start", 0.0)]);
        assert!(seen[0].1.starts_with("HugePages_Free was 0"));
        let small = found(&[("hugepages_total", 32.0), ("hugepages_free_start", 32.0)]);
        assert!(small[0].1.contains("64.0 MiB"), "{small:?}");
        assert!(found(&[("hugepages_total", 0.0), ("hugepages_free_start", 0.0)]).is_empty());
        let stalls = found(&[("compact_stall", 50.0), ("thp_fault_fallback", 0.0)]);
        assert_eq!(stalls[0].0, Some(Cause::Hugepages));
        assert!(found(&[("compact_stall", 3.0), ("thp_fault_fallback", 2.0)]).is_empty());
    }
}
