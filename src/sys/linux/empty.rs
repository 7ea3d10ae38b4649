//! The smallest program there is: one page in memory that only ends. What a run of it takes is
//! what starting and collecting any program takes here.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::PathBuf;

/// Bytes of the headers of a 64-bit ELF file with one segment.
const HEADERS: u64 = 64 + 56;
/// Where the segment is mapped.
const BASE: u64 = 0x40_0000;
/// `MFD_EXEC` (Linux 6.3).
const EXECUTABLE: libc::c_uint = 0x10;

/// Machine number and the instructions of `exit_group(0)`.
#[cfg(target_arch = "x86_64")]
const PROGRAM: Option<(u16, &[u8])> = Some((62, &[0xb8, 231, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05]));
#[cfg(target_arch = "aarch64")]
const PROGRAM: Option<(u16, &[u8])> = Some((
    183,
    &[0xc8, 0x0b, 0x80, 0xd2, 0, 0, 0x80, 0xd2, 0x01, 0, 0, 0xd4],
));
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const PROGRAM: Option<(u16, &[u8])> = None;

/// An empty program; it exists as long as the file is open.
pub(crate) fn empty_program() -> Option<(File, PathBuf)> {
    let (machine, code) = PROGRAM?;
    let make = |flags| {
        // SAFETY: the name is a literal; the call returns a new descriptor or fails.
        unsafe { libc::memfd_create(c"empty".as_ptr(), libc::MFD_CLOEXEC | flags) }
    };
    let descriptor = [EXECUTABLE, 0]
        .into_iter()
        .map(make)
        .find(|made| *made >= 0)?;
    // SAFETY: new and ours alone.
    let mut file = File::from(unsafe { OwnedFd::from_raw_fd(descriptor) });
    file.write_all(&image(machine, code)).ok()?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    Some((file, path.into()))
}

/// An ELF file of that machine (`elf(5)`): one readable and executable segment.
fn image(machine: u16, code: &[u8]) -> Vec<u8> {
    let size = HEADERS + code.len() as u64;
    let mut image = Vec::with_capacity(size as usize);
    image.extend([0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    image.extend(2_u16.to_le_bytes());
    image.extend(machine.to_le_bytes());
    image.extend(1_u32.to_le_bytes());
    for number in [BASE + HEADERS, 64, 0] {
        image.extend(number.to_le_bytes());
    }
    image.extend(0_u32.to_le_bytes());
    for number in [64_u16, 56, 1, 0, 0, 0] {
        image.extend(number.to_le_bytes());
    }
    image.extend(1_u32.to_le_bytes());
    image.extend(5_u32.to_le_bytes());
    for number in [0, BASE, BASE, size, size, 0x1_0000] {
        image.extend(number.to_le_bytes());
    }
    image.extend(code);
    image
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a test runs the program")]
    fn it_runs_and_does_nothing() {
        if PROGRAM.is_none() {
            return;
        }
        let (_file, path) = empty_program().unwrap();
        match std::process::Command::new(path).status() {
            Ok(status) => assert!(status.success()),
            // `vm.memfd_noexec=2` forbids it.
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied),
        }
    }
}
