//! What the CPUs of the machine did: the line `cpu` in `/proc/stat`, in ticks of 1/100 s over all CPUs
//! (`proc(5)`). The eighth number is time the hypervisor gave to others.

use std::time::Duration;

/// One tick of `USER_HZ`, which is 100 on every architecture Linux has today.
const TICK: Duration = Duration::from_millis(10);

/// The share of all CPU time since the machine was started that was stolen. Time of guests is part
/// of the user's (`proc(5)`) and not counted twice.
#[must_use]
pub fn share(text: &[u8]) -> Option<f64> {
    let ticks = ticks_of_all(text)?;
    let all: f64 = ticks.iter().sum();
    (all > 0.0).then_some(ticks.get(7)? / all)
}

/// The stolen time since the machine was started.
#[must_use]
pub fn parse(text: &[u8]) -> Option<Duration> {
    let ticks = ticks_of_all(text)?;
    Some(TICK.mul_f64(*ticks.get(7)?))
}

/// The time that programs and the kernel ran since the machine was started, over all CPUs: all but
/// idle, waiting for I/O, and stolen.
#[must_use]
pub fn busy(text: &[u8]) -> Option<Duration> {
    let ticks = ticks_of_all(text)?;
    let kinds = [0, 1, 2, 5, 6];
    let sum: Option<f64> = kinds.iter().map(|kind| ticks.get(*kind).copied()).sum();
    sum.map(|ticks| TICK.mul_f64(ticks))
}

/// The numbers of the line over all CPUs; those of guests are part of the user's (`proc(5)`).
fn ticks_of_all(text: &[u8]) -> Option<Vec<f64>> {
    let line = text.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?.strip_prefix("cpu ")?;
    let numbers = line.split_ascii_whitespace().take(8);
    Some(numbers.filter_map(|number| number.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded() {
        let text = include_bytes!("../../tests/data/kernel/stat");
        assert_eq!(parse(text), Some(Duration::from_millis(490)));
        assert_eq!(
            busy(b"cpu  1 2 3 400 50 6 7 8 9\n"),
            Some(Duration::from_millis(190))
        );
        assert_eq!(busy(b"cpu  1 2 3\n"), None);
        assert!(share(text).is_some_and(|share| (9e-5..1e-4).contains(&share)));
        assert_eq!(parse(b"cpu0 1 2 3 4 5 6 7 8\n"), None);
        assert_eq!(parse(b"cpu  1 2 3\n"), None);
    }
}
