//! Control groups: where ours are, which limits of CPU time stand above us, and a group of our own
//! for the commands.
//!
//! Version 2 is preferred wherever it is mounted, also beside version 1: its `cpu.stat` counts CPU
//! time in every group, without any controller (`Documentation/admin-guide/cgroup-v2.rst`).

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::into;
use crate::evidence::{Availability, Missing};
use crate::sys::parse::{Hierarchy, hierarchies_of, quota_v1, quota_v2};
use crate::sys::unix;

/// First part of the names of our groups.
const PREFIX: &str = "offbench-";
/// How often a group that is still busy is tried to be removed.
const TRIES: u32 = 20;

/// The hierarchies mounted here, as they were when first asked for.
pub(crate) fn hierarchies() -> &'static [Hierarchy] {
    static KNOWN: OnceLock<Vec<Hierarchy>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let mut all = hierarchies_of(&read("/proc/self/mountinfo"), &read("/proc/self/cgroup"));
        for one in &mut all {
            if !one.own.is_dir() {
                one.own.clone_from(&one.mount);
            }
        }
        all
    })
}

/// A limit of CPU time on our group or one above it.
#[derive(Debug)]
pub(crate) struct Quota {
    /// Its `cpu.stat`.
    pub(crate) stat: File,
    /// CPUs' worth of time it allows.
    pub(crate) cpus: f64,
}

/// Every limit of CPU time that stands above us; an empty list where there is none.
pub(crate) fn quotas() -> Availability<Vec<Quota>> {
    let all = hierarchies();
    let with_cpu = |one: &&Hierarchy| one.unified || one.has("cpu");
    let mut seen = false;
    let mut found = Vec::new();
    for hierarchy in all.iter().filter(with_cpu) {
        for folder in hierarchy.levels() {
            seen |= folder.join("cpu.stat").is_file();
            let limit = limit_of(folder, hierarchy.unified);
            let stat = File::open(folder.join("cpu.stat"));
            if let (Some(cpus), Ok(stat)) = (limit, stat) {
                found.push(Quota { stat, cpus });
            }
        }
    }
    if seen {
        Availability::Ready(found)
    } else {
        Availability::Missing(Missing::because("no cgroup with cpu.stat is mounted here"))
    }
}

fn limit_of(folder: &Path, unified: bool) -> Option<f64> {
    let text = |name: &str| fs::read_to_string(folder.join(name)).ok();
    if unified {
        return quota_v2(&text("cpu.max")?);
    }
    quota_v1(&text("cpu.cfs_quota_us")?, &text("cpu.cfs_period_us")?)
}

/// A limit of memory on our group or one above it, the tightest.
#[derive(Debug)]
pub(crate) struct MemoryLimit {
    /// What it allows.
    pub(crate) bytes: u64,
    /// `memory.events`, or `memory.failcnt` of version 1: how often it was hit.
    pub(crate) events: File,
}

/// The tightest limit of memory that stands above us.
pub(crate) fn memory_limit() -> Option<MemoryLimit> {
    let all = hierarchies();
    let with_memory = all.iter().filter(|one| one.unified || one.has("memory"));
    let limits = with_memory.flat_map(|hierarchy| {
        let unified = hierarchy.unified;
        hierarchy
            .levels()
            .filter_map(move |folder| memory_limit_of(folder, unified))
    });
    limits.min_by_key(|limit| limit.bytes)
}

fn memory_limit_of(folder: &Path, unified: bool) -> Option<MemoryLimit> {
    let number = |name: &str| -> Option<u64> {
        let text = fs::read_to_string(folder.join(name)).ok()?;
        text.trim().parse().ok()
    };
    let (bytes, events) = if unified {
        let high = number("memory.high").unwrap_or(u64::MAX);
        let most = number("memory.max").unwrap_or(u64::MAX);
        (high.min(most), "memory.events")
    } else {
        (number("memory.limit_in_bytes")?, "memory.failcnt")
    };
    // Version 1 writes "no limit" as the largest multiple of a page.
    let events = File::open(folder.join(events)).ok()?;
    (bytes < u64::MAX / 4).then_some(MemoryLimit { bytes, events })
}

