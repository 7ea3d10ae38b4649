//! The sentences of a diagnosis. One place for tone: what is said is decided elsewhere.

pub(super) mod waits;

use crate::evidence::Cause;
use crate::unit::{TimeFormat, TimeUnit, percent, ratio};

/// A time with a unit that suits it: `38.2 ms`.
#[must_use]
pub fn time(seconds: f64) -> String {
    let unit = TimeUnit::for_median(seconds);
    let step = seconds.abs().max(1e-9) * 0.02;
    TimeFormat::in_unit(unit, (seconds - step, seconds + step), true).with_unit(seconds)
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
        .map(|(low, high)| format!(" ({} to {})", bare(low), bare(high)))
        .unwrap_or_default();
    format!(
        "wall is {} CPU{range}: off the CPU {off} of the time",
        ratio(point)
    )
}

fn bare(value: f64) -> String {
    ratio(value).trim_end_matches('x').to_string()
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

/// A CPU quota.
#[must_use]
pub fn quota(throttled: f64, wall: f64, (stopped, periods): (u64, u64)) -> String {
    let counted = if periods > 0 {
        format!(" in {stopped} of {periods} periods")
    } else {
        String::new()
    };
    format!(
        "the cgroup CPU quota stopped the command{counted}: {} of {} a run. This is the container's limit, not the program",
        time(throttled),
        time(wall)
    )
}

/// Memory reclaim.
#[must_use]
pub fn memory(share: f64) -> String {
    format!(
        "{} of wall went to memory reclaim (billed as system): memory is too small",
        percent(share)
    )
}

/// Background processes whose CPU was counted.
#[must_use]
pub fn hidden_work(missed: f64, counted_ratio: Option<f64>) -> String {
    let counted = counted_ratio
        .map(|r| format!(", ratio {}", ratio(r)))
        .unwrap_or_default();
    format!(
        "user+sys misses {} of CPU burned by background processes of this command (counted{counted})",
        time(missed)
    )
}

/// Processes that outlived their run.
#[must_use]
pub fn leftovers(most: u64, hit: usize, all: usize) -> String {
    let (noun, verb) = if most == 1 {
        ("process", "was")
    } else {
        ("processes", "were")
    };
    let runs = if hit == all {
        " of each run".to_string()
    } else {
        in_runs_of(hit, all)
    };
    format!(
        "{most} {noun}{runs} {verb} still alive when it ended: CPU is incomplete, and the next run may be slowed"
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
        "intermittent stalls: {} of the waiting is in {slow} of {all} runs ({} runs {}, {slow} runs {})",
        percent(share),
        all - slow,
        ratio(worlds.0),
        ratio(worlds.1)
    )
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
        assert!(leftovers(1, 5, 5).starts_with("1 process of each run was still alive"));
    }
}
