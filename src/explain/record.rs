//! What a diagnostic run hands to `explain`: switch records and looks at threads that do not run.
//! Data only; times are nanoseconds of the monotonic clock.

/// What happened to a thread, as the kernel recorded it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// It began to run on a CPU.
    In,
    /// It left the CPU; `runnable` if it would have run on (preempted).
    Out {
        /// Whether it still wanted the CPU.
        runnable: bool,
    },
    /// It was created and is ready to run.
    Fork,
    /// It ended.
    Exit,
    /// Its process replaced its program; every other thread of the process is gone.
    Exec,
    /// The kernel dropped this many records.
    Lost(u64),
}

/// One record of the kernel about one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// When.
    pub time: u64,
    /// Process of the thread.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// What.
    pub event: Event,
}

/// A value and when reading it had ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read<T> {
    /// The end of the reading.
    pub at: u64,
    /// What was read.
    pub value: T,
}

/// What `/proc/PID/task/TID/syscall` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallState {
    /// `running`: on a CPU or ready for one.
    Running,
    /// `-1`: blocked, but not in a system call (a page fault, for instance).
    Outside,
    /// Blocked in this system call.
    In(Call),
}

/// A system call by number, with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Number on the architecture of the thread.
    pub number: i64,
    /// Its six argument registers.
    pub args: [u64; 6],
}

/// What a call works on. Strings are safe to show.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// A file or directory.
    File(String),
    /// A file, and who holds a lock on it: `PID 123 (sleep)`.
    Locked {
        /// The file.
        file: String,
        /// Whoever holds the lock, where `/proc/locks` tells.
        holder: Option<String>,
    },
    /// A pipe or FIFO.
    Pipe,
    /// A unix socket whose ends both have no name: made as a pair, it joins relatives as a pipe does.
    Pair,
    /// A terminal device.
    Terminal(String),
    /// A peer: `127.0.0.1:80`.
    Network(String),
    /// A unix socket; the path or name of the service where it has one.
    Service(Option<String>),
    /// An anonymous descriptor to be woken by: eventfd, timerfd, signalfd, inotify, epoll.
    Wakeup(String),
    /// No descriptor at all: the call only lets time pass.
    Time,
}

/// One look at one thread that does not run. Each part is valid by itself: what was read after the
/// thread ran again says nothing about the wait.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Look {
    /// When the look began.
    pub begun: u64,
    /// The system call; `None` if it may not be read.
    pub call: Option<Read<CallState>>,
    /// What the call works on.
    pub target: Option<Read<Target>>,
    /// State letter of `/proc/PID/task/TID/stat`.
    pub state: Option<Read<char>>,
    /// Kernel function it sleeps in.
    pub wchan: Option<Read<String>>,
}

impl Look {
    /// The parts whose reading had ended at that time.
    #[must_use]
    pub fn until(self, time: u64) -> Self {
        fn keep<T>(part: Option<Read<T>>, time: u64) -> Option<Read<T>> {
            part.filter(|read| read.at <= time)
        }
        Self {
            begun: self.begun,
            call: keep(self.call, time),
            target: keep(self.target, time),
            state: keep(self.state, time),
            wchan: keep(self.wchan, time),
        }
    }

    /// Whether the thread was seen running or ready to run. One seen in a call and ready a moment
    /// later had just been woken: the call still names its wait.
    #[must_use]
    pub fn runs(&self) -> bool {
        match &self.call {
            Some(call) if call.value == CallState::Running => true,
            Some(Read {
                value: CallState::In(_),
                ..
            }) => false,
            _ => self.state.as_ref().is_some_and(|state| state.value == 'R'),
        }
    }

    /// Whether the thread has ended and is only not reaped.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.state
            .as_ref()
            .is_some_and(|state| matches!(state.value, 'Z' | 'X'))
    }

    /// Whether the thread was seen stopped by a signal or a debugger.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.state
            .as_ref()
            .is_some_and(|state| matches!(state.value, 'T' | 't'))
    }
}