/// The text in which kills by the out-of-memory killer are counted: that of our group, which those
/// below count for with version 2 and have no other with version 1, or else of the whole machine.
pub(crate) fn oom_account() -> Option<String> {
    let with_memory = hierarchies()
        .iter()
        .filter(|one| one.unified || one.has("memory"));
    let groups = with_memory.map(|one| {
        let version_2 = one.unified.then_some("memory.events");
        one.own.join(version_2.unwrap_or("memory.oom_control"))
    });
    let mut all = groups.chain([PathBuf::from("/proc/vmstat")]);
    all.find_map(|file| fs::read_to_string(file).ok())
}

/// How many groups of our own there are.
static LIVING: AtomicUsize = AtomicUsize::new(0);

/// A group of our own in which the commands run. Removed when it goes out of scope.
#[derive(Debug)]
pub(crate) struct OwnGroup {
    folder: PathBuf,
    /// The folder itself, held open and locked, so that others see that somebody uses it.
    lock: File,
    /// Where a process enters by writing `0`.
    procs: File,
    /// `cpu.stat`, or `cpuacct.usage` of version 1.
    pub(crate) cpu: File,
    /// `cpu.pressure`.
    pub(crate) queue: Option<File>,
    /// `io.pressure`.
    pub(crate) io: Option<File>,
    /// `memory.pressure`.
    pub(crate) memory: Option<File>,
    unified: bool,
}

impl OwnGroup {
    /// Whether there can be one: tried, unless there is one already.
    pub(crate) fn availability() -> Availability<()> {
        if LIVING.load(Ordering::Relaxed) > 0 {
            return Availability::Ready(());
        }
        Self::create().map(|_| ())
    }

    /// Makes a group below ours, after removing those that killed processes have left.
    pub(crate) fn create() -> Availability<Self> {
        let all = hierarchies();
        let unified = all.iter().find(|one| one.unified);
        // Where `cpu` is mounted with it, a group of its own would change the command's share of
        // the CPUs.
        let alone = |one: &&Hierarchy| one.has("cpuacct") && !one.has("cpu");
        let Some(hierarchy) = unified.or_else(|| all.iter().find(alone)) else {
            let why = "no cgroup of version 2 is mounted here";
            return Availability::Missing(Missing::because(why));
        };
        Self::below(&hierarchy.own, hierarchy.unified)
    }

    /// Makes a group in that folder.
    pub(crate) fn below(parent: &Path, unified: bool) -> Availability<Self> {
        sweep(parent);
        match Self::make(parent, unified) {
            Ok(group) => Availability::Ready(group),
            Err(error) => Availability::Missing(refused(parent, &error)),
        }
    }

    fn make(parent: &Path, unified: bool) -> io::Result<Self> {
        /// Below it a process has entered a group of ours; it need not be tried again.
        static ENTERED: OnceLock<PathBuf> = OnceLock::new();
        let folder = parent.join(format!("{PREFIX}{}", super::clock::now()));
        fs::create_dir(&folder)?;
        let made = Self::open(&folder, unified).and_then(|group| {
            if ENTERED.get().is_none_or(|known| known != parent) {
                group.try_to_enter()?;
                ENTERED.get_or_init(|| parent.to_path_buf());
            }
            Ok(group)
        });
        if made.is_err() {
            let _ = fs::remove_dir(&folder);
        }
        made
    }

    fn open(folder: &Path, unified: bool) -> io::Result<Self> {
        let lock = File::open(folder)?;
        if !lock_folder(&lock) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let cpu = if unified { "cpu.stat" } else { "cpuacct.usage" };
        let group = Self {
            procs: File::options()
                .write(true)
                .open(folder.join("cgroup.procs"))?,
            cpu: File::open(folder.join(cpu))?,
            queue: File::open(folder.join("cpu.pressure")).ok(),
            io: File::open(folder.join("io.pressure")).ok(),
            memory: File::open(folder.join("memory.pressure")).ok(),
            folder: folder.to_path_buf(),
            lock,
            unified,
        };
        LIVING.fetch_add(1, Ordering::Relaxed);
        Ok(group)
    }

    /// The descriptor to which a process writes `0` to enter.
    pub(crate) fn entrance(&self) -> i32 {
        self.procs.as_raw_fd()
    }

    /// The folder in which a process can be started, with version 2.
    pub(crate) fn folder(&self) -> Option<i32> {
        self.unified.then(|| self.lock.as_raw_fd())
    }

    /// Whether it is of version 2.
    pub(crate) fn unified(&self) -> bool {
        self.unified
    }

