//! Starts a process by `clone(2)` with shared memory, the parent standing still until exec: no page
//! table is copied, and the child can leave its own stamp where we read it.
//!
//! `clone` and not `clone3`: container runtimes refuse the latter, and nothing of it is needed.
//! In the child only [`obey`] runs: system calls on memory prepared before, no allocation, no lock.

use std::ffi::{CStr, c_void};
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

use nix::sys::signal::SigSet;

use super::CpuMask;
use super::ptrace::Filter;
use crate::sample::host::Stamp;
use crate::sys::command::{self, refusal};
use crate::sys::unix::{self, Cpus, Launch};
use crate::sys::{Error, Prepared, Slots, clock};

/// Bytes of the child's stack, without the guard page below it.
const STACK: usize = 64 * 1024;
/// The guard page; no smaller than a page anywhere.
const GUARD: usize = 64 * 1024;

/// Where the child leaves what we want to know. Mapped shared, so that it also works where the
/// child gets a copy of our memory.
#[repr(C)]
#[derive(Debug)]
struct Report {
    /// The monotonic clock just before exec, in nanoseconds.
    stamp: AtomicU64,
    /// What failed: a [`Step`], or 0.
    step: AtomicI32,
    /// Its error number.
    errno: AtomicI32,
}

/// What the child does, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
enum Step {
    Streams = 1,
    Parent,
    Directory,
    Affinity,
    Cgroup,
    Hold,
    Filter,
    Exec,
}

impl Step {
    const ALL: [(Self, &'static str); 8] = [
        (Self::Streams, "dup3"),
        (Self::Parent, "prctl"),
        (Self::Directory, "chdir"),
        (Self::Affinity, "sched_setaffinity"),
        (Self::Cgroup, "write cgroup.procs"),
        (Self::Hold, "read"),
        (Self::Filter, "prctl(PR_SET_SECCOMP)"),
        (Self::Exec, "execve"),
    ];
}

/// Everything the child needs.
struct Orders {
    stdio: [i32; 3],
    parent: i32,
    directory: *const libc::c_char,
    cpus: (usize, *const u64),
    cgroup: i32,
    hold: i32,
    filter: *const libc::sock_fprog,
    mask: libc::sigset_t,
    path: *const libc::c_char,
    argv: *const *const libc::c_char,
    envp: *const *const libc::c_char,
    report: *const Report,
}

/// Private memory that outlives every child: a stack above a guard, and the report.
#[derive(Debug)]
struct Memory {
    stack: *mut c_void,
    report: *mut c_void,
}

impl Memory {
    fn new() -> Result<Self, Error> {
        let stack = map(GUARD + STACK, libc::MAP_PRIVATE | libc::MAP_STACK)?;
        let report = map(size_of::<Report>(), libc::MAP_SHARED)?;
        // SAFETY: the mapping is that large and ours; the guard is its lower part, and touching
        // the upper part now keeps page faults out of the runs.
        unsafe {
            libc::mprotect(stack, GUARD, libc::PROT_NONE);
            ptr::write_bytes(stack.byte_add(GUARD).cast::<u8>(), 1, STACK);
        }
        Ok(Self { stack, report })
    }

    fn stack_top(&self) -> *mut c_void {
        // SAFETY: one past the end of the mapping, which is aligned to a page.
        unsafe { self.stack.byte_add(GUARD + STACK) }
    }

