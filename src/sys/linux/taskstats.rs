//! The kernel's delay accounting of one task over generic netlink (`Documentation/accounting/
//! taskstats.rst`). Asks for `CAP_NET_ADMIN` and for `kernel.task_delayacct = 1`.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::evidence::{Availability, Missing};

/// Bytes of `struct nlmsghdr` and `struct genlmsghdr`.
const HEADERS: usize = 20;
/// Room for one answer.
const ROOM: usize = 4096;
/// `CTRL_CMD_GETFAMILY`, `CTRL_ATTR_FAMILY_NAME`, `CTRL_ATTR_FAMILY_ID` (`linux/genetlink.h`).
const GET_FAMILY: u8 = 3;
const FAMILY_NAME: u16 = 2;
const FAMILY_ID: u16 = 1;
/// `TASKSTATS_CMD_GET`, `TASKSTATS_CMD_ATTR_PID` (`linux/taskstats.h`).
const GET: u8 = 1;
const BY_PID: u16 = 1;
/// `TASKSTATS_TYPE_AGGR_PID`, which holds `TASKSTATS_TYPE_STATS`.
const AGGREGATE: u16 = 4;
const STATS: u16 = 3;

/// A connection to the kernel's delay accounting.
#[derive(Debug)]
pub(crate) struct Taskstats {
    socket: OwnedFd,
    family: u16,
    buffer: Box<[u8; ROOM]>,
}

impl Taskstats {
    /// Connects.
    pub(crate) fn open() -> Availability<Self> {
        match std::fs::read_to_string("/proc/sys/kernel/task_delayacct").as_deref() {
            Ok("1\n") => {}
            Ok(_) => {
                let off = Missing::because("delay accounting is off");
                return Availability::Missing(off.remedy("sysctl kernel.task_delayacct=1"));
            }
            Err(_) => {
                let why = "this kernel has no switch kernel.task_delayacct (Linux 5.14)";
                return Availability::Missing(Missing::because(why));
            }
        }
        match Self::connect() {
            Ok(link) => Availability::Ready(link),
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => Availability::Missing(
                Missing::because("no permission (CAP_NET_ADMIN)")
                    .remedy("run as root, or setcap cap_net_admin+ep offbench"),
            ),
            Err(error) => Availability::Missing(Missing::because(format!("taskstats: {error}"))),
        }
    }

    fn connect() -> io::Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
        // SAFETY: plain system call; the descriptor is new and ours alone.
        let socket = unsafe {
            let made = libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_GENERIC);
            if made < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(made)
        };
        let mut link = Self {
            socket,
            family: libc::GENL_ID_CTRL as u16,
            buffer: Box::new([0; ROOM]),
        };
        let answer = link.ask(GET_FAMILY, FAMILY_NAME, b"TASKSTATS\0")?;
        let id = attribute(answer, FAMILY_ID).and_then(|bytes| bytes.try_into().ok());
        link.family = u16::from_ne_bytes(id.ok_or(io::ErrorKind::Unsupported)?);
        link.of(nix::unistd::getpid().as_raw())?;
        Ok(link)
    }

    /// `struct taskstats` of a task that has not been reaped.
    ///
    /// # Errors
    /// No permission, or no such task.
    pub(crate) fn of(&mut self, pid: i32) -> io::Result<&[u8]> {
        let answer = self.ask(GET, BY_PID, &pid.to_ne_bytes())?;
        let inner = attribute(answer, AGGREGATE).and_then(|inner| attribute(inner, STATS));
        inner.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Sends one request with one attribute; the attributes of the answer.
    fn ask(&mut self, command: u8, kind: u16, value: &[u8]) -> io::Result<&[u8]> {
        let mut request = [0_u8; 64];
        let length = HEADERS + 4 + value.len();
        request[..4].copy_from_slice(&(length as u32).to_ne_bytes());
        request[4..6].copy_from_slice(&self.family.to_ne_bytes());
        request[6..8].copy_from_slice(&(libc::NLM_F_REQUEST as u16).to_ne_bytes());
        (request[16], request[17]) = (command, 1);
        request[20..22].copy_from_slice(&(4 + value.len() as u16).to_ne_bytes());
        request[22..24].copy_from_slice(&kind.to_ne_bytes());
        request[24..24 + value.len()].copy_from_slice(value);
        let socket = self.socket.as_raw_fd();
        // SAFETY: the lengths are those of the buffers, which outlive both calls.
        let received = unsafe {
            let sent = libc::send(socket, request.as_ptr().cast(), (length + 3) & !3, 0);
            if sent < 0 {
                return Err(io::Error::last_os_error());
            }
            libc::recv(socket, self.buffer.as_mut_ptr().cast(), ROOM, 0)
        };
        let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
        let answer = self.buffer.get(..received).unwrap_or_default();
        let kind = answer.get(4..6).unwrap_or_default();
        if kind == (libc::NLMSG_ERROR as u16).to_ne_bytes() {
            let number = answer.get(16..20).and_then(|bytes| bytes.try_into().ok());
            let number = i32::from_ne_bytes(number.unwrap_or_default());
            return Err(io::Error::from_raw_os_error(-number));
        }
        Ok(answer.get(HEADERS..).unwrap_or_default())
    }
}

/// The value of the first attribute of that kind (`struct nlattr`: length, kind, value, padded to
/// four bytes).
fn attribute(mut attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let length = u16::from_ne_bytes(attributes.get(..2)?.try_into().ok()?).into();
        let kind = u16::from_ne_bytes(attributes.get(2..4)?.try_into().ok()?);
        // The two highest bits are flags (NLA_F_NESTED, NLA_F_NET_BYTEORDER).
        if kind & 0x3fff == wanted {
            return attributes.get(4..length);
        }
        if length < 4 {
            return None;
        }
        attributes = attributes.get((length + 3) & !3..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found_and_broken_ones_are_not() {
        let mut bytes = Vec::new();
        for (kind, value) in [(7_u16, &b"abcde"[..]), (9 | 0x8000, b"xy")] {
            bytes.extend((4 + value.len() as u16).to_ne_bytes());
            bytes.extend(kind.to_ne_bytes());
            bytes.extend(value);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        assert_eq!(attribute(&bytes, 7), Some(&b"abcde"[..]));
        assert_eq!(attribute(&bytes, 9), Some(&b"xy"[..]));
        assert_eq!(attribute(&bytes, 8), None);
        assert_eq!(attribute(&[0, 0, 1, 0], 8), None);
        assert_eq!(attribute(&[255, 255, 8, 0], 8), None);
    }

    #[test]
    fn it_answers_or_says_why_not() {
        match Taskstats::open() {
            Availability::Ready(mut link) => {
                assert!(link.of(nix::unistd::getpid().as_raw()).is_ok());
                assert!(link.of(i32::MAX).is_err());
            }
            Availability::Missing(missing) => assert!(!missing.reason.is_empty()),
        }
    }
}
