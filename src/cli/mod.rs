//! Arguments in, writers and exit code out: puts the pieces together.
//!
//! The only module that touches arguments, environment, standard streams and exit codes.

mod args;
mod causes;
mod closing;
mod environment;
mod exit;
mod explain;
mod generate;
mod help;
mod journal;
mod manual;
mod message;
mod saved;
mod session;
mod shell_time;
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

pub use generate::{COMPLETIONS, completion_text, manual_page};

/// The whole program.
#[must_use]
pub fn main() -> ExitCode {
    crate::sys::stack::with_room(program)
}

fn program() -> ExitCode {
    let environment = Environment::read();
    let args = match Args::try_parse_from(&environment.arguments) {
        Ok(args) => args,
        Err(error) if help::is_short(&error, &environment.arguments) => {
            return help::print().into();
        }
        Err(error) => return exit::clap(&error).into(),
    };
    let streams = match crate::run::session::begin() {
        Ok(streams) => streams,
        Err(error) => return exit::cannot_start(&error).into(),
    };
    if let Some(shell) = args.completions {
        return generate::completions(shell).into();
    }
    if let Some(id) = &args.diagnose.help_cause {
        return match causes::help(id) {
            Ok(text) => write::page(&text),
            Err(problem) => exit::usage(&[problem]),
        }
        .into();
    }
    if let Some(folder) = &args.diagnose.doctor {
        return write::doctor(&crate::doctor::examine(folder)).into();
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
    let files = match saved::read(job) {
        Ok(files) => files,
        Err(wrong) => return exit::unreadable(&wrong, job),
    };
    let problems = session::check(job);
    if !problems.is_empty() {
        return exit::cannot_begin(&problems);
    }
    exit::remarks(&job.remarks);
    if job.compare.is_empty() {
        let (session, journal) = session::execute(job);
        return conclude(job, (&session, journal), &files, stdout_closed);
    }
    let mut files = files;
    let session = Session {
        recordings: std::mem::take(&mut files.recordings),
        ..Session::default()
    };
    conclude(job, (&session, Journal::default()), &files, stdout_closed)
}

/// Everything that follows from what was measured.
fn conclude(
    job: &Job,
    (session, mut journal): (&Session, Journal),
    files: &saved::Files,
    stdout_closed: bool,
) -> Code {
    let mut analysis = analysis::analyze(&session.recordings, &job.question);
    if !job.compare.is_empty() {
        analysis::sessions::merge(&mut analysis, &files.names);
    }
    if !files.baselines.is_empty() {
        analysis::baseline::compare_with(&mut analysis, &files.baselines);
    }
    if job.noise {
        analysis::noise::describe(&mut analysis);
    }
    let verdicts = gate::evaluate(&job.gates, &analysis);
    let fitness = write::Fitness::of(session, &analysis, &verdicts);
    let written = write::everything(job, &analysis, &verdicts, &mut journal, fitness);
    exit::session(session, job);
    exit::code(job, session, &verdicts, &written, stdout_closed)
}
