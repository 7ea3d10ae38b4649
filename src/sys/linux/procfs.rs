//! Small files below `/proc`, read without allocating.

use std::ffi::CStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;

/// Room for the files read for each run.
const ROOM: usize = 4096;

/// A buffer for kernel files; what was read last stays until the next read.
#[derive(Debug)]
pub(crate) struct KernelFile {
    bytes: [u8; ROOM],
}

impl KernelFile {
    /// An empty buffer.
    pub(crate) fn new() -> Self {
        Self { bytes: [0; ROOM] }
    }

    /// The first bytes of a file, as one read gives them.
    ///
    /// # Errors
    /// It is not there or may not be read.
    pub(crate) fn read(&mut self, path: &CStr) -> std::io::Result<&[u8]> {
        let flags = libc::O_RDONLY | libc::O_CLOEXEC;
        // SAFETY: a C string, and no third argument without O_CREAT.
        let descriptor = unsafe { libc::open(path.as_ptr(), flags) };
        if descriptor < 0 {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: new and ours alone.
        let file = unsafe { OwnedFd::from_raw_fd(descriptor) };
        let (buffer, room) = (self.bytes.as_mut_ptr(), self.bytes.len());
        // SAFETY: the kernel writes at most `room` bytes to the buffer.
        let length = unsafe { libc::read(file.as_raw_fd(), buffer.cast(), room) };
        let length = usize::try_from(length).map_err(|_| std::io::Error::last_os_error())?;
        Ok(self.bytes.get(..length).unwrap_or_default())
    }

    /// The first bytes of a file that is open, read anew.
    pub(crate) fn reread(&mut self, file: &File) -> Option<&[u8]> {
        let length = file.read_at(&mut self.bytes, 0).ok()?;
        self.bytes.get(..length)
    }

    /// A file below the folder of a process.
    fn of_process(&mut self, pid: i32, name: &str) -> std::io::Result<&[u8]> {
        let mut path = [0; 64];
        // Too long a name leaves the last NUL in place and names no file.
        let _ = write!(&mut path[..63], "/proc/{pid}/{name}");
        let path = CStr::from_bytes_until_nul(&path).map_err(std::io::Error::other)?;
        self.read(path)
    }
}

/// `/proc/PID/schedstat`: readable until the process is reaped, on kernels that keep it.
pub(crate) fn schedstat(file: &mut KernelFile, pid: i32) -> Option<&[u8]> {
    file.of_process(pid, "schedstat").ok()
}

/// `/proc/PID/stat`: readable until the process is reaped.
pub(crate) fn stat(file: &mut KernelFile, pid: i32) -> Option<&[u8]> {
    file.of_process(pid, "stat").ok()
}

/// `/proc/PID/sched`: readable until the process is reaped.
pub(crate) fn sched(file: &mut KernelFile, pid: i32) -> Option<&[u8]> {
    file.of_process(pid, "sched").ok()
}

/// `/proc/PID/io`, held open: it can be read after the end of the process.
pub(crate) fn open_io(pid: i32) -> Option<File> {
    File::open(format!("/proc/{pid}/io")).ok()
}

/// Whether `/proc` is mounted.
pub(crate) fn has_proc() -> bool {
    std::fs::symlink_metadata("/proc/self").is_ok()
}

/// Reads a whole kernel file of any length into a buffer that is used again.
///
/// # Errors
/// It is not there or may not be read.
pub(crate) fn text<'a>(path: &str, buffer: &'a mut Vec<u8>) -> std::io::Result<&'a [u8]> {
    buffer.clear();
    File::open(path)?.read_to_end(buffer)?;
    Ok(buffer)
}

/// The peak memory that every child shows at least, in bytes: our own, because it shares our memory
/// until exec (`VmHWM`; `getrusage` would also count whoever executed us). That is counted exactly,
/// but what the child inherits in batches for each CPU (`percpu_counter_batch` in
/// `lib/percpu_counter.c`), so one batch is added.
pub(crate) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    // Not as the C library counts them: musl counts those that we may use, which is one meanwhile.
    let cpus = super::perf_event::online_cpus().len() as u64;
    Some(kibibytes * 1024 + (2 * cpus).max(32) * super::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_files_are_read() {
        let mut file = KernelFile::new();
        let own = nix::unistd::getpid().as_raw();
        assert!(stat(&mut file, own).is_some_and(|text| text.contains(&b')')));
        assert!(file.read(c"/proc/no-such-file").is_err());
        assert!(peak_memory().is_some_and(|bytes| bytes > 100_000));
    }
}
