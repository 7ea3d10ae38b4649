//! Time the hypervisor gave to others: the eighth number of the line `cpu` in `/proc/stat`, in
//! ticks of 1/100 s over all CPUs (`proc(5)`).

use std::time::Duration;

/// One tick of `USER_HZ`, which is 100 on every architecture Linux has today.
const TICK: Duration = Duration::from_millis(10);

/// The share of all CPU time since the machine was started that was stolen. Time of guests is part
/// of the user's (`proc(5)`) and not counted twice.
#[must_use]
pub fn share(text: &[u8]) -> Option<f64> {
    let line = text.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?.strip_prefix("cpu ")?;
    let numbers = line.split_ascii_whitespace().take(8);
    let ticks: Vec<f64> = numbers.filter_map(|number| number.parse().ok()).collect();
    let all: f64 = ticks.iter().sum();
    (all > 0.0).then_some(ticks.get(7)? / all)
}

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
        assert!(share(text).is_some_and(|share| (9e-5..1e-4).contains(&share)));
        assert_eq!(parse(b"cpu0 1 2 3 4 5 6 7 8\n"), None);
        assert_eq!(parse(b"cpu  1 2 3\n"), None);
    }
}
