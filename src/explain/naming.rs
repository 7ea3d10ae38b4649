//! From what was seen of a blocked thread (call, state, kernel function, descriptor) to the name of
//! its wait: the table of the section 'Naming' in the specification. Pure; reads nothing.

use super::calls::{Arch, CallRow, Purpose, Takes, by_number};
use super::record::{Call, CallState, Look, Target};
use crate::evidence::Cause;

/// The name of a wait.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Named {
    /// Why the thread did not run.
    pub cause: Cause,
    /// The call and what it waited on, safe to show: `fsync ./wal`.
    pub detail: String,
    /// Where in the kernel, in words (`journal commit`) or, of an unknown cause, its function.
    pub place: Option<String>,
}

/// What a reader has to look up so that a call can be named well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Nothing.
    Nothing,
    /// The file or socket behind a descriptor.
    Descriptor(i32),
    /// The file behind a descriptor and who holds a lock on it.
    Lock(i32),
    /// What an epoll descriptor watches.
    Epoll(i32),
    /// `count` structures `pollfd` at that address.
    Poll {
        /// Address in the thread's memory.
        address: u64,
        /// How many.
        count: u64,
    },
    /// Descriptor sets below `limit`, at those addresses; 0 is none.
    Select {
        /// Highest descriptor plus one.
        limit: u64,
        /// Read, write and exception set.
        sets: [u64; 3],
    },
    /// A path at that address.
    Path(u64),
}

/// What to look up for that call.
#[must_use]
pub fn wanted(arch: Arch, call: &Call) -> Wanted {
    let Some(row) = by_number(arch, call.number) else {
        return Wanted::Nothing;
    };
    let fd = call.args[0] as i32;
    match row.takes {
        Takes::Nothing => Wanted::Nothing,
        Takes::Descriptor => Wanted::Descriptor(fd),
        Takes::Lock => Wanted::Lock(fd),
        Takes::Epoll => Wanted::Epoll(fd),
        Takes::Poll => Wanted::Poll {
            address: call.args[0],
            count: call.args[1],
        },
        Takes::Select => Wanted::Select {
            limit: call.args[0],
            sets: [call.args[1], call.args[2], call.args[3]],
        },
        Takes::Path(index) => Wanted::Path(call.args[usize::from(index).min(5)]),
    }
}

/// The name of the wait that look saw; `None` if it saw no wait or not enough of one.
#[must_use]
pub fn name(arch: Arch, look: &Look) -> Option<Named> {
    let state = look.state.as_ref().map(|read| read.value);
    let wchan = look
        .wchan
        .as_ref()
        .map(|read| read.value.as_str())
        .filter(|at| known(at));
    if look.stopped() {
        return Some(named(Cause::Stopped, "stopped by a signal", None));
    }
    if look.runs() || matches!(state, Some('Z' | 'X')) {
        return None;
    }
    let target = look.target.as_ref().map(|read| &read.value);
    match look.call.as_ref().map(|read| read.value) {
        Some(CallState::In(call)) => {
            let named = match by_number(arch, call.number) {
                Some(row) => in_call(
                    row,
                    Seen {
                        state,
                        wchan,
                        target,
                    },
                ),
                None => unlisted(call.number, state, wchan),
            };
            // The bare name of a call that does many things says nothing.
            let says = named.cause != Cause::Unknown
                || wchan.is_some()
                || (target.is_some() && state.is_some());
            says.then_some(named)
        }
        Some(CallState::Outside) => outside(state, wchan),
        Some(CallState::Running) => None,
        None => hidden(state, wchan),
    }
}

/// What is known of a wait besides its call.
#[derive(Clone, Copy)]
struct Seen<'a> {
    state: Option<char>,
    wchan: Option<&'a str>,
    target: Option<&'a Target>,
}

impl Seen<'_> {
    fn in_disk_sleep(self) -> bool {
        self.state == Some('D')
    }
}

fn known(wchan: &str) -> bool {
    !wchan.is_empty() && wchan != "0"
}

fn named(cause: Cause, detail: &str, place: Option<&str>) -> Named {
    Named {
        cause,
        detail: detail.to_string(),
        place: place.map(str::to_string),
    }
}

