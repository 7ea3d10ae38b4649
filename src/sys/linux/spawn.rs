//! Starts a process by `clone(2)` with shared memory, the parent standing still until exec: no page
//! table is copied, and the child can leave its own stamp where we read it.
//!
//! `clone` and not `clone3`: container runtimes refuse the latter, and nothing of it is needed but
//! where a process is started in a control group (see [`super::into`]).
//! In the child only [`obey`] runs: system calls on memory prepared before, no allocation, no lock.

use std::ffi::{CStr, c_void};
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use nix::sys::signal::SigSet;

use super::CpuMask;
use super::into;
use super::memory::{ACCOUNT, Memory, Report};
use super::ptrace::Filter;
use crate::sample::host::Stamp;
use crate::sys::command::{self, refusal};
use crate::sys::unix::{self, Cpus, Launch};
use crate::sys::{Error, Prepared, Slots, clock};

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
        report.account[0].store(0, Ordering::Relaxed);
        let (asked, pid) = self.clone_child(&mut orders, launch)?;
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
    fn clone_child(&self, orders: &mut Orders, launch: &Launch) -> Result<(u64, i32), Error> {
        let held = launch.held;
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
        let direct = || unsafe { libc::clone(obey, stack, sharing | libc::SIGCHLD, argument) };
        let pid = match self.clone_in_group(argument, launch) {
            Some(pid) => pid,
            None => nix::errno::Errno::result(direct()).unwrap_or_else(|errno| -(errno as i32)),
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

    /// Starts the child in its group; `None` where that cannot be done, and it enters the group.
    fn clone_in_group(&self, argument: *mut c_void, launch: &Launch) -> Option<i32> {
        if launch.folder < 0 {
            return None;
        }
        let orders = argument.cast::<Orders>();
        // SAFETY: `argument` is our `Orders`; a negative cgroup is not looked at. The child runs
        // `obey` as the one thread, with all signals blocked: in a copy of our memory, or in ours on
        // a stack that nobody uses, while we stand still.
        let pid = unsafe {
            let entrance = std::mem::replace(&mut (*orders).cgroup, -1);
            let pid = if launch.held || !into::SHARES {
                into::clone_copy(launch.folder, launch.held, obey, argument)
            } else {
                into::clone_sharing(launch.folder, self.memory.stack(), obey, argument)
            };
            (*orders).cgroup = entrance;
            pid
        };
        (pid > 0).then_some(pid)
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

    /// `schedstat` of a process as it was at its stamp, empty where it is not known: what a process
    /// did and waited for before exec is not part of the run.
    pub(crate) fn account_before(&self, started: &Started) -> Vec<u8> {
        if started.outer.is_some() {
            return Vec::new();
        }
        let account = &self.memory.report().account;
        let bytes = account.iter().map(|byte| byte.load(Ordering::Relaxed));
        bytes.take_while(|byte| *byte != 0).collect()
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

/// Leaves our own `schedstat` in the report. What fails here fails no run.
///
/// # Safety
/// `report` is valid.
unsafe fn read_account(report: *const Report) {
    // SAFETY: the file is opened, read and closed here; the array is larger than what is read, and
    // only this process writes it until the parent reads.
    unsafe {
        let flags = libc::O_RDONLY | libc::O_CLOEXEC;
        let file = libc::open(c"/proc/self/schedstat".as_ptr(), flags);
        if file < 0 {
            return;
        }
        let room = (*report).account.as_ptr().cast::<u8>().cast_mut();
        let length = libc::read(file, room.cast(), ACCOUNT - 1);
        *room.add(usize::try_from(length).unwrap_or(0).min(ACCOUNT - 1)) = 0;
        libc::close(file);
    }
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
        read_account(orders.report);
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