    /// Having made the folder does not mean that processes may be moved: the rules ask for rights
    /// on the group above, too. So one process tries.
    fn try_to_enter(&self) -> io::Result<()> {
        extern "C" fn nothing(_: *mut std::ffi::c_void) -> i32 {
            0
        }
        if let Some(folder) = self.folder() {
            let mut stack = [0_u128; 256];
            let place = (stack.as_mut_ptr().cast(), size_of_val(&stack));
            let nobody = std::ptr::null_mut();
            // SAFETY: the child does nothing and ends; the stack is its own until we have reaped it.
            let beside = unsafe { into::clone_beside(folder, place, nothing, nobody) };
            let child = if beside > 0 {
                beside
            } else {
                // SAFETY: as above, in a copy of our memory.
                unsafe { into::clone_copy(folder, false, nothing, nobody) }
            };
            if child > 0 {
                return unix::reap(child).map(|_| ()).map_err(io::Error::other);
            }
        }
        // SAFETY: the child makes two system calls on numbers and a literal, then ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: as above; `_exit` runs nothing of ours.
            unsafe {
                let done = libc::write(self.entrance(), c"0".as_ptr().cast(), 1);
                let number = if done == 1 {
                    0
                } else {
                    *libc::__errno_location()
                };
                libc::_exit(number & 127);
            }
        }
        if child < 0 {
            return Err(io::Error::last_os_error());
        }
        let ended = unix::reap(child).map_err(io::Error::other)?;
        match ended.outcome.code() {
            Some(0) => Ok(()),
            code => Err(io::Error::from_raw_os_error(code.unwrap_or(0).into())),
        }
    }

    /// Moves whoever still lives in it to the group above.
    fn clear(&self) {
        let Some(parent) = self.folder.parent() else {
            return;
        };
        let living = fs::read_to_string(self.folder.join("cgroup.procs")).unwrap_or_default();
        for pid in living.lines() {
            let _ = fs::write(parent.join("cgroup.procs"), pid);
        }
    }
}

impl Drop for OwnGroup {
    fn drop(&mut self) {
        LIVING.fetch_sub(1, Ordering::Relaxed);
        for _ in 0..TRIES {
            if fs::remove_dir(&self.folder).is_ok() || !self.folder.exists() {
                return;
            }
            self.clear();
            unix::pause(Duration::from_millis(1));
        }
    }
}

/// Locks a folder for as long as it is open.
fn lock_folder(folder: &File) -> bool {
    // SAFETY: plain system call on an open descriptor.
    unsafe { libc::flock(folder.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) == 0 }
}

/// Removes groups of ours that nobody holds: what a killed offbench has left.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let ours = entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(PREFIX.as_bytes());
        if !ours {
            continue;
        }
        let path = entry.path();
        if File::open(&path).is_ok_and(|folder| lock_folder(&folder)) {
            // A command that was offbench itself has made groups in it.
            sweep(&path);
            let _ = fs::remove_dir(&path);
        }
    }
}

/// Why no group can be had, and what would change that.
fn refused(parent: &Path, error: &io::Error) -> Missing {
    let folder = parent.display();
    match error.raw_os_error() {
        Some(libc::EROFS) => Missing::because(format!("{folder} is read-only"))
            .remedy("give the container a writable cgroup (--cgroupns=private, rw mount)"),
        Some(libc::EACCES | libc::EPERM) => {
            Missing::because(format!("no permission to make a group in {folder}"))
                .remedy("systemd-run --user --scope -p Delegate=yes offbench …")
        }
        _ => Missing::because(format!("cannot make a group in {folder}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_a_reason_and_a_remedy() {
        let nobody = refused(Path::new("/g"), &io::Error::from_raw_os_error(libc::EACCES));
        assert!(nobody.remedy.unwrap().contains("Delegate=yes"));
        let container = refused(Path::new("/g"), &io::Error::from_raw_os_error(libc::EROFS));
        assert_eq!(container.reason, "/g is read-only");
    }

    #[test]
    fn groups_are_removed_also_those_of_the_dead() {
        // Only where we may make groups; elsewhere there is nothing to remove.
        let Availability::Ready(group) = OwnGroup::create() else {
            return;
        };
        let parent = group.folder.parent().unwrap().to_path_buf();
        let stale = parent.join(format!("{PREFIX}stale"));
        fs::create_dir(&stale).unwrap();
        sweep(&parent);
        assert!(!stale.exists() && group.folder.exists());
        let folder = group.folder.clone();
        drop(group);
        assert!(!folder.exists());
    }
}
