//! Facts about the machine that `sysctl(3)` tells.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::ptr;

use serde_json::Value;

/// The processor.
pub(crate) fn cpu_model() -> Option<String> {
    let name = if cfg!(target_vendor = "apple") {
        c"machdep.cpu.brand_string"
    } else {
        c"hw.model"
    };
    let mut text = [0_u8; 256];
    read(name, &mut text)?;
    let text = CStr::from_bytes_until_nul(&text).ok()?;
    Some(text.to_string_lossy().into_owned())
}

/// How many CPUs there are.
pub(crate) fn allowed_cpus() -> Option<u64> {
    std::thread::available_parallelism()
        .ok()
        .map(|count| count.get() as u64)
}

/// Not told by the calls used here.
pub(crate) fn process_limit() -> Option<u64> {
    None
}

/// Our own peak resident memory in bytes.
pub(crate) fn peak_memory() -> Option<u64> {
    let own = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF).ok()?;
    u64::try_from(own.max_rss())
        .ok()
        .map(|units| units * super::MAX_RSS_UNIT)
}

/// Everything else that bears on a measurement.
pub(crate) fn facts() -> BTreeMap<String, Value> {
    let mut memory = [0_u8; 8];
    let bytes = read(c"hw.memsize", &mut memory).map(|()| u64::from_ne_bytes(memory));
    let known = bytes.map(|bytes| ("memory_bytes".to_owned(), Value::from(bytes)));
    known.into_iter().collect()
}

fn read(name: &CStr, place: &mut [u8]) -> Option<()> {
    let mut length = place.len();
    // SAFETY: the system writes at most `length` bytes to `place`; nothing is set.
    let result = unsafe {
        let place = place.as_mut_ptr().cast();
        libc::sysctlbyname(name.as_ptr(), place, &raw mut length, ptr::null_mut(), 0)
    };
    (result == 0).then_some(())
}
