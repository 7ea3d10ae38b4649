//! What is set up once for the whole process: signals, standard streams, rights. And the flags that
//! the signal handlers leave for the runs.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

use super::{Error, clock, platform, unix};

/// The process group of the run that is going on, or 0.
static GROUP: AtomicI32 = AtomicI32::new(0);
/// That group winds something up: a first request to stop lets it finish.
static SPARED: AtomicBool = AtomicBool::new(false);
/// It has been reaped: its number may be that of any process.
static REAPED: AtomicBool = AtomicBool::new(false);
/// The first signal that asked to stop, or 0.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// When it arrived.
static SIGNAL_AT: AtomicU64 = AtomicU64::new(0);
/// Whether a stop request is left for the runs; otherwise there is nothing to wind up.
static HEEDED: AtomicBool = AtomicBool::new(false);
/// Whether we were stopped and continued.
static CONTINUED: AtomicBool = AtomicBool::new(false);
/// Whose handlers these are: a child shares our memory until exec.
static OWNER: AtomicI32 = AtomicI32::new(0);

/// `timeout(1)` sends its signal to us and then to our group: signals this close are one request.
const SAME_REQUEST_NS: u64 = 100_000_000;

/// What was found when the session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Session {
    /// Standard output was closed, or open for reading only: a result written there is lost.
    pub(crate) stdout_closed: bool,
}

/// Makes the process fit to run commands, whatever it inherited: child signals are not ignored, no
/// signal is blocked, closed standard streams lead nowhere instead of into the next file opened,
/// and signals that ask to stop are passed on to the running command.
///
/// # Errors
/// We have more rights than the caller, or the system refused.
pub(crate) fn begin() -> Result<Session, Error> {
    if nix::unistd::getuid() != nix::unistd::geteuid()
        || nix::unistd::getgid() != nix::unistd::getegid()
    {
        return Err(Error::ForeignRights);
    }
    let stdout_closed = stdout_takes_nothing();
    close_gaps()?;
    OWNER.store(own_pid(), Ordering::Relaxed);
    set_action(libc::SIGCHLD, libc::SIG_DFL)?;
    // Writing past a limit of file size is an error to tell, not our end. A handler, because what
    // is ignored stays so in the command.
    if !ignored(libc::SIGXFSZ) {
        set_action(libc::SIGXFSZ, on_wakeup as *const () as usize)?;
    }
    unblock_all()?;
    // Ignored by nohup, or by a shell without job control: that was meant.
    for signal in [libc::SIGHUP, libc::SIGQUIT] {
        if !ignored(signal) {
            set_action(signal, on_stop_request as *const () as usize)?;
        }
    }
    for signal in [libc::SIGINT, libc::SIGTERM] {
        set_action(signal, on_stop_request as *const () as usize)?;
    }
    if !ignored(libc::SIGTSTP) {
        set_action(libc::SIGTSTP, on_suspend as *const () as usize)?;
    }
    set_action(libc::SIGCONT, on_continue as *const () as usize)?;
    platform::guard::begin();
    platform::adopt_orphans();
    Ok(Session { stdout_closed })
}

