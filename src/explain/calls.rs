//! Numbers and names of the system calls that can block, on `x86_64` and `aarch64`.
//! From `arch/x86/entry/syscalls/syscall_64.tbl` and `include/uapi/asm-generic/unistd.h`, Linux 6.18.

/// The architecture whose call numbers are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arch {
    /// 64-bit x86.
    X86_64,
    /// 64-bit Arm.
    Aarch64,
}

/// What the first interesting argument of a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Nothing that names a target.
    Nothing,
    /// A descriptor, in argument 0.
    Descriptor,
    /// A descriptor it locks, in argument 0.
    Lock,
    /// An epoll descriptor, in argument 0.
    Epoll,
    /// An array of `struct pollfd` in argument 0, its length in argument 1.
    Poll,
    /// Sets of descriptors: highest plus one in argument 0, sets in 1 to 3.
    Select,
    /// A path, in the argument of that number.
    Path(u8),
}

/// What a call is for, as far as waiting goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Flushes to disk.
    Flush,
    /// Reads from what it is given.
    Read,
    /// Writes to what it is given.
    Write,
    /// Lets time pass.
    Sleep,
    /// Waits for another thread.
    Lock,
    /// Takes a lock on a file.
    FileLock,
    /// Waits for a child process.
    Child,
    /// Waits for one of many descriptors.
    Poll,
    /// Connects, accepts, sends, receives.
    Socket,
    /// Changes the address space.
    Memory,
    /// Waits for asynchronous completions.
    Ring,
    /// Waits for a signal.
    Signal,
    /// Resumes an interrupted call, whichever it was.
    Restart,
    /// Anything else; blocked, it is on disk metadata.
    Other,
}

/// One system call.
#[derive(Debug)]
pub struct CallRow {
    /// Its name.
    pub name: &'static str,
    /// Its number on `x86_64`, -1 where it does not exist.
    pub x86_64: i64,
    /// Its number on `aarch64`, -1 where it does not exist.
    pub aarch64: i64,
    /// What names its target.
    pub takes: Takes,
    /// What it is for.
    pub purpose: Purpose,
}

impl CallRow {
    /// Its number on that architecture.
    #[must_use]
    pub fn number(&self, arch: Arch) -> Option<i64> {
        let number = match arch {
            Arch::X86_64 => self.x86_64,
            Arch::Aarch64 => self.aarch64,
        };
        (number >= 0).then_some(number)
    }
}

/// The call of that number.
#[must_use]
pub fn by_number(arch: Arch, number: i64) -> Option<&'static CallRow> {
    CALLS.iter().find(|row| row.number(arch) == Some(number))
}

macro_rules! calls {
    ($($name:literal $x86:literal $arm:literal $takes:expr, $purpose:ident;)+) => {
        /// Every call known here.
        pub static CALLS: &[CallRow] = &[$(CallRow {
            name: $name, x86_64: $x86, aarch64: $arm, takes: $takes, purpose: Purpose::$purpose,
        },)+];
    };
}

use Takes::{Descriptor, Epoll, Lock, Nothing, Path, Poll, Select};

