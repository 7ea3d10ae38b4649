//! `/proc/PID/io`: bytes that went to and came from the disk.
//!
//! Of a dead process it is shown only to root, but a descriptor opened while the process lived can
//! still be read (seen on Linux 6.1 to 6.18). Opening it costs time beside the run, so it is done
//! in warm-up and diagnostic runs only (`proc(5)`, `CONFIG_TASK_IO_ACCOUNTING`).

use super::number_after;

/// Bytes that really went through the disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Io {
    /// Fetched.
    pub read: u64,
    /// Handed over for writing, less what was truncated before it was written.
    pub written: u64,
}

/// Reads the file's text.
#[must_use]
pub fn parse(text: &[u8]) -> Option<Io> {
    let text = std::str::from_utf8(text).ok()?;
    let cancelled = number_after(text, "cancelled_write_bytes:").unwrap_or(0);
    Some(Io {
        read: number_after(text, "read_bytes:")?,
        written: number_after(text, "write_bytes:")?.saturating_sub(cancelled),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded() {
        let seen = parse(include_bytes!("../../tests/data/kernel/io")).unwrap();
        assert_eq!((seen.read, seen.written), (1_048_576, 8_192));
        assert_eq!(parse(b""), None);
        assert_eq!(parse(b"read_bytes: x\nwrite_bytes: 1\n"), None);
    }
}
