//! The pool of hugepages in `/proc/meminfo` (`Documentation/admin-guide/mm/hugetlbpage.rst`).

use super::number_after;

/// Pages of the default size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hugepages {
    /// In the pool.
    pub total: u64,
    /// Not in use, and promised to nobody.
    pub free: u64,
}

/// Reads the text of `/proc/meminfo`; nothing on kernels without hugepages.
#[must_use]
pub fn parse(text: &[u8]) -> Option<Hugepages> {
    let text = std::str::from_utf8(text).ok()?;
    let reserved = number_after(text, "HugePages_Rsvd:").unwrap_or(0);
    Some(Hugepages {
        total: number_after(text, "HugePages_Total:")?,
        free: number_after(text, "HugePages_Free:")?.saturating_sub(reserved),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded() {
        let seen = parse(include_bytes!("../../tests/data/kernel/meminfo")).unwrap();
        assert_eq!((seen.total, seen.free), (32, 2));
        assert_eq!(parse(b"MemTotal: 1 kB\n"), None);
    }
}
