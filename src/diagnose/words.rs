//! The sentences of a diagnosis. One place for tone: what is said is decided elsewhere.

pub(super) mod waits;

use crate::evidence::Cause;
use crate::unit::{TimeFormat, TimeUnit, bare_ratio, human_bytes, percent, ratio, thousands};

/// A time with a unit that suits it: `38.2 ms`.
#[must_use]
pub fn time(seconds: f64) -> String {
    let unit = TimeUnit::for_median(seconds);
    TimeFormat::around(unit, seconds, None, true).with_unit(seconds)
}

/// A time with half its interval: `31.2 ms ± 0.9`.
#[must_use]
pub fn plus_minus(seconds: f64, half: f64) -> String {
    let unit = TimeUnit::for_median(seconds);
    let format = TimeFormat::in_unit(unit, (seconds - half, seconds + half), true);
    format!(
        "{} \u{b1} {}",
        format.with_unit(seconds),
        format.value(half)
    )
}

/// The headline of a tier: how far wall is from CPU.
#[must_use]
pub fn headline(point: f64, interval: Option<(f64, f64)>, share: f64) -> String {
    let off = percent(share);
    if !point.is_finite() {
        return format!("no CPU time could be measured: off the CPU {off} of the time");
    }
    let range = interval
        .map(|(low, high)| format!(" ({} to {})", bare_ratio(low), bare_ratio(high)))
        .unwrap_or_default();
    format!(
        "wall is {} CPU{range}: off the CPU {off} of the time",
        ratio(point)
    )
}

/// What the tier means for somebody who wants to make the program faster.
#[must_use]
pub fn consequence(cause: Option<Cause>, cpu_share: f64) -> Option<String> {
    let most = percent(cpu_share);
    let subject = match cause? {
        Cause::DiskFlush | Cause::DiskRead | Cause::Disk => "you are timing the disk",
        Cause::PageFault => "you are timing page faults from the disk",
        Cause::WriterThrottled => "you are timing the writeback",
        Cause::Lock | Cause::MemoryMap => "you are timing a lock",
        Cause::FileLock => "you are timing a file lock",
        Cause::CpuQueue | Cause::CpuQuota | Cause::Steal | Cause::Stopped => {
            return Some("the result is the machine's, not the program's".into());
        }
        Cause::MemoryPressure | Cause::Swap | Cause::Hugepages => {
            return Some("the result depends on the machine's memory, not on the program".into());
        }
        Cause::Unknown | Cause::IoUring => {
            return Some(format!("a faster program cannot win more than {most} here"));
        }
        _ => return None,
    };
    Some(format!(
        "a faster program cannot win more than {most} here: {subject}"
    ))
}

/// What a gate on CPU time may look like: a fifth above the CPU time, in whole units.
#[must_use]
pub fn gate_on_cpu(cause: Cause, cpu: f64) -> Option<String> {
    let waited_for = match cause {
        Cause::DiskFlush | Cause::DiskRead | Cause::Disk | Cause::PageFault => "the disk",
        Cause::Lock | Cause::MemoryMap | Cause::FileLock => "the lock",
        _ => "the waiting",
    };
    let unit = TimeUnit::for_median(cpu);
    let limit = (cpu * 1.2 * unit.per_second()).ceil();
    (cpu > 0.0).then(|| {
        let unit = unit.name(false);
        format!("to gate the code and not {waited_for}: --fail-if 'cpu > {limit:.0}{unit}'")
    })
}

/// `in 4 of 40 runs`, or nothing when most runs are hit.
#[must_use]
pub fn in_runs(hit: usize, all: usize) -> String {
    if 2 * hit >= all {
        String::new()
    } else {
        format!(" in {hit} of {all} runs")
    }
}

/// CPU queueing of the main thread.
#[must_use]
pub fn queueing(share: f64, hit: usize, all: usize, without: Option<&str>) -> String {
    let runs = in_runs(hit, all);
    let without = without
        .map(|text| format!(". Without queueing: {text}"))
        .unwrap_or_default();
    format!(
        "{} of wall was spent waiting for a free CPU{runs}: the machine is busy{without}",
        percent(share)
    )
}

