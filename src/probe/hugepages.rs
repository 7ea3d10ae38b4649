//! The pool of hugepages in `/proc/meminfo` (`Documentation/admin-guide/mm/hugetlbpage.rst`).

/// Pages of the default size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hugepages {
    /// In the pool.
    pub total: u64,
    /// Not in use.
    pub free: u64,
    /// Of those, promised to somebody.
    pub reserved: u64,
}

/// Reads the text of `/proc/meminfo`; nothing on kernels without hugepages.
#[must_use]
pub fn parse(text: &[u8]) -> Option<Hugepages> {
    let text = std::str::from_utf8(text).ok()?;
    let number = |key: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim().parse().ok()
    };
    Some(Hugepages {
        total: number("HugePages_Total:")?,
        free: number("HugePages_Free:")?,
        reserved: number("HugePages_Rsvd:").unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded() {
        let seen = parse(include_bytes!("../../tests/data/kernel/meminfo")).unwrap();
        assert_eq!((seen.total, seen.free, seen.reserved), (32, 4, 2));
        assert_eq!(parse(b"MemTotal: 1 kB\n"), None);
    }
}
