//! Hands out the writers: the screen, and files that are replaced only when the new content is
//! complete.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::args::{BASELINE, Job, Target};
use super::exit::Code;
use super::journal::{self, Journal};
use super::message::Message;
use crate::analysis::{self, Analysis};
use crate::gate::{Decision, Verdict};
use crate::plan::Order;
use crate::report::{Document, Format, Kind, annotations, terminal};
use crate::run::Session;
use crate::sample::Recording;
use crate::sys::unix::number;
use crate::sys::{documents, files, session};
use crate::unit::display_escaped;

/// What could not be written.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// The screen: standard output, or standard error where a document took its place.
    pub(crate) screen: Option<io::Error>,
    /// Whoever read the document on standard output has gone away.
    pub(crate) unread: bool,
    /// The baseline was not saved: the session is not fit for one.
    pub(crate) kept: bool,
    /// Files that keep an earlier content, because nothing was measured.
    pub(crate) stale: Vec<String>,
    /// Exports by option and file.
    pub(crate) exports: Vec<(&'static str, String, io::Error)>,
}

impl Written {
    /// Notes an export that is not there.
    fn failed(&mut self, format: &Format, target: &Target, error: io::Error) {
        let place = match target {
            Target::Stdout if error.kind() == io::ErrorKind::BrokenPipe => {
                self.unread = true;
                return;
            }
            Target::Stdout => "standard output".to_string(),
            Target::File(path) => path.display().to_string(),
        };
        self.exports.push((format.id, place, error));
    }
}

/// What a session is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fitness {
    /// Everything.
    Whole,
    /// A run or a gate failed, or it was cut short: no baseline.
    Spoilt,
    /// It ended before anything was measured: that replaces no earlier result.
    Empty,
}

impl Fitness {
    /// That of a session.
    pub(crate) fn of(session: &Session, analysis: &Analysis<'_>, verdicts: &[Verdict]) -> Self {
        let ended = session.failure.is_some()
            || session.interrupted.is_some()
            || session.abandoned
            || !session.errors.is_empty();
        let failed = |one: &Verdict| one.decision == Decision::Fail;
        if ended && analysis.subjects.iter().all(|one| one.counts.measured == 0) {
            Self::Empty
        } else if ended || verdicts.iter().any(failed) {
            Self::Spoilt
        } else {
            Self::Whole
        }
    }
}

/// Writes exports first: a broken screen must not lose them. A spoilt session becomes no baseline.
pub(crate) fn everything(
    job: &Job,
    analysis: &Analysis<'_>,
    verdicts: &[Verdict],
    journal: &mut Journal,
    fitness: Fitness,
) -> Written {
    let document = document(job, analysis, verdicts);
    let mut written = Written::default();
    for (format, target) in &job.outputs.exports {
        if fitness != Fitness::Whole && format.id == BASELINE.id {
            written.kept = true;
            continue;
        }
        // Without a journal nothing was run: the file is made of what was read.
        let grown = format.id == journal::FORMAT && journal.is_kept();
        let result = match target {
            Target::File(path) if !grown && job.outputs.appends(format, path) => {
                append(path, format, &document)
            }
            Target::File(path)
                if fitness == Fitness::Empty
                    && !journal.began(format)
                    && documents::holds_something(path) =>
            {
                written
                    .stale
                    .push(display_escaped(path.as_os_str()).into_owned());
                continue;
            }
            _ if grown => journal.finish(analysis, verdicts),
            Target::File(path) => replace(path, format, &document),
            Target::Stdout => to_stdout(format, &document),
        };
        if let Err(error) = result {
            written.failed(format, target, error);
        }
    }
    written.screen = screen(job, &document).err();
    written
}

/// What the writers get, as the job wants it shown.
fn document<'a>(job: &'a Job, analysis: &'a Analysis<'a>, verdicts: &'a [Verdict]) -> Document<'a> {
    let style = &job.outputs.style;
    Document {
        unit: style.unit,
        sort: style.sort,
        ..Document::new(analysis, verdicts, &job.command_line)
    }
}

/// Replaces the files by what is finished while a session goes on. What fails here is told at its
/// end, when all is written again.
pub(crate) fn so_far(job: &Job, finished: &[Recording]) {
    let files = job.outputs.exports.iter().filter_map(|(format, target)| {
        let Target::File(path) = target else {
            return None;
        };
        let whole = format.id != BASELINE.id
            && format.id != journal::FORMAT
            && !job.outputs.appends(format, path);
        // A pipe takes one document.
        (whole && files::replaced(path).is_some()).then_some((format, path))
    });
    let mut files = files.peekable();
    if files.peek().is_none() {
        return;
    }
    let analysis = analysis::analyze(finished, &job.question);
    if analysis.subjects.iter().all(|one| one.counts.measured == 0) {
        // It replaces no earlier result; see `Fitness::Empty`.
        return;
    }
    let document = document(job, &analysis, &[]);
    for (format, path) in files {
        let _ = replace(path, format, &document);
    }
}

