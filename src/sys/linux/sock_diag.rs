//! Asks the kernel about one unix socket (`sock_diag(7)`, `NETLINK_SOCK_DIAG`, Linux 3.3): no
//! privilege. Understanding the answer is `probe`'s.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const BY_FAMILY: u16 = 20;
const REQUEST: u16 = 1;
const SHOW_NAME: u32 = 1;
const SHOW_PEER: u32 = 4;

/// `struct nlmsghdr` and `struct unix_diag_req`.
#[repr(C)]
struct Request {
    length: u32,
    kind: u16,
    flags: u16,
    sequence: u32,
    port: u32,
    family: u8,
    protocol: u8,
    pad: u16,
    states: u32,
    inode: u32,
    show: u32,
    cookie: [u32; 2],
}

/// The answer about the unix socket of that inode; how many bytes it has.
///
/// # Errors
/// Netlink sockets are refused.
pub(crate) fn unix_socket(inode: u32, into: &mut [u8]) -> io::Result<usize> {
    let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
    // SAFETY: plain system call; the result is a new descriptor or negative.
    let socket = unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_SOCK_DIAG) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: new and ours alone.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    let request = Request {
        length: size_of::<Request>() as u32,
        kind: BY_FAMILY,
        flags: REQUEST,
        sequence: 1,
        port: 0,
        family: libc::AF_UNIX as u8,
        protocol: 0,
        pad: 0,
        states: u32::MAX,
        inode,
        show: SHOW_NAME | SHOW_PEER,
        cookie: [u32::MAX; 2],
    };
    // SAFETY: `request` lives across the call and the length is its own; a netlink socket that is
    // not bound sends to the kernel.
    let sent = unsafe {
        libc::send(
            socket.as_raw_fd(),
            (&raw const request).cast(),
            size_of::<Request>(),
            0,
        )
    };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    let flags = libc::MSG_DONTWAIT; // the kernel answers while the request is sent
    // SAFETY: writes at most the length of `into`.
    let got = unsafe {
        libc::recv(
            socket.as_raw_fd(),
            into.as_mut_ptr().cast(),
            into.len(),
            flags,
        )
    };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}
