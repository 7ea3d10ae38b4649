//! Every row of the naming table.

#![allow(
    clippy::unnecessary_wraps,
    reason = "rows of a table have optional columns"
)]

use super::*;
use crate::explain::record::Read;

fn look(call: Option<CallState>, state: char, wchan: &str, target: Option<Target>) -> Look {
    fn read<T>(value: T) -> Option<Read<T>> {
        Some(Read { at: 1, value })
    }
    Look {
        begun: 0,
        call: call.and_then(read),
        target: target.and_then(read),
        state: read(state),
        wchan: read(wchan.to_string()),
    }
}

fn call(name: &str) -> Option<CallState> {
    let row = super::super::calls::CALLS
        .iter()
        .find(|row| row.name == name)
        .unwrap();
    Some(CallState::In(Call {
        number: row.x86_64,
        args: [3, 0, 0, 0, 0, 0],
    }))
}

fn file(name: &str) -> Option<Target> {
    Some(Target::File(name.to_string()))
}

/// Call, state, kernel function, target; cause, detail, place.
type Row = (
    Option<CallState>,
    char,
    &'static str,
    Option<Target>,
    Cause,
    &'static str,
    Option<&'static str>,
);

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn the_naming_table() {
    use Cause as C;
    let peer = || Some(Target::Network("127.0.0.1:80".to_string()));
    let unix = || Some(Target::Service(Some("/run/x.sock".to_string())));
    let lock = || {
        Some(Target::Locked {
            file: "./lk".to_string(),
            holder: Some("PID 7 (sleep)".to_string()),
        })
    };
    let event = || Some(Target::Wakeup("eventfd".to_string()));
    let tty = || Some(Target::Terminal("/dev/pts/1".to_string()));
    let outside = Some(CallState::Outside);
    #[rustfmt::skip]
    let rows: Vec<Row> = vec![
        (call("fsync"), 'D', "jbd2_log_wait_commit", file("./wal"), C::DiskFlush, "fsync ./wal", Some("journal commit")),
        (call("fdatasync"), 'D', "submit_bio_wait", file("./db"), C::DiskFlush, "fdatasync ./db", Some("device")),
        (call("msync"), 'D', "folio_wait_bit_common", None, C::DiskFlush, "msync", Some("device")),
        (call("sync_file_range"), 'D', "0", file("./f"), C::DiskFlush, "sync_file_range ./f", None),
        (call("pread64"), 'D', "__iomap_dio_rw", file("./data"), C::DiskRead, "pread64 ./data", Some("device")),
        (call("openat"), 'D', "folio_wait_bit", file("./f"), C::DiskRead, "openat ./f", Some("device")),
        (call("openat"), 'S', "wait_for_partner", file("./fifo"), C::Pipe, "openat ./fifo", None),
        (call("getdents64"), 'D', "__wait_on_buffer", file("./d"), C::DiskRead, "getdents64 ./d", Some("device")),
        (call("read"), 'D', "folio_wait_bit_common", None, C::DiskRead, "read", Some("device")),
        (call("unlink"), 'D', "submit_bio_wait", file("./j"), C::Disk, "unlink ./j", Some("device")),
        (call("mkdir"), 'D', "wait_transaction_locked", file("./d"), C::Disk, "mkdir ./d", Some("journal commit")),
        (call("close"), 'D', "nfs_wb_all", None, C::Disk, "close", None),
        (outside, 'D', "folio_wait_bit_common", None, C::PageFault, "page fault", Some("device")),
        (outside, 'D', "rwsem_down_read_slowpath", None, C::MemoryMap, "page fault", Some("memory map lock")),
        (call("write"), 'D', "balance_dirty_pages", file("./f"), C::WriterThrottled, "write ./f", Some("dirty-page limit")),
        (call("read"), 'D', "mem_cgroup_handle_over_high", None, C::MemoryPressure, "read", Some("cgroup memory.high")),
        (outside, 'D', "reclaim_throttle", None, C::MemoryPressure, "page fault", Some("reclaim")),
        (call("munmap"), 'D', "rwsem_down_write_slowpath", None, C::MemoryMap, "munmap", Some("memory map lock")),
        (call("madvise"), 'D', "__flush_work", None, C::MemoryMap, "madvise", Some("page migration or compaction")),
        (call("futex"), 'S', "futex_do_wait", None, C::Lock, "futex", None),
        (call("clock_nanosleep"), 'S', "hrtimer_nanosleep", None, C::Sleep, "clock_nanosleep", None),
        (call("poll"), 'S', "do_sys_poll", Some(Target::Time), C::Sleep, "poll", None),
        (call("recvfrom"), 'S', "sk_wait_data", peer(), C::Network, "recvfrom 127.0.0.1:80", None),
        (call("read"), 'S', "sk_wait_data", peer(), C::Network, "read 127.0.0.1:80", None),
        (call("poll"), 'S', "do_sys_poll", peer(), C::Network, "poll 127.0.0.1:80", None),
        (call("recvmsg"), 'S', "unix_stream_read_generic", unix(), C::LocalService, "recvmsg unix:/run/x.sock", None),
        (call("epoll_wait"), 'S', "ep_poll", event(), C::EventLoop, "epoll_wait eventfd", None),
        (call("epoll_wait"), 'S', "ep_poll", peer(), C::Network, "epoll_wait 127.0.0.1:80", None),
        (call("pselect6"), 'S', "do_select", None, C::EventLoop, "pselect6", None),
        (call("wait4"), 'S', "do_wait", None, C::Child, "wait4", None),
        (call("read"), 'S', "anon_pipe_read", Some(Target::Pipe), C::Pipe, "read pipe", None),
        (call("write"), 'S', "pipe_write", None, C::Pipe, "write", None),
        (call("recvfrom"), 'S', "unix_stream_read_generic", Some(Target::Pair), C::Pipe, "recvfrom socket pair", None),
        (call("flock"), 'S', "locks_lock_inode_wait", lock(), C::FileLock, "flock ./lk held by PID 7 (sleep)", None),
        (call("io_uring_enter"), 'S', "io_cqring_wait", None, C::IoUring, "io_uring_enter", None),
        (call("read"), 'S', "n_tty_read", tty(), C::Terminal, "read /dev/pts/1", None),
        (call("read"), 'T', "do_signal_stop", None, C::Stopped, "stopped by a signal", None),
        (outside, 't', "ptrace_stop", None, C::Stopped, "stopped by a signal", None),
        (call("restart_syscall"), 'S', "hrtimer_nanosleep", None, C::Sleep, "restart_syscall", None),
        (call("restart_syscall"), 'S', "futex_wait_queue", None, C::Lock, "restart_syscall", None),
    ];
    for (call, state, wchan, target, cause, detail, place) in rows {
        let seen = look(call, state, wchan, target);
        let named = name(Arch::X86_64, &seen).unwrap_or_else(|| panic!("{seen:?}"));
        assert_eq!(
            (named.cause, named.detail.as_str(), named.place.as_deref()),
            (cause, detail, place)
        );
    }
}

