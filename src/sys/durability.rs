//! What it costs to make a small append durable in a folder: plain write, `fdatasync`, `fsync`.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use super::clock;
use super::temporary::Temporary;

/// Bytes of one append.
const APPEND: [u8; 100] = [b'x'; 100];
/// Most appends of each kind, and the time after which there are enough.
const MOST: usize = 200;
const ENOUGH: Duration = Duration::from_millis(400);

/// Median seconds of one append of 100 bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Appends {
    /// Only written: in memory.
    pub(crate) write: f64,
    /// With its data flushed.
    pub(crate) fdatasync: f64,
    /// With its data and its metadata flushed.
    pub(crate) fsync: f64,
}

/// Appends to a file of our own in that folder, removes it, and tells the times.
///
/// # Errors
/// No file can be made or flushed there.
pub(crate) fn appends(folder: &Path) -> io::Result<Appends> {
    let (mut made, _temporary) = Temporary::create(folder, "offbench")?;
    let file = &mut made;
    file.write_all(&APPEND)?;
    file.sync_all()?;
    Ok(Appends {
        write: median(file, |file| file.write_all(&APPEND))?,
        fdatasync: median(file, |file| {
            file.write_all(&APPEND)?;
            file.sync_data()
        })?,
        fsync: median(file, |file| {
            file.write_all(&APPEND)?;
            file.sync_all()
        })?,
    })
}

fn median(file: &mut File, append: impl Fn(&mut File) -> io::Result<()>) -> io::Result<f64> {
    let begun = clock::now();
    let mut times = Vec::with_capacity(MOST);
    while times.len() < MOST && Duration::from_nanos(clock::now() - begun) < ENOUGH {
        let before = clock::now();
        append(file)?;
        times.push(clock::now() - before);
    }
    times.sort_unstable();
    Ok(times
        .get(times.len() / 2)
        .map_or(0.0, |ns| *ns as f64 / 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_gone_afterwards() {
        let folder = std::env::temp_dir();
        let seen = appends(&folder).unwrap();
        assert!(seen.write > 0.0 && seen.fsync > 0.0 && seen.fdatasync > 0.0);
        assert!(appends(Path::new("/no/such/folder")).is_err());
    }
}
