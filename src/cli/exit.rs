//! Exit codes, and the message for each error. The only place that turns errors into text with
//! advice.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use super::args::{Job, Problem, option};
use super::message::Message;
use super::saved::Unreadable;
use super::write::{self, Written};
use crate::gate::{Decision, Verdict};
use crate::run::{Failure, RunError, Session};
use crate::sample::{Outcome, Phase};

/// Why the program ends as it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// Done; gates ok, or unsure without `--strict`.
    Done,
    /// A benchmarked command or hook failed, or offbench could not measure or deliver.
    Failed,
    /// Wrong usage: nothing was run.
    Usage,
    /// A gate failed.
    Gate,
    /// `--strict` and a gate is unsure.
    Unsure,
    /// Ended by this signal after reporting what was measured.
    Signal(i32),
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(match code {
            Code::Done => 0,
            Code::Failed => 1,
            Code::Usage => 2,
            Code::Gate => 3,
            Code::Unsure => 4,
            Code::Signal(number) => 128_u8.wrapping_add(number as u8),
        })
    }
}

/// Something that keeps a job from beginning.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// A command, file or CPU cannot be used.
    Run(RunError),
    /// An export cannot be written.
    Export {
        /// The format.
        id: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Two exports lead to one file.
    Same {
        /// Their formats.
        ids: [&'static str; 2],
    },
}

/// What clap says, in the words and the form of the other messages: help and version are no errors.
pub(crate) fn clap(error: &clap::Error) -> Code {
    if !error.use_stderr() {
        return write::clap_page(error);
    }
    let rendered = error.render().to_string();
    let mut lines = rendered.lines();
    let first = lines.next().unwrap_or_default();
    let mut text = first.strip_prefix("error: ").unwrap_or(first).to_owned();
    let mut help = Vec::new();
    for line in lines.map(str::trim) {
        if let Some(tip) = line.strip_prefix("tip: ") {
            help.push(did_you_mean(tip));
        } else if line.starts_with('[') || line.starts_with('<') || line.starts_with("--") {
            text.push(' ');
            text.push_str(line);
        }
    }
    help.push("offbench -h lists the options".into());
    let text = crate::unit::display_escaped(text.as_ref()).into_owned();
    Message::error(text).help(Some(&help.join("\n"))).say();
    Code::Usage
}

/// `a similar argument exists: '--style'` in our words.
fn did_you_mean(tip: &str) -> String {
    match tip.split_once(": ") {
        Some((before, words)) if before.contains("similar") => {
            format!("did you mean {}?", words.replace('\'', "`"))
        }
        _ => tip.to_owned(),
    }
}

pub(crate) fn usage(problems: &[Problem]) -> Code {
    for problem in problems {
        say(&problem.text, problem.help.as_deref());
    }
    Code::Usage
}

/// Writes one error with its advice to standard error.
fn say(text: &str, help: Option<&str>) {
    Message::error(text).help(help).say();
}

/// Writes an error about a run, with what it printed.
fn say_run(error: &RunError) {
    let mut message = Message::error(format!("cannot {error}")).help(advice(error).as_deref());
    if let RunError::Hook { stderr, .. } = error {
        message = with_stderr(message, stderr);
    }
    message.say();
}

fn with_stderr(message: Message, stderr: &[u8]) -> Message {
    let tail = last_lines(stderr);
    if tail.is_empty() {
        return message;
    }
    message.note("its standard error ends with:").quote(tail)
}

/// What to do about a run that could not be made.
fn advice(error: &RunError) -> Option<String> {
    Some(match error {
        RunError::NotFound { .. } => {
            "check the spelling and PATH; a command with shell syntax needs --shell=default".into()
        }
        RunError::NotExecutable { path, .. } => format!("chmod +x {}", path.display()),
        RunError::MissingInterpreter { .. } => "mend the first line of the script".into(),
        RunError::TooLong { .. } => "pass the data in a file, or clear the environment".into(),
        RunError::NoProcesses { .. } => {
            "raise the limit (ulimit -u), or end other processes".into()
        }
        RunError::NoTimer { .. } => "raise the limit (ulimit -i)".into(),
        RunError::Hook { hook, .. } => {
            format!(
                "--ignore-failure covers the commands, not the {hook} command; append `|| true` to go on"
            )
        }
        RunError::OutputDiffers { .. } => {
            "leave out --check-output, or make the output the same in every run".into()
        }
        _ => return None,
    })
}

/// Nothing was run.
pub(crate) fn cannot_begin(troubles: &[Trouble]) -> Code {
    for trouble in troubles {
        match trouble {
            Trouble::Run(error) => say_run(error),
            Trouble::Same { ids: [a, b] } => {
                let text = format!("{} and {} go to the same file", option(a), option(b));
                say(&text, Some("give each its own file"));
            }
            Trouble::Export { id, path, source } => {
                say(
                    &format!("{}: cannot write {}: {source}", option(id), path.display()),
                    None,
                );
            }
        }
    }
    Code::Usage
}

/// Saved files cannot be read: nothing was run. A baseline that is missing is no wrong usage.
pub(crate) fn unreadable(files: &[Unreadable], job: &Job) -> Code {
    // What --compare is to analyse must be there.
    let mut code = if job.compare.is_empty() {
        Code::Unsure
    } else {
        Code::Usage
    };
    for file in files {
        match file {
            Unreadable::Missing(path) => say(
                &format!("cannot read {path}: there is no such file"),
                Some(if job.compare.is_empty() {
                    "--save-baseline writes one; without --strict a missing baseline is a warning"
                } else {
                    "--save-baseline and --export-json write such files"
                }),
            ),
            Unreadable::Empty(path, first) => {
                let help = format!(
                    "--save-baseline {first} makes the first; without --strict a missing baseline is a warning"
                );
                say(
                    &format!("cannot read {path}: it holds no .json file"),
                    Some(&help),
                );
            }
            Unreadable::Bad(path, why) | Unreadable::Unknown(path, why) => {
                code = Code::Usage;
                say(
                    &format!("cannot read {path}: {why}"),
                    Some(
                        "give a file of --save-baseline, --export-json, or hyperfine's --export-json",
                    ),
                );
            }
        }
    }
    code
}

pub(crate) fn cannot_start(error: &dyn std::error::Error) -> Code {
    say(&error.to_string(), None);
    Code::Failed
}

/// Remarks on the arguments.
pub(crate) fn remarks(remarks: &[String]) {
    for remark in remarks {
        Message::warning(remark.as_str()).say();
    }
}

/// What ended the session early.
pub(crate) fn session(session: &Session, job: &Job) {
    for (_, error) in &session.errors {
        say_run(error);
    }
    if let Some(failure) = &session.failure {
        let name = session
            .recordings
            .get(failure.benchmark)
            .map_or("", |one| one.name());
        failed(failure, name, job);
    }
}

/// Told of a run that was killed meanwhile.
const OUT_OF_MEMORY: &str = "memory ran out: the kernel's out-of-memory killer was at work (oom_kill of the control group, or of the machine)";

fn failed(failure: &Failure, name: &str, job: &Job) {
    let kind = if failure.phase == Phase::Warmup {
        "warm-up run"
    } else {
        "run"
    };
    let mut how = failure.outcome.to_string();
    if let (Outcome::TimedOut, Some(limit)) = (failure.outcome, job.plan.timeout) {
        how = format!("timed out after {}", crate::unit::exact_duration(limit));
    }
    let text = format!("`{name}`: {how} in {kind} {}", failure.index + 1);
    let help = if failure.outcome == Outcome::TimedOut {
        "--timeout with a longer time lets it end; --ignore-failure goes on without it"
    } else {
        "--ignore-failure goes on after failures; --show-output shows what it prints"
    };
    let mut message = Message::error(text);
    if failure.out_of_memory {
        message = message.note(OUT_OF_MEMORY);
    }
    with_stderr(message, &failure.stderr).help(Some(help)).say();
}

/// The last lines of an output, escaped: what a command prints never reaches the terminal raw.
fn last_lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(20);
    lines[from..]
        .iter()
        .map(|line| crate::unit::display_escaped(line.trim_end().as_ref()).into_owned())
        .collect()
}