    fn report(&self) -> &Report {
        // SAFETY: mapped as long as `self` lives, aligned to a page, and zero is a valid report.
        // Children write it too, which is why it consists of atomics.
        unsafe { &*self.report.cast::<Report>() }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: our own mappings, used by no one else: a child sharing them has executed.
        unsafe {
            libc::munmap(self.stack, GUARD + STACK);
            libc::munmap(self.report, size_of::<Report>());
        }
    }
}

fn map(size: usize, kind: i32) -> Result<*mut c_void, Error> {
    let (access, flags) = (
        libc::PROT_READ | libc::PROT_WRITE,
        kind | libc::MAP_ANONYMOUS,
    );
    // SAFETY: a new anonymous mapping touches nothing that exists.
    let address = unsafe { libc::mmap(ptr::null_mut(), size, access, flags, -1, 0) };
    if address == libc::MAP_FAILED {
        return Err(Error::last("mmap"));
    }
    Ok(address)
}

/// A process that was started.
#[derive(Debug)]
pub(crate) struct Started {
    /// Its process id, which is also its group.
    pub(crate) pid: i32,
    /// The clock when it was asked for.
    pub(crate) asked: u64,
    /// The end of the pipe on which a held process waits.
    hold: Option<OwnedFd>,
    /// The stamp, if it was not the child's.
    outer: Option<u64>,
}

impl Started {
    /// Whether it waits before exec until it is released.
    pub(crate) fn is_held(&self) -> bool {
        self.hold.is_some()
    }

    /// Lets a held process execute its command.
    pub(crate) fn release(&mut self) {
        if let Some(writer) = self.hold.take() {
            let _ = nix::unistd::write(&writer, b"!");
        }
    }
}

/// Starts processes, one at a time, from a thread that stays on one CPU.
#[derive(Debug)]
pub(crate) struct Spawner {
    memory: Memory,
    original: CpuMask,
    /// Where commands run; `None` is where we are.
    commands: Option<CpuMask>,
    stamp: Stamp,
    filter: Option<Filter>,
    /// Our process id.
    own: i32,
}

impl Spawner {
    /// A spawner for the calling thread.
    ///
    /// # Errors
    /// A CPU of the list is not available, or the system refused memory.
    pub(crate) fn new(cpus: &Cpus) -> Result<Self, Error> {
        let original = CpuMask::current()?;
        super::allowed_cpus();
        let commands = match cpus {
            Cpus::Original => Some(original.clone()),
            Cpus::Ours => None,
            Cpus::List(list) => Some(CpuMask::of(list)?),
        };
        Ok(Self {
            memory: Memory::new()?,
            original,
            commands,
            stamp: Stamp::BeforeExec,
            filter: None,
            own: nix::unistd::getpid().as_raw(),
        })
    }

    /// How its starting stamps are taken.
    pub(crate) fn stamp_kind(&self) -> Stamp {
        self.stamp
    }

    /// Processes started from now on get this filter of system calls, and no new privileges.
    pub(crate) fn set_filter(&mut self, filter: Option<Filter>) {
        self.filter = filter;
    }

    /// Lets the system choose a CPU for us again, and stays there.
    pub(crate) fn settle(&self) {
        if self.original.count() > 1 && self.original.apply().is_ok() {
            // Waking up is when a CPU is chosen; `sched_yield` would leave us where we are, and
            // give our turn away just before a run.
            unix::pause(Duration::from_micros(1));
            if let Some(here) = CpuMask::here() {
                let _ = here.apply();
            }
        }
    }

    /// Starts a process in a group of its own.
    ///
    /// # Errors
    /// It could not be started; nothing is left of it.
    pub(crate) fn start(
        &mut self,
        prepared: &mut Prepared,
        slots: &Slots,
        launch: &Launch,
    ) -> Result<Started, Error> {
        if self.stamp == Stamp::BeforeSpawn {
            return Self::start_outer(prepared, slots, launch);
        }
        let hold = launch.held.then(super::pipe).transpose();
        let (reader, writer) = hold
            .map_err(|source| Error::Call {
                call: "pipe2",
                source,
            })?
            .unzip();
        let mut orders = self.orders(prepared, slots, launch);
        orders.hold = reader.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        let filter = self.filter.as_ref().map(Filter::program);
        orders.filter = filter.as_ref().map_or(ptr::null(), ptr::from_ref);
        let report = self.memory.report();
        report.stamp.store(0, Ordering::Relaxed);
        report.step.store(0, Ordering::Relaxed);
        let (asked, pid) = self.clone_child(&mut orders, launch.held)?;
        if pid < 0 {
            return match -pid {
                libc::ENOSYS | libc::EPERM | libc::EINVAL => {
                    self.stamp = Stamp::BeforeSpawn;
                    Self::start_outer(prepared, slots, launch)
                }
                number => Err(refusal("clone", number, prepared.path())),
            };
        }
        if let Some(error) = self.failure(prepared) {
            unix::reap(pid)?;
            return Err(error);
        }
        Ok(Started {
            pid,
            asked,
            hold: writer,
            outer: None,
        })
    }

