//! What a descriptor is, from the text of its link, of `/proc/PID/net/*`, `/proc/locks` and
//! `fdinfo`. Pure; every string that leaves is safe to show.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::explain::record::Target;
use crate::unit::display_escaped;

/// The text safe to show.
#[must_use]
pub fn escaped(text: &str) -> String {
    display_escaped(text.as_ref()).into_owned()
}

/// A path as people want to read it: `./x` below the command's working directory.
#[must_use]
pub fn shown(path: &str, directory: &str) -> String {
    let below = path.strip_prefix(directory).filter(|_| directory.len() > 1);
    match below {
        Some("") => ".".to_string(),
        Some(rest) if rest.starts_with('/') => escaped(&format!(".{rest}")),
        _ => escaped(path),
    }
}

/// What the link of a descriptor names; a socket only by its inode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// Known from the link alone.
    Target(Target),
    /// A socket, to be looked up.
    Socket(u64),
}

/// Understands the link `/proc/PID/fd/N`.
#[must_use]
pub fn link(text: &str, directory: &str) -> Link {
    if let Some(inode) = text
        .strip_prefix("socket:[")
        .and_then(|rest| rest.strip_suffix(']'))
    {
        return Link::Socket(inode.parse().unwrap_or(0));
    }
    Link::Target(if text.starts_with("pipe:[") {
        Target::Pipe
    } else if let Some(kind) = text.strip_prefix("anon_inode:") {
        Target::Wakeup(escaped(kind.trim_matches(['[', ']'])))
    } else if text.starts_with("/dev/pts/")
        || text.starts_with("/dev/tty")
        || text == "/dev/console"
    {
        Target::Terminal(escaped(text))
    } else {
        Target::File(shown(text, directory))
    })
}

/// The peer of the socket with that inode in `/proc/PID/net/{tcp,tcp6,udp,udp6}`, or its own
/// address while it listens.
#[must_use]
pub fn inet_peer(table: &str, inode: u64) -> Option<String> {
    table.lines().skip(1).find_map(|line| {
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        let found = words.get(9)?.parse() == Ok(inode);
        let remote = found.then(|| address(words[2])).flatten()?;
        Some(if remote.ends_with(":0") {
            format!("listening on {}", address(words[1])?)
        } else {
            remote
        })
    })
}

/// `0100007F:42AF` is `127.0.0.1:17071`: words of 32 bits in the byte order of the machine.
fn address(text: &str) -> Option<String> {
    let (host, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| {
        let digits = host.get(at * 8..at * 8 + 8)?;
        u32::from_str_radix(digits, 16).ok().map(u32::to_ne_bytes)
    };
    if host.len() == 8 {
        return Some(format!("{}:{port}", Ipv4Addr::from(word(0)?)));
    }
    let mut bytes = [0; 16];
    for (at, part) in bytes.chunks_exact_mut(4).enumerate() {
        part.copy_from_slice(&word(at)?);
    }
    let host = Ipv6Addr::from(bytes);
    Some(match host.to_ipv4_mapped() {
        Some(v4) => format!("{v4}:{port}"),
        None => format!("[{host}]:{port}"),
    })
}

/// Whether `/proc/PID/net/unix` holds that inode, and the path it is bound to. A client's socket
/// has no path of its own; its peer cannot be seen without netlink.
#[must_use]
pub fn unix_path(table: &str, inode: u64) -> Option<Option<String>> {
    table.lines().skip(1).find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let found = words.nth(6)?.parse() == Ok(inode);
        found.then(|| words.next().map(escaped))
    })
}

/// Process that holds a lock on that inode, by `/proc/locks` (`2: FLOCK ADVISORY WRITE 123
/// fe:00:77 0 EOF`; waiting ones have `->` after their number). `None` if nobody is named there.
#[must_use]
pub fn lock_holder(locks: &str, inode: u64) -> Option<u32> {
    locks.lines().find_map(|line| {
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        let file = words.get(5)?;
        let same = words[1] != "->" && file.rsplit(':').next()?.parse() == Ok(inode);
        same.then(|| words[4].parse().ok()).flatten()
    })
}

