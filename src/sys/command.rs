//! Starts processes through the standard library, for systems without our own start or which
//! refuse it. The time then includes creating the process.

use std::ffi::{CStr, OsStr};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use super::unix::Launch;
use super::{Error, Prepared, Slots, clock};

/// Starts it; the stamp just before, and the process id.
///
/// # Errors
/// Why it could not be started.
pub(crate) fn start(
    prepared: &Prepared,
    slots: &Slots,
    launch: &Launch,
) -> Result<(u64, i32), Error> {
    let mut words = prepared.arguments().iter().map(|word| text(word));
    #[allow(clippy::disallowed_methods, reason = "sys is where processes start")]
    let mut command = Command::new(text(prepared.path()));
    command.arg0(words.next().unwrap_or_default()).args(words);
    command.env_clear().process_group(0);
    for variable in prepared.variables(slots) {
        if let Some((name, value)) = halves(variable) {
            command.env(name, value);
        }
    }
    if let Some(directory) = prepared.directory() {
        command.current_dir(text(directory));
    }
    command.stdin(stream(launch.stdio[0])?);
    command.stdout(stream(launch.stdio[1])?);
    command.stderr(stream(launch.stdio[2])?);
    let stamp = clock::now();
    let child = command.spawn().map_err(|source| {
        let number = source.raw_os_error().unwrap_or(libc::EINVAL);
        refusal("spawn", number, prepared.path())
    })?;
    // Dropping a `Child` neither waits for the process nor ends it: we wait for it by its number.
    Ok((stamp, i32::try_from(child.id()).unwrap_or(-1)))
}

fn text(text: &CStr) -> &OsStr {
    OsStr::from_bytes(text.to_bytes())
}

/// Name and value; a name may begin with `=`.
fn halves(variable: &CStr) -> Option<(&OsStr, &OsStr)> {
    let bytes = variable.to_bytes();
    let sign = 1 + bytes.get(1..)?.iter().position(|byte| *byte == b'=')?;
    let half = |range| OsStr::from_bytes(range);
    Some((half(&bytes[..sign]), half(&bytes[sign + 1..])))
}

fn stream(descriptor: i32) -> Result<Stdio, Error> {
    if descriptor < 0 {
        return Ok(Stdio::inherit());
    }
    // SAFETY: whoever launches keeps its descriptors open until the call returns.
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    let owned: OwnedFd = borrowed
        .try_clone_to_owned()
        .map_err(|source| Error::Call {
            call: "dup",
            source,
        })?;
    Ok(owned.into())
}

/// What a failed start or exec says about the program at `path`.
pub(super) fn refusal(call: &'static str, number: i32, path: &CStr) -> Error {
    let path = std::path::PathBuf::from(text(path));
    match number {
        // Only exec speaks of the program.
        _ if call == "clone" && number != libc::EAGAIN => Error::number(call, number),
        // The file was there when it was prepared, so what is missing may be its loader.
        libc::ENOENT if path.exists() => Error::MissingInterpreter {
            interpreter: super::resolve::missing_interpreter(&path, None)
                .unwrap_or_else(|| "(dynamic loader)".into()),
            path,
        },
        libc::ENOENT | libc::ENOTDIR => Error::NotFound,
        libc::EACCES => Error::NotExecutable { path },
        libc::EISDIR => Error::Directory { path },
        libc::ENOEXEC => Error::Format { path },
        libc::E2BIG | libc::ENAMETOOLONG => Error::TooLong,
        libc::EAGAIN => Error::NoProcesses {
            limit: super::platform::process_limit(),
        },
        number => Error::number(call, number),
    }
}
