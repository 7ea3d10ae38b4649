//! `cpu.stat` of a control group: CPU time of everything in it, and how often and how long a quota
//! stopped it.
//!
//! Version 2 counts in microseconds (`usage_usec`, `throttled_usec`) and keeps the usage in every
//! group, the quota's lines only with the controller `cpu`; version 1 counts in nanoseconds
//! (`throttled_time`) and keeps the usage in a file of its own, `cpuacct.usage`
//! (`Documentation/admin-guide/cgroup-v2.rst`, `Documentation/scheduler/sched-bwc.rst`).
//! The throttled time is a sum over CPUs: of a parallel command it can exceed wall.

use std::time::Duration;

use crate::sys::platform::Quota;

/// What the file says. Fields it lacks are `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuStat {
    /// CPU time of all processes that are or were in the group.
    pub usage: Option<Duration>,
    /// Enforcement periods that passed while something was runnable.
    pub periods: Option<u64>,
    /// Periods in which the quota was used up.
    pub throttled_periods: Option<u64>,
    /// Time stopped, summed over CPUs.
    pub throttled: Option<Duration>,
}

/// Reads either version.
#[must_use]
pub fn parse(text: &[u8]) -> CpuStat {
    let mut stat = CpuStat::default();
    let text = std::str::from_utf8(text).unwrap_or_default();
    for line in text.lines() {
        let Some((key, value)) = line.split_once(' ') else {
            continue;
        };
        let Ok(value) = value.trim().parse::<u64>() else {
            continue;
        };
        match key {
            "usage_usec" => stat.usage = Some(Duration::from_micros(value)),
            "nr_periods" => stat.periods = Some(value),
            "nr_throttled" => stat.throttled_periods = Some(value),
            "throttled_usec" => stat.throttled = Some(Duration::from_micros(value)),
            "throttled_time" => stat.throttled = Some(Duration::from_nanos(value)),
            _ => {}
        }
    }
    stat
}

/// `cpuacct.usage` of version 1: nanoseconds.
#[must_use]
pub fn parse_usage(text: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(text).ok()?;
    text.trim().parse().ok().map(Duration::from_nanos)
}

/// CPUs' worth of time that the tightest of several quotas allows.
pub(super) fn tightest(quotas: &[Quota]) -> Option<f64> {
    let all = quotas.iter().map(|quota| quota.cpus);
    all.min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_1() {
        let stat = parse(include_bytes!("../../tests/data/kernel/v1-cpu.stat"));
        assert_eq!(stat.usage, None);
        assert_eq!((stat.periods, stat.throttled_periods), (Some(45), Some(41)));
        assert_eq!(stat.throttled, Some(Duration::from_nanos(877_204_113)));
        let usage = parse_usage(b"200143711\n");
        assert_eq!(usage, Some(Duration::from_nanos(200_143_711)));
    }

    #[test]
    fn version_2_with_and_without_the_controller() {
        let stat = parse(include_bytes!("../../tests/data/kernel/v2-cpu.stat"));
        assert_eq!(stat.usage, Some(Duration::from_micros(2_013_412)));
        assert_eq!(stat.throttled, Some(Duration::from_micros(877_204)));
        let bare = parse(include_bytes!("../../tests/data/kernel/v2-bare-cpu.stat"));
        assert_eq!(bare.usage, Some(Duration::from_micros(33_521)));
        assert_eq!((bare.periods, bare.throttled), (None, None));
    }

    #[test]
    fn other_text_says_nothing() {
        for text in [&b""[..], b"usage_usec x", b"\xff\xfe", b"nr_periods -1"] {
            assert_eq!(parse(text), CpuStat::default(), "{text:?}");
        }
        assert_eq!(parse_usage(b"x"), None);
    }
}