fn in_call(row: &CallRow, seen: Seen<'_>) -> Named {
    let detail = detail(row.name, seen.target);
    if let Some((cause, place)) = seen.wchan.and_then(pressure) {
        return named(cause, &detail, Some(place));
    }
    let cause = match row.purpose {
        Purpose::Flush => Cause::DiskFlush,
        Purpose::Sleep => Cause::Sleep,
        Purpose::Lock => Cause::Lock,
        Purpose::FileLock => Cause::FileLock,
        Purpose::Child => Cause::Child,
        Purpose::Ring => Cause::IoUring,
        Purpose::Signal => Cause::EventLoop,
        Purpose::Poll => polled(seen.target),
        Purpose::Socket => connected(seen.target),
        Purpose::Read | Purpose::Write => transferred(row.purpose, seen),
        Purpose::Memory => mapped(seen),
        Purpose::Restart => seen.wchan.and_then(by_place).unwrap_or(Cause::Sleep),
        Purpose::Other => other(seen),
    };
    let place = seen.wchan.and_then(|wchan| place(cause, wchan));
    named(cause, &detail, place)
}

/// `fsync ./wal`, `recvfrom 127.0.0.1:80`, `flock ./lk held by PID 7 (sleep)`.
fn detail(call: &str, target: Option<&Target>) -> String {
    match target {
        Some(Target::File(name) | Target::Terminal(name) | Target::Network(name)) => {
            format!("{call} {name}")
        }
        Some(Target::Service(Some(name))) => format!("{call} unix:{name}"),
        Some(Target::Service(None)) => format!("{call} unix socket"),
        Some(Target::Locked {
            file,
            holder: Some(holder),
        }) => {
            format!("{call} {file} held by {holder}")
        }
        Some(Target::Locked { file, holder: None }) => format!("{call} {file}"),
        Some(Target::Pipe) => format!("{call} pipe"),
        Some(Target::Pair) => format!("{call} socket pair"),
        Some(Target::Wakeup(kind)) => format!("{call} {kind}"),
        Some(Target::Time) | None => call.to_string(),
    }
}

/// Kernel functions that mean the same whatever the call: memory pressure and dirty-page limits.
fn pressure(wchan: &str) -> Option<(Cause, &'static str)> {
    Some(match wchan {
        "mem_cgroup_handle_over_high" | "__mem_cgroup_handle_over_high" => {
            (Cause::MemoryPressure, "cgroup memory.high")
        }
        "reclaim_throttle"
        | "try_to_free_pages"
        | "throttle_direct_reclaim"
        | "shrink_folio_list"
        | "try_to_free_mem_cgroup_pages" => (Cause::MemoryPressure, "reclaim"),
        "balance_dirty_pages" | "balance_dirty_pages_ratelimited_flags" => {
            (Cause::WriterThrottled, "dirty-page limit")
        }
        _ if wchan.starts_with("swap_") || wchan.starts_with("do_swap") => (Cause::Swap, "swap"),
        _ => return None,
    })
}

fn polled(target: Option<&Target>) -> Cause {
    match target {
        Some(Target::Time) => Cause::Sleep,
        Some(Target::Network(_)) => Cause::Network,
        Some(Target::Service(_)) => Cause::LocalService,
        Some(Target::Pipe | Target::Pair) => Cause::Pipe,
        Some(Target::Terminal(_)) => Cause::Terminal,
        _ => Cause::EventLoop,
    }
}

fn connected(target: Option<&Target>) -> Cause {
    match target {
        Some(Target::Service(_)) => Cause::LocalService,
        Some(Target::Pair) => Cause::Pipe,
        Some(Target::Wakeup(_)) => Cause::EventLoop,
        _ => Cause::Network,
    }
}

fn transferred(purpose: Purpose, seen: Seen<'_>) -> Cause {
    match seen.target {
        Some(Target::Pipe | Target::Pair) => Cause::Pipe,
        // Opening a named pipe waits for its other end.
        Some(Target::File(_)) if seen.wchan.and_then(by_place) == Some(Cause::Pipe) => Cause::Pipe,
        Some(Target::Network(_)) => Cause::Network,
        Some(Target::Service(_)) => Cause::LocalService,
        Some(Target::Terminal(_)) => Cause::Terminal,
        Some(Target::Wakeup(_)) => Cause::EventLoop,
        Some(Target::File(_) | Target::Locked { .. } | Target::Time) => disk(purpose, seen),
        None => seen.wchan.and_then(by_place).map_or(
            if seen.in_disk_sleep() {
                disk(purpose, seen)
            } else {
                Cause::Unknown
            },
            |cause| {
                if cause == Cause::Disk {
                    disk(purpose, seen)
                } else {
                    cause
                }
            },
        ),
    }
}

