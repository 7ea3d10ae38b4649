//! Files that are replaced only when the new content is complete: a temporary file in the same
//! folder, private until it takes the old one's place.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::files;

/// Names tried before giving up: somebody else may have left files of the same name.
const TRIES: u32 = 100;
/// Characters of the target's name in the temporary one.
const NAME_KEPT: usize = 40;

/// A new content on its way to a file.
#[derive(Debug)]
pub(crate) struct Replacement {
    file: File,
    /// Where it is until it is complete; `None` where it is written in place.
    temporary: Option<PathBuf>,
    target: PathBuf,
}

impl Replacement {
    /// Begins to replace a file. What is no regular file (a pipe, a device) is written in place,
    /// and a link's target is replaced, not the link.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(known) if !known.is_file() => {
                let file = files::open_in_place(path, OpenOptions::new().write(true))?;
                Ok(Self {
                    file,
                    temporary: None,
                    target: path.into(),
                })
            }
            Ok(known) => Self::beside(&files::destination(path)?, known.permissions()),
            Err(_) => {
                let permissions = Permissions::from_mode(0o666 & !umask());
                Self::beside(&files::destination(path)?, permissions)
            }
        }
    }

    fn beside(target: &Path, permissions: Permissions) -> io::Result<Self> {
        // Cut, so that the longest name a file can have leaves room for the rest.
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let name: String = name.chars().take(NAME_KEPT).collect();
        let folder = files::folder_of(target);
        for number in 0..TRIES {
            let temporary = folder.join(format!(".{name}.{}-{number}.tmp", std::process::id()));
            let opened = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&temporary);
            match opened {
                Ok(file) => {
                    // Made first: given up, it removes the file.
                    let made = Self {
                        file,
                        temporary: Some(temporary),
                        target: target.into(),
                    };
                    made.file.set_permissions(permissions)?;
                    return Ok(made);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }

    /// Where to write.
    pub(crate) fn writer(&self) -> &File {
        &self.file
    }

    /// The new content is complete: it takes the place of the old.
    ///
    /// # Errors
    /// It cannot; the old content stays.
    pub(crate) fn commit(mut self) -> io::Result<()> {
        match self.temporary.take() {
            Some(temporary) => fs::rename(&temporary, &self.target).inspect_err(|_| {
                let _ = fs::remove_file(&temporary);
            }),
            None => Ok(()),
        }
    }
}

impl Drop for Replacement {
    /// An incomplete content leaves nothing behind.
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
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
