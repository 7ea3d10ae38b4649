//! How often a control group ran into its memory limit: `memory.events` of version 2 (lines `high`
//! and `max`), `memory.failcnt` of version 1 (`Documentation/admin-guide/cgroup-v2.rst`).

use super::number_after;

/// The number of times the limit was hit.
#[must_use]
pub fn parse(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    if let Ok(count) = text.trim().parse() {
        return Some(count);
    }
    Some(number_after(text, "high ")? + number_after(text, "max ")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions() {
        assert_eq!(parse(b"17\n"), Some(17));
        let v2 = b"low 0\nhigh 3\nmax 40\noom 0\noom_kill 0\noom_group_kill 0\n";
        assert_eq!(parse(v2), Some(43));
        assert_eq!(parse(b"x"), None);
    }
}
