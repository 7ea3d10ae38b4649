//! macOS and the BSDs: starts through the standard library, with the stamp before the process is
//! created. What these systems do not show is missing.

mod accounts;
pub(crate) mod counters;
mod evidence;
mod host;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::time::Duration;

use crate::sample::host::Stamp;

use super::unix::{Cpus, Launch};
use super::{Error, Prepared, Slots, command, session};

pub(crate) use accounts::{
    MemoryLimit, OwnGroup, Quota, Taskstats, empty_program, memory_limit, oom_account, open_io,
    own_pid, quotas, sched, text,
};
pub(crate) use evidence::{perf_event, ptrace, sock_diag, task};
pub(crate) use host::{allowed_cpus, cpu_model, facts, peak_memory, process_limit};

/// Bytes in one unit of `ru_maxrss` (`getrusage(2)`).
pub(crate) const MAX_RSS_UNIT: u64 = if cfg!(target_vendor = "apple") {
    1
} else {
    1024
};

/// Whether processes whose parent ended come to us.
pub(crate) const ADOPTS_ORPHANS: bool = false;

/// Not told here: the monotonic clock stands still in suspend as on Linux.
pub(crate) fn suspended() -> Option<Duration> {
    None
}

/// Not offered here: orphans go to process 1.
pub(crate) fn adopt_orphans() {}

/// There is none on this system: nothing is missing.
pub(crate) fn has_proc() -> bool {
    true
}

/// Not needed here: [`offspring`] finds nobody.
pub(crate) fn newest() -> Option<i32> {
    None
}

/// Nothing tells what is below us once its parent has ended.
pub(crate) fn offspring(_after: i32, _others: &BTreeSet<i32>) -> Option<Vec<i32>> {
    None
}

/// Our memory stays as it is.
pub(crate) fn slim() {}

/// Nothing to do: the allocator decides.
pub(crate) fn keep_memory() {}

/// Nobody ends what a shell has started when we are killed: there is no way to watch us without a
/// file of ours.
pub(crate) mod guard {
    /// Does nothing.
    pub(crate) fn begin() {}

    /// Does nothing.
    pub(crate) fn attend(_group: i32) {}
}

/// A file in `/tmp` that has no name any more.
pub(crate) fn scratch_file() -> Option<File> {
    let path = format!(
        "/tmp/offbench-{}-{}",
        std::process::id(),
        super::clock::now()
    );
    let mut options = File::options();
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)
        .ok()?;
    std::fs::remove_file(&path).ok()?;
    Some(file)
}

/// A pipe: the end to read from, the end to write to.
///
/// # Errors
/// No more descriptors.
pub(crate) fn pipe() -> std::io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = nix::unistd::pipe()?;
    for end in [&read, &write] {
        nix::fcntl::fcntl(
            end,
            nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC),
        )?;
    }
    Ok((read, write))
}

/// Not offered for all files here; the file only grows for as long as one run takes.
pub(crate) fn release_pages(_file: &File, _from: u64, _length: u64) {}

/// There is none; who waits has to look.
pub(crate) fn end_descriptor(_pid: i32) -> Option<OwnedFd> {
    None
}

/// Reads from a pipe into nowhere; how much, 0 at its end.
///
/// # Errors
/// `WouldBlock` when it is empty.
pub(crate) fn discard(pipe: &OwnedFd, mut null: &File) -> std::io::Result<usize> {
    let mut room = [0; 16 * 1024];
    let length = File::from(pipe.try_clone()?).read(&mut room)?;
    null.write_all(&room[..length])?;
    Ok(length)
}

/// Not known: the runtime has opened something there.
pub(crate) fn stdout_was_closed() -> bool {
    false
}

/// A buffer for kernel files, of which there are none.
#[derive(Debug)]
pub(crate) struct KernelFile;

impl KernelFile {
    /// An empty buffer.
    pub(crate) fn new() -> Self {
        Self
    }
}

/// Not kept here.
pub(crate) fn schedstat(_file: &mut KernelFile, _pid: i32) -> Option<&[u8]> {
    None
}

/// Not kept here.
pub(crate) fn stat(_file: &mut KernelFile, _pid: i32) -> Option<&[u8]> {
    None
}

/// A timer that ends blocking waits. There is one for the process.
#[derive(Debug)]
pub(crate) struct Wakeups;

