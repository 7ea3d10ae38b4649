//! Time the hypervisor gave to others: the eighth number of the line `cpu` in `/proc/stat`, in
//! ticks of 1/100 s over all CPUs (`proc(5)`).

use std::time::Duration;

/// One tick of `USER_HZ`, which is 100 on every architecture Linux has today.
const TICK: Duration = Duration::from_millis(10);

/// The stolen time since the machine was started.
#[must_use]
pub fn parse(text: &[u8]) -> Option<Duration> {
    let line = text.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?.strip_prefix("cpu ")?;
    let ticks: u32 = line.split_ascii_whitespace().nth(7)?.parse().ok()?;
    Some(TICK * ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded() {
        let text = include_bytes!("../../tests/data/kernel/stat");
        assert_eq!(parse(text), Some(Duration::from_millis(490)));
        assert_eq!(parse(b"cpu0 1 2 3 4 5 6 7 8\n"), None);
        assert_eq!(parse(b"cpu  1 2 3\n"), None);
    }
}
