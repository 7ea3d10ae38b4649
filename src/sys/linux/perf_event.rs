//! Switch records of a process tree through `perf_event_open(2)`: one dummy event a CPU with
//! `context_switch`, `task` and `inherit`, each with a ring of its own. Needs
//! `kernel.perf_event_paranoid` of 2 or less, no privilege. Understanding the bytes is `probe`'s.

#![allow(
    clippy::cast_possible_wrap,
    reason = "process and CPU numbers stay below 2^31"
)]
#![allow(
    clippy::cast_ptr_alignment,
    reason = "the control page is aligned to a page"
)]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// `struct perf_event_attr`, `PERF_ATTR_SIZE_VER5` (`include/uapi/linux/perf_event.h`).
#[repr(C)]
#[derive(Default)]
pub(super) struct Attributes {
    pub(super) kind: u32,
    pub(super) size: u32,
    pub(super) config: u64,
    pub(super) sample_period: u64,
    pub(super) sample_type: u64,
    pub(super) read_format: u64,
    pub(super) flags: u64,
    pub(super) wakeup: u32,
    pub(super) bp_type: u32,
    pub(super) config1: u64,
    pub(super) config2: u64,
    pub(super) branch_sample_type: u64,
    pub(super) sample_regs_user: u64,
    pub(super) sample_stack_user: u32,
    pub(super) clockid: i32,
    pub(super) sample_regs_intr: u64,
    pub(super) aux_watermark: u32,
    pub(super) sample_max_stack: u16,
    pub(super) reserved: u16,
}

impl Attributes {
    /// Opens the event of a process on a CPU, in no group; closed on exec.
    pub(super) fn open(&self, pid: libc::pid_t, cpu: libc::c_int) -> io::Result<OwnedFd> {
        let attributes = Self {
            size: size_of::<Self>() as u32,
            ..*self
        };
        let call = libc::SYS_perf_event_open;
        // SAFETY: the attributes are valid for the call and say their own size.
        let opened =
            unsafe { libc::syscall(call, &raw const attributes, pid, cpu, -1, FLAG_FD_CLOEXEC) };
        if opened < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: perf_event_open returned this descriptor and nobody else owns it.
        Ok(unsafe { OwnedFd::from_raw_fd(opened as RawFd) })
    }
}

const TYPE_SOFTWARE: u32 = 1;
const COUNT_SW_DUMMY: u64 = 9;
const SAMPLE_TID: u64 = 1 << 1;
const SAMPLE_TIME: u64 = 1 << 2;
const SAMPLE_CPU: u64 = 1 << 7;
const FLAG_FD_CLOEXEC: u64 = 1 << 3;

// Bits of the flags word.
pub(super) const DISABLED: u64 = 1;
pub(super) const INHERIT: u64 = 1 << 1;
pub(super) const EXCLUDE_KERNEL: u64 = 1 << 5;
pub(super) const EXCLUDE_HV: u64 = 1 << 6;
const COMM: u64 = 1 << 9;
pub(super) const ENABLE_ON_EXEC: u64 = 1 << 12;
const TASK: u64 = 1 << 13;
const WATERMARK: u64 = 1 << 14;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const COMM_EXEC: u64 = 1 << 24;
const USE_CLOCKID: u64 = 1 << 25;
const CONTEXT_SWITCH: u64 = 1 << 26;

/// `data_head` and `data_tail` in `struct perf_event_mmap_page`.
const HEAD_OFFSET: usize = 1024;
const TAIL_OFFSET: usize = 1032;
/// Pages of data a ring; fewer if the locked-memory allowance is used up.
const PAGES: [usize; 4] = [64, 32, 16, 8];

/// One ring.
#[derive(Debug)]
struct Ring {
    file: OwnedFd,
    base: *mut u8,
    page: usize,
    size: usize,
}

/// The rings of all CPUs.
#[derive(Debug)]
pub(crate) struct Rings {
    rings: Vec<Ring>,
}

impl Rings {
    /// Opens the records of a process that has not called exec yet: they begin with its exec and
    /// cover every thread and child from there. With `wake`, the descriptors become readable at
    /// every record, otherwise when a ring is half full.
    ///
    /// # Errors
    /// `EACCES` with a paranoid setting above 2, `EPERM` or `ENOSYS` from a seccomp filter.
    pub(crate) fn open(pid: u32, wake: bool) -> io::Result<Self> {
        let mut last = None;
        for pages in PAGES {
            match Self::with_pages(pid, wake, pages) {
                Err(error) if error.raw_os_error() == Some(libc::EPERM) => last = Some(error),
                result => return result,
            }
        }
        Err(last.unwrap_or_else(|| io::Error::from_raw_os_error(libc::EPERM)))
    }

