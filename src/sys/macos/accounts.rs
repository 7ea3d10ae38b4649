//! Sources of evidence that these systems do not have, with the names they have on Linux.

use std::fs::File;
use std::io;

use super::KernelFile;
use crate::evidence::{Availability, Missing};

fn missing<T>() -> Availability<T> {
    Availability::Missing(Missing::because("only Linux has it"))
}

impl KernelFile {
    /// Nothing is read here.
    pub(crate) fn reread(&mut self, _file: &File) -> Option<&[u8]> {
        None
    }
}

/// Not kept here.
pub(crate) fn sched(_file: &mut KernelFile, _pid: i32) -> Option<&[u8]> {
    None
}

/// Not kept here.
pub(crate) fn open_io(_pid: i32) -> Option<File> {
    None
}

/// There are no kernel files here.
///
/// # Errors
/// Always.
pub(crate) fn text<'a>(_path: &str, _buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Our own process id.
pub(crate) fn own_pid() -> i32 {
    nix::unistd::getpid().as_raw()
}

/// None is made here; `true` has to do.
pub(crate) fn empty_program() -> Option<(File, std::path::PathBuf)> {
    None
}

/// A limit of CPU time.
#[derive(Debug)]
pub(crate) struct Quota {
    /// Where it counts.
    pub(crate) stat: File,
    /// CPUs' worth of time it allows.
    pub(crate) cpus: f64,
}

/// There are none here.
pub(crate) fn quotas() -> Availability<Vec<Quota>> {
    missing()
}

/// A limit of memory.
#[derive(Debug)]
pub(crate) struct MemoryLimit {
    /// What it allows.
    pub(crate) bytes: u64,
    /// Where it counts.
    pub(crate) events: File,
}

/// There is none here.
pub(crate) fn memory_limit() -> Option<MemoryLimit> {
    None
}

/// Nothing counts it here.
pub(crate) fn oom_account() -> Option<String> {
    None
}

/// A group of our own.
#[derive(Debug)]
pub(crate) struct OwnGroup {
    /// CPU time.
    pub(crate) cpu: File,
    /// CPU pressure.
    pub(crate) queue: Option<File>,
    /// I/O pressure.
    pub(crate) io: Option<File>,
    /// Memory pressure.
    pub(crate) memory: Option<File>,
}

impl OwnGroup {
    /// There are no groups here.
    pub(crate) fn create() -> Availability<Self> {
        missing()
    }

    /// Nor can there be one.
    pub(crate) fn availability() -> Availability<()> {
        missing()
    }

    /// Nowhere.
    pub(crate) fn entrance(&self) -> i32 {
        -1
    }

    /// Nowhere.
    pub(crate) fn folder(&self) -> Option<i32> {
        None
    }

    /// No.
    pub(crate) fn unified(&self) -> bool {
        false
    }
}

/// Delay accounting.
#[derive(Debug)]
pub(crate) struct Taskstats;

impl Taskstats {
    /// There is none here.
    pub(crate) fn open() -> Availability<Self> {
        missing()
    }

    /// Nothing.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn of(&mut self, _pid: i32) -> io::Result<&[u8]> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
