//! A child that is held before exec until its observers are attached.
//!
//! Not for timed runs: it forks. The child stamps the clock just before exec on a shared page.

#![allow(
    unsafe_code,
    reason = "fork, exec and a shared page have no safe wrapper"
)]
#![allow(
    clippy::cast_possible_wrap,
    reason = "process numbers and seconds stay below 2^31"
)]

use std::ffi::{CString, c_char};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

/// What to start. Without descriptors the standard streams are `/dev/null`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Start {
    /// Program and arguments; the program is searched in `PATH` unless it holds a slash.
    pub(crate) arguments: Vec<CString>,
    /// `NAME=value`, or the environment of this process.
    pub(crate) environment: Option<Vec<CString>>,
    /// Where it runs.
    pub(crate) directory: Option<CString>,
    /// Standard input, output and error.
    pub(crate) streams: [Option<RawFd>; 3],
    /// A seccomp program to install before exec (it also sets `no_new_privs`).
    pub(crate) filter: Option<Vec<libc::sock_filter>>,
}

/// What parent and child share.
struct Shared {
    stamp: AtomicU64,
    error: AtomicI32,
}

/// A started child, before or after exec.
#[derive(Debug)]
pub(crate) struct Held {
    pid: libc::pid_t,
    gate: Option<OwnedFd>,
    pidfd: OwnedFd,
    shared: *mut Shared,
    reaped: bool,
}

/// How a child ended, from `wait4(2)`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    /// Raw status of `wait`.
    pub(crate) status: i32,
    /// User plus system time of it and the children it waited for.
    pub(crate) cpu: Duration,
}

/// Monotonic clock in nanoseconds, the clock of the switch records.
pub(crate) fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes one timespec that lives on this stack frame.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Held {
    /// Forks the child; it waits to be released.
    ///
    /// # Errors
    /// A pipe, the shared page, the fork or the pidfd (Linux 5.3) was refused.
    pub(crate) fn start(start: &Start) -> io::Result<Self> {
        let prepared = Prepared::new(start);
        let (read, write) = pipe()?;
        let shared = share()?;
        // SAFETY: the child calls only async-signal-safe functions on memory prepared above, and
        // never returns.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            // SAFETY: as above; the shared page stays mapped across fork.
            unsafe { child(&prepared, read.as_raw_fd(), write.as_raw_fd(), &*shared) };
        }
        if pid < 0 {
            let error = io::Error::last_os_error();
            release_page(shared);
            return Err(error);
        }
        // SAFETY: a plain system call; the result is a new descriptor or negative.
        let pidfd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } as RawFd;
        let gate = Some(write);
        if pidfd < 0 {
            let error = io::Error::last_os_error();
            kill_and_reap(pid);
            release_page(shared);
            return Err(error);
        }
        // SAFETY: pidfd_open returned this descriptor and nobody else owns it.
        let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
        Ok(Self {
            pid,
            gate,
            pidfd,
            shared,
            reaped: false,
        })
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.pid as u32
    }

    /// Readable once the process has ended.
    pub(crate) fn pidfd(&self) -> RawFd {
        self.pidfd.as_raw_fd()
    }

    /// Lets it exec.
    pub(crate) fn release(&mut self) {
        if let Some(gate) = self.gate.take() {
            // SAFETY: writes one byte from a static to our own descriptor.
            unsafe { libc::write(gate.as_raw_fd(), c"x".as_ptr().cast(), 1) };
        }
    }

    /// When it was about to exec; 0 before.
    pub(crate) fn stamp(&self) -> u64 {
        self.page().stamp.load(Ordering::Acquire)
    }

    /// Why it could not exec, once it has ended.
    pub(crate) fn exec_error(&self) -> Option<io::Error> {
        let error = self.page().error.load(Ordering::Acquire);
        (error != 0).then(|| io::Error::from_raw_os_error(error))
    }

    /// Waits until one of the descriptors is readable, the process ended or the time passed;
    /// tells whether the process ended.
    pub(crate) fn wait(&self, others: &[RawFd], timeout: Duration) -> bool {
        let poll = |&fd: &RawFd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        let mut set: Vec<_> = std::iter::once(&self.pidfd())
            .chain(others)
            .map(poll)
            .collect();
        let timeout = libc::timespec {
            tv_sec: timeout.as_secs() as libc::time_t,
            tv_nsec: timeout.subsec_nanos().into(),
        };
        // SAFETY: `set` and `timeout` live across the call and the length is right.
        unsafe {
            libc::ppoll(
                set.as_mut_ptr(),
                set.len() as _,
                &raw const timeout,
                ptr::null(),
            )
        };
        set[0].revents != 0
    }

    /// Collects the ended process.
    ///
    /// # Errors
    /// Somebody else reaped it.
    pub(crate) fn reap(&mut self) -> io::Result<Ended> {
        let mut status = 0;
        // SAFETY: rusage is plain data for which all zeroes is a value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both out pointers are valid for the call.
        let pid = unsafe { libc::wait4(self.pid, &raw mut status, 0, &raw mut usage) };
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        self.reaped = true;
        let time = |t: libc::timeval| {
            Duration::new(t.tv_sec as u64, (t.tv_usec as u32).saturating_mul(1000))
        };
        Ok(Ended {
            status,
            cpu: time(usage.ru_utime) + time(usage.ru_stime),
        })
    }

    /// Notes that the process was reaped elsewhere (by its tracer).
    pub(crate) fn forget(&mut self) {
        self.reaped = true;
    }

    fn page(&self) -> &Shared {
        // SAFETY: the page is mapped until drop, and holds only atomics.
        unsafe { &*self.shared }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.reaped {
            kill_and_reap(self.pid);
        }
        release_page(self.shared);
    }
}