impl Wakeups {
    /// A timer that is off.
    ///
    /// # Errors
    /// The system refused the handler.
    pub(crate) fn new() -> Result<Self, Error> {
        session::allow_wakeups()?;
        Ok(Self)
    }

    /// Ends waits after `first` and then `every` so often.
    pub(crate) fn start(&self, first: Duration, every: Duration) {
        Self::set(first.max(Duration::from_micros(1)), every);
    }

    /// The same.
    pub(crate) fn start_about(&self, first: Duration, every: Duration) {
        self.start(first, every);
    }

    /// Turns it off.
    pub(crate) fn rest(&self) {
        self.stop();
    }

    /// Turns it off.
    pub(crate) fn stop(&self) {
        Self::set(Duration::ZERO, Duration::ZERO);
    }

    fn set(first: Duration, every: Duration) {
        let time = |duration: Duration| libc::timeval {
            tv_sec: libc::time_t::try_from(duration.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_usec: libc::suseconds_t::try_from(duration.subsec_micros()).unwrap_or_default(),
        };
        let setting = libc::itimerval {
            it_interval: time(every),
            it_value: time(first),
        };
        // SAFETY: a setting that outlives the call; the old one is not wanted.
        unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const setting, std::ptr::null_mut()) };
    }
}

/// A process that was started.
#[derive(Debug)]
pub(crate) struct Started {
    /// Its process id, which is also its group.
    pub(crate) pid: i32,
    /// The clock when it was asked for.
    pub(crate) asked: u64,
}

impl Started {
    /// There are no control groups here.
    #[allow(clippy::unused_self, reason = "the surface all platforms share")]
    pub(crate) fn in_group(&self) -> bool {
        false
    }

    /// Nothing is held here.
    #[allow(clippy::unused_self, reason = "the surface all platforms share")]
    pub(crate) fn release(&mut self) {}

    /// Nothing is held here.
    #[allow(clippy::unused_self, reason = "the surface all platforms share")]
    pub(crate) fn is_held(&self) -> bool {
        false
    }
}

/// Starts processes, one at a time.
#[derive(Debug)]
pub(crate) struct Spawner;

impl Spawner {
    /// A spawner.
    ///
    /// # Errors
    /// CPUs cannot be chosen here.
    pub(crate) fn new(cpus: &Cpus) -> Result<Self, Error> {
        match cpus {
            Cpus::List(list) => Err(list
                .first()
                .map_or(Error::NoCpu, |&cpu| Error::NoSuchCpu { cpu })),
            Cpus::Original | Cpus::Ours => Ok(Self),
        }
    }

    /// There is no other start.
    #[cfg(test)]
    #[allow(clippy::unused_self, reason = "the surface all platforms share")]
    pub(crate) fn refuse(&mut self) {}

    /// How its starting stamps are taken.
    pub(crate) fn stamp_kind(&self) -> Stamp {
        Stamp::BeforeSpawn
    }

    /// Threads cannot be kept on one CPU here.
    pub(crate) fn settle(&self) {}

    /// Nor here.
    pub(crate) fn stay(&self) {}

    /// Starts a process in a group of its own. It is never held.
    ///
    /// # Errors
    /// It could not be started; nothing is left of it.
    pub(crate) fn start(
        &mut self,
        prepared: &mut Prepared,
        slots: &Slots,
        launch: &Launch,
    ) -> Result<Started, Error> {
        let (asked, pid) = command::start(prepared, slots, launch)?;
        session::attend(pid);
        Ok(Started { pid, asked })
    }

    /// Calls cannot be filtered here.
    pub(crate) fn set_filter(&mut self, _filter: Option<ptrace::Filter>) {}

    /// The starting stamp.
    #[allow(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "the surface all platforms share"
    )]
    pub(crate) fn stamped(&self, started: &Started) -> Option<u64> {
        Some(started.asked)
    }

    /// Not known here.
    pub(crate) fn cpu_before(&self, _started: &Started) -> Option<Duration> {
        None
    }

    /// Not known here.
    pub(crate) fn account_before(&self, _started: &Started) -> Vec<u8> {
        Vec::new()
    }

    /// The starting stamp of a process that has ended.
    ///
    /// # Errors
    /// None here.
    pub(crate) fn stamp(&self, started: &Started, _prepared: &Prepared) -> Result<u64, Error> {
        Ok(started.asked)
    }
}