/// The signal that asked to stop, once one has.
pub(crate) fn stop_signal() -> Option<i32> {
    Some(SIGNAL.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// As if that signal had asked us to stop.
pub(crate) fn ask_to_stop(signal: i32) {
    let _ = request(signal, raw_now());
}

/// Notes a request to stop, if it is the first.
fn request(signal: i32, now: u64) -> bool {
    let first = SIGNAL
        .compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed)
        .is_ok();
    if first {
        SIGNAL_AT.store(now, Ordering::Relaxed);
    }
    first
}

/// Whether a signal at `now` asks once more, after a first one at `first`; 0 while that is being
/// noted.
fn asks_again(now: u64, first: u64) -> bool {
    first != 0 && now.saturating_sub(first) > SAME_REQUEST_NS
}

/// Waits until a request to stop has come to everyone it is for. Signalled twice, as `timeout(1)` does
/// it, a process started in between gets the second one while it still is in our group.
pub(crate) fn let_request_pass() {
    while let Some(rest) =
        stop_signal().and_then(|_| still_comes(raw_now(), SIGNAL_AT.load(Ordering::Relaxed)))
    {
        unix::pause(rest);
    }
}

/// How long signals that arrive are still the request that came at `first`.
fn still_comes(now: u64, first: u64) -> Option<Duration> {
    let until = first + SAME_REQUEST_NS;
    (now <= until).then(|| Duration::from_nanos(until + 1 - now))
}

/// Whether we were stopped and continued since the last call.
pub(crate) fn was_continued() -> bool {
    CONTINUED.swap(false, Ordering::Relaxed)
}

/// From now on a signal that asks to stop lets what goes on be wound up. Before, it ends the program
/// at once: nobody would look at the flag, and opening a FIFO may wait for ever.
pub(crate) fn heed_stop_requests() {
    HEEDED.store(true, Ordering::Relaxed);
}

/// From now on signals that ask to stop are passed on to this process group.
pub(crate) fn attend(group: i32) {
    platform::guard::attend(group);
    REAPED.store(false, Ordering::Relaxed);
    GROUP.store(group, Ordering::Relaxed);
}

/// The process that leads it is about to be reaped: from now on its number alone gets no signal.
pub(crate) fn let_go() {
    REAPED.store(true, Ordering::Relaxed);
}

/// The group that gets them, or 0.
#[cfg(test)]
pub(crate) fn attended() -> i32 {
    GROUP.load(Ordering::Relaxed)
}

/// The group that is attended next winds something up: a first request to stop is not passed on to
/// it.
pub(crate) fn spare() {
    SPARED.store(true, Ordering::Relaxed);
}

/// No process group gets them any more.
pub(crate) fn leave() {
    SPARED.store(false, Ordering::Relaxed);
    platform::guard::attend(0);
    GROUP.store(0, Ordering::Relaxed);
}

/// Stops us as the terminal's stop key would; returns when we are continued.
pub(crate) fn suspend_self(signal: i32) {
    CONTINUED.store(true, Ordering::Relaxed);
    // SAFETY: a plain system call without memory.
    unsafe { libc::raise(signal) };
}

/// Does nothing: its arrival ends a blocking call.
extern "C" fn on_wakeup(_signal: i32) {}

/// Lets `SIGALRM` end blocking waits.
///
/// # Errors
/// The system refused.
pub(super) fn allow_wakeups() -> Result<(), Error> {
    set_action(libc::SIGALRM, on_wakeup as *const () as usize)
}

/// Handler of INT, TERM, HUP and QUIT. Only async-signal-safe calls.
extern "C" fn on_stop_request(signal: i32) {
    if in_child(signal) {
        return;
    }
    if !HEEDED.load(Ordering::Relaxed) {
        end(signal);
    }
    let group = GROUP.load(Ordering::Relaxed);
    let now = raw_now();
    if request(signal, now) {
        if !SPARED.load(Ordering::Relaxed) {
            forward(group, signal);
        }
    } else if asks_again(now, SIGNAL_AT.load(Ordering::Relaxed)) {
        forward(group, libc::SIGKILL);
        end(signal);
    }
}

/// Ends us at once, but leaves no file half written.
fn end(signal: i32) {
    #[cfg(feature = "cli")]
    super::temporary::remove_all();
    // SAFETY: async-signal-safe; ends the process.
    unsafe { libc::_exit(128 + signal) };
}

/// Handler of TSTP: the command stands still as long as we do.
extern "C" fn on_suspend(signal: i32) {
    if in_child(signal) {
        return;
    }
    keeping_errno(|| stop_with_the_command(signal));
    on_continue(libc::SIGCONT);
}

/// Stops the command and us; returns when we are continued.
fn stop_with_the_command(signal: i32) {
    let group = GROUP.load(Ordering::Relaxed);
    unix::send(group, libc::SIGSTOP, !REAPED.load(Ordering::Relaxed));
    // SAFETY: async-signal-safe calls on a local set.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, signal);
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
        // The stop happens here, and we go on behind it when continued.
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
    }
    let _ = set_action(signal, on_suspend as *const () as usize);
}

