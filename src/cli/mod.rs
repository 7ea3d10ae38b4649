//! Arguments in, writers and exit code out: puts the pieces together.
//!
//! The only module that touches arguments, environment, standard streams and exit codes.

mod args;
mod environment;
mod exit;
mod generate;
mod journal;
mod session;
mod write;

use std::process::ExitCode;

use clap::Parser;

use crate::analysis;
use crate::gate;
use crate::run::Session;
use args::{Args, Job};
use environment::Environment;
use exit::Code;
use journal::Journal;

/// The whole program.
#[must_use]
pub fn main() -> ExitCode {
    let environment = Environment::read();
    let args = match Args::try_parse_from(&environment.arguments) {
        Ok(args) => args,
        Err(error) => return exit::clap(&error).into(),
    };
    let streams = match crate::run::session::begin() {
        Ok(streams) => streams,
        Err(error) => return exit::cannot_start(&error).into(),
    };
    if let Some(shell) = args.completions {
        return generate::completions(shell).into();
    }
    let is_program =
        |name: &std::ffi::OsStr| crate::sys::is_program(name, environment.variable("PATH"));
    let job = match args.resolve(&environment, &is_program) {
        Ok(job) => job,
        Err(problems) => return exit::usage(&problems).into(),
    };
    exit::finish(perform(&job, streams.stdout_closed))
}

/// Runs, analyses and reports a job.
fn perform(job: &Job, stdout_closed: bool) -> Code {
    let problems = session::check(job);
    if !problems.is_empty() {
        return exit::cannot_begin(&problems);
    }
    exit::remarks(&job.remarks);
    let (session, journal) = session::execute(job);
    conclude(job, &session, journal, stdout_closed)
}

/// Everything that follows from what was measured.
fn conclude(job: &Job, session: &Session, mut journal: Journal, stdout_closed: bool) -> Code {
    let analysis = analysis::analyze(&session.recordings, &job.question);
    let verdicts = gate::evaluate(&job.gates, &analysis);
    let written = write::everything(job, &analysis, &verdicts, &mut journal);
    exit::session(session, job);
    exit::code(job, session, &verdicts, &written, stdout_closed)
}
