//! Makes our memory as small as it gets before the first run: the peak memory of a child starts at
//! ours, and the start of a program takes several times what waiting for others needs.

use std::ffi::c_void;
use std::fs;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Gives back what is free, forgets what our own files can tell again, and resets the record of our
/// peak (Linux 4.0, `clear_refs(5)`). Where any of it is impossible the floor is higher, and
/// `rss_floor_bytes` says so.
pub(crate) fn slim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: only gives memory that is free back to the system.
    unsafe {
        libc::malloc_trim(0);
    }
    // SAFETY: a function of the type that is called, which needs no data.
    unsafe {
        libc::dl_iterate_phdr(Some(forget_file), ptr::null_mut());
    }
    let _ = fs::write("/proc/self/clear_refs", "5");
    APART.store(true, Ordering::Relaxed);
}

/// Pages of our files that come back together. Taking files apart costs a microsecond a part; where
/// there is one file it is worth to have each page alone.
const TOGETHER: usize = if cfg!(target_feature = "crt-static") {
    1
} else {
    2
};
/// A part of a file, as its headers tell it.
#[cfg(target_pointer_width = "64")]
type Header = libc::Elf64_Phdr;
#[cfg(not(target_pointer_width = "64"))]
type Header = libc::Elf32_Phdr;

/// Our files have been taken apart.
static APART: AtomicBool = AtomicBool::new(false);

/// Forgets those parts of a loaded file that nobody writes; 0 asks for the next one.
///
/// # Safety
/// To be called by `dl_iterate_phdr`.
unsafe extern "C" fn forget_file(file: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> i32 {
    // SAFETY: valid during the call, as are so many headers.
    let (base, headers) = unsafe {
        let file = &*file;
        if file.dlpi_phdr.is_null() {
            return 0;
        }
        let count = usize::from(file.dlpi_phnum);
        let headers = std::slice::from_raw_parts(file.dlpi_phdr, count);
        (file.dlpi_addr as usize, headers)
    };
    // SAFETY: only asks for a number.
    let kernels = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } as usize;
    // What the kernel itself maps into every program is no file. A file of which code was changed
    // when it was loaded cannot tell it again.
    // SAFETY: the headers of a loaded file.
    if base == kernels || unsafe { code_was_changed(base, headers) } {
        return 0;
    }
    for header in headers {
        if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W == 0 {
            let start = base + header.p_vaddr as usize;
            forget_pages(start..start + header.p_memsz as usize);
        }
    }
    0
}

/// Whether the loader wrote addresses into parts that nobody else writes: `DT_TEXTREL`, or that flag
/// of `DT_FLAGS` (System V ABI, "Dynamic Section"). Libraries with hand-written assembly may be so.
///
/// # Safety
/// The headers are those of a file loaded at `base`.
unsafe fn code_was_changed(base: usize, headers: &[Header]) -> bool {
    const TEXT_RELOCATIONS: usize = 22;
    const FLAGS: usize = 30;
    const FLAG: usize = 4;
    let Some(dynamic) = headers.iter().find(|one| one.p_type == libc::PT_DYNAMIC) else {
        return false;
    };
    let entries = dynamic.p_memsz as usize / size_of::<[usize; 2]>();
    let place = (base + dynamic.p_vaddr as usize) as *const [usize; 2];
    // SAFETY: the caller's promise: a table of tags and values that is loaded with the file.
    let table = unsafe { std::slice::from_raw_parts(place, entries) };
    let mut all = table.iter().take_while(|[tag, _]| *tag != 0);
    all.any(|[tag, value]| *tag == TEXT_RELOCATIONS || (*tag == FLAGS && *value & FLAG != 0))
}

/// Forgets pages of a file, and lets few of them come back together: by itself the kernel maps 16
/// around the one that is needed (`do_fault_around` in mm/memory.c), but none beyond the part of the
/// file that has the same advice.
fn forget_pages(range: Range<usize>) {
    let page = super::page_size();
    let (start, end) = (range.start / page * page, range.end.next_multiple_of(page));
    let advise = |from: usize, bytes: usize, advice: i32| {
        // SAFETY: part of a file of ours that nobody writes, so its content comes back.
        unsafe { libc::madvise(from as *mut c_void, bytes, advice) };
    };
    advise(start, end - start, libc::MADV_DONTNEED);
    if !APART.load(Ordering::Relaxed) {
        let few = TOGETHER * page;
        for from in (start..end).step_by(2 * few) {
            advise(from, few.min(end - from), libc::MADV_RANDOM);
        }
    }
}

/// What is free stays ours from now on: after the last run nobody inherits it, and getting arrays of
/// many runs from the system again and again costs more than some passes over them.
pub(crate) fn keep_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: only sets from when on free memory is given back (mallopt(3)).
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGEST_KEPT);
    }
}

/// The largest array that the allocator keeps when it is free, in bytes; it takes no more.
#[cfg(target_env = "gnu")]
const LARGEST_KEPT: libc::c_int = 32 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_goes_on_with_less() {
        slim();
        let once = super::super::peak_memory();
        slim();
        keep_memory();
        assert!(once.is_none_or(|peak| peak > 0));
    }

    #[test]
    fn a_file_with_changed_code_is_known() {
        // SAFETY: all zero is a valid header.
        let mut dynamic: Header = unsafe { std::mem::zeroed() };
        dynamic.p_type = libc::PT_DYNAMIC;
        let needed: [usize; 2] = [1, 22];
        for (table, changed) in [
            ([needed, [22, 0], [0, 0]], true),
            ([needed, [30, 4], [0, 0]], true),
            ([needed, [30, 8], [0, 0]], false),
            ([needed, [0, 0], [22, 0]], false),
        ] {
            dynamic.p_memsz = size_of_val(&table) as _;
            // SAFETY: such a table, placed where it is in memory.
            let found = unsafe { code_was_changed(table.as_ptr() as usize, &[dynamic]) };
            assert_eq!(found, changed, "{table:?}");
        }
        // SAFETY: no table is looked for.
        assert!(!unsafe { code_was_changed(0, &[]) });
    }
}
