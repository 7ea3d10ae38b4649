//! Files that are replaced only when the new content is complete: a temporary file in the same
//! folder, private until it takes the old one's place. Where that cannot be, but the file itself can
//! be written (a single file mounted into a container, a folder of somebody else), the complete
//! content is copied into it.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Seek};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::sys::signal::{SigSet, SigmaskHow};

use super::temporary::Temporary;
use super::{files, platform};

/// Characters of the target's name in the temporary one.
const NAME_KEPT: usize = 40;
/// Bytes copied at once.
const PART: usize = 1 << 16;

/// A new content on its way to a file.
#[derive(Debug)]
pub(crate) struct Replacement {
    file: File,
    way: Way,
}

/// How it gets there.
#[derive(Debug)]
enum Way {
    /// It is written there.
    Direct,
    /// The temporary file takes that one's place.
    Rename(Temporary, PathBuf),
    /// It is copied from a nameless file.
    Copy(PathBuf),
}

impl Replacement {
    /// Begins to replace a file. What is no regular file (a pipe, a device) is written in place,
    /// and a link's target is replaced, not the link.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(known) if !known.is_file() => Ok(Self {
                file: files::open_in_place(path, OpenOptions::new().write(true))?,
                way: Way::Direct,
            }),
            Ok(known) => {
                let target = files::destination(path)?;
                Self::beside(&target, |file| file.set_permissions(known.permissions()))
                    .or_else(|error| Self::apart(target, error))
            }
            Err(_) => Self::beside(&files::destination(path)?, |file| {
                // Where there are no permissions to set, those it got are right.
                let _ = file.set_permissions(Permissions::from_mode(0o666 & !umask()));
                Ok(())
            }),
        }
    }

    fn beside(target: &Path, prepare: impl Fn(&File) -> io::Result<()>) -> io::Result<Self> {
        // Cut, so that the longest name a file can have leaves room for the rest.
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let name: String = name.chars().take(NAME_KEPT).collect();
        let (file, temporary) = Temporary::create(files::folder_of(target), &name)?;
        prepare(&file)?;
        Ok(Self {
            file,
            way: Way::Rename(temporary, target.into()),
        })
    }

    /// Where no file can be made in the folder, for that reason.
    fn apart(target: PathBuf, why: io::Error) -> io::Result<Self> {
        open_old(&target)?;
        Ok(Self {
            file: platform::scratch_file().ok_or(why)?,
            way: Way::Copy(target),
        })
    }

    /// Where to write.
    pub(crate) fn writer(&self) -> &File {
        &self.file
    }

    /// The new content is complete: it takes the place of the old. More can be written to the end of
    /// the file that is returned.
    ///
    /// # Errors
    /// It cannot; the old content stays.
    pub(crate) fn commit(self) -> io::Result<File> {
        match self.way {
            Way::Direct => Ok(self.file),
            // A mount point is busy, and in a sticky folder only the owner's files can be replaced.
            Way::Rename(temporary, target) => match fs::rename(temporary.path(), &target) {
                Ok(()) => Ok(self.file),
                Err(why) if !target.is_file() => Err(why),
                Err(_) => overwrite(&self.file, &target),
            },
            Way::Copy(target) => overwrite(&self.file, &target),
        }
    }
}

/// Copies a complete content over an old one. What is longer comes first, so that a full disk is met
/// while all of the old content is still there.
fn overwrite(content: &File, target: &Path) -> io::Result<File> {
    let mut file = open_old(target)?;
    let (old, new) = (file.metadata()?.len(), content.metadata()?.len());
    unsignalled(|| {
        if let Err(error) = copy(content, &file, old..new) {
            file.set_len(old)?;
            return Err(error);
        }
        copy(content, &file, 0..old.min(new))?;
        file.set_len(new)
    })?;
    file.seek(io::SeekFrom::End(0))?;
    Ok(file)
}

/// Lets signals wait: one that ends us at once would leave half of the old and half of the new.
fn unsignalled<T>(act: impl FnOnce() -> T) -> T {
    let before = SigSet::all().thread_swap_mask(SigmaskHow::SIG_BLOCK);
    let done = act();
    if let Ok(before) = before {
        let _ = before.thread_set_mask();
    }
    done
}

