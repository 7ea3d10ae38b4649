//! Files of ours that are gone when we are, also where a signal ends us at once.

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::clock;

/// The paths of those that are there, for the signal handler: it may not allocate, lock or wait.
/// One is in use at a time; tests use more.
static PATHS: [AtomicPtr<libc::c_char>; 16] = [const { AtomicPtr::new(null_mut()) }; 16];

type Entry = (&'static AtomicPtr<libc::c_char>, *mut libc::c_char);

/// A name in a folder: the file is private, and removed when this is dropped.
#[derive(Debug)]
pub(super) struct Temporary {
    path: PathBuf,
    /// Where the handler finds the path, and what it finds.
    entry: Option<Entry>,
}

impl Temporary {
    /// Makes a file to read and write.
    ///
    /// # Errors
    /// None can be made there.
    pub(super) fn create(folder: &Path, name: &str) -> io::Result<(File, Self)> {
        // Nobody else's, here or in another container: the handler may have to remove it before we
        // know that we made it.
        let name = format!(".{name}.{}-{}.tmp", std::process::id(), clock::now());
        let path = folder.join(name);
        let entry = enter(&path)?;
        let temporary = Self { path, entry };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let file = options.open(&temporary.path)?;
        Ok((file, temporary))
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
        let Some((place, path)) = self.entry else {
            return;
        };
        if place.swap(null_mut(), Ordering::AcqRel) == path {
            // SAFETY: made by `into_raw` and taken out of where the handler could find it.
            drop(unsafe { CString::from_raw(path) });
        }
    }
}

/// Tells the handler; `None` where it knows enough already.
fn enter(path: &Path) -> io::Result<Option<Entry>> {
    let path = CString::new(path.as_os_str().as_bytes())?.into_raw();
    let take = |place: &&AtomicPtr<_>| {
        place
            .compare_exchange(null_mut(), path, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    };
    let entry = PATHS.iter().find(take).map(|place| (place, path));
    if entry.is_none() {
        // SAFETY: made above, and nobody has it.
        drop(unsafe { CString::from_raw(path) });
    }
    Ok(entry)
}

/// Removes all of them, from a signal handler that ends us: only async-signal-safe calls.
pub(super) fn remove_all() {
    for place in &PATHS {
        // Taken out, so that nobody frees it meanwhile.
        let path = place.swap(null_mut(), Ordering::AcqRel);
        if !path.is_null() {
            // SAFETY: a path that ends with 0 and that is ours now.
            unsafe { libc::unlink(path) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::files::tests::Folder;

    #[test]
    fn it_is_private_and_gone_afterwards() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::new("temporary");
        let there = || std::fs::read_dir(folder.path()).unwrap().count();
        let made: Vec<_> = (0..40)
            .map(|_| Temporary::create(folder.path(), "x").unwrap())
            .collect();
        assert_eq!(there(), 40);
        for (file, _) in &made {
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        drop(made);
        assert_eq!(there(), 0);
        assert!(Temporary::create(&folder.path().join("no"), "x").is_err());
    }
}
