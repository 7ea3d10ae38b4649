//! Runs what stands around the runs. Hooks are started like commands, so that signals reach them
//! the same way, but nobody measures them.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::rc::Rc;

use super::RunError;
use super::ready;
use super::waiting::{Rhythm, Unattended, Vigil};
use crate::plan::{Benchmark, Output};
use crate::sys::files::Kept;
use crate::sys::platform::{Spawner, Wakeups};
use crate::sys::unix::{Ended, Launch};
use crate::sys::{self, Environment, Prepared, Slots, session};

/// One of the four.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Setup,
    Prepare,
    Conclude,
    Cleanup,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Prepare => "prepare",
            Self::Conclude => "conclude",
            Self::Cleanup => "cleanup",
        }
    }

    fn command(self, benchmark: &Benchmark) -> Option<&OsString> {
        let hooks = &benchmark.hooks;
        match self {
            Self::Setup => hooks.setup.as_ref(),
            Self::Prepare => hooks.prepare.as_ref(),
            Self::Conclude => hooks.conclude.as_ref(),
            Self::Cleanup => hooks.cleanup.as_ref(),
        }
    }
}

/// What hooks are started with.
pub(super) struct Means<'a> {
    pub(super) spawner: &'a mut Spawner,
    pub(super) wakeups: Rc<Wakeups>,
    pub(super) slots: &'a mut Slots,
    pub(super) null: &'a File,
}

/// A hook ready to be run.
#[derive(Debug)]
pub(super) struct Hook {
    kind: Kind,
    program: String,
    command: Prepared,
    inherit: bool,
}

impl Hook {
    /// That hook of a benchmark, if it has one.
    ///
    /// # Errors
    /// The shell cannot be executed.
    pub(super) fn new(
        kind: Kind,
        benchmark: &Benchmark,
        session: &Environment,
    ) -> Result<Option<Self>, RunError> {
        let Some(command) = kind.command(benchmark) else {
            return Ok(None);
        };
        let words = ready::hook_words(&benchmark.hooks.shell, command);
        Ok(Some(Self {
            kind,
            program: ready::program(&words),
            command: ready::prepare(&words, benchmark, session)?,
            inherit: benchmark.output == Output::Inherit,
        }))
    }

    /// Runs it and waits for its end.
    ///
    /// # Errors
    /// It could not be started or did not succeed.
    pub(super) fn run(&mut self, means: Means<'_>) -> Result<(), RunError> {
        let stderr = Kept::new();
        let ended = self
            .start_and_wait(means, stderr.as_ref())
            .map_err(|error| RunError::about(&self.program, error))?;
        if ended.outcome.success() {
            return Ok(());
        }
        Err(RunError::Hook {
            hook: self.kind.name(),
            how: ended.outcome.to_string(),
            code: ended.outcome.code(),
            stderr: stderr.map(|kept| kept.tail()).unwrap_or_default(),
        })
    }

    fn start_and_wait(
        &mut self,
        means: Means<'_>,
        stderr: Option<&Kept>,
    ) -> Result<Ended, sys::Error> {
        let null = means.null.as_raw_fd();
        let error = stderr.map_or(null, |kept| kept.file().as_raw_fd());
        let (output, error) = if self.inherit {
            (-1, -1)
        } else {
            (null, error)
        };
        let launch = Launch {
            stdio: [null, output, error],
            cgroup: -1,
            folder: -1,
            held: false,
            // What winds up has to run just then.
            unless_stopped: false,
        };
        means.slots.set_padding(None);
        session::let_request_pass();
        let mut vigil = Vigil::new(means.wakeups, Rhythm::new(false, None));
        if matches!(self.kind, Kind::Conclude | Kind::Cleanup) {
            vigil.spare();
        }
        let started = means
            .spawner
            .start(&mut self.command, means.slots, &launch)?;
        vigil.watch(started.pid, started.asked);
        vigil.until_end(&mut Unattended)?;
        let ended = vigil.reap()?;
        means.spawner.stamp(&started, &self.command)?;
        vigil.ended_by(ended.outcome.signal());
        Ok(ended)
    }
}
