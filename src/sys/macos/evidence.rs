//! Sources of evidence about waits that these systems do not offer: all refuse.

/// Switch records.
pub(crate) mod perf_event {
    use std::io;
    use std::os::fd::RawFd;

    /// There are none here.
    #[derive(Debug)]
    pub(crate) struct Rings;

    impl Rings {
        /// Not offered here.
        ///
        /// # Errors
        /// Always.
        pub(crate) fn open(_pid: u32, _wake: bool) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        /// None.
        #[allow(clippy::unused_self, reason = "the same surface on every platform")]
        pub(crate) fn descriptors(&self) -> Vec<RawFd> {
            Vec::new()
        }

        /// Nothing comes.
        #[allow(clippy::unused_self, reason = "the same surface on every platform")]
        pub(crate) fn drain(&mut self, _into: &mut Vec<u8>) {}
    }

    /// Not known here.
    pub(crate) fn perf_paranoid() -> Option<i32> {
        None
    }
}

/// Stopping at calls.
pub(crate) mod ptrace {
    use std::io;

    use crate::sys::unix::Event;
    use crate::sys::{Error, Stop};

    /// Calls cannot be filtered here.
    #[derive(Debug)]
    pub(crate) struct Filter;

    impl Filter {
        /// Stops nothing.
        pub(crate) fn stopping(_numbers: &[i64]) -> Self {
            Self
        }
    }

    /// Follows nothing.
    #[derive(Debug)]
    pub(crate) struct Tracer;

    impl Tracer {
        /// Not offered here.
        ///
        /// # Errors
        /// Always.
        pub(crate) fn attach(_pid: i32) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        /// Never called.
        ///
        /// # Errors
        /// None.
        #[allow(
            clippy::unused_self,
            clippy::unnecessary_wraps,
            reason = "the same surface on every platform"
        )]
        pub(crate) fn wait(
            &mut self,
            _each: &mut dyn FnMut(u32, u64, Stop),
        ) -> Result<Event, Error> {
            Ok(Event::Nothing)
        }
    }
}

/// The kernel about sockets.
pub(crate) mod sock_diag {
    use std::io;

    /// Not offered here.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn unix_socket(_inode: u32, _into: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Threads that wait.
pub(crate) mod task {
    use std::io;
    use std::path::{Path, PathBuf};

    use crate::sys::Text;

    /// There are no such files here.
    #[derive(Debug)]
    pub(crate) struct TaskFiles;

    impl TaskFiles {
        /// Opens nothing.
        pub(crate) fn new(_pid: u32, _tid: u32, _keep: bool) -> Self {
            Self
        }

        /// Not offered here.
        ///
        /// # Errors
        /// Always.
        #[allow(clippy::unused_self, reason = "the same surface on every platform")]
        pub(crate) fn read<'a>(&mut self, _text: Text, _into: &'a mut [u8]) -> io::Result<&'a str> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// Not offered here.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn link(_pid: u32, _descriptor: i32) -> io::Result<PathBuf> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The directory a command will run in: the given one, relative to ours, or ours.
    pub(crate) fn directory(given: Option<&Path>) -> Option<PathBuf> {
        let own = std::env::current_dir().ok()?;
        Some(given.map_or(own.clone(), |given| own.join(given)))
    }

    /// Not offered here.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn inode(_pid: u32, _descriptor: i32) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Not offered here.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn text(_pid: u32, _name: &str) -> io::Result<String> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Not offered here.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn locks() -> io::Result<String> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// None are shown.
    pub(crate) fn threads(_pid: u32) -> Vec<u32> {
        Vec::new()
    }

    /// None are shown.
    pub(crate) fn descriptors(_pid: u32) -> Vec<i32> {
        Vec::new()
    }

    /// None are shown.
    pub(crate) fn processes() -> Vec<u32> {
        Vec::new()
    }

    /// Not offered here.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn memory(_pid: u32, _address: u64, _into: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Not offered here.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn children(_pid: u32, _tid: u32) -> io::Result<Vec<u32>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
