//! The files a command gets as standard streams. All of ours are closed on exec.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{platform, session, unix};
use crate::sample::Shelf;

/// Links followed, as many as the kernel follows.
const LINKS: u32 = 40;
/// How often a FIFO is tried that nobody reads.
const READER_LOOK: Duration = Duration::from_millis(20);

/// How much of standard error is kept.
pub(crate) const KEPT: u64 = 64 * 1024;

/// `/dev/null` for reading and writing.
///
/// # Errors
/// It is not there.
pub(crate) fn null() -> io::Result<File> {
    File::options().read(true).write(true).open("/dev/null")
}

/// A file to read from its start. A folder is refused here, not in the middle of the runs; so is a
/// pipe, which would be empty for every run but the first.
///
/// # Errors
/// It cannot be read.
pub(crate) fn input(path: &Path) -> io::Result<File> {
    if is_fifo(path) {
        return Err(io::Error::other(
            "a pipe can be read by one run only; write it to a file",
        ));
    }
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(file)
}

/// An emptied file to write to.
///
/// # Errors
/// It cannot be written.
pub(crate) fn output(path: &Path) -> io::Result<File> {
    open_in_place(
        path,
        OpenOptions::new().write(true).create(true).truncate(true),
    )
}

/// Whether a file could be written, without making or emptying it. A FIFO is not opened: that
/// waits for a reader, and closing it again is the end of what the reader reads.
///
/// # Errors
/// Why not.
pub(crate) fn writable(path: &Path) -> io::Result<()> {
    if is_fifo(path) {
        return may_write(path);
    }
    match File::options().write(true).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if path.as_os_str().is_empty() {
                return Err(error);
            }
            let path = destination(path)?;
            let folder = folder_of(&path);
            // A folder that was removed while we are in it takes nothing any more.
            if std::fs::metadata(folder)?.nlink() == 0 {
                return Err(error);
            }
            may_write(folder)
        }
        Err(error) => Err(error),
    }
}

/// Where what is written to a path ends up: links are followed, also one to a file that does not
/// exist yet. Two paths with one destination are one file.
///
/// # Errors
/// Its folder is not there, or links lead in a circle.
pub(crate) fn destination(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Ok(target) = std::fs::read_link(&path) else {
            let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
            return Ok(std::fs::canonicalize(folder_of(&path))?.join(name));
        };
        path = folder_of(&path).join(target);
    }
    Err(io::Error::from_raw_os_error(nix::libc::ELOOP))
}

/// Where a regular file, or none yet, is replaced; `None` for what is written in place.
#[cfg(feature = "cli")]
pub(crate) fn replaced(path: &Path) -> Option<PathBuf> {
    let regular = std::fs::metadata(path).map_or(true, |known| known.is_file());
    destination(path).ok().filter(|_| regular)
}

pub(super) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|one| !one.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

fn may_write(path: &Path) -> io::Result<()> {
    nix::unistd::access(path, nix::unistd::AccessFlags::W_OK).map_err(io::Error::from)
}

fn is_fifo(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|facts| facts.file_type().is_fifo())
}

/// Opens what is written in place, whatever it is. A FIFO is waited for until somebody reads it or
/// a signal asks to stop.
///
/// # Errors
/// It cannot be opened, or a signal came.
pub(super) fn open_in_place(path: &Path, options: &OpenOptions) -> io::Result<File> {
    // In a sticky folder, asking to make what is there is refused (`fs.protected_regular`).
    match open_old(path, options.clone().create(false)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => options.open(path),
        opened => opened,
    }
}

fn open_old(path: &Path, options: &OpenOptions) -> io::Result<File> {
    if !is_fifo(path) {
        return options.open(path);
    }
    let mut waiting = options.clone();
    waiting.custom_flags(nix::libc::O_NONBLOCK);
    let file = loop {
        match waiting.open(path) {
            Ok(file) => break file,
            Err(error) if error.raw_os_error() != Some(nix::libc::ENXIO) => return Err(error),
            Err(_) if session::stop_signal().is_some() => {
                return Err(io::Error::other(
                    "nobody reads it, and a signal asked to stop",
                ));
            }
            Err(_) => std::thread::sleep(READER_LOOK),
        }
    };
    let blocking = nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::empty());
    nix::fcntl::fcntl(&file, blocking)?;
    Ok(file)
}

/// A pipe: the end to read from, which never blocks, and the end for the command.
///
/// # Errors
/// No more descriptors.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = platform::pipe()?;
    let flags = nix::fcntl::OFlag::O_NONBLOCK;
    nix::fcntl::fcntl(&read, nix::fcntl::FcntlArg::F_SETFL(flags))?;
    Ok((read, write))
}

/// What a command wrote to standard error, for the message of a failing run.
///
/// A nameless file, not a pipe: a pipe must be drained, which wakes us in the middle of the run, or
/// blocks the command when it is full. It is opened for appending, so whatever the command's
/// processes do to its position, nothing is overwritten. A flood is cut from its beginning between
/// waits ([`Kept::relieve`]), so memory stays bounded. Where a file-size limit is set there is no
/// such file and standard error goes to `/dev/null`: the limit would end the command.
#[derive(Debug)]
pub(crate) struct Kept {
    file: File,
    released: u64,
}