/// Says at once what is measured, where nobody can watch: build servers end silent jobs.
///
/// # Errors
/// Those of the stream.
#[allow(clippy::disallowed_methods, reason = "cli hands out the writers")]
pub(crate) fn header(job: &Job) -> io::Result<()> {
    if job.outputs.style.kind != Kind::Basic {
        return Ok(());
    }
    let plan = &job.plan;
    let order = match plan.order {
        Order::Rounds => "in rounds",
        Order::Sequential => "one after the other",
    };
    let line = match plan.benchmarks.as_slice() {
        [one] => {
            let command = display_escaped(&one.command);
            format!("measuring {}", one.name.as_deref().unwrap_or(&command))
        }
        all => format!(
            "measuring {} commands {order}, seed {}",
            all.len(),
            plan.seed
        ),
    };
    let line = job.outputs.style.text(&line) + "\n";
    if job.outputs.takes_stdout() {
        io::stderr().lock().write_all(line.as_bytes())
    } else {
        let mut stdout = io::stdout().lock();
        stdout.write_all(line.as_bytes())?;
        stdout.flush()
    }
}

/// Standard output for what must arrive.
///
/// # Errors
/// It was closed: the stream itself would take everything and lose it.
#[allow(clippy::disallowed_methods, reason = "cli hands out the writers")]
pub(super) fn stdout() -> io::Result<io::Stdout> {
    if session::stdout_takes_nothing() {
        return Err(io::Error::other("it is closed"));
    }
    Ok(io::stdout())
}

/// Prints a text that was asked for.
pub(crate) fn page(text: impl AsRef<[u8]>) -> Code {
    printed(|out| out.write_all(text.as_ref()))
}

/// Prints what the doctor has found.
pub(crate) fn doctor(found: &crate::doctor::Examination) -> Code {
    printed(|out| crate::doctor::write(out, found))
}

fn printed(print: impl Fn(&mut dyn Write) -> io::Result<()>) -> Code {
    delivered(stdout().and_then(|out| {
        let mut out = BufWriter::new(out.lock());
        print(&mut out)?;
        out.flush()
    }))
}

/// Prints what clap has been asked for: help or the version, coloured if the terminal takes it.
pub(crate) fn clap_page(error: &clap::Error) -> Code {
    delivered(stdout().and_then(|mut out| {
        error.print()?;
        out.flush()
    }))
}

/// What was asked for is there, or it is said why not.
fn delivered(result: io::Result<()>) -> Code {
    match result {
        Ok(()) => Code::Done,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Code::Signal(number::PIPE),
        Err(error) => {
            Message::error(format!("cannot write to standard output: {error}")).say();
            Code::Failed
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "cli hands out the writers")]
fn screen(job: &Job, document: &Document<'_>) -> io::Result<()> {
    let style = &job.outputs.style;
    let mut text = Vec::new();
    terminal::report(&mut text, style, document)?;
    if job.outputs.annotate {
        annotations::write(&mut text, document)?;
    }
    if job.outputs.takes_stdout() {
        io::stderr().lock().write_all(&text)
    } else {
        let mut stdout = io::stdout().lock();
        stdout.write_all(&text)?;
        stdout.flush()
    }
}

fn to_stdout(format: &Format, document: &Document<'_>) -> io::Result<()> {
    buffered(stdout()?.lock(), format, document)
}

/// Adds to a file that belongs to several writers.
fn append(path: &Path, format: &Format, document: &Document<'_>) -> io::Result<()> {
    let mut text = Vec::new();
    (format.write)(&mut text, document)?;
    documents::appended(path)?.write_all(&text)
}

/// Writes beside the target and renames; the old content stays until the new one is complete.
/// Targets that are no regular file (pipes, devices) are written directly.
fn replace(path: &Path, format: &Format, document: &Document<'_>) -> io::Result<()> {
    let file = crate::sys::Replacement::create(path)?;
    buffered(file.writer(), format, document)?;
    file.commit().map(drop)
}

/// Writes through the only buffer there is: long lists come in parts so large that they pass it by.
fn buffered(out: impl Write, format: &Format, document: &Document<'_>) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(1 << 16, out);
    (format.write)(&mut writer, document)?;
    writer.flush()
}
