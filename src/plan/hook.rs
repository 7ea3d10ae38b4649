//! What runs around the runs of a benchmark. Hooks always go through a shell.

use std::ffi::OsString;

/// The hooks of one benchmark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hooks {
    /// The shell's words up to and including `-c`.
    pub shell: Vec<OsString>,
    /// Once before the first run.
    pub setup: Option<OsString>,
    /// Before each run.
    pub prepare: Option<OsString>,
    /// After each run.
    pub conclude: Option<OsString>,
    /// Once after the last run, also when a run failed or was interrupted, if `setup` ran.
    pub cleanup: Option<OsString>,
}

impl Default for Hooks {
    fn default() -> Self {
        Self {
            shell: vec!["sh".into(), "-c".into()],
            setup: None,
            prepare: None,
            conclude: None,
            cleanup: None,
        }
    }
}
