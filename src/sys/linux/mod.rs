//! Linux.

mod affinity;
mod cgroup;
mod child;
pub(crate) mod counters;
mod descendants;
mod empty;
pub(crate) mod guard;
mod host;
mod into;
mod memory;
pub(crate) mod perf_event;
mod procfs;
pub(crate) mod ptrace;
mod slim;
pub(crate) mod sock_diag;
mod spawn;
pub(crate) mod task;
mod taskstats;
mod wakeup;

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::time::ClockId;

use super::clock;

pub(crate) use affinity::{CpuMask, allowed_cpus};
pub(crate) use cgroup::{MemoryLimit, OwnGroup, Quota, memory_limit, oom_account, quotas};
pub(crate) use descendants::{newest, offspring};
pub(crate) use empty::empty_program;
pub(crate) use host::{cpu_model, facts, process_limit};
pub(crate) use procfs::{KernelFile, has_proc, open_io, peak_memory, sched, schedstat, stat, text};
pub(crate) use slim::{keep_memory, slim};
pub(crate) use spawn::{Spawner, Started};
pub(crate) use taskstats::Taskstats;
pub(crate) use wakeup::Wakeups;

/// Bytes in one unit of `ru_maxrss` (`getrusage(2)`).
pub(crate) const MAX_RSS_UNIT: u64 = 1024;

/// Whether processes whose parent ended come to us.
pub(crate) const ADOPTS_ORPHANS: bool = true;

/// Time the machine spent in suspend since it was started.
pub(crate) fn suspended() -> Option<Duration> {
    let mut reading = None;
    // Being interrupted between the two readings would look like a suspend.
    for _ in 0..3 {
        let before = clock::now();
        let with_suspend = clock::nanoseconds(ClockId::CLOCK_BOOTTIME)?;
        let after = clock::now();
        reading = Some(Duration::from_nanos(with_suspend.saturating_sub(before)));
        if after - before < 100_000 {
            break;
        }
    }
    reading
}

/// Makes processes whose parent ended our children, so that they can be reaped and counted.
pub(crate) fn adopt_orphans() {
    // SAFETY: plain system call; the remaining arguments are not used by this operation.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
}

/// Bytes of a page of memory.
fn page_size() -> usize {
    // SAFETY: only asks for a number.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(4096) as usize
}

/// Our own process id.
pub(crate) fn own_pid() -> i32 {
    nix::unistd::getpid().as_raw()
}

/// A nameless file in memory.
pub(crate) fn scratch_file() -> Option<File> {
    let name: &CStr = c"stderr";
    // Linux 6.3 wants to be told that nobody executes it; older ones refuse the flag.
    let make = |flags| {
        // SAFETY: the name is a literal; the call returns a new descriptor or fails.
        unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC | flags) }
    };
    let descriptor = [libc::MFD_NOEXEC_SEAL, 0]
        .into_iter()
        .map(make)
        .find(|made| *made >= 0)?;
    // SAFETY: new and ours alone.
    Some(File::from(unsafe { OwnedFd::from_raw_fd(descriptor) }))
}

/// A pipe: the end to read from, the end to write to.
///
/// # Errors
/// No more descriptors.
pub(crate) fn pipe() -> std::io::Result<(OwnedFd, OwnedFd)> {
    Ok(nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC)?)
}

/// Gives the memory of part of a scratch file back; reading it gives zeros.
pub(crate) fn release_pages(file: &File, from: u64, length: u64) {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    let (Ok(from), Ok(length)) = (from.try_into(), length.try_into()) else {
        return;
    };
    // SAFETY: plain system call on an open descriptor.
    unsafe { libc::fallocate(file.as_raw_fd(), mode, from, length) };
}

/// A descriptor that becomes readable when the process ends (`pidfd_open(2)`, Linux 5.3).
pub(crate) fn end_descriptor(pid: i32) -> Option<OwnedFd> {
    // SAFETY: plain system call; the descriptor is closed on exec.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let descriptor = i32::try_from(descriptor).ok().filter(|fd| *fd >= 0)?;
    // SAFETY: new and ours alone.
    Some(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Moves what is in a pipe to `/dev/null` without copying; how much, 0 at its end.
///
/// # Errors
/// `WouldBlock` when it is empty.
pub(crate) fn discard(pipe: &OwnedFd, null: &File) -> std::io::Result<usize> {
    let none = std::ptr::null_mut();
    let (from, to) = (pipe.as_raw_fd(), null.as_raw_fd());
    // SAFETY: both descriptors are open, null offsets mean "the current position".
    let moved = unsafe { libc::splice(from, none, to, none, 1 << 20, libc::SPLICE_F_NONBLOCK) };
    usize::try_from(moved).map_err(|_| std::io::Error::last_os_error())
}

/// Set before `main` when standard output was closed: the runtime of the language opens
/// `/dev/null` there before we could see it.
static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

extern "C" fn look_at_stdout() {
    // SAFETY: plain system call; nothing of the runtime is needed.
    if unsafe { libc::fcntl(1, libc::F_GETFD) } < 0 {
        STDOUT_CLOSED.store(true, Ordering::Relaxed);
    }
}

// SAFETY: functions in this section are called once, single-threaded, with C's calling convention,
// before `main`; this one uses nothing that is set up later.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK_AT_STDOUT: extern "C" fn() = look_at_stdout;

/// Whether standard output was closed when we were started.
pub(crate) fn stdout_was_closed() -> bool {
    STDOUT_CLOSED.load(Ordering::Relaxed)
}