/// Makes timers of this thread exact to the nanosecond while it lives (`PR_SET_TIMERSLACK`; the
/// default is 50 µs). Set it after a fork: a child inherits it.
#[derive(Debug)]
pub(crate) struct ExactTimers(libc::c_ulong);

impl ExactTimers {
    /// From now on.
    pub(crate) fn set() -> Self {
        // SAFETY: these prctl calls take and return numbers only.
        let before = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) };
        // SAFETY: as above.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
        Self(before.max(0) as libc::c_ulong)
    }
}

impl Drop for ExactTimers {
    fn drop(&mut self) {
        // SAFETY: numbers only.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, self.0) };
    }
}

/// Everything the child needs, allocated before the fork.
struct Prepared<'a> {
    start: &'a Start,
    arguments: Vec<*const c_char>,
    environment: Option<Vec<*const c_char>>,
    filter: Option<libc::sock_fprog>,
    parent: libc::pid_t,
}

impl<'a> Prepared<'a> {
    fn new(start: &'a Start) -> Self {
        let pointers = |list: &[CString]| -> Vec<*const c_char> {
            list.iter()
                .map(|item| item.as_ptr())
                .chain([ptr::null()])
                .collect()
        };
        Self {
            start,
            arguments: pointers(&start.arguments),
            environment: start.environment.as_deref().map(pointers),
            filter: start.filter.as_ref().map(|filter| libc::sock_fprog {
                len: filter.len() as u16,
                filter: filter.as_ptr().cast_mut(),
            }),
            // SAFETY: getpid cannot fail.
            parent: unsafe { libc::getpid() },
        }
    }
}

/// The child between fork and exec.
///
/// # Safety
/// Only to be called in a fresh child; calls nothing but async-signal-safe functions.
unsafe fn child(prepared: &Prepared<'_>, gate: RawFd, write: RawFd, shared: &Shared) -> ! {
    // SAFETY: all pointers were made before the fork and are still valid in the copy.
    unsafe {
        libc::setpgid(0, 0);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
        if libc::getppid() != prepared.parent {
            libc::_exit(127);
        }
        libc::close(write);
        let mut byte = 0_u8;
        let mut got = libc::read(gate, (&raw mut byte).cast(), 1);
        while got < 0 && errno() == libc::EINTR {
            got = libc::read(gate, (&raw mut byte).cast(), 1);
        }
        if got != 1 {
            libc::_exit(127);
        }
        let failed = prepare(prepared);
        if failed == 0 {
            shared.stamp.store(now(), Ordering::Release);
            exec(prepared);
        }
        shared.error.store(
            if failed == 0 { errno() } else { failed },
            Ordering::Release,
        );
        libc::_exit(127)
    }
}

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Streams, directory, signals and filter of the child; 0 or the error number.
///
/// # Safety
/// As [`child`].
unsafe fn prepare(prepared: &Prepared<'_>) -> i32 {
    // SAFETY: plain system calls on descriptors and strings made before the fork.
    unsafe {
        for (number, stream) in (0..).zip(prepared.start.streams) {
            let flags = if number == 0 {
                libc::O_RDONLY
            } else {
                libc::O_WRONLY
            };
            let from = stream.unwrap_or_else(|| libc::open(c"/dev/null".as_ptr(), flags));
            if from < 0 || libc::dup2(from, number) < 0 {
                return errno();
            }
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        if let Some(directory) = &prepared.start.directory {
            if libc::chdir(directory.as_ptr()) < 0 {
                return errno();
            }
        }
        if let Some(filter) = &prepared.filter {
            if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1 as libc::c_ulong, 0, 0, 0) < 0
                || libc::prctl(
                    libc::PR_SET_SECCOMP,
                    libc::c_ulong::from(libc::SECCOMP_MODE_FILTER),
                    filter,
                ) < 0
            {
                return errno();
            }
        }
    }
    0
}

/// # Safety
/// As [`child`].
unsafe fn exec(prepared: &Prepared<'_>) {
    let arguments = prepared.arguments.as_ptr();
    // SAFETY: null-terminated arrays of null-terminated strings made before the fork.
    unsafe {
        match &prepared.environment {
            Some(environment) => {
                libc::execvpe(*arguments, arguments, environment.as_ptr());
            }
            None => {
                libc::execvp(*arguments, arguments);
            }
        }
    }
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for two descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: pipe2 returned these descriptors and nobody else owns them.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

const PAGE: usize = 4096;

fn share() -> io::Result<*mut Shared> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
    // SAFETY: a fresh anonymous mapping; zeroes are valid atomics.
    let page = unsafe { libc::mmap(ptr::null_mut(), PAGE, protection, flags, -1, 0) };
    if page == libc::MAP_FAILED {
        Err(io::Error::last_os_error())
    } else {
        Ok(page.cast())
    }
}

fn release_page(page: *mut Shared) {
    // SAFETY: mapped by `share` with this length and not used after.
    unsafe { libc::munmap(page.cast(), PAGE) };
}

fn kill_and_reap(pid: libc::pid_t) {
    // SAFETY: our own child, not reaped yet, so the number is still its own.
    unsafe {
        libc::kill(pid, libc::SIGKILL);
        libc::waitpid(pid, ptr::null_mut(), 0);
    }
}
