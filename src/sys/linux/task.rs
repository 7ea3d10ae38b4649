//! What `/proc` and the memory of a process say about a thread that waits. Reads only.

#![allow(
    clippy::cast_possible_wrap,
    reason = "process numbers and seconds stay below 2^31"
)]

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::sys::Text;

impl Text {
    fn name(self) -> &'static str {
        match self {
            Self::Syscall => "syscall",
            Self::Stat => "stat",
            Self::Wchan => "wchan",
            Self::Schedstat => "schedstat",
        }
    }
}

/// The files of one thread, kept open where `keep` says so.
#[derive(Debug)]
pub(crate) struct TaskFiles {
    pid: u32,
    tid: u32,
    keep: bool,
    open: [Option<File>; 4],
}

impl TaskFiles {
    /// Opens nothing yet.
    pub(crate) fn new(pid: u32, tid: u32, keep: bool) -> Self {
        Self {
            pid,
            tid,
            keep,
            open: [None, None, None, None],
        }
    }

    /// The text of one file, without the line end.
    ///
    /// # Errors
    /// `EPERM` or `EACCES` if it may not be read, `ENOENT` or `ESRCH` if the thread is gone.
    pub(crate) fn read<'a>(&mut self, text: Text, into: &'a mut [u8]) -> io::Result<&'a str> {
        let slot = &mut self.open[text as usize];
        let length = if let Some(file) = slot {
            file.read_at(into, 0)?
        } else {
            let file = File::open(format!(
                "/proc/{}/task/{}/{}",
                self.pid,
                self.tid,
                text.name()
            ))?;
            let length = file.read_at(into, 0)?;
            if self.keep {
                *slot = Some(file);
            }
            length
        };
        let text = std::str::from_utf8(&into[..length]).unwrap_or_default();
        Ok(text.trim_end_matches('\n'))
    }
}

/// What a descriptor of a process points to (`/proc/PID/fd/N`): a path, `socket:[INODE]`, …
///
/// # Errors
/// The descriptor or the permission is missing.
pub(crate) fn link(pid: u32, descriptor: i32) -> io::Result<PathBuf> {
    fs::read_link(format!("/proc/{pid}/fd/{descriptor}"))
}

/// The directory a command will run in, as the kernel will name it: the given one, relative to
/// that of this process, or that of this process.
pub(crate) fn directory(given: Option<&Path>) -> Option<PathBuf> {
    let own = std::env::current_dir().ok();
    let directory = match (given, own) {
        (Some(given), Some(own)) => own.join(given),
        (given, own) => own.or_else(|| given.map(Path::to_path_buf))?,
    };
    Some(directory.canonicalize().unwrap_or(directory))
}

/// Inode of the file behind a descriptor of a process.
///
/// # Errors
/// The descriptor or the permission is missing.
pub(crate) fn inode(pid: u32, descriptor: i32) -> io::Result<u64> {
    fs::metadata(format!("/proc/{pid}/fd/{descriptor}")).map(|found| found.ino())
}

/// A file below `/proc/PID`, such as `net/tcp` or `fdinfo/4`; lossy if it is not UTF-8.
///
/// # Errors
/// The file or the permission is missing.
pub(crate) fn text(pid: u32, name: &str) -> io::Result<String> {
    fs::read(format!("/proc/{pid}/{name}")).map(|bytes| String::from_utf8_lossy(&bytes).into())
}

/// `/proc/locks`.
///
/// # Errors
/// The file or the permission is missing.
pub(crate) fn locks() -> io::Result<String> {
    fs::read_to_string("/proc/locks")
}

/// The threads of a process; empty if it is gone.
pub(crate) fn threads(pid: u32) -> Vec<u32> {
    numbers(&format!("/proc/{pid}/task"))
}

/// The open descriptors of a process; empty if it is gone or may not be read.
pub(crate) fn descriptors(pid: u32) -> Vec<i32> {
    numbers(&format!("/proc/{pid}/fd"))
}

/// All processes.
pub(crate) fn processes() -> Vec<u32> {
    numbers("/proc")
}

fn numbers<T: FromStr>(directory: &str) -> Vec<T> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Reads the memory of a process (`process_vm_readv(2)`); the number of bytes read, at most up to
/// the end of the page if the next one is not there.
///
/// # Errors
/// The permission (Yama, another user) or the memory is missing.
pub(crate) fn memory(pid: u32, address: u64, into: &mut [u8]) -> io::Result<usize> {
    let local = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    let remote = libc::iovec {
        iov_base: address as *mut libc::c_void,
        iov_len: into.len(),
    };
    // SAFETY: the local vector covers exactly `into`; the remote one is only read by the kernel,
    // which checks it.
    let length = unsafe {
        let pid = pid as libc::pid_t;
        libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0)
    };
    if length < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(length as usize)
    }
}

/// The children a thread started, by `/proc/PID/task/TID/children` (`CONFIG_PROC_CHILDREN`).
///
/// # Errors
/// The kernel does not offer the file, or the thread is gone.
pub(crate) fn children(pid: u32, tid: u32) -> io::Result<Vec<u32>> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/children"))?;
    Ok(text
        .split_ascii_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect())
}
