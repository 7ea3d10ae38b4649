//! Text from outside made safe for a terminal.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;

/// Bytes from outside made safe to print: control characters and what is not UTF-8 as escapes.
///
/// Newline, return, and tab become `\n`, `\r`, `\t`; other control bytes and stray bytes `\x1b`;
/// control characters beyond ASCII and those that reorder a line `\u{202e}`. Meant for eyes: a
/// backslash stays as it is, so the result cannot always be turned back.
#[must_use]
pub fn display_escaped(text: &OsStr) -> Cow<'_, str> {
    if let Some(clean) = text.to_str().filter(|text| !text.chars().any(needs_escape)) {
        return Cow::Borrowed(clean);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for chunk in text.as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            push_escaped(&mut shown, c);
        }
        for byte in chunk.invalid() {
            push_hex(&mut shown, *byte);
        }
    }
    Cow::Owned(shown)
}

fn push_escaped(shown: &mut String, c: char) {
    match c {
        '\n' => shown.push_str("\\n"),
        '\r' => shown.push_str("\\r"),
        '\t' => shown.push_str("\\t"),
        c if c.is_ascii_control() => push_hex(shown, c as u8),
        c if needs_escape(c) => shown.extend(c.escape_unicode()),
        c => shown.push(c),
    }
}

fn push_hex(shown: &mut String, byte: u8) {
    // Writing to a String cannot fail.
    let _ = write!(shown, "\\x{byte:02x}");
}

/// Control characters, line and paragraph separators, and marks that change the writing direction.
fn needs_escape(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Numbers;
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    #[test]
    fn bytes_from_outside_are_shown_escaped() {
        let table: &[(&[u8], &str)] = &[
            (b"plain", "plain"),
            ("hé λ 🚀".as_bytes(), "hé λ 🚀"),
            (b"a\x1b[31mRED\nB", "a\\x1b[31mRED\\nB"),
            (b"\t\r\x00\x7f", "\\t\\r\\x00\\x7f"),
            (b"p\xff", "p\\xff"),
            (b"\xe2\x82", "\\xe2\\x82"),
            ("\u{85}\u{9b}".as_bytes(), "\\u{85}\\u{9b}"),
            ("a\u{202e}b".as_bytes(), "a\\u{202e}b"),
            (b"a\\n", "a\\n"),
            (b"", ""),
        ];
        for (bytes, shown) in table {
            assert_eq!(display_escaped(OsStr::from_bytes(bytes)), *shown);
        }
        let mut numbers = Numbers(3);
        for _ in 0..2000 {
            let bytes: Vec<u8> = (0..numbers.next() % 20)
                .map(|_| numbers.next() as u8)
                .collect();
            let text = OsString::from_vec(bytes);
            assert!(!display_escaped(&text).chars().any(char::is_control));
        }
    }
}
