//! The kernel's answer about one unix socket understood: its name and its peer. Pure. Layouts from
//! `include/uapi/linux/{netlink,unix_diag}.h`.

use super::descriptor::escaped;

/// `struct nlmsghdr`.
const HEADER: usize = 16;
/// `struct unix_diag_msg`.
const MESSAGE: usize = 16;
/// `struct nlattr`.
const ATTRIBUTE: usize = 4;
const NAME: u16 = 0;
const PEER: u16 = 2;
const BY_FAMILY: u16 = 20;

/// A unix socket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnixSocket {
    /// The path or abstract name it is bound to, safe to show.
    pub name: Option<String>,
    /// Inode of the socket it is connected to.
    pub peer: Option<u32>,
}

/// Understands an answer; `None` if it is none about a unix socket.
#[must_use]
pub fn unix_socket(bytes: &[u8]) -> Option<UnixSocket> {
    let length = u32_at(bytes, 0)? as usize;
    if u16_at(bytes, 4)? != BY_FAMILY {
        return None;
    }
    let mut rest = bytes.get(HEADER + MESSAGE..length.min(bytes.len()))?;
    let mut socket = UnixSocket::default();
    while let (Some(size), Some(kind)) = (u16_at(rest, 0), u16_at(rest, 2)) {
        let Some(value) = rest.get(ATTRIBUTE..usize::from(size)) else {
            break;
        };
        match kind {
            NAME => socket.name = name(value),
            PEER => socket.peer = u32_at(value, 0).filter(|inode| *inode != 0),
            _ => {}
        }
        rest = rest
            .get(usize::from(size).next_multiple_of(4)..)
            .unwrap_or_default();
    }
    Some(socket)
}

/// A path, or a name that begins with a zero byte: written with `@` as everywhere.
fn name(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let shown = match text.strip_prefix('\0') {
        Some(rest) => format!("@{rest}"),
        None => text.trim_end_matches('\0').to_owned(),
    };
    (shown.len() > 1).then(|| escaped(&shown))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let part = bytes.get(at..at + 2)?.try_into().ok()?;
    Some(u16::from_ne_bytes(part))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let part = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_ne_bytes(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(kind: u16, attributes: &[(u16, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER + MESSAGE];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        for (kind, value) in attributes {
            bytes.extend((value.len() as u16 + 4).to_ne_bytes());
            bytes.extend(kind.to_ne_bytes());
            bytes.extend(*value);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        let length = bytes.len() as u32;
        bytes[..4].copy_from_slice(&length.to_ne_bytes());
        bytes
    }

    #[test]
    fn names_and_peers() {
        let peer = 4711_u32.to_ne_bytes();
        let found = unix_socket(&answer(20, &[(PEER, &peer), (NAME, b"/run/x.sock\0")]));
        let expected = UnixSocket {
            name: Some("/run/x.sock".into()),
            peer: Some(4711),
        };
        assert_eq!(found, Some(expected));
        let found = unix_socket(&answer(20, &[(NAME, b"\0bus")])).unwrap();
        assert_eq!((found.name.as_deref(), found.peer), (Some("@bus"), None));
    }

    #[test]
    fn errors_and_broken_answers() {
        assert_eq!(unix_socket(&answer(2, &[])), None);
        assert_eq!(unix_socket(&[1, 2]), None);
        let mut cut = answer(20, &[(NAME, b"/run/x.sock")]);
        cut.truncate(40);
        assert_eq!(unix_socket(&cut), Some(UnixSocket::default()));
    }
}
