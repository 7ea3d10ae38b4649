//! The man page and completions, generated from the options.

use std::io::{self, Write};

use clap::CommandFactory;
use clap_complete::Shell;

use super::args::Args;
use super::exit::Code;

/// Prints the completions of a shell.
#[allow(clippy::disallowed_methods, reason = "cli hands out the writers")]
pub(crate) fn completions(shell: Shell) -> Code {
    let text = completion_text(shell);
    match io::stdout().lock().write_all(&text) {
        Ok(()) => Code::Done,
        Err(_) => Code::Failed,
    }
}

/// The completions of a shell.
pub(crate) fn completion_text(shell: Shell) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "offbench", &mut text);
    text
}
