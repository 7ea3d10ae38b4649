//! Hands out the writers: the screen, and files that are replaced only when the new content is
//! complete.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::args::{Job, Target};
use super::journal::{self, Journal};
use crate::analysis::Analysis;
use crate::gate::Verdict;
use crate::report::{Document, Format, terminal};

/// What could not be written.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// The screen: standard output, or standard error where a document took its place.
    pub(crate) screen: Option<io::Error>,
    /// Exports by option and file.
    pub(crate) exports: Vec<(&'static str, String, io::Error)>,
}

/// Writes exports first: a broken screen must not lose them.
pub(crate) fn everything(
    job: &Job,
    analysis: &Analysis<'_>,
    verdicts: &[Verdict],
    journal: &mut Journal,
) -> Written {
    let style = &job.outputs.style;
    let document = Document {
        unit: style.unit,
        sort: style.sort,
        ..Document::new(analysis, verdicts, &job.command_line)
    };
    let mut written = Written::default();
    for (format, target) in &job.outputs.exports {
        let (place, result) = match target {
            Target::File(path) if format.id == journal::FORMAT => (
                path.display().to_string(),
                journal.finish(analysis, verdicts),
            ),
            Target::Stdout if format.id == journal::FORMAT => (
                "standard output".to_string(),
                journal.finish(analysis, verdicts),
            ),
            Target::File(path) => (path.display().to_string(), replace(path, format, &document)),
            Target::Stdout => ("standard output".to_string(), to_stdout(format, &document)),
        };
        if let Err(error) = result {
            written.exports.push((format.id, place, error));
        }
    }
    written.screen = screen(job, &document).err();
    written
}

#[allow(clippy::disallowed_methods, reason = "cli hands out the writers")]
fn screen(job: &Job, document: &Document<'_>) -> io::Result<()> {
    let style = &job.outputs.style;
    let mut text = Vec::new();
    terminal::report(&mut text, style, document)?;
    if job.outputs.takes_stdout() {
        io::stderr().lock().write_all(&text)
    } else {
        let mut stdout = io::stdout().lock();
        stdout.write_all(&text)?;
        stdout.flush()
    }
}

#[allow(clippy::disallowed_methods, reason = "cli hands out the writers")]
fn to_stdout(format: &Format, document: &Document<'_>) -> io::Result<()> {
    let mut writer = BufWriter::new(io::stdout().lock());
    (format.write)(&mut writer, document)?;
    writer.flush()
}

/// Writes beside the target and renames; the old content stays until the new one is complete.
/// Targets that are no regular file (pipes, devices) are written directly.
fn replace(path: &Path, format: &Format, document: &Document<'_>) -> io::Result<()> {
    let file = crate::sys::Replacement::create(path)?;
    let mut writer = BufWriter::with_capacity(1 << 16, file.writer());
    (format.write)(&mut writer, document)?;
    writer.flush()?;
    drop(writer);
    file.commit()
}
