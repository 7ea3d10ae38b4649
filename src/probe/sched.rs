//! `/proc/PID/sched` of a dead process: with `kernel.sched_schedstats` on, the exact time its main
//! thread was blocked for I/O (`kernel/sched/debug.c`, `CONFIG_SCHEDSTATS`). Values are milliseconds
//! with six decimals. The line is `se.statistics.iowait_sum` up to Linux 5.15 and `iowait_sum` later.

use std::time::Duration;

use crate::evidence::{Availability, Missing};
use crate::sys::platform;

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

/// Time blocked for I/O, a lower bound of disk waits; `None` where the kernel does not keep it.
#[must_use]
pub fn io_wait(text: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(text).ok()?;
    let value = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim().rsplit('.').next() == Some("iowait_sum")).then_some(value)
    })?;
    let milliseconds: f64 = value.trim().parse().ok()?;
    Duration::try_from_secs_f64(milliseconds / 1e3).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_the_line() {
        for text in [
            &include_bytes!("../../tests/data/kernel/sched")[..],
            include_bytes!("../../tests/data/kernel/sched-5.15"),
        ] {
            assert_eq!(io_wait(text), Some(Duration::from_nanos(38_000_127)));
        }
    }

    #[test]
    fn without_statistics_nothing_is_known() {
        assert_eq!(
            io_wait(b"se.sum_exec_runtime : 0.5\niowait_count : 3\n"),
            None
        );
        assert_eq!(io_wait(b"iowait_sum : -1.0\n"), None);
    }
}
