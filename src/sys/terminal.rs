//! Lends the terminal to a command that insists on it. Commands run in a process group of their
//! own, which the terminal stops when it reads from it (or writes, with `stty tostop`).

use std::fs::File;
use std::os::fd::AsFd;

#[cfg(feature = "cli")]
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, pthread_sigmask};
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};

/// Columns of the terminal that standard output or error is, if one says so.
#[cfg(feature = "cli")]
pub(crate) fn columns() -> Option<usize> {
    [libc::STDOUT_FILENO, libc::STDERR_FILENO]
        .into_iter()
        .find_map(|descriptor| {
            let mut size = libc::winsize {
                ws_row: 0,
                ws_col: 0,
                ws_xpixel: 0,
                ws_ypixel: 0,
            };
            // SAFETY: the call writes one `winsize`, which `size` is.
            let answer = unsafe { libc::ioctl(descriptor, libc::TIOCGWINSZ, &raw mut size) };
            (answer == 0 && size.ws_col > 0).then_some(usize::from(size.ws_col))
        })
}

/// Whether standard output is a pipe that nobody reads from any more.
#[cfg(feature = "cli")]
#[allow(
    clippy::disallowed_methods,
    reason = "it is asked about, not written to"
)]
pub(crate) fn reader_is_gone() -> bool {
    let stdout = std::io::stdout();
    let mut asked = [PollFd::new(stdout.as_fd(), PollFlags::empty())];
    let answered = poll(&mut asked, PollTimeout::ZERO).is_ok_and(|count| count > 0);
    let found = asked[0].revents().unwrap_or(PollFlags::empty());
    answered && found.contains(PollFlags::POLLERR)
}

/// The modes of the terminal as they were; dropping restores them if a command has changed them.
#[derive(Debug)]
pub(crate) struct Modes {
    terminal: File,
    modes: Termios,
}

impl Modes {
    /// Those of the terminal, if we are in front of it.
    pub(crate) fn keep() -> Option<Self> {
        let mut options = File::options();
        let terminal = options.read(true).write(true).open("/dev/tty").ok()?;
        let front = tcgetpgrp(terminal.as_fd()).ok()?;
        let modes = tcgetattr(&terminal).ok()?;
        (front == getpgrp()).then_some(Self { terminal, modes })
    }
}

impl Drop for Modes {
    fn drop(&mut self) {
        let in_front = tcgetpgrp(self.terminal.as_fd()) == Ok(getpgrp());
        if in_front && tcgetattr(&self.terminal).is_ok_and(|now| now != self.modes) {
            unstopped(|| {
                let _ = tcsetattr(&self.terminal, SetArg::TCSADRAIN, &self.modes);
            });
        }
    }
}

/// The terminal while it is lent; dropping takes it back, with the modes it had.
#[derive(Debug)]
pub(crate) struct Lent {
    modes: Modes,
}

/// Makes a process group the one in front, if we are that now.
pub(crate) fn lend(group: i32) -> Option<Lent> {
    let modes = Modes::keep()?;
    move_to_front(&modes.terminal, Pid::from_raw(group));
    Some(Lent { modes })
}

impl Drop for Lent {
    fn drop(&mut self) {
        move_to_front(&self.modes.terminal, getpgrp());
    }
}

fn move_to_front(terminal: &File, group: Pid) {
    unstopped(|| {
        let _ = tcsetpgrp(terminal.as_fd(), group);
    });
}

/// The terminal would stop us for a change when we are not in front of it, hence the mask.
fn unstopped(change: impl FnOnce()) {
    let mut output = SigSet::empty();
    output.add(Signal::SIGTTOU);
    let mut old = SigSet::empty();
    let _ = pthread_sigmask(SigmaskHow::SIG_BLOCK, Some(&output), Some(&mut old));
    change();
    let _ = pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&old), None);
}
