//! Starts a process that shares our memory until exec: no page table is copied, and the child can
//! leave its own stamp where we read it.
//!
//! By `clone3` the child is left alone on its CPU while we already wait for its end (see
//! [`super::into`]). Where that is refused, as container runtimes do, by `clone`, standing still until
//! exec. In the child only [`obey`] runs: system calls on memory prepared before, no allocation, no
//! lock, and nothing of the thread whose memory it shares.

use std::ffi::{CStr, c_void};
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use nix::sys::signal::SigSet;

use super::CpuMask;
use super::child::{Orders, Step, obey};
use super::into;
use super::memory::Memory;
use super::ptrace::Filter;
use crate::sample::host::Stamp;
use crate::sys::command::{self, refusal};
use crate::sys::unix::{self, Cpus, Launch};
use crate::sys::{Error, Prepared, Slots, clock};

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

    /// Whether it began in the control group it was to begin in.
    pub(crate) fn in_group(&self) -> bool {
        self.outer.is_none()
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
    /// They were asked for.
    commands_matter: bool,
    stamp: Stamp,
    filter: Option<Filter>,
    /// Our process id.
    own: i32,
    /// What the last child was told; it reads this until it has executed.
    orders: *mut Orders,
    /// `clone3` was refused.
    refused: bool,
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
            commands_matter: matches!(cpus, Cpus::List(_)),
            stamp: Stamp::BeforeExec,
            filter: None,
            own: nix::unistd::getpid().as_raw(),
            orders: Box::into_raw(Box::new(Orders::default())),
            refused: false,
        })
    }

    /// As if the system refused our own start.
    #[cfg(test)]
    pub(crate) fn refuse(&mut self) {
        self.stamp = Stamp::BeforeSpawn;
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
            self.stay();
        }
    }

    /// Stays on the CPU where we are.
    pub(crate) fn stay(&self) {
        if self.original.count() > 1 {
            if let Some(here) = CpuMask::here() {
                let _ = here.apply();
            }
        }
    }

    /// Starts a process in a group of its own. The process may still be on its way to its command
    /// when this returns: `prepared`, `slots` and our memory of `launch` stay as they are until it
    /// has ended or [`Spawner::stamped`] tells its stamp.
    ///
    /// # Errors
    /// It could not be started; nothing is left of it. What becomes known later is told by
    /// [`Spawner::stamp`].
    pub(crate) fn start(
        &mut self,
        prepared: &mut Prepared,
        slots: &Slots,
        launch: &Launch,
    ) -> Result<Started, Error> {
        if self.stamp == Stamp::BeforeSpawn {
            return self.start_outer(prepared, slots, launch);
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
        report.cpu.store(0, Ordering::Relaxed);
        report.account[0].store(0, Ordering::Relaxed);
        let (asked, pid) = self.clone_child(orders, launch)?;
        if pid < 0 {
            return match -pid {
                libc::ENOSYS | libc::EPERM | libc::EINVAL => {
                    self.stamp = Stamp::BeforeSpawn;
                    self.start_outer(prepared, slots, launch)
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

    /// A start by the standard library, which hands our CPUs down.
    fn start_outer(
        &self,
        prepared: &Prepared,
        slots: &Slots,
        launch: &Launch,
    ) -> Result<Started, Error> {
        let ours = CpuMask::current()?;
        let lent = self.commands.as_ref().map(CpuMask::apply).transpose()?;
        let started = command::start(prepared, slots, launch);
        if lent.is_some() {
            let _ = ours.apply();
        }
        let (stamp, pid) = started?;
        crate::sys::session::attend(pid);
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
            cpus_matter: self.commands_matter,
            guard: super::guard::place().map_or(ptr::null(), ptr::from_ref),
            path: prepared.path().as_ptr(),
            argv: prepared.argv(),
            envp: prepared.envp(slots),
            report: self.memory.report(),
            ..Orders::default()
        }
    }

    /// The clone itself: the clock before it, and the process id or a negative error number.
    fn clone_child(&mut self, mut orders: Orders, launch: &Launch) -> Result<(u64, i32), Error> {
        let refused = |errno: nix::errno::Errno| Error::number("pthread_sigmask", errno as i32);
        // Until exec the child may have our handlers; a signal for us waits until we go on.
        let before = SigSet::all()
            .thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_SETMASK)
            .map_err(refused)?;
        // A request that came before has reached nobody; those that come now wait for `attend`.
        if launch.unless_stopped && crate::sys::session::stop_signal().is_some() {
            before.thread_set_mask().map_err(refused)?;
            return Err(Error::Stopped);
        }
        orders.mask = *before.as_ref();
        let asked = clock::now();
        let pid = if launch.held {
            // It waits, and we must not stand still meanwhile: it gets a copy of our memory.
            self.clone_otherwise(orders, launch)
        } else {
            self.clone_beside(orders, launch)
        };
        if pid > 0 {
            // Before the mask is restored, so that a signal waiting there already reaches it.
            crate::sys::session::attend(pid);
        }
        before.thread_set_mask().map_err(refused)?;
        Ok((asked, pid))
    }

    /// A child in our memory beside us, or otherwise where that is refused.
    fn clone_beside(&mut self, orders: Orders, launch: &Launch) -> i32 {
        if !self.refused {
            let cgroup = if launch.folder < 0 { orders.cgroup } else { -1 };
            let argument = self.leave(Orders {
                cgroup,
                beside: true,
                ..orders
            });
            // SAFETY: the child does `obey` on a stack nobody uses, with all signals blocked and no
            // handler of ours. It reads what `leave` has kept, and through it what our caller keeps
            // as it is (see `start`).
            let pid =
                unsafe { into::clone_beside(launch.folder, self.memory.stack(), obey, argument) };
            match -pid {
                libc::ENOSYS | libc::EPERM => self.refused = true,
                // A kernel without one of the flags, a group that takes no process or is gone.
                libc::EINVAL
                | libc::E2BIG
                | libc::EBUSY
                | libc::EOPNOTSUPP
                | libc::EACCES
                | libc::ENOENT
                | libc::ENODEV => {}
                _ => return pid,
            }
        }
        self.clone_otherwise(orders, launch)
    }

    /// A child that is held has a copy of our memory; any other has ours, and we stand still until it
    /// has executed or ended. In its group it starts with a copy, too.
    fn clone_otherwise(&mut self, orders: Orders, launch: &Launch) -> i32 {
        let held = launch.held;
        if launch.folder >= 0 {
            let argument = self.leave(Orders {
                cgroup: -1,
                ..orders
            });
            // SAFETY: the child runs `obey` as the one thread, with all signals blocked.
            let pid = unsafe { into::clone_copy(launch.folder, held, obey, argument) };
            if pid > 0 {
                return pid;
            }
        }
        let stack = self.memory.stack_top();
        let sharing = if held {
            0
        } else {
            libc::CLONE_VM | libc::CLONE_VFORK
        };
        let argument = self.leave(orders);
        // SAFETY: as above; the stack is a copy, too, or nobody uses it while we stand still.
        let pid = unsafe { libc::clone(obey, stack, sharing | libc::SIGCHLD, argument) };
        nix::errno::Errno::result(pid).unwrap_or_else(|errno| -(errno as i32))
    }

    /// Leaves orders where the next child finds them.
    fn leave(&mut self, orders: Orders) -> *mut c_void {
        // SAFETY: allocated by `new`; the child before has executed or ended.
        unsafe { self.orders.write(orders) };
        self.orders.cast()
    }

    /// The starting stamp of a process that may not have got as far yet.
    pub(crate) fn stamped(&self, started: &Started) -> Option<u64> {
        let stamp = || self.memory.report().stamp.load(Ordering::Acquire);
        let stamp = started.outer.unwrap_or_else(stamp);
        (stamp > 0).then_some(stamp)
    }

    /// The starting stamp of a process that has ended. If it was killed on its way to its command,
    /// when it was asked for.
    ///
    /// # Errors
    /// It could not execute its command.
    pub(crate) fn stamp(&self, started: &Started, prepared: &Prepared) -> Result<u64, Error> {
        match self.failure(prepared) {
            Some(error) => Err(error),
            None => Ok(self.stamped(started).unwrap_or(started.asked)),
        }
    }

    /// CPU time that a process had used at its stamp: ours, not its command's. `None` where it is not
    /// known.
    pub(crate) fn cpu_before(&self, started: &Started) -> Option<Duration> {
        let cpu = self.memory.report().cpu.load(Ordering::Relaxed);
        (started.outer.is_none() && cpu > 0).then(|| Duration::from_nanos(cpu))
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
        let step = report.step.load(Ordering::Acquire);
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
        // SAFETY: allocated by `new`; every child has executed or ended.
        drop(unsafe { Box::from_raw(self.orders) });
    }
}