fn disk(purpose: Purpose, seen: Seen<'_>) -> Cause {
    match purpose {
        Purpose::Read => Cause::DiskRead,
        // A write with O_SYNC or O_DSYNC flushes; the kernel then sleeps in the flushing path.
        Purpose::Write if seen.wchan.is_some_and(|wchan| wchan.contains("sync")) => {
            Cause::DiskFlush
        }
        _ => Cause::Disk,
    }
}

fn mapped(seen: Seen<'_>) -> Cause {
    match seen.wchan {
        Some(wchan) if moves_memory(wchan) => Cause::MemoryMap,
        Some(wchan) if reads_page(wchan) => Cause::PageFault,
        _ if seen.in_disk_sleep() => Cause::MemoryMap,
        _ => Cause::Unknown,
    }
}

fn other(seen: Seen<'_>) -> Cause {
    match seen.wchan.and_then(by_place) {
        Some(cause) => cause,
        None if seen.in_disk_sleep() => Cause::Disk,
        None => match seen.target {
            Some(Target::Terminal(_)) => Cause::Terminal,
            Some(Target::Network(_)) => Cause::Network,
            _ => Cause::Unknown,
        },
    }
}

/// Blocked, but not in a system call: a fault on a page that is not in memory.
fn outside(state: Option<char>, wchan: Option<&str>) -> Option<Named> {
    if let Some((cause, place)) = wchan.and_then(pressure) {
        return Some(named(cause, "page fault", Some(place)));
    }
    match wchan {
        Some(wchan) if moves_memory(wchan) => Some(named(
            Cause::MemoryMap,
            "page fault",
            place(Cause::MemoryMap, wchan),
        )),
        Some(wchan) if state == Some('D') || reads_page(wchan) => Some(named(
            Cause::PageFault,
            "page fault",
            place(Cause::PageFault, wchan),
        )),
        None if state == Some('D') => Some(named(Cause::PageFault, "page fault", None)),
        _ => None,
    }
}

/// A call that is in no table: only the state and the kernel function speak.
fn unlisted(number: i64, state: Option<char>, wchan: Option<&str>) -> Named {
    let detail = format!("system call {number}");
    let fallback = if state == Some('D') {
        Cause::Disk
    } else {
        Cause::Unknown
    };
    let cause = wchan.and_then(by_place).unwrap_or(fallback);
    named(cause, &detail, wchan.and_then(|wchan| place(cause, wchan)))
}

/// The call may not be read (Yama, a process that is not dumpable).
fn hidden(state: Option<char>, wchan: Option<&str>) -> Option<Named> {
    if let Some((cause, place)) = wchan.and_then(pressure) {
        return Some(named(cause, "call not readable", Some(place)));
    }
    let fallback = (state == Some('D')).then_some(Cause::Disk);
    let cause = wchan.and_then(by_place).or(fallback)?;
    Some(named(
        cause,
        "call not readable",
        wchan.and_then(|wchan| place(cause, wchan)),
    ))
}