#[test]
fn without_the_call_the_kernel_function_names_the_wait() {
    for (state, wchan, cause) in [
        ('S', "hrtimer_nanosleep", Some(Cause::Sleep)),
        ('S', "futex_do_wait", Some(Cause::Lock)),
        ('S', "do_wait", Some(Cause::Child)),
        ('D', "submit_bio_wait", Some(Cause::Disk)),
        ('D', "0", Some(Cause::Disk)),
        ('S', "0", None),
        ('S', "unheard_of", None),
        ('T', "0", Some(Cause::Stopped)),
    ] {
        let named = name(Arch::X86_64, &look(None, state, wchan, None));
        assert_eq!(named.map(|named| named.cause), cause, "{state} {wchan}");
    }
}

#[test]
fn a_thread_that_runs_or_is_gone_has_no_wait() {
    assert_eq!(
        name(
            Arch::X86_64,
            &look(Some(CallState::Running), 'S', "0", None)
        ),
        None
    );
    assert_eq!(name(Arch::X86_64, &look(None, 'R', "0", None)), None);
    assert_eq!(
        name(Arch::X86_64, &look(call("read"), 'Z', "0", None)),
        None
    );
    let woken = name(Arch::X86_64, &look(call("fsync"), 'R', "0", None));
    assert_eq!(woken.map(|named| named.cause), Some(Cause::DiskFlush));
}

#[test]
fn a_wait_nobody_can_tell_has_no_name() {
    let bare = look(call("read"), 'S', "0", None);
    assert_eq!(name(Arch::X86_64, &bare), None);
    let somewhere = name(
        Arch::X86_64,
        &look(call("ioctl"), 'S', "drm_wait", file("/dev/x")),
    )
    .unwrap();
    assert_eq!(
        (somewhere.cause, somewhere.detail.as_str()),
        (Cause::Unknown, "ioctl /dev/x")
    );
    assert_eq!(somewhere.place.as_deref(), Some("drm_wait"));
}

#[test]
fn the_other_architecture_has_its_own_numbers() {
    let flush = CallState::In(Call {
        number: 83,
        args: [4, 0, 0, 0, 0, 0],
    });
    let named = name(Arch::Aarch64, &look(Some(flush), 'D', "0", file("./db"))).unwrap();
    assert_eq!(named.detail, "fdatasync ./db");
    assert_eq!(
        wanted(
            Arch::Aarch64,
            &Call {
                number: 83,
                args: [4, 0, 0, 0, 0, 0]
            }
        ),
        Wanted::Descriptor(4)
    );
}

#[test]
fn each_call_says_what_to_look_up() {
    let number = |name: &str| {
        super::super::calls::CALLS
            .iter()
            .find(|row| row.name == name)
            .unwrap()
            .x86_64
    };
    let args = [9, 8, 7, 6, 5, 4];
    let want = |name| {
        wanted(
            Arch::X86_64,
            &Call {
                number: number(name),
                args,
            },
        )
    };
    assert_eq!(want("fsync"), Wanted::Descriptor(9));
    assert_eq!(want("flock"), Wanted::Lock(9));
    assert_eq!(want("epoll_wait"), Wanted::Epoll(9));
    assert_eq!(
        want("poll"),
        Wanted::Poll {
            address: 9,
            count: 8
        }
    );
    assert_eq!(
        want("select"),
        Wanted::Select {
            limit: 9,
            sets: [8, 7, 6]
        }
    );
    assert_eq!(want("unlinkat"), Wanted::Path(8));
    assert_eq!(want("futex"), Wanted::Nothing);
}