calls! {
    "fsync" 74 82 Descriptor, Flush;
    "fdatasync" 75 83 Descriptor, Flush;
    "sync" 162 81 Nothing, Flush;
    "syncfs" 306 267 Descriptor, Flush;
    "msync" 26 227 Nothing, Flush;
    "sync_file_range" 277 84 Descriptor, Flush;
    "read" 0 63 Descriptor, Read;
    "pread64" 17 67 Descriptor, Read;
    "readv" 19 65 Descriptor, Read;
    "preadv" 295 69 Descriptor, Read;
    "preadv2" 327 286 Descriptor, Read;
    "getdents" 78 -1 Descriptor, Read;
    "getdents64" 217 61 Descriptor, Read;
    "open" 2 -1 Path(0), Read;
    "openat" 257 56 Path(1), Read;
    "openat2" 437 437 Path(1), Read;
    "execve" 59 221 Path(0), Read;
    "execveat" 322 281 Path(1), Read;
    "stat" 4 -1 Path(0), Read;
    "lstat" 6 -1 Path(0), Read;
    "access" 21 -1 Path(0), Read;
    "newfstatat" 262 79 Path(1), Read;
    "statx" 332 291 Path(1), Read;
    "readlink" 89 -1 Path(0), Read;
    "readlinkat" 267 78 Path(1), Read;
    "write" 1 64 Descriptor, Write;
    "pwrite64" 18 68 Descriptor, Write;
    "writev" 20 66 Descriptor, Write;
    "pwritev" 296 70 Descriptor, Write;
    "pwritev2" 328 287 Descriptor, Write;
    "sendfile" 40 71 Descriptor, Write;
    "splice" 275 76 Descriptor, Write;
    "copy_file_range" 326 285 Descriptor, Write;
    "nanosleep" 35 101 Nothing, Sleep;
    "clock_nanosleep" 230 115 Nothing, Sleep;
    "futex" 202 98 Nothing, Lock;
    "futex_waitv" 449 449 Nothing, Lock;
    "futex_wait" 455 455 Nothing, Lock;
    "semop" 65 193 Nothing, Lock;
    "semtimedop" 220 192 Nothing, Lock;
    "flock" 73 32 Lock, FileLock;
    "fcntl" 72 25 Lock, FileLock;
    "wait4" 61 260 Nothing, Child;
    "waitid" 247 95 Nothing, Child;
    "vfork" 58 -1 Nothing, Child;
    "poll" 7 -1 Poll, Poll;
    "ppoll" 271 73 Poll, Poll;
    "select" 23 -1 Select, Poll;
    "pselect6" 270 72 Select, Poll;
    "epoll_wait" 232 -1 Epoll, Poll;
    "epoll_pwait" 281 22 Epoll, Poll;
    "epoll_pwait2" 441 441 Epoll, Poll;
    "connect" 42 203 Descriptor, Socket;
    "accept" 43 202 Descriptor, Socket;
    "accept4" 288 242 Descriptor, Socket;
    "sendto" 44 206 Descriptor, Socket;
    "recvfrom" 45 207 Descriptor, Socket;
    "sendmsg" 46 211 Descriptor, Socket;
    "recvmsg" 47 212 Descriptor, Socket;
    "sendmmsg" 307 269 Descriptor, Socket;
    "recvmmsg" 299 243 Descriptor, Socket;
    "msgsnd" 69 189 Nothing, Lock;
    "msgrcv" 70 188 Nothing, Lock;
    "mq_timedsend" 242 182 Descriptor, Lock;
    "mq_timedreceive" 243 183 Descriptor, Lock;
    "mmap" 9 222 Nothing, Memory;
    "mprotect" 10 226 Nothing, Memory;
    "munmap" 11 215 Nothing, Memory;
    "brk" 12 214 Nothing, Memory;
    "mremap" 25 216 Nothing, Memory;
    "madvise" 28 233 Nothing, Memory;
    "mlock" 149 228 Nothing, Memory;
    "clone" 56 220 Nothing, Child;
    "clone3" 435 435 Nothing, Child;
    "fork" 57 -1 Nothing, Memory;
    "exit" 60 93 Nothing, Memory;
    "exit_group" 231 94 Nothing, Memory;
    "io_uring_enter" 426 426 Nothing, Ring;
    "io_getevents" 208 4 Nothing, Ring;
    "io_pgetevents" 333 292 Nothing, Ring;
    "pause" 34 -1 Nothing, Signal;
    "rt_sigsuspend" 130 133 Nothing, Signal;
    "rt_sigtimedwait" 128 137 Nothing, Signal;
    "restart_syscall" 219 128 Nothing, Restart;
    "close" 3 57 Descriptor, Other;
    "ioctl" 16 29 Descriptor, Other;
    "fallocate" 285 47 Descriptor, Other;
    "ftruncate" 77 46 Descriptor, Other;
    "truncate" 76 45 Path(0), Other;
    "rename" 82 -1 Path(0), Other;
    "renameat" 264 38 Path(1), Other;
    "renameat2" 316 276 Path(1), Other;
    "mkdir" 83 -1 Path(0), Other;
    "mkdirat" 258 34 Path(1), Other;
    "rmdir" 84 -1 Path(0), Other;
    "creat" 85 -1 Path(0), Other;
    "link" 86 -1 Path(1), Other;
    "linkat" 265 37 Path(3), Other;
    "unlink" 87 -1 Path(0), Other;
    "unlinkat" 263 35 Path(1), Other;
    "symlink" 88 -1 Path(1), Other;
    "symlinkat" 266 36 Path(2), Other;
    "chmod" 90 -1 Path(0), Other;
    "fchmod" 91 52 Descriptor, Other;
    "fchmodat" 268 53 Path(1), Other;
    "chown" 92 -1 Path(0), Other;
    "fchown" 93 55 Descriptor, Other;
    "utimensat" 280 88 Path(1), Other;
    "mount" 165 40 Path(1), Other;
    "umount2" 166 39 Path(0), Other;
    "fadvise64" 221 223 Descriptor, Read;
    "readahead" 187 213 Descriptor, Read;
    "getrandom" 318 278 Nothing, Other;
    "sched_yield" 24 124 Nothing, Other;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_unique() {
        for arch in [Arch::X86_64, Arch::Aarch64] {
            for (i, row) in CALLS.iter().enumerate() {
                for other in &CALLS[i + 1..] {
                    assert_ne!(row.name, other.name);
                    let (a, b) = (row.number(arch), other.number(arch));
                    assert!(a.is_none() || a != b, "{} {}", row.name, other.name);
                }
            }
        }
    }

    #[test]
    fn the_same_call_has_its_number_on_each_architecture() {
        assert_eq!(
            by_number(Arch::X86_64, 74).map(|row| row.name),
            Some("fsync")
        );
        assert_eq!(
            by_number(Arch::Aarch64, 82).map(|row| row.name),
            Some("fsync")
        );
        assert!(by_number(Arch::Aarch64, -1).is_none());
        for (name, number) in [("fdatasync", 75), ("ppoll", 271), ("renameat2", 316)] {
            assert_eq!(
                by_number(Arch::X86_64, number).map(|row| row.name),
                Some(name)
            );
        }
    }
}