/// What a kernel function alone says (`/proc/PID/wchan`, names of Linux 5.4 to 6.18).
fn by_place(wchan: &str) -> Option<Cause> {
    Some(match wchan {
        "hrtimer_nanosleep" | "do_nanosleep" | "common_nsleep" | "__x64_sys_nanosleep" => {
            Cause::Sleep
        }
        "futex_wait_queue"
        | "futex_wait_queue_me"
        | "futex_do_wait"
        | "__futex_wait"
        | "futex_wait"
        | "futex_wait_multiple"
        | "do_semtimedop"
        | "__do_semtimedop" => Cause::Lock,
        "pipe_read" | "pipe_write" | "anon_pipe_read" | "anon_pipe_write" | "pipe_wait"
        | "pipe_wait_readable" | "pipe_wait_writable" | "wait_for_partner" | "fifo_open" => {
            Cause::Pipe
        }
        "do_wait" | "kernel_wait4" | "kernel_clone" | "_do_fork" | "do_fork" => Cause::Child,
        "poll_schedule_timeout"
        | "do_sys_poll"
        | "do_poll"
        | "do_select"
        | "ep_poll"
        | "do_epoll_wait"
        | "sigsuspend"
        | "do_sigtimedwait" => Cause::EventLoop,
        "sk_wait_data"
        | "inet_csk_accept"
        | "inet_stream_connect"
        | "__inet_stream_connect"
        | "inet_wait_for_connect"
        | "tcp_recvmsg_locked"
        | "sk_stream_wait_memory"
        | "__skb_wait_for_more_packets"
        | "inet_csk_wait_for_connect" => Cause::Network,
        "unix_stream_data_wait"
        | "unix_stream_read_generic"
        | "unix_wait_for_peer"
        | "unix_accept"
        | "unix_stream_connect" => Cause::LocalService,
        "locks_lock_inode_wait"
        | "posix_lock_inode_wait"
        | "flock_lock_inode_wait"
        | "fcntl_setlk"
        | "do_lock_file_wait"
        | "__do_sys_flock" => Cause::FileLock,
        "n_tty_read" | "tty_wait_until_sent" | "n_tty_write" => Cause::Terminal,
        "io_cqring_wait" | "read_events" | "io_cqring_schedule" => Cause::IoUring,
        _ if on_disk(wchan) => Cause::Disk,
        _ if moves_memory(wchan) => Cause::MemoryMap,
        _ => return None,
    })
}

const DEVICE: &[&str] = &[
    "submit_bio_wait",
    "folio_wait_",
    "wait_on_page_bit",
    "__sync_dirty_buffer",
    "fsync_buffers_list",
    "__wait_on_buffer",
    "wait_on_buffer",
    "blk_",
    "rq_qos_wait",
    "bio_await",
    "filemap_",
    "bdev_",
    "blkdev_",
    "__blkdev_",
    "io_schedule",
    "bit_wait_io",
    "__iomap_dio",
    "iomap_",
    "__folio_",
    "do_get_write_access",
    "truncate_inode",
    "wait_on_page_writeback",
    "write_cache_pages",
    "__bread",
    "dio_",
    "__blockdev_direct",
    "ext4_",
    "wb_wait_for_completion",
];
const JOURNAL: &[&str] = &[
    "jbd2_",
    "wait_transaction_",
    "add_transaction_credits",
    "xlog_",
    "xfs_log_",
    "xfs_buf",
    "btrfs_",
    "wait_current_trans",
    "wait_for_commit",
    "f2fs_issue",
    "f2fs_",
    "start_this_handle",
];

fn starts(wchan: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| wchan.starts_with(prefix))
}

fn on_disk(wchan: &str) -> bool {
    starts(wchan, DEVICE) || starts(wchan, JOURNAL)
}

fn reads_page(wchan: &str) -> bool {
    starts(
        wchan,
        &[
            "folio_wait_",
            "__folio_lock",
            "wait_on_page_bit",
            "filemap_fault",
        ],
    )
}

fn moves_memory(wchan: &str) -> bool {
    starts(
        wchan,
        &[
            "rwsem_down_",
            "__flush_work",
            "compact_",
            "migrate_",
            "migration_entry_wait",
        ],
    )
}

/// The last words of a cause line: what the kernel function means for that cause.
fn place(cause: Cause, wchan: &str) -> Option<&str> {
    match cause {
        Cause::DiskFlush | Cause::DiskRead | Cause::Disk if starts(wchan, JOURNAL) => {
            Some("journal commit")
        }
        Cause::DiskFlush | Cause::DiskRead | Cause::Disk | Cause::PageFault
            if starts(wchan, DEVICE) =>
        {
            Some("device")
        }
        Cause::MemoryMap if wchan.starts_with("rwsem_down_") => Some("memory map lock"),
        Cause::MemoryMap if moves_memory(wchan) => Some("page migration or compaction"),
        Cause::Unknown => Some(wchan),
        _ => None,
    }
}

#[cfg(test)]
#[path = "naming_tests.rs"]
mod tests;