/// The code for everything that happened, the gravest first.
pub(crate) fn code(
    job: &Job,
    session: &Session,
    verdicts: &[Verdict],
    written: &Written,
    stdout_closed: bool,
) -> Code {
    for (id, place, error) in &written.exports {
        say(
            &format!("{}: cannot write {place}: {error}", option(id)),
            None,
        );
    }
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if written.unread || written.screen.as_ref().is_some_and(broken) {
        return Code::Signal(crate::sys::unix::number::PIPE);
    }
    if let Some(error) = &written.screen {
        say(&format!("cannot write the report: {error}"), None);
    }
    if written.kept {
        Message::remark("--save-baseline: not saved, because a run or a gate failed or the session was cut short").say();
    }
    for file in &written.stale {
        Message::remark(format!(
            "{file} keeps its earlier content: nothing was measured"
        ))
        .say();
    }
    let lost = stdout_closed && job.outputs.exports.is_empty();
    if lost {
        say(
            "standard output is closed and there is no export: the result is lost",
            None,
        );
    }
    let undelivered = lost || written.screen.is_some() || !written.exports.is_empty();
    let late = || crate::sys::session::stop_signal().filter(|_| undelivered);
    if let Some(signal) = session.interrupted.or_else(late) {
        return Code::Signal(signal);
    }
    if undelivered || session.failure.is_some() || !session.errors.is_empty() {
        return Code::Failed;
    }
    if session.abandoned {
        return Code::Signal(crate::sys::unix::number::PIPE);
    }
    by_gates(job, verdicts)
}

fn by_gates(job: &Job, verdicts: &[Verdict]) -> Code {
    let count = |decision| {
        verdicts
            .iter()
            .filter(|one| one.decision == decision)
            .count()
    };
    let (failed, unsure) = (count(Decision::Fail), count(Decision::Unsure));
    let plural = |n: usize| if n == 1 { "gate" } else { "gates" };
    let mut parts = Vec::new();
    if failed > 0 {
        parts.push(format!("{failed} {} failed", plural(failed)));
    }
    if unsure > 0 {
        parts.push(format!("{unsure} {} not decided", plural(unsure)));
    }
    if failed > 0 || (unsure > 0 && job.strict) {
        say(&parts.join(", "), None);
    }
    match (failed, unsure) {
        (1.., _) => Code::Gate,
        (0, 1..) if job.strict => Code::Unsure,
        _ => Code::Done,
    }
}

/// Ends the program.
pub(crate) fn finish(code: Code) -> ExitCode {
    code.into()
}
