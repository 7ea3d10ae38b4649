//! Memory of a starting child that outlives it: its stack, and the report it leaves.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU64};

use crate::sys::Error;

/// Bytes of the child's stack, without the guard page below it.
const STACK: usize = 16 * 1024;
/// The guard page; no smaller than a page anywhere.
const GUARD: usize = 64 * 1024;

/// Room for the text of `schedstat`: three numbers of at most 20 digits.
pub(super) const ACCOUNT: usize = 64;

/// Where the child leaves what we want to know. Mapped shared, so that it also works where the
/// child gets a copy of our memory.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Report {
    /// The monotonic clock just before exec, in nanoseconds.
    pub(super) stamp: AtomicU64,
    /// What failed: a step of the child, or 0.
    pub(super) step: AtomicI32,
    /// Its error number.
    pub(super) errno: AtomicI32,
    /// CPU time of the child just before the stamp, in nanoseconds; 0 where it cannot be read.
    pub(super) cpu: AtomicU64,
    /// `/proc/self/schedstat` just before the stamp; ends with a NUL.
    pub(super) account: [AtomicU8; ACCOUNT],
}

/// Private memory that outlives every child: a stack above a guard, and the report.
#[derive(Debug)]
pub(super) struct Memory {
    stack: *mut c_void,
    report: *mut c_void,
}

impl Memory {
    pub(super) fn new() -> Result<Self, Error> {
        let stack = map(GUARD + STACK, libc::MAP_PRIVATE | libc::MAP_STACK)?;
        let report = map(size_of::<Report>(), libc::MAP_SHARED)?;
        // SAFETY: the mapping is that large and ours; the guard is its lower part, and touching
        // the upper part now keeps page faults out of the runs.
        unsafe {
            libc::mprotect(stack, GUARD, libc::PROT_NONE);
            ptr::write_bytes(stack.byte_add(GUARD).cast::<u8>(), 1, STACK);
        }
        Ok(Self { stack, report })
    }

    /// The lower end of the stack, above the guard, and its size.
    pub(super) fn stack(&self) -> (*mut c_void, usize) {
        // SAFETY: within the mapping.
        (unsafe { self.stack.byte_add(GUARD) }, STACK)
    }

    pub(super) fn stack_top(&self) -> *mut c_void {
        // SAFETY: one past the end of the mapping, which is aligned to a page.
        unsafe { self.stack.byte_add(GUARD + STACK) }
    }

    pub(super) fn report(&self) -> &Report {
        // SAFETY: mapped as long as `self` lives, aligned to a page, and zero is a valid report.
        // Children write it too, which is why it consists of atomics.
        unsafe { &*self.report.cast::<Report>() }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: our own mappings, used by no one else: a child sharing them has executed.
        unsafe {
            libc::munmap(self.stack, GUARD + STACK);
            libc::munmap(self.report, size_of::<Report>());
        }
    }
}

fn map(size: usize, kind: i32) -> Result<*mut c_void, Error> {
    let (access, flags) = (
        libc::PROT_READ | libc::PROT_WRITE,
        kind | libc::MAP_ANONYMOUS,
    );
    // SAFETY: a new anonymous mapping touches nothing that exists.
    let address = unsafe { libc::mmap(ptr::null_mut(), size, access, flags, -1, 0) };
    if address == libc::MAP_FAILED {
        return Err(Error::last("mmap"));
    }
    Ok(address)
}
