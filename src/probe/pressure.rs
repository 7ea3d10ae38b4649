//! Pressure stall information: how long tasks stood still for want of CPU, memory or I/O.
//!
//! `/proc/pressure/*` for the machine, `*.pressure` for a control group of version 2; `total` is in
//! microseconds and exact at the time of reading (`Documentation/accounting/psi.rst`, Linux 4.20).
//! I/O that a journal does for the task is not counted: a lower bound.

use std::time::Duration;

/// The totals of one resource.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pressure {
    /// At least one task stood still.
    pub some: Option<Duration>,
    /// All tasks that were not idle stood still.
    pub full: Option<Duration>,
}

/// Reads a pressure file.
#[must_use]
pub fn parse(text: &[u8]) -> Pressure {
    let mut found = Pressure::default();
    let text = std::str::from_utf8(text).unwrap_or_default();
    for line in text.lines() {
        let total = line
            .rsplit_once("total=")
            .and_then(|(_, number)| number.trim().parse().ok())
            .map(Duration::from_micros);
        match line.split(' ').next() {
            Some("some") => found.some = total,
            Some("full") => found.full = total,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded() {
        let seen = parse(include_bytes!("../../tests/data/kernel/memory.pressure"));
        assert_eq!(seen.some, Some(Duration::from_micros(1_204_711)));
        assert_eq!(seen.full, Some(Duration::from_micros(903_822)));
        // Linux before 5.13 has no line `full` for the CPU.
        let cpu = parse(b"some avg10=0.00 avg60=0.00 avg300=0.00 total=42\n");
        assert_eq!(
            (cpu.some, cpu.full),
            (Some(Duration::from_micros(42)), None)
        );
        assert_eq!(parse(b"\xff"), Pressure::default());
    }
}