/// A CPU quota: time stopped and wall a run, periods stopped and all, CPUs' worth it allows.
#[must_use]
pub fn quota(
    (throttled, wall): (f64, f64),
    (stopped, periods): (u64, u64),
    cpus: Option<f64>,
) -> String {
    let counted = if periods > 0 {
        format!(" in {stopped} of {periods} periods")
    } else {
        String::new()
    };
    let limit = cpus.map(|cpus| format!(" ({} of a CPU)", percent(cpus)));
    format!(
        "the cgroup CPU quota{} stopped the command{counted}: {} of {} a run. This is the container's limit, not the program",
        limit.unwrap_or_default(),
        time(throttled),
        time(wall)
    )
}

/// Memory reclaim, most of it in the kernel or asleep, and the limit that was hit, in bytes.
#[must_use]
pub fn memory(share: f64, asleep: bool, limit: Option<f64>) -> String {
    let what = limit.map_or_else(
        || "memory is too small".to_string(),
        |bytes| format!("the memory limit ({}) is too small", human_bytes(bytes)),
    );
    format!(
        "{} of wall went to memory reclaim ({}): {what}",
        percent(share),
        if asleep {
            "most of it asleep"
        } else {
            "billed as system"
        }
    )
}

/// A limit of memory, in bytes, that was hit.
#[must_use]
pub fn limit_hit(hits: f64, limit: f64) -> String {
    format!(
        "the memory limit ({}) was hit {} times during the runs: system time includes the reclaim",
        human_bytes(limit),
        thousands(hits as u64)
    )
}

/// Some program waited for a CPU during this share of the time.
#[must_use]
pub fn crowd(share: f64) -> String {
    format!(
        "other programs competed for the CPUs {} of the time: how long this command's children waited for one is not known without a control group (--doctor)",
        percent(share)
    )
}

/// Pages from swap, and the limit that was hit, in bytes.
#[must_use]
pub fn swap(pages: f64, limit: Option<f64>) -> String {
    let why = limit
        .map(|bytes| format!(": the memory limit is {}", human_bytes(bytes)))
        .unwrap_or_default();
    format!(
        "{} pages came back from swap during the runs{why}",
        thousands(pages as u64)
    )
}

/// Time of others.
#[must_use]
pub fn steal(share: f64) -> String {
    format!(
        "the hypervisor gave {} of this machine's CPU time to others during the runs",
        percent(share)
    )
}

/// A pool of hugepages without a free one.
#[must_use]
pub fn pool_empty(total: f64) -> String {
    format!(
        "HugePages_Free was 0 of {total:.0} at the start: MAP_HUGETLB falls back or fails; results depend on who ran before"
    )
}

/// A pool of hugepages that is smaller than what the command uses, in bytes.
#[must_use]
pub fn pool_small(free: f64, used: f64) -> String {
    format!(
        "HugePages_Free was {} at the start, less than the {} the command uses: a MAP_HUGETLB of that size falls back or fails",
        human_bytes(free),
        human_bytes(used)
    )
}

/// Large pages that had to be made first, or were not to be had.
#[must_use]
pub fn compaction(stalls: f64, fallbacks: f64) -> String {
    format!(
        "memory was too fragmented for hugepages during the runs: {} stalls for compaction, {} faults fell back to small pages",
        thousands(stalls as u64),
        thousands(fallbacks as u64)
    )
}

/// Stopped by a signal: mean seconds of the runs that were.
#[must_use]
pub fn stopped(seconds: f64, hit: usize, all: usize) -> String {
    format!(
        "the process was stopped (SIGSTOP or a debugger) for {}{}",
        time(seconds),
        in_runs(hit, all)
    )
}

/// Runs ended by the time limit.
#[must_use]
pub fn timed_out(hit: usize, all: usize) -> Option<String> {
    (hit > 0).then(|| format!("the time limit ended {hit} of {all} runs: they are in no statistic"))
}

