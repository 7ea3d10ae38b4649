//! What is set up and looked at once for a whole session.

use std::sync::Arc;

use crate::probe;
use crate::sample::{Host, Shelf};
use crate::sys;

use super::executor::RunError;

/// What was found when the session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// Standard output was closed, or open for reading only: a result written there is lost.
    pub stdout_closed: bool,
}

/// Makes the process fit to run commands, whatever it inherited: children are waited for, no signal
/// is blocked, closed standard streams lead nowhere instead of into the next file opened, and
/// signals that ask to stop are passed on to the running command.
///
/// For programs, before anything else; an embedding crate that has its own signal handlers leaves
/// it out.
///
/// # Errors
/// The process has more rights than its caller, or the system refused.
pub fn begin() -> Result<Session, RunError> {
    let found = sys::session::begin().map_err(|error| RunError::about("", error))?;
    Ok(Session {
        stdout_closed: found.stdout_closed,
    })
}

/// Makes our own memory as small as it gets, because runs inherit its peak. For programs, before
/// the first run.
pub fn slim() {
    sys::platform::slim();
}

/// Keeps memory that becomes free, to be used again. For programs, once no run will be made any more.
pub fn keep_memory() {
    sys::platform::keep_memory();
}

/// Room for samples outside of our own memory, so that runs do not inherit a peak that grows with
/// their number; `None` where the system has none.
#[must_use]
pub fn shelf() -> Option<Arc<dyn Shelf>> {
    Some(Arc::new(sys::files::Scratch::new()?))
}

/// The machine as it is now.
#[must_use]
pub fn host() -> Host {
    let mut host = sys::host::host();
    host.facts.extend(probe::facts());
    host
}

/// Seconds since 1970, for dates in recordings.
#[must_use]
pub fn unix_seconds() -> Option<u64> {
    sys::clock::unix_seconds()
}
