//! Lends the terminal to a command that insists on it. Commands run in a process group of their
//! own, which the terminal stops when it reads from it (or writes, with `stty tostop`).

use std::fs::File;
use std::os::fd::AsFd;

use nix::sys::signal::{SigSet, SigmaskHow, Signal, pthread_sigmask};
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

/// The terminal while it is lent; dropping takes it back.
#[derive(Debug)]
pub(crate) struct Lent {
    terminal: File,
}

/// Makes a process group the one in front, if we are that now.
pub(crate) fn lend(group: i32) -> Option<Lent> {
    let mut options = File::options();
    let terminal = options.read(true).write(true).open("/dev/tty").ok()?;
    let front = tcgetpgrp(terminal.as_fd()).ok()?;
    if front != getpgrp() {
        return None;
    }
    move_to_front(&terminal, Pid::from_raw(group));
    Some(Lent { terminal })
}

impl Drop for Lent {
    fn drop(&mut self) {
        move_to_front(&self.terminal, getpgrp());
    }
}

/// The terminal would stop us for this when we are not in front ourselves, hence the mask.
fn move_to_front(terminal: &File, group: Pid) {
    let mut output = SigSet::empty();
    output.add(Signal::SIGTTOU);
    let mut old = SigSet::empty();
    let _ = pthread_sigmask(SigmaskHow::SIG_BLOCK, Some(&output), Some(&mut old));
    let _ = tcsetpgrp(terminal.as_fd(), group);
    let _ = pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&old), None);
}