/// Runs ended by a signal.
#[must_use]
pub fn killed(signal: &str) -> String {
    format!(
        "{signal} ended runs: they are in no statistic, and the CPU of their children may be missing"
    )
}

/// What a run fetched from the disk; nothing where that is nothing.
#[must_use]
pub fn disk_traffic(faults: u64, bytes: u64) -> String {
    match (faults, bytes) {
        (0, 0) => String::new(),
        (0, bytes) => format!("{} from disk", human_bytes(bytes as f64)),
        (faults, bytes) => format!(
            "{} from disk, {} major faults",
            human_bytes(bytes as f64),
            thousands(faults)
        ),
    }
}

/// Background processes whose CPU was counted: seconds missed, seconds in all.
#[must_use]
pub fn hidden_work(missed: f64, counted: f64, counted_ratio: Option<f64>) -> String {
    let with = counted_ratio
        .map(|r| format!(", ratio {}", ratio(r)))
        .unwrap_or_default();
    format!(
        "user+sys misses {} of CPU burned by background processes of this command (counted: {}{with})",
        time(missed),
        time(counted)
    )
}

/// Processes that outlived their run; `complete` if a control group has counted their CPU time.
#[must_use]
pub fn leftovers(most: u64, (hit, all): (usize, usize), complete: bool) -> String {
    let (noun, verb) = if most == 1 {
        ("process", "was")
    } else {
        ("processes", "were")
    };
    let account = if complete {
        ""
    } else {
        "CPU is incomplete, and "
    };
    let runs = if hit == all {
        " of each run".to_string()
    } else {
        in_runs_of(hit, all)
    };
    format!(
        "{most} {noun}{runs} {verb} still alive when it ended: {account}it may slow the next. --wait-descendants includes it"
    )
}

fn in_runs_of(hit: usize, all: usize) -> String {
    format!(" of a run (in {hit} of {all} runs)")
}

/// The command has its children reaped by the kernel.
#[must_use]
pub fn auto_reaped() -> String {
    "the command ignores SIGCHLD, so the CPU of its children is in nobody's account: CPU is incomplete"
        .into()
}

/// A few runs hold most of the waiting.
#[must_use]
pub fn stalls(share: f64, slow: usize, all: usize, worlds: (f64, f64)) -> String {
    format!(
        "intermittent stalls: {} of the waiting is in {slow} of {all} runs ({} {}, {} {})",
        percent(share),
        runs(all - slow),
        ratio(worlds.0),
        runs(slow),
        ratio(worlds.1)
    )
}

fn runs(count: usize) -> String {
    format!("{count} {}", if count == 1 { "run" } else { "runs" })
}

/// More than one CPU was busy.
#[must_use]
pub fn cpus_busy(average: f64) -> String {
    format!(
        "{average:.1} CPUs busy on average; this number alone cannot tell waiting from parallel work"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_read_well() {
        assert_eq!(
            headline(9.7, Some((9.4, 10.0)), 0.897),
            "wall is 9.7x CPU (9.4 to 10.0): off the CPU 90% of the time"
        );
        assert_eq!(
            queueing(0.94, 30, 40, Some("31.2 ms")),
            "94% of wall was spent waiting for a free CPU: the machine is busy. Without queueing: 31.2 ms"
        );
        assert_eq!(
            gate_on_cpu(Cause::DiskFlush, 0.005).unwrap(),
            "to gate the code and not the disk: --fail-if 'cpu > 6ms'"
        );
        assert_eq!(gate_on_cpu(Cause::Lock, 0.0), None);
        assert_eq!(in_runs(4, 40), " in 4 of 40 runs");
        assert_eq!(
            stalls(0.7, 1, 10, (1.17, 4.7)),
            "intermittent stalls: 70% of the waiting is in 1 of 10 runs (9 runs 1.17x, 1 run 4.7x)"
        );
        assert!(leftovers(1, (5, 5), true).starts_with("1 process of each run was still alive"));
    }
}