impl Kept {
    /// More than this is not held in memory for longer than one wait.
    const FLOOD: u64 = 4 * 1024 * 1024;
    /// Releases whole pages of any size the kernel uses, huge ones aside.
    const GRAIN: u64 = 64 * 1024;

    /// An empty file, if the system has such files.
    pub(crate) fn new() -> Option<Self> {
        if unix::limit(nix::sys::resource::Resource::RLIMIT_FSIZE).is_some() {
            return None;
        }
        let file = platform::scratch_file()?;
        let flags = nix::fcntl::OFlag::O_APPEND;
        nix::fcntl::fcntl(&file, nix::fcntl::FcntlArg::F_SETFL(flags)).ok()?;
        Some(Self { file, released: 0 })
    }

    /// The file to write to.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// How much has been written. It is asked after each run, and going to the end is the cheapest
    /// question; where we stand does not matter to who appends.
    pub(crate) fn written(&self) -> u64 {
        (&self.file).seek(io::SeekFrom::End(0)).unwrap_or(0)
    }

    /// Forgets what was written; how much that was.
    pub(crate) fn clear(&mut self) -> u64 {
        let written = self.written();
        if written > 0 {
            let _ = self.file.set_len(0);
        }
        self.released = 0;
        written
    }

    /// Gives the memory of all but the end back, if there is much.
    pub(crate) fn relieve(&mut self) {
        let written = self.written();
        if written.saturating_sub(self.released) > Self::FLOOD {
            let until = (written - 2 * KEPT) / Self::GRAIN * Self::GRAIN;
            platform::release_pages(&self.file, self.released, until - self.released);
            self.released = until;
        }
    }

    /// The end of what was written, at most [`KEPT`] bytes.
    pub(crate) fn tail(&self) -> Vec<u8> {
        let written = self.written();
        let mut bytes = vec![0; written.min(KEPT) as usize];
        let from = written - bytes.len() as u64;
        if self.file.read_exact_at(&mut bytes, from).is_err() {
            bytes.clear();
        }
        bytes
    }
}

/// Blocks of samples in a nameless file: no part of our resident memory.
#[derive(Debug)]
pub(crate) struct Scratch {
    file: File,
    end: AtomicU64,
}

impl Scratch {
    /// An empty one, if the system has such files and lets them grow.
    pub(crate) fn new() -> Option<Self> {
        if unix::limit(nix::sys::resource::Resource::RLIMIT_FSIZE).is_some() {
            return None;
        }
        let file = platform::scratch_file()?;
        let end = AtomicU64::new(0);
        Some(Self { file, end })
    }
}

impl Shelf for Scratch {
    fn append(&self, block: &[u8]) -> Option<u64> {
        let place = self.end.fetch_add(block.len() as u64, Ordering::Relaxed);
        self.file.write_all_at(block, place).ok()?;
        Some(place)
    }

    fn read(&self, place: u64, block: &mut [u8]) -> bool {
        self.file.read_exact_at(block, place).is_ok()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    /// A folder of a test, gone with it.
    pub(crate) struct Folder(PathBuf);

    impl Folder {
        pub(crate) fn new(name: &str) -> Self {
            let name = format!("offbench-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            let _ = std::fs::remove_dir_all(&path);
            std::fs::create_dir(&path).unwrap();
            Self(path)
        }

        pub(crate) fn path(&self) -> &Path {
            &self.0
        }

        pub(crate) fn file(&self, name: &str, text: &str, mode: u32) -> PathBuf {
            let path = self.0.join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_end_of_a_flood_is_kept() {
        let mut kept = Kept::new().unwrap();
        assert_eq!(kept.tail(), b"");
        (&kept.file).write_all(b"short").unwrap();
        assert_eq!(kept.tail(), b"short");
        let block = vec![b'a'; 1 << 20];
        for _ in 0..20 {
            (&kept.file).write_all(&block).unwrap();
            kept.relieve();
        }
        (&kept.file).write_all(b"the end").unwrap();
        kept.relieve();
        let tail = kept.tail();
        assert_eq!(tail.len() as u64, KEPT);
        assert!(tail.ends_with(b"aaathe end"));
        #[cfg(target_os = "linux")]
        {
            use std::os::unix::fs::MetadataExt;
            assert!(kept.file.metadata().unwrap().blocks() * 512 < 8 << 20);
        }
        kept.clear();
        assert_eq!(kept.written(), 0);
        (&kept.file).write_all(b"again").unwrap();
        assert_eq!(kept.tail(), b"again");
    }

    #[test]
    fn unusable_files_are_refused_before_a_run() {
        let folder = Folder::new("files");
        assert!(input(folder.path()).is_err());
        assert!(input(&folder.path().join("no")).is_err());
        assert!(writable(folder.path()).is_err());
        assert!(writable(&folder.path().join("no/file")).is_err());
        let new = folder.path().join("new");
        assert!(writable(&new).is_ok());
        assert!(!new.exists());
    }
}
