//! `--export-jsonl`: lines are written as runs happen, so that a crash loses at most one.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

use super::args::{Job, Target};
use crate::analysis::Analysis;
use crate::gate::Verdict;
use crate::report::jsonl;
use crate::run::Event;
use crate::sample::{Conditions, Host};

/// The format that is written so.
pub(crate) const FORMAT: &str = "jsonl";

/// A file that grows line by line. The old content stays until the first run has been made.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    target: Option<Target>,
    first: Vec<u8>,
    sink: Option<Sink>,
    error: Option<io::Error>,
}

#[derive(Debug)]
enum Sink {
    Stdout(io::Stdout),
    File(File),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush(),
            Self::File(file) => file.flush(),
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
            self.write(|out| jsonl::run(out, request.benchmark, sample));
        }
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
        if self.sink.is_none() {
            let opened = open(target).and_then(|mut sink| {
                sink.write_all(&self.first)?;
                Ok(sink)
            });
            match opened {
                Ok(sink) => self.sink = Some(sink),
                Err(error) => self.error = Some(error),
            }
        }
        if let Some(sink) = &mut self.sink {
            self.error = line(sink).and_then(|()| sink.flush()).err();
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "cli hands out the writers")]
fn open(target: &Target) -> io::Result<Sink> {
    match target {
        Target::Stdout => Ok(Sink::Stdout(io::stdout())),
        Target::File(path) => {
            let mut options = OpenOptions::new();
            let options = options.write(true).create(true).truncate(true);
            Ok(Sink::File(crate::sys::files::open_in_place(path, options)?))
        }
    }
}
