//! `/proc/PID/schedstat`: how long the main thread ran and how long it waited for a CPU.
//!
//! Three numbers: nanoseconds on a CPU, nanoseconds in a run queue, slices run
//! (`Documentation/scheduler/sched-stats.rst`). Kernels without `CONFIG_SCHED_INFO` have no such
//! file; with scheduler statistics switched off all three are 0.

use std::time::Duration;

/// The account of one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedstat {
    /// Time on a CPU.
    pub run: Duration,
    /// Time runnable without a CPU.
    pub queued: Duration,
}

impl Schedstat {
    /// What was added since an earlier reading.
    #[must_use]
    pub fn since(self, before: Option<Self>) -> Self {
        let Some(before) = before else { return self };
        Self {
            run: self.run.saturating_sub(before.run),
            queued: self.queued.saturating_sub(before.queued),
        }
    }
}

/// The three numbers of the text.
#[must_use]
pub fn numbers(text: &str) -> Option<(u64, u64, u64)> {
    let mut words = text.split_ascii_whitespace().map(str::parse);
    Some((
        words.next()?.ok()?,
        words.next()?.ok()?,
        words.next()?.ok()?,
    ))
}

/// Reads the file's text; nothing if it is not what it should be or nothing was counted.
#[must_use]
pub fn parse(text: &[u8]) -> Option<Schedstat> {
    let (run, queued, slices) = numbers(std::str::from_utf8(text).ok()?)?;
    // Whatever ended has run at least once.
    (slices > 0 || run > 0).then_some(Schedstat {
        run: Duration::from_nanos(run),
        queued: Duration::from_nanos(queued),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_line() {
        let seen = parse(b"339187 41778 2\n").unwrap();
        assert_eq!(seen.run, Duration::from_nanos(339_187));
        assert_eq!(seen.queued, Duration::from_nanos(41_778));
        assert_eq!(numbers("339187 41778 2"), Some((339_187, 41_778, 2)));
    }

    #[test]
    fn what_was_before_exec_is_not_counted() {
        let end = parse(b"500 90 5\n").unwrap();
        let since = end.since(parse(b"200 40 1\n"));
        assert_eq!(since.queued, Duration::from_nanos(50));
        assert_eq!(since.run, Duration::from_nanos(300));
        assert_eq!(end.since(None), end);
    }

    #[test]
    fn what_is_not_counted_is_missing() {
        for text in [
            &b"0 0 0\n"[..],
            b"",
            b"12",
            b"a b c",
            b"1 -2 3",
            b"\xff 1 2",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