    fn start_outer(prepared: &Prepared, slots: &Slots, launch: &Launch) -> Result<Started, Error> {
        let (stamp, pid) = command::start(prepared, slots, launch)?;
        Ok(Started {
            pid,
            asked: stamp,
            hold: None,
            outer: Some(stamp),
        })
    }

    fn orders(&self, prepared: &mut Prepared, slots: &Slots, launch: &Launch) -> Orders {
        let nowhere = (0, ptr::null());
        Orders {
            stdio: launch.stdio,
            parent: self.own,
            directory: prepared.directory().map_or(ptr::null(), CStr::as_ptr),
            cpus: self.commands.as_ref().map_or(nowhere, CpuMask::raw),
            cgroup: launch.cgroup,
            hold: -1,
            filter: ptr::null(),
            mask: *SigSet::empty().as_ref(),
            path: prepared.path().as_ptr(),
            argv: prepared.argv(),
            envp: prepared.envp(slots),
            report: self.memory.report(),
        }
    }

    /// The clone itself: the clock before it, and the process id or a negative error number.
    fn clone_child(&self, orders: &mut Orders, held: bool) -> Result<(u64, i32), Error> {
        // A held child waits, and we must not stand still meanwhile: it gets a copy of our memory.
        let sharing = if held {
            0
        } else {
            libc::CLONE_VM | libc::CLONE_VFORK
        };
        let stack = self.memory.stack_top();
        let argument = ptr::from_mut(orders).cast();
        let refused = |errno: nix::errno::Errno| Error::number("pthread_sigmask", errno as i32);
        // Until exec the child has our handlers; a signal for us waits until we go on.
        let before = SigSet::all()
            .thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_SETMASK)
            .map_err(refused)?;
        orders.mask = *before.as_ref();
        let asked = clock::now();
        // SAFETY: the child runs `obey` on a stack that nobody uses, above a guard page. With
        // CLONE_VM it shares our memory, and with CLONE_VFORK we stand still until it has executed
        // or ended, so `orders` and all it points to stay valid and unchanged. It is one thread
        // with all signals blocked, and calls only what is safe there.
        let pid = unsafe { libc::clone(obey, stack, sharing | libc::SIGCHLD, argument) };
        let pid = if pid < 0 {
            -nix::errno::Errno::last_raw()
        } else {
            pid
        };
        if pid > 0 {
            // Before the mask is restored, so that a signal waiting there already reaches it.
            crate::sys::session::attend(pid);
            if held {
                // SAFETY: plain system call; the child does the same, and the second is harmless.
                unsafe { libc::setpgid(pid, pid) };
            }
        }
        before.thread_set_mask().map_err(refused)?;
        Ok((asked, pid))
    }

    /// The starting stamp of a process that may not have got as far yet.
    pub(crate) fn stamped(&self, started: &Started) -> Option<u64> {
        let stamp = || self.memory.report().stamp.load(Ordering::Acquire);
        let stamp = started.outer.unwrap_or_else(stamp);
        (stamp > 0).then_some(stamp)
    }

