//! Finds the file of a program once, so that no run pays for the search and every refusal has its
//! exact reason. Nothing is started here.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use super::Error;

/// Where programs are looked for when the environment has no `PATH` (`_PATH_DEFPATH`).
const DEFAULT_SEARCH: &str = "/usr/local/bin:/bin:/usr/bin";

/// How much of a file the kernel reads to find out what it is (`BINPRM_BUF_SIZE`, Linux 5.1).
const HEAD: usize = 256;

/// The file to execute for `program`, relative names being relative to `directory` (ours if none).
///
/// The result stays relative where the program or the search path is: the child enters the
/// directory before it executes.
///
/// # Errors
/// Why it cannot be executed.
pub(super) fn resolve(
    program: &OsStr,
    search: Option<&OsStr>,
    directory: Option<&Path>,
) -> Result<PathBuf, Error> {
    if program.is_empty() {
        return Err(Error::NotFound);
    }
    if program.as_bytes().contains(&b'/') {
        let path = PathBuf::from(program);
        examine(&path, directory)?;
        return Ok(path);
    }
    let search = search.unwrap_or_else(|| OsStr::new(DEFAULT_SEARCH));
    let mut refusal = Error::NotFound;
    for entry in search.as_bytes().split(|byte| *byte == b':') {
        let folder = if entry.is_empty() { b"." } else { entry };
        let path = Path::new(OsStr::from_bytes(folder)).join(program);
        if facts(&path, directory).is_err() {
            // Not there, or in a folder that is closed to us: either way not found here.
            continue;
        }
        match examine(&path, directory) {
            Ok(()) => return Ok(path),
            Err(Error::NotFound) => {}
            Err(error @ Error::MissingInterpreter { .. }) => return Err(error),
            Err(error) if matches!(refusal, Error::NotFound) => refusal = error,
            Err(_) => {}
        }
    }
    Err(refusal)
}

/// Whether there is a program of that name in the search path.
#[cfg(feature = "cli")]
pub(crate) fn is_program(name: &OsStr, search: Option<&OsStr>) -> bool {
    resolve(name, search, None).is_ok()
}

fn facts(path: &Path, directory: Option<&Path>) -> std::io::Result<std::fs::Metadata> {
    match directory {
        Some(base) => std::fs::metadata(base.join(path)),
        None => std::fs::metadata(path),
    }
}

/// Whether that file can be executed.
fn examine(path: &Path, directory: Option<&Path>) -> Result<(), Error> {
    let seen = directory.map_or_else(|| path.to_path_buf(), |base| base.join(path));
    let facts = match facts(path, directory) {
        Ok(facts) => facts,
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            return Err(Error::NotExecutable { path: path.into() });
        }
        Err(error) if error.raw_os_error() == Some(libc::ENAMETOOLONG) => {
            return Err(Error::TooLong);
        }
        Err(_) => return Err(Error::NotFound),
    };
    if facts.is_dir() {
        return Err(Error::Directory { path: path.into() });
    }
    if !facts.is_file() || access(&seen, AccessFlags::X_OK).is_err() {
        return Err(Error::NotExecutable { path: path.into() });
    }
    match missing_interpreter(&seen, directory) {
        Some(interpreter) => Err(Error::MissingInterpreter {
            path: path.into(),
            interpreter,
        }),
        None => Ok(()),
    }
}

/// The interpreter a script names, if it does not exist. A file we cannot read is left to exec.
pub(super) fn missing_interpreter(file: &Path, directory: Option<&Path>) -> Option<String> {
    let mut head = [0; HEAD];
    let mut length = 0;
    let mut opened = File::open(file).ok()?;
    while length < HEAD {
        match opened.read(&mut head[length..]).ok()? {
            0 => break,
            count => length += count,
        }
    }
    let interpreter = shebang(&head[..length])?;
    let path = Path::new(OsStr::from_bytes(interpreter));
    let seen = directory.map_or_else(|| path.to_path_buf(), |base| base.join(path));
    (!seen.exists()).then(|| interpreter.escape_ascii().to_string())
}

/// The interpreter named by a `#!` line, as the kernel cuts it out (`fs/binfmt_script.c`).
fn shebang(head: &[u8]) -> Option<&[u8]> {
    let line = head.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    let line = line.trim_ascii_start();
    line.split(|byte| matches!(byte, b' ' | b'\t' | 0))
        .next()
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::files::tests::Folder;

    fn find(program: &str, search: Option<&Path>) -> Result<PathBuf, Error> {
        resolve(OsStr::new(program), search.map(Path::as_os_str), None)
    }

    #[test]
    fn the_interpreter_is_cut_as_the_kernel_does() {
        assert_eq!(shebang(b"#! /bin/sh -e\nx"), Some(&b"/bin/sh"[..]));
        assert_eq!(shebang(b"#!/bin/sh\r\n"), Some(&b"/bin/sh\r"[..]));
        assert_eq!(shebang(b"#!\n"), None);
        assert_eq!(shebang(b"\x7fELF"), None);
    }

    #[test]
    fn every_refusal_has_its_reason() {
        let folder = Folder::new("resolve");
        let file = |name, text: &str, mode| folder.file(name, text, mode);
        let plain = file("plain", "x", 0o644);
        file("lost", "#!/no/such/interpreter\n", 0o755);
        file("windows", "#!/bin/sh\r\n", 0o755);
        file("fine", "#!/bin/sh\n", 0o755);
        std::fs::create_dir(folder.path().join("dir")).unwrap();
        let search = Some(folder.path());

        assert!(matches!(find("absent", search), Err(Error::NotFound)));
        assert!(matches!(find("", search), Err(Error::NotFound)));
        assert!(matches!(
            find("plain", search),
            Err(Error::NotExecutable { .. })
        ));
        assert!(matches!(
            find(plain.to_str().unwrap(), None),
            Err(Error::NotExecutable { .. })
        ));
        assert!(matches!(find("dir", search), Err(Error::Directory { .. })));
        assert!(matches!(find("/", None), Err(Error::Directory { .. })));
        let Err(Error::MissingInterpreter { interpreter, .. }) = find("lost", search) else {
            panic!("the interpreter is missing")
        };
        assert_eq!(interpreter, "/no/such/interpreter");
        let Err(Error::MissingInterpreter { interpreter, .. }) = find("windows", search) else {
            panic!("the interpreter ends in a carriage return")
        };
        assert_eq!(interpreter, "/bin/sh\\r");
        assert_eq!(find("fine", search).unwrap(), folder.path().join("fine"));
        assert!(find("sh", None).is_ok());
    }

    #[test]
    fn relative_names_belong_to_the_directory_of_the_command() {
        let folder = Folder::new("relative");
        folder.file("tool", "#!/bin/sh\n", 0o755);
        let here = |program: &str, search: &str| {
            resolve(
                OsStr::new(program),
                Some(OsStr::new(search)),
                Some(folder.path()),
            )
        };
        assert_eq!(here("./tool", "").unwrap(), Path::new("./tool"));
        assert_eq!(here("tool", ".").unwrap(), Path::new("./tool"));
        assert_eq!(here("tool", "/nowhere:").unwrap(), Path::new("./tool"));
        assert!(matches!(here("tool", "/nowhere"), Err(Error::NotFound)));
    }
}
