//! Waits for the end of a process while taking what it writes out of a pipe: one thread does both.

use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::rc::Rc;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::unix::{self, Event};
use super::{Error, clock, platform};

/// How often to look for the end where no descriptor tells it.
const LOOK_MS: u16 = 1;

/// The reading end of a command's output.
#[derive(Debug)]
pub(crate) struct Channel {
    /// Gone when the other end was closed by all.
    pipe: Option<OwnedFd>,
    null: Rc<File>,
    end: Option<OwnedFd>,
    digest: Option<(DefaultHasher, Box<[u8]>)>,
}

impl Channel {
    /// A channel that throws away what comes, or also computes a digest of it.
    pub(crate) fn new(pipe: OwnedFd, null: Rc<File>, digest: bool) -> Self {
        let room = || vec![0; 64 * 1024].into_boxed_slice();
        Self {
            pipe: Some(pipe),
            null,
            end: None,
            digest: digest.then(|| (DefaultHasher::new(), room())),
        }
    }

    /// Also watches for the end of that process from now on.
    pub(crate) fn watch(&mut self, pid: i32) {
        self.end = platform::end_descriptor(pid);
    }

    /// Takes output until the process ends or stops, or a signal arrives.
    ///
    /// # Errors
    /// It is not our child.
    pub(crate) fn wait(&mut self, pid: i32) -> Result<Event, Error> {
        loop {
            let Some(pipe) = self.pipe.as_ref() else {
                return unix::wait(pid);
            };
            let (timeout, end) = match &self.end {
                Some(end) => (PollTimeout::NONE, end),
                None => (PollTimeout::from(LOOK_MS), pipe),
            };
            let (output, ended) = match ready([pipe.as_fd(), end.as_fd()], timeout) {
                Ok([output, ended]) => (output, ended || self.end.is_none()),
                Err(_) => (false, true),
            };
            // The end first: what is still in the pipe can wait.
            if ended {
                let event = unix::look(pid)?;
                if event != Event::Nothing || !output {
                    return Ok(event);
                }
            }
            if output {
                self.take();
            }
        }
    }

    /// Takes once what is there, without waiting.
    pub(crate) fn relieve(&mut self) {
        if let Some(pipe) = self.pipe.as_ref() {
            if let Ok([true, _]) = ready([pipe.as_fd(), pipe.as_fd()], PollTimeout::ZERO) {
                self.take();
            }
        }
    }

    /// Takes what is left; whether some process still holds the other end after `grace`.
    pub(crate) fn finish(&mut self, grace: Duration) -> bool {
        let begun = clock::now();
        while let Some(pipe) = self.pipe.as_ref() {
            let passed = Duration::from_nanos(clock::now() - begun);
            let left = grace.saturating_sub(passed);
            if left.is_zero() {
                break;
            }
            let left = u16::try_from(left.as_millis()).unwrap_or(u16::MAX).max(1);
            if let Ok([true, _]) = ready([pipe.as_fd(), pipe.as_fd()], left.into()) {
                self.take();
            }
        }
        self.pipe.take().is_some()
    }

    /// The digest of all that came, if one was wanted.
    pub(crate) fn digest(&self) -> Option<u64> {
        self.digest.as_ref().map(|(hasher, _)| hasher.finish())
    }

    /// Takes once what is there; forgets the pipe at its end.
    fn take(&mut self) {
        let Some(pipe) = self.pipe.take() else { return };
        let (taken, pipe) = match &mut self.digest {
            None => (platform::discard(&pipe, &self.null), pipe),
            Some((hasher, room)) => {
                let mut file = File::from(pipe);
                let taken = file.read(room);
                if let Ok(length) = taken {
                    hasher.write(&room[..length]);
                }
                (taken, file.into())
            }
        };
        let closed = match taken {
            Ok(length) => length == 0,
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        };
        if !closed {
            self.pipe = Some(pipe);
        }
    }
}

/// Waits until a process ends or stops, a signal arrives, or one of the descriptors has something
/// to read; takes output meanwhile.
///
/// # Errors
/// It is not our child.
pub(crate) fn wait_beside(
    pid: i32,
    end: &OwnedFd,
    channel: Option<&mut Channel>,
    others: &[RawFd],
) -> Result<Event, Error> {
    // SAFETY: whoever waits keeps its descriptors open until the call returns.
    let others = others
        .iter()
        .map(|fd| unsafe { BorrowedFd::borrow_raw(*fd) });
    let pipe = channel.as_ref().and_then(|channel| channel.pipe.as_ref());
    let all = std::iter::once(end.as_fd())
        .chain(pipe.map(AsFd::as_fd))
        .chain(others);
    let mut asked: Vec<_> = all
        .map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN))
        .collect();
    if poll(&mut asked, PollTimeout::NONE).is_err() {
        return unix::look(pid);
    }
    let output = pipe.is_some() && asked.get(1).and_then(PollFd::any).unwrap_or(false);
    let event = unix::look(pid)?;
    if let Some(channel) = channel.filter(|_| output && event == Event::Nothing) {
        channel.take();
    }
    Ok(event)
}

/// Which of two descriptors have something to read or were closed.
fn ready(descriptors: [BorrowedFd<'_>; 2], timeout: PollTimeout) -> io::Result<[bool; 2]> {
    let mut asked = descriptors.map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN));
    poll(&mut asked, timeout)?;
    Ok(asked.map(|one| one.any().unwrap_or(false)))
}
