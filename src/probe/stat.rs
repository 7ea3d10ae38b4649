//! `/proc/PID/stat` of a dead process: whether it ignored the end of its children.
//!
//! With SIGCHLD ignored the kernel reaps children itself, and their CPU time is in nobody's account.
//! Field 33 (`proc(5)`) holds the ignored signals 1 to 31 as a decimal bit map: the same as `SigIgn` of
//! `/proc/PID/status`, which is longer and slower to read.

/// The bit of SIGCHLD (17 on every architecture but Alpha, MIPS, PA-RISC and SPARC).
const SIGCHLD: u64 = 1 << 16;

/// Whether SIGCHLD was ignored; nothing if the text is not what it should be.
#[must_use]
pub fn ignores_child_signal(text: &[u8]) -> Option<bool> {
    // The name in brackets may hold anything: fields count from its end, state being the third.
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(text.get(end + 1..)?).ok()?;
    let ignored: u64 = rest.split_ascii_whitespace().nth(33 - 3)?.parse().ok()?;
    Some(ignored & SIGCHLD != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &[u8] = b"7687 (true) Z 7636 7634 6886 0 -1 4227084 299 0 1 0 0 0 0 0 20 0 1 0 156575 0 0 18446744073709551615 0 0 0 0 0 0 0 16777216 0 1 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
    /// Of a program whose name is `a) 1 (b`.
    const IGNORING: &[u8] = b"7693 (a) 1 (b) Z 7636 7634 6886 0 -1 4227084 511 0 0 0 0 0 0 0 20 0 1 0 156586 0 0 18446744073709551615 0 0 0 0 0 0 0 16842752 0 1 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

    #[test]
    fn recorded_lines() {
        assert_eq!(ignores_child_signal(PLAIN), Some(false));
        assert_eq!(ignores_child_signal(IGNORING), Some(true));
    }

    #[test]
    fn other_text_says_nothing() {
        assert_eq!(ignores_child_signal(b""), None);
        assert_eq!(ignores_child_signal(b"1 (x) Z 1 2"), None);
    }
}
