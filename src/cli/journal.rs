//! `--export-jsonl`: lines are written as runs happen, so that a crash loses at most one.

use std::fs::File;
use std::io::{self, Write};

use super::args::{Job, Target};
use crate::analysis::Analysis;
use crate::gate::Verdict;
use crate::report::{Format, jsonl};
use crate::run::Event;
use crate::sample::{Conditions, Host, Phase};
use crate::sys::documents::holds_something;
use crate::sys::{Replacement, files};

/// The format that is written so.
pub(crate) const FORMAT: &str = "jsonl";

/// A file that grows line by line. An old content stays until the first measured run is over.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    target: Option<Target>,
    /// What is written once the target is opened.
    first: Vec<u8>,
    sink: Option<Sink>,
    error: Option<io::Error>,
}

#[derive(Debug)]
enum Sink {
    Stdout(io::Stdout),
    /// And how much of the file is whole lines.
    File(File, u64),
}

impl Sink {
    /// Begins with those lines. An earlier content stays where they cannot be written.
    fn open(target: &Target, lines: &[u8]) -> io::Result<Self> {
        let mut sink = match target {
            Target::Stdout => Self::Stdout(super::write::stdout()?),
            Target::File(path) if holds_something(path) => {
                let file = Replacement::create(path)?;
                file.writer().write_all(lines)?;
                return Ok(Self::File(file.commit()?, lines.len() as u64));
            }
            // No other than an empty one is emptied: who watches it goes on to see it grow.
            Target::File(path) => Self::File(files::output(path)?, 0),
        };
        sink.add(lines)?;
        Ok(sink)
    }

    /// Adds lines, all of them or none.
    fn add(&mut self, lines: &[u8]) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => {
                stdout.write_all(lines)?;
                stdout.flush()
            }
            Self::File(file, whole) => {
                let written = file.write_all(lines);
                if written.is_err() {
                    // Of a pipe nothing can be taken back.
                    let _ = file.set_len(*whole);
                }
                *whole += lines.len() as u64;
                written
            }
        }
    }
}

impl Journal {
    /// The journal of a job, if one is wanted.
    pub(crate) fn new(job: &Job, host: &Host, conditions: &[Conditions]) -> Self {
        let wanted = job
            .outputs
            .exports
            .iter()
            .find(|(format, _)| format.id == FORMAT);
        let Some((_, target)) = wanted else {
            return Self::default();
        };
        let header = jsonl::Header {
            version: env!("CARGO_PKG_VERSION"),
            command_line: &job.command_line,
            host,
        };
        let mut first = Vec::new();
        let error = jsonl::header(&mut first, &header, conditions).err();
        Self {
            target: Some(target.clone()),
            first,
            sink: None,
            error,
        }
    }

    /// Hears of a run.
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        if let Event::Sampled {
            request, sample, ..
        } = event
        {
            let line = |out: &mut dyn Write| jsonl::run(out, request.benchmark, sample);
            if sample.phase == Phase::Warmup && self.spares() {
                self.error = self.error.take().or(line(&mut self.first).err());
            } else {
                self.write(line);
            }
        }
    }

    /// Whether there is one.
    pub(crate) fn is_kept(&self) -> bool {
        self.target.is_some()
    }

    /// Whether lines of this format already stand in the target.
    pub(crate) fn began(&self, format: &Format) -> bool {
        format.id == FORMAT && self.sink.is_some()
    }

    /// Whether an earlier content still stands in the target.
    fn spares(&self) -> bool {
        let old = |target: &Target| matches!(target, Target::File(path) if holds_something(path));
        self.sink.is_none() && self.target.as_ref().is_some_and(old)
    }

    /// The lines after the last run, and what went wrong with any.
    pub(crate) fn finish(
        &mut self,
        analysis: &Analysis<'_>,
        verdicts: &[Verdict],
    ) -> io::Result<()> {
        for (place, subject) in analysis.subjects.iter().enumerate() {
            self.write(|out| jsonl::summary(out, place, subject));
        }
        for verdict in verdicts {
            self.write(|out| jsonl::gate(out, verdict));
        }
        self.error.take().map_or(Ok(()), Err)
    }

    fn write(&mut self, line: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        let Some(target) = self.target.as_ref().filter(|_| self.error.is_none()) else {
            return;
        };
        let mut lines = std::mem::take(&mut self.first);
        let written = line(&mut lines).and_then(|()| match &mut self.sink {
            Some(sink) => sink.add(&lines),
            none => Sink::open(target, &lines).map(|sink| *none = Some(sink)),
        });
        self.error = written.err();
    }
}