    fn with_pages(pid: u32, wake: bool, pages: usize) -> io::Result<Self> {
        let mut rings = Vec::new();
        for cpu in online_cpus() {
            match Ring::open(pid, cpu, wake, pages) {
                Ok(ring) => rings.push(ring),
                // The CPU went offline meanwhile.
                Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self { rings })
    }

    /// The descriptors to wait for.
    pub(crate) fn descriptors(&self) -> Vec<RawFd> {
        self.rings
            .iter()
            .map(|ring| ring.file.as_raw_fd())
            .collect()
    }

    /// Appends the new records of every CPU to `into`, whole records, CPU after CPU.
    pub(crate) fn drain(&mut self, into: &mut Vec<u8>) {
        for ring in &mut self.rings {
            ring.drain(into);
        }
    }
}

impl Ring {
    fn open(pid: u32, cpu: u32, wake: bool, pages: usize) -> io::Result<Self> {
        let page = super::page_size();
        let size = pages * page;
        let attributes = attributes(if wake { 1 } else { size as u32 / 2 });
        let file = attributes.open(pid as libc::pid_t, cpu as libc::c_int)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of the event, one control page and a power of two of data pages.
        let base = unsafe {
            let fd = file.as_raw_fd();
            libc::mmap(
                ptr::null_mut(),
                size + page,
                protection,
                libc::MAP_SHARED,
                fd,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            file,
            base: base.cast(),
            page,
            size,
        })
    }

    /// The 64-bit word at that offset of the control page.
    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the control page is mapped while self lives; head and tail are aligned words
        // shared with the kernel, which an atomic may access.
        unsafe { &*self.base.add(offset).cast::<AtomicU64>() }
    }

    fn drain(&mut self, into: &mut Vec<u8>) {
        let head = self.word(HEAD_OFFSET).load(Ordering::Acquire);
        let tail = self.word(TAIL_OFFSET).load(Ordering::Relaxed);
        let length = (head - tail) as usize;
        let from = tail as usize % self.size;
        let first = length.min(self.size - from);
        // SAFETY: the kernel has written the bytes between tail and head and will not touch them
        // before the tail moves; both parts lie in the mapped data pages.
        unsafe {
            let data = self.base.add(self.page);
            into.extend_from_slice(std::slice::from_raw_parts(data.add(from), first));
            into.extend_from_slice(std::slice::from_raw_parts(data, length - first));
        }
        self.word(TAIL_OFFSET).store(head, Ordering::Release);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: mapped in `open` with this length; no reference into it outlives self.
        unsafe { libc::munmap(self.base.cast(), self.size + self.page) };
    }
}

fn attributes(wakeup: u32) -> Attributes {
    Attributes {
        kind: TYPE_SOFTWARE,
        config: COUNT_SW_DUMMY,
        sample_period: 1,
        sample_type: SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU,
        flags: DISABLED
            | INHERIT
            | EXCLUDE_KERNEL
            | EXCLUDE_HV
            | COMM
            | COMM_EXEC
            | ENABLE_ON_EXEC
            | TASK
            | WATERMARK
            | SAMPLE_ID_ALL
            | USE_CLOCKID
            | CONTEXT_SWITCH,
        wakeup,
        clockid: libc::CLOCK_MONOTONIC,
        ..Attributes::default()
    }
}

/// The CPUs to open an event on (`/sys/devices/system/cpu/online`: `0-3,8`).
pub(super) fn online_cpus() -> Vec<u32> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let mut cpus = Vec::new();
    for range in text.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        if let (Ok(first), Ok(last)) = (first.parse(), last.parse::<u32>()) {
            cpus.extend(first..=last);
        }
    }
    if cpus.is_empty() {
        // SAFETY: sysconf only returns a number.
        let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }.max(1) as u32;
        cpus.extend(0..count);
    }
    cpus
}

/// `kernel.perf_event_paranoid`; Debian and Ubuntu know 3 and 4.
pub(crate) fn perf_paranoid() -> Option<i32> {
    let text = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?;
    text.trim().parse().ok()
}
