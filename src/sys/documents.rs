//! Files that are read and written for the user: saved sessions in, exports out.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::files::open_in_place;

/// The content of a file, never more than that many bytes.
///
/// # Errors
/// It cannot be read.
pub(crate) fn content(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What is in a folder, in the order of names.
///
/// # Errors
/// It cannot be read.
pub(crate) fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// The one path of a file, whatever it is called; `None` where there is no file.
pub(crate) fn real(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

/// Whether a file has a content to lose.
pub(crate) fn holds_something(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|known| known.is_file() && known.len() > 0)
}

/// A file that what is written goes to the end of.
///
/// # Errors
/// It cannot be written.
pub(crate) fn appended(path: &Path) -> io::Result<File> {
    open_in_place(path, OpenOptions::new().append(true).create(true))
}