    /// The starting stamp of a process that has ended.
    ///
    /// # Errors
    /// It did not get as far as its command.
    pub(crate) fn stamp(&self, started: &Started, prepared: &Prepared) -> Result<u64, Error> {
        if let Some(stamp) = started.outer {
            return Ok(stamp);
        }
        match self.failure(prepared) {
            Some(error) => Err(error),
            None => Ok(self.memory.report().stamp.load(Ordering::Relaxed)),
        }
    }

    fn failure(&self, prepared: &Prepared) -> Option<Error> {
        let report = self.memory.report();
        let step = report.step.load(Ordering::Relaxed);
        let errno = report.errno.load(Ordering::Relaxed);
        let (step, call) = Step::ALL
            .into_iter()
            .find(|(known, _)| *known as i32 == step)?;
        Some(match (step, prepared.directory()) {
            (Step::Exec, _) => refusal(call, errno, prepared.path()),
            (Step::Directory, Some(directory)) => Error::WorkingDirectory {
                path: directory.to_string_lossy().into_owned().into(),
                source: std::io::Error::from_raw_os_error(errno),
            },
            _ => Error::number(call, errno),
        })
    }
}

impl Drop for Spawner {
    fn drop(&mut self) {
        let _ = self.original.apply();
    }
}

/// The life of the child until exec. Runs beside a parent that stands still, in its memory.
extern "C" fn obey(orders: *mut c_void) -> i32 {
    // SAFETY: the parent passes its `Orders`, which live and do not change while it stands still
    // (or are our own copy).
    let orders = unsafe { &*orders.cast::<Orders>() };
    // SAFETY: as `Orders` promises.
    let step = unsafe { steps(orders) };
    // SAFETY: `report` is mapped as long as the spawner lives.
    let report = unsafe { &*orders.report };
    report
        .errno
        .store(nix::errno::Errno::last_raw(), Ordering::Relaxed);
    report.step.store(step as i32, Ordering::Relaxed);
    // SAFETY: ends only the child; nothing of the parent is run.
    unsafe { libc::_exit(127) }
}

/// Does every step; returns the one that failed, its error in errno.
///
/// # Safety
/// Every pointer in `orders` is null where that is allowed, or valid.
unsafe fn steps(orders: &Orders) -> Step {
    // SAFETY: system calls on numbers and on memory valid by the contract above.
    unsafe {
        for (target, &source) in (0..).zip(&orders.stdio) {
            if source >= 0 && source != target && libc::dup3(source, target, 0) < 0 {
                return Step::Streams;
            }
        }
        // The language's runtime ignores it in us; ignored signals stay so across exec.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::setpgid(0, 0);
        if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) < 0 {
            return Step::Parent;
        }
        if libc::getppid() != orders.parent {
            // It died before we asked to be told.
            libc::_exit(127);
        }
        if !orders.directory.is_null() && libc::chdir(orders.directory) < 0 {
            return Step::Directory;
        }
        let (bytes, cpus) = orders.cpus;
        if !cpus.is_null() && libc::syscall(libc::SYS_sched_setaffinity, 0, bytes, cpus) < 0 {
            return Step::Affinity;
        }
        if orders.cgroup >= 0 && libc::write(orders.cgroup, c"0".as_ptr().cast(), 1) < 0 {
            return Step::Cgroup;
        }
        if orders.hold >= 0 {
            let mut word = 0_u8;
            if libc::read(orders.hold, (&raw mut word).cast(), 1) != 1 {
                return Step::Hold;
            }
        }
        if !orders.filter.is_null()
            && (libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
                || libc::prctl(
                    libc::PR_SET_SECCOMP,
                    libc::SECCOMP_MODE_FILTER,
                    orders.filter,
                ) < 0)
        {
            return Step::Filter;
        }
        libc::sigprocmask(libc::SIG_SETMASK, &raw const orders.mask, ptr::null_mut());
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time);
        let stamp = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
        (*orders.report).stamp.store(stamp, Ordering::Release);
        libc::execve(orders.path, orders.argv, orders.envp);
        Step::Exec
    }
}