/// Not to be made or emptied. Asking to make one that is there is refused in sticky folders.
fn open_old(target: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(target)
}

/// Copies those bytes to the same place.
fn copy(from: &File, to: &File, mut range: std::ops::Range<u64>) -> io::Result<()> {
    let mut part = vec![0; PART];
    while !range.is_empty() {
        let length = (range.end - range.start).min(PART as u64);
        let part = &mut part[..length as usize];
        from.read_exact_at(part, range.start)?;
        to.write_all_at(part, range.start)?;
        range.start += length;
    }
    Ok(())
}

/// The process's file creation mask.
#[allow(clippy::useless_conversion, reason = "narrower on other systems")]
fn umask() -> u32 {
    let mask = nix::sys::stat::umask(nix::sys::stat::Mode::empty());
    nix::sys::stat::umask(mask);
    mask.bits().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::files::tests::Folder;
    use std::io::Write;

    fn content(path: &Path) -> String {
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn old_content_stays_until_the_new_is_complete() {
        let folder = Folder::new("replacement");
        let path = folder.file("out", "a long old content", 0o640);
        let replacement = Replacement::create(&path).unwrap();
        replacement.writer().write_all(b"new").unwrap();
        assert_eq!(content(&path), "a long old content");
        replacement.commit().unwrap();
        assert_eq!(content(&path), "new");
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o640
        );
    }

    #[test]
    fn given_up_leaves_nothing_behind() {
        let folder = Folder::new("replacement-drop");
        let path = folder.file("out", "old", 0o644);
        drop(Replacement::create(&path).unwrap());
        assert_eq!(content(&path), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_name_may_be_as_long_as_a_name_can_be() {
        let folder = Folder::new("replacement-long");
        for character in ["n", "ü"] {
            let path = folder.path().join(character.repeat(255 / character.len()));
            let replacement = Replacement::create(&path).unwrap();
            replacement.writer().write_all(b"new").unwrap();
            replacement.commit().unwrap();
            assert_eq!(content(&path), "new");
        }
    }

    #[test]
    fn a_link_to_nothing_yet_stays_a_link() {
        let folder = Folder::new("replacement-dangling");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("second", &link).unwrap();
        std::os::unix::fs::symlink("real", folder.path().join("second")).unwrap();
        let replacement = Replacement::create(&link).unwrap();
        replacement.writer().write_all(b"new").unwrap();
        replacement.commit().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(content(&folder.path().join("real")), "new");
    }

    #[test]
    fn a_content_is_copied_whole_whatever_was_there() {
        let folder = Folder::new("replacement-copy");
        let long = "new".repeat(PART);
        for (old, new) in [("old", long.as_str()), (&long, "new"), ("", "x"), ("x", "")] {
            let path = folder.file("out", old, 0o644);
            let source = platform::scratch_file().unwrap();
            (&source).write_all(new.as_bytes()).unwrap();
            let mut file = overwrite(&source, &path).unwrap();
            assert_eq!(content(&path), new);
            file.write_all(b"+").unwrap();
            assert_eq!(content(&path), format!("{new}+"));
        }
    }

    #[test]
    fn signals_wait_while_a_content_is_half_there() {
        let waits = || {
            let mask = SigSet::thread_get_mask().unwrap();
            mask.contains(nix::sys::signal::Signal::SIGTERM)
        };
        assert!(unsignalled(waits));
        assert!(!waits());
    }

    #[test]
    fn more_is_written_to_the_end() {
        let folder = Folder::new("replacement-more");
        let path = folder.file("out", "old", 0o644);
        let replacement = Replacement::create(&path).unwrap();
        replacement.writer().write_all(b"new").unwrap();
        replacement.commit().unwrap().write_all(b"er").unwrap();
        assert_eq!(content(&path), "newer");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = Folder::new("replacement-link");
        let path = folder.file("real", "old", 0o644);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let replacement = Replacement::create(&link).unwrap();
        replacement.writer().write_all(b"new").unwrap();
        replacement.commit().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(content(&path), "new");
    }
}