/// Handler of CONT.
extern "C" fn on_continue(signal: i32) {
    if in_child(signal) {
        return;
    }
    CONTINUED.store(true, Ordering::Relaxed);
    forward(GROUP.load(Ordering::Relaxed), libc::SIGCONT);
}

/// Signals a group.
fn forward(group: i32, signal: i32) {
    keeping_errno(|| unix::signal_run(group, signal, !REAPED.load(Ordering::Relaxed)));
}

/// Does something in a handler without touching the errno of what was interrupted.
fn keeping_errno(act: impl FnOnce()) {
    let errno = nix::errno::Errno::last_raw();
    act();
    nix::errno::Errno::set_raw(errno);
}

/// A child has our handlers, in our memory, for the few microseconds before exec: there the
/// signal does what it would do to the command.
fn in_child(signal: i32) -> bool {
    if own_pid() == OWNER.load(Ordering::Relaxed) {
        return false;
    }
    // SAFETY: async-signal-safe; dispositions are the child's own, only memory is shared.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
    true
}

/// Our number.
pub(super) fn own_pid() -> i32 {
    // SAFETY: a plain system call that cannot fail.
    unsafe { libc::getpid() }
}

fn raw_now() -> u64 {
    clock::now()
}

fn set_action(signal: i32, handler: libc::sighandler_t) -> Result<(), Error> {
    // SAFETY: all zero is a valid sigaction: no flags (so waits end with EINTR), empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler;
    // SAFETY: `handler` is SIG_DFL, SIG_IGN or a function of the type the kernel calls.
    let result = unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    if result < 0 {
        return Err(Error::last("sigaction"));
    }
    Ok(())
}

fn ignored(signal: i32) -> bool {
    // SAFETY: all zero is a valid sigaction, and the call only writes it.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}

fn unblock_all() -> Result<(), Error> {
    nix::sys::signal::SigSet::empty()
        .thread_set_mask()
        .map_err(|errno| Error::number("pthread_sigmask", errno as i32))
}

/// Whether what is written to standard output is lost: it was closed, or is open for reading only.
/// The language's own stream calls that a success.
pub(crate) fn stdout_takes_nothing() -> bool {
    // SAFETY: a plain system call.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFL) };
    platform::stdout_was_closed() || flags < 0 || flags & libc::O_ACCMODE == libc::O_RDONLY
}

/// Opens `/dev/null` on closed standard streams.
fn close_gaps() -> Result<(), Error> {
    for stream in 0..3 {
        // SAFETY: plain system calls; the path is a literal.
        unsafe {
            if libc::fcntl(stream, libc::F_GETFD) >= 0 {
                continue;
            }
            // Streams below are open, so the lowest free number is this one.
            if libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) < 0 {
                return Err(Error::last("open /dev/null"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_is_being_noted_is_the_same() {
        let first = 5_000_000_000;
        assert!(!asks_again(first, 0));
        assert!(!asks_again(first + SAME_REQUEST_NS, first));
        assert!(asks_again(first + SAME_REQUEST_NS + 1, first));
        assert!(!asks_again(first - 1, first));
    }

    #[test]
    fn what_follows_a_request_begins_when_no_more_of_it_can_come() {
        let first = 5_000_000_000;
        for passed in [0, 1, SAME_REQUEST_NS] {
            let rest = still_comes(first + passed, first).unwrap();
            let then = first + passed + rest.as_nanos() as u64;
            assert!(asks_again(then, first) && still_comes(then, first).is_none());
        }
    }

    #[test]
    fn handlers_leave_errno_as_it_was() {
        nix::errno::Errno::set_raw(libc::EINTR);
        keeping_errno(|| nix::errno::Errno::set_raw(libc::ESRCH));
        assert_eq!(nix::errno::Errno::last_raw(), libc::EINTR);
    }
}
