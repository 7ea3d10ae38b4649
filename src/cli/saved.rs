//! Reads saved sessions: the files of `--baseline` and `--compare`.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use crate::analysis::Saved;
use crate::sample::Recording;
use crate::sample::recording::{self, CutShort, MOST_BYTES, ReadError};
use crate::sys::documents;
use crate::unit::display_escaped;

use super::args::Job;

/// What was read before anything ran.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// The baseline's sessions.
    pub(crate) baselines: Vec<Saved>,
    /// The recordings of `--compare`, with the file each is from.
    pub(crate) recordings: Vec<Recording>,
    /// One name a recording.
    pub(crate) names: Vec<String>,
}

/// Why a saved file is no use.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// A baseline does not exist.
    Missing(String),
    /// A folder of baselines holds none, and how the first is called.
    Empty(String, String),
    /// It cannot be read or is no recording.
    Bad(String, String),
    /// It is of a version that this program does not know.
    Unknown(String, String),
}

/// Reads everything the job names.
///
/// # Errors
/// All files that cannot be read. A baseline that does not exist, or a folder of none, is an error
/// only with `--strict`: the first session of all has none.
pub(crate) fn read(job: &Job) -> Result<Files, Vec<Unreadable>> {
    let mut files = Files::default();
    let mut wrong = Vec::new();
    for path in &job.baselines {
        match sessions(path) {
            Ok(found) => files.baselines.extend(found),
            Err(Unreadable::Missing(file)) if !job.strict => files.baselines.push(Saved {
                file,
                recordings: Err("does not exist".into()),
            }),
            Err(Unreadable::Empty(file, first)) if !job.strict => files.baselines.push(Saved {
                file,
                recordings: Err(format!(
                    "holds no .json file (--save-baseline {first} makes the first)"
                )),
            }),
            Err(error) => wrong.push(error),
        }
    }
    for path in twice(&job.compare) {
        let text = "it was given twice, and one session counts once".to_owned();
        wrong.push(Unreadable::Bad(shown(path), text));
    }
    for path in &job.compare {
        match one(path) {
            Ok(recordings) => {
                let name = shown(path);
                files.names.extend(recordings.iter().map(|_| name.clone()));
                files.recordings.extend(recordings);
            }
            Err(error) => wrong.push(error),
        }
    }
    if wrong.is_empty() {
        Ok(files)
    } else {
        Err(wrong)
    }
}

/// Files that were given before, by whatever name.
fn twice(paths: &[PathBuf]) -> Vec<&PathBuf> {
    let again = paths.iter().enumerate().filter(|(place, path)| {
        let this = documents::real(path);
        this.is_some()
            && paths[..*place]
                .iter()
                .any(|other| documents::real(other) == this)
    });
    again.map(|(_, path)| path).collect()
}

/// The sessions of a file, or of all JSON files in a folder.
fn sessions(path: &Path) -> Result<Vec<Saved>, Unreadable> {
    let paths = if path.is_dir() {
        in_folder(path).map_err(|error| Unreadable::Bad(shown(path), error.to_string()))?
    } else {
        vec![path.to_owned()]
    };
    if paths.is_empty() {
        let first = shown(&path.join("1.json"));
        return Err(Unreadable::Empty(shown(path), first));
    }
    paths
        .iter()
        .map(|path| {
            Ok(Saved {
                file: name(path),
                recordings: match one(path) {
                    Ok(recordings) => Ok(recordings),
                    // Another version of the format is another program: it decides nothing.
                    Err(Unreadable::Unknown(_, why)) => Err(why),
                    Err(error) => return Err(error),
                },
            })
        })
        .collect()
}

fn in_folder(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = documents::entries(path)?;
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    Ok(paths)
}

fn one(path: &Path) -> Result<Vec<Recording>, Unreadable> {
    // One more than are read tells that there are too many.
    let bytes = match documents::content(path, MOST_BYTES as u64 + 1, is_foreign) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Unreadable::Missing(shown(path)));
        }
        Err(error) => return Err(Unreadable::Bad(shown(path), error.to_string())),
    };
    let bad = |why: String| Unreadable::Bad(shown(path), why);
    let unknown =
        |found: &str| Unreadable::Unknown(shown(path), format!("has the unknown format {found}"));
    let mut recordings = recording::read(&bytes).map_err(|error| match error {
        ReadError::UnknownFormat { found } => unknown(&found),
        other => bad(other.to_string()),
    })?;
    if recordings.is_empty() {
        return Err(bad("it holds no benchmark".into()));
    }
    recordings.iter_mut().for_each(tame);
    Ok(recordings)
}

/// What a file of somebody else calls its benchmarks, and says of them, reaches a terminal as little
/// as a control sequence as what is typed here.
fn tame(recording: &mut Recording) {
    let escape = |text: &mut String| {
        if let Cow::Owned(shown) = display_escaped(text.as_ref()) {
            *text = shown;
        }
    };
    let conditions = &mut recording.conditions;
    escape(&mut conditions.command);
    conditions.name.iter_mut().for_each(escape);
    conditions.shell.iter_mut().for_each(escape);
    recording.notes.iter_mut().for_each(escape);
    if let Some(CutShort::Failed(sentence)) = &mut recording.cut_short {
        escape(sentence);
    }
    let parameters = std::mem::take(&mut conditions.parameters).into_iter();
    let escaped = parameters.map(|(mut name, mut value)| {
        escape(&mut name);
        escape(&mut value);
        (name, value)
    });
    conditions.parameters = escaped.collect();
}

/// Whether what was read, the newest part from that place on, cannot be a document.
fn is_foreign(bytes: &[u8], newest: usize) -> bool {
    let newest = &bytes[newest..];
    let control = |byte: &u8| *byte < b' ' && !matches!(byte, b'\t' | b'\r' | b'\n');
    let blank = newest.iter().all(u8::is_ascii_whitespace);
    newest.iter().any(control) || (!blank && recording::looks_like_one(bytes).is_err())
}

fn shown(path: &Path) -> String {
    display_escaped(path.as_os_str()).into_owned()
}

/// The short name of a file in sentences.
fn name(path: &Path) -> String {
    path.file_name()
        .map_or_else(|| shown(path), |name| display_escaped(name).into_owned())
}
