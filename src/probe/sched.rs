//! `/proc/PID/sched` of a dead process: with `kernel.sched_schedstats` on, the exact time its main
//! thread was blocked in the kernel, and how much of that for I/O (`kernel/sched/debug.c`,
//! `CONFIG_SCHEDSTATS`). Values are milliseconds with six decimals.

use std::time::Duration;

use crate::evidence::{Availability, Missing};
use crate::sys::platform;

/// The account of one thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sched {
    /// Blocked so that no signal could wake it.
    pub blocked: Duration,
    /// Of that, for I/O: a lower bound of disk waits.
    pub io_wait: Duration,
}

/// Whether the kernel keeps these accounts now.
pub(crate) fn availability() -> Availability<()> {
    let mut buffer = Vec::new();
    match platform::text("/proc/sys/kernel/sched_schedstats", &mut buffer) {
        Ok(b"1\n") => Availability::Ready(()),
        Ok(_) => {
            let off = Missing::because("scheduler statistics are off");
            Availability::Missing(off.remedy("sysctl kernel.sched_schedstats=1"))
        }
        Err(_) => Availability::Missing(Missing::because(
            "this kernel was built without CONFIG_SCHEDSTATS",
        )),
    }
}

/// Reads the file's text; nothing where the kernel does not keep the lines.
#[must_use]
pub fn parse(text: &[u8]) -> Option<Sched> {
    let text = std::str::from_utf8(text).ok()?;
    let time = |key: &str| -> Option<Duration> {
        let line = text.lines().find(|line| {
            let name = line.split(':').next().unwrap_or_default().trim();
            name.rsplit('.').next() == Some(key)
        })?;
        let (_, value) = line.split_once(':')?;
        let milliseconds: f64 = value.trim().parse().ok()?;
        Duration::try_from_secs_f64(milliseconds / 1e3).ok()
    };
    Some(Sched {
        blocked: time("sum_block_runtime")?,
        io_wait: time("iowait_sum")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_the_lines() {
        let new = include_bytes!("../../tests/data/kernel/sched");
        let seen = parse(new).unwrap();
        assert_eq!(seen.blocked, Duration::from_nanos(41_203_311));
        assert_eq!(seen.io_wait, Duration::from_nanos(38_000_127));
        let old =
            b"se.statistics.sum_block_runtime : 1.000000\nse.statistics.iowait_sum : 0.500000\n";
        assert_eq!(parse(old).unwrap().io_wait, Duration::from_micros(500));
        assert_eq!(parse(b"se.sum_exec_runtime : 0.5\n"), None);
    }
}