/// Descriptors an epoll descriptor watches (`/proc/PID/fdinfo/N`, lines `tfd: 5 events: …`).
#[must_use]
pub fn epoll_targets(fdinfo: &str) -> Vec<i32> {
    let target = |line: &str| {
        line.strip_prefix("tfd:")?
            .split_ascii_whitespace()
            .next()?
            .parse()
            .ok()
    };
    fdinfo.lines().filter_map(target).collect()
}

/// Descriptors in an array of `struct pollfd` (int, short, short); negative ones are ignored.
#[must_use]
pub fn poll_descriptors(bytes: &[u8]) -> Vec<i32> {
    bytes
        .chunks_exact(8)
        .filter_map(|chunk| chunk[..4].try_into().ok().map(i32::from_ne_bytes))
        .filter(|&descriptor| descriptor >= 0)
        .collect()
}

/// Descriptors set in an `fd_set`.
#[must_use]
pub fn select_descriptors(bytes: &[u8], limit: u64) -> Vec<i32> {
    let bits = (bytes.len() as u64 * 8).min(limit);
    (0..bits)
        .filter(|&bit| bytes[(bit / 8) as usize] >> (bit % 8) & 1 == 1)
        .map(|bit| bit as i32)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links() {
        let target = |text| link(text, "/home/a");
        assert_eq!(target("socket:[77]"), Link::Socket(77));
        assert_eq!(target("pipe:[12]"), Link::Target(Target::Pipe));
        assert_eq!(
            target("anon_inode:[eventfd]"),
            Link::Target(Target::Wakeup("eventfd".into()))
        );
        assert_eq!(
            target("/dev/pts/3"),
            Link::Target(Target::Terminal("/dev/pts/3".into()))
        );
        assert_eq!(
            target("/home/a/wal"),
            Link::Target(Target::File("./wal".into()))
        );
        assert_eq!(
            target("/home/ab/wal"),
            Link::Target(Target::File("/home/ab/wal".into()))
        );
        assert_eq!(target("/home/a"), Link::Target(Target::File(".".into())));
        assert_eq!(shown("/x", "/"), "/x");
    }

    #[test]
    fn nothing_unsafe_is_shown() {
        assert_eq!(
            shown("/home/a/\x1b[31mred\n", "/home/a"),
            "./\\x1b[31mred\\n"
        );
        assert_eq!(escaped("a\u{202e}b\u{2028} é"), "a\\u{202e}b\\u{2028} é");
    }

    #[test]
    fn sockets_of_recorded_tables() {
        let tcp = include_str!("../../tests/data/explain/net-tcp.txt");
        assert_eq!(inet_peer(tcp, 4411).as_deref(), Some("127.0.0.1:17071"));
        assert_eq!(
            inet_peer(tcp, 4410).as_deref(),
            Some("listening on 127.0.0.1:17071")
        );
        assert_eq!(inet_peer(tcp, 1), None);
        let tcp6 = include_str!("../../tests/data/explain/net-tcp6.txt");
        assert_eq!(inet_peer(tcp6, 4500).as_deref(), Some("[::1]:17071"));
        assert_eq!(inet_peer(tcp6, 4501).as_deref(), Some("10.0.0.2:443"));
        let unix = include_str!("../../tests/data/explain/net-unix.txt");
        assert_eq!(unix_path(unix, 901), Some(Some("/run/x.sock".to_string())));
        assert_eq!(unix_path(unix, 902), Some(None));
        assert_eq!(unix_path(unix, 1), None);
    }

    #[test]
    fn locks_and_sets() {
        let locks = include_str!("../../tests/data/explain/locks.txt");
        assert_eq!(lock_holder(locks, 1234), Some(123));
        assert_eq!(lock_holder(locks, 99), None);
        assert_eq!(
            lock_holder(locks, 55),
            None,
            "an open-file-description lock names nobody"
        );
        assert_eq!(
            epoll_targets("pos:\t0\ntfd:        5 events:  19 data: 5\ntfd: 7 events: 1"),
            [5, 7]
        );
        let set: Vec<u8> = [4_i32, 1, -1, 0]
            .iter()
            .flat_map(|n| n.to_ne_bytes())
            .collect();
        assert_eq!(poll_descriptors(&set), [4]);
        assert_eq!(select_descriptors(&[0b1001, 0b10], 16), [0, 3, 9]);
        assert_eq!(select_descriptors(&[0xff], 2), [0, 1]);
    }
}
