//! Hardware counters of the next program that this thread starts (`perf_event_open(2)`): opened
//! disabled on ourselves, inherited by the child, and enabled by its exec, so that nothing of ours
//! is counted. User mode only, which needs `kernel.perf_event_paranoid` of 2 or less.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// `struct perf_event_attr`, `PERF_ATTR_SIZE_VER0` (`include/uapi/linux/perf_event.h`).
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint_type: u32,
    breakpoint_address: u64,
}

/// `PERF_TYPE_HARDWARE` is 0; these are its `PERF_COUNT_HW_*`: cycles, instructions, cache
/// references, cache misses, branch misses.
const EVENTS: [u64; 5] = [0, 1, 2, 3, 5];
/// Disabled, inherited, without kernel and hypervisor, enabled on exec.
const FLAGS: u64 = 1 | 1 << 1 | 1 << 5 | 1 << 6 | 1 << 12;
/// The times enabled and running follow the value.
const TIMES: u64 = 1 | 1 << 1;
const FLAG_FD_CLOEXEC: u64 = 1 << 3;

/// One run's counters, each by itself: a machine may have some and lack others.
#[derive(Debug)]
pub(crate) struct HardwareCounters([Option<File>; 5]);

impl HardwareCounters {
    /// Opens those that there are.
    ///
    /// # Errors
    /// There is none: `ENOENT` without the hardware, `EACCES` or `EPERM` without permission.
    pub(crate) fn open() -> io::Result<Self> {
        let mut refusal = None;
        let files = EVENTS.map(|event| open(event).map_err(|error| refusal = Some(error)).ok());
        match refusal {
            Some(error) if files.iter().all(Option::is_none) => Err(error),
            _ => Ok(Self(files)),
        }
    }

    /// What was counted since exec: cycles, instructions, cache references, cache misses, branch
    /// misses; scaled up where the kernel had to share a counter.
    pub(crate) fn read(&mut self) -> [Option<u64>; 5] {
        self.0.each_mut().map(|file| count(file.as_mut()?))
    }
}

fn open(event: u64) -> io::Result<File> {
    let attributes = Attributes {
        size: size_of::<Attributes>() as u32,
        config: event,
        read_format: TIMES,
        flags: FLAGS,
        ..Attributes::default()
    };
    // SAFETY: the attributes are valid for the call and say their own size; 0 is this thread, the
    // first -1 any CPU, the second no group.
    let opened = unsafe {
        let call = libc::SYS_perf_event_open;
        libc::syscall(call, &raw const attributes, 0, -1, -1, FLAG_FD_CLOEXEC)
    };
    if opened < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: perf_event_open returned this descriptor and nobody else owns it.
    Ok(File::from(unsafe { OwnedFd::from_raw_fd(opened as RawFd) }))
}

fn count(file: &mut File) -> Option<u64> {
    let mut bytes = [0; 24];
    file.read_exact(&mut bytes).ok()?;
    let word = |place: usize| -> Option<u64> {
        let part = bytes.get(place * 8..place * 8 + 8)?;
        Some(u64::from_ne_bytes(part.try_into().ok()?))
    };
    let (value, enabled, running) = (word(0)?, word(1)?, word(2)?);
    match running {
        0 => None,
        _ if running >= enabled => Some(value),
        _ => Some((value as f64 * enabled as f64 / running as f64) as u64),
    }
}
