//! Makes our memory as small as it gets before the first run: the peak memory of a child starts at
//! ours, and the start of a program takes several times what waiting for others needs.

use std::fs;

/// Gives back what is free, forgets program text that will be read again when it is needed, and
/// resets the record of our peak (Linux 4.0, `clear_refs(5)`). Where any of it is impossible the
/// floor is higher, and `rss_floor_bytes` says so.
pub(crate) fn slim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: only gives memory that is free back to the system.
    unsafe {
        libc::malloc_trim(0);
    }
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines().filter_map(text_of).for_each(|(start, end)| {
        // SAFETY: private and never written to, so the file has the same content.
        unsafe {
            libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED);
        }
    });
    drop(maps);
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The limits of a mapping that holds code of a file.
fn text_of(line: &str) -> Option<(usize, usize)> {
    let mut words = line.split_ascii_whitespace();
    let (range, rights) = (words.next()?, words.next()?);
    let file = words.nth(3)?;
    if rights != "r-xp" || !file.starts_with('/') {
        return None;
    }
    let (start, end) = range.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    Some((number(start)?, number(end)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_files_is_forgotten() {
        let code = "55d0-55e0 r-xp 00001000 fe:00 123   /usr/bin/x";
        assert_eq!(text_of(code), Some((0x55d0, 0x55e0)));
        for other in [
            "55d0-55e0 r--p 00001000 fe:00 123   /usr/bin/x",
            "55d0-55e0 rwxp 00001000 fe:00 123   /usr/bin/x",
            "7ff0-7ff8 r-xp 00000000 00:00 0     [vdso]",
            "7ff0-7ff8 r-xp 00000000 00:00 0",
        ] {
            assert_eq!(text_of(other), None, "{other}");
        }
    }

    #[test]
    fn the_program_goes_on() {
        slim();
        assert!(super::super::peak_memory().is_none_or(|peak| peak > 0));
    }
}
