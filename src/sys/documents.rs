//! Files that are read and written for the user: saved sessions in, exports out.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::files::open_in_place;

/// How much is read between two looks at what was read.
const CHUNK: u64 = 1 << 16;

/// The content of a regular file or a pipe, never more than that many bytes. Reading ends early where
/// `ends` says so of all that was read and of where the newest part begins: a pipe may never end.
///
/// # Errors
/// It cannot be read, or is something else.
pub(crate) fn content(
    path: &Path,
    most: u64,
    ends: impl Fn(&[u8], usize) -> bool,
) -> io::Result<Vec<u8>> {
    let kind = fs::metadata(path)?.file_type();
    if !(kind.is_file() || kind.is_fifo() || kind.is_dir()) {
        return Err(io::Error::other("it is no file and no pipe"));
    }
    let mut bytes = Vec::new();
    let mut file = File::open(path)?.take(most);
    loop {
        let before = bytes.len();
        let read = file.by_ref().take(CHUNK).read_to_end(&mut bytes)?;
        if read == 0 || ends(&bytes, before) {
            return Ok(bytes);
        }
    }
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
