//! `/proc/vmstat`: what the machine's memory management had to do. Counts since the machine was
//! started; only differences say something, and they concern everything that ran meanwhile.

/// The counters read, as the file calls them. The last one is a sum over zones (`allocstall_*`).
pub const NAMES: [&str; 9] = [
    "pswpin",
    "pswpout",
    "pgmajfault",
    "compact_stall",
    "compact_fail",
    "thp_fault_alloc",
    "thp_fault_fallback",
    "htlb_buddy_alloc_fail",
    "allocstall",
];

/// Values in the order of [`NAMES`]; `None` for a counter that the kernel does not have.
#[must_use]
pub fn parse(text: &[u8]) -> [Option<u64>; NAMES.len()] {
    let mut values: [Option<u64>; NAMES.len()] = [None; NAMES.len()];
    let text = std::str::from_utf8(text).unwrap_or_default();
    for line in text.lines() {
        let Some((key, value)) = line.split_once(' ') else {
            continue;
        };
        let place = NAMES.iter().position(|name| {
            *name == key || (*name == "allocstall" && key.starts_with("allocstall_"))
        });
        if let (Some(place), Ok(value)) = (place, value.trim().parse::<u64>()) {
            values[place] = Some(values[place].unwrap_or(0).saturating_add(value));
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded() {
        let values = parse(include_bytes!("../../tests/data/kernel/vmstat"));
        let of = |name: &str| values[NAMES.iter().position(|one| *one == name).unwrap()];
        assert_eq!(of("pswpin"), Some(24_565));
        assert_eq!(of("compact_stall"), Some(7));
        assert_eq!(of("thp_fault_fallback"), Some(19));
        assert_eq!(of("allocstall"), Some(3 + 40), "summed over zones");
        assert_eq!(parse(b"\xffpswpin 3"), [None; NAMES.len()]);
        assert_eq!(parse(b"pgfault 3\n"), [None; NAMES.len()]);
    }
}
