//! The man page and completions, generated from the options, so that they cannot drift.

use std::io;

use clap::CommandFactory;
use clap_complete::Shell;

use super::args::Args;
use super::exit::Code;
use super::manual;

/// The shells that completions are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum CompletionShell {
    /// GNU Bash.
    Bash,
    /// Zsh.
    Zsh,
    /// fish.
    Fish,
    /// `PowerShell`.
    Powershell,
    /// Elvish.
    Elvish,
    /// Nushell.
    Nushell,
}

/// Every shell with the name its file of completions has.
pub const COMPLETIONS: &[(CompletionShell, &str)] = &[
    (CompletionShell::Bash, "offbench.bash"),
    (CompletionShell::Zsh, "_offbench"),
    (CompletionShell::Fish, "offbench.fish"),
    (CompletionShell::Powershell, "_offbench.ps1"),
    (CompletionShell::Elvish, "offbench.elv"),
    (CompletionShell::Nushell, "offbench.nu"),
];

/// Prints the completions of a shell.
pub(crate) fn completions(shell: CompletionShell) -> Code {
    super::write::page(completion_text(shell))
}

/// The completions of a shell.
#[must_use]
pub fn completion_text(shell: CompletionShell) -> Vec<u8> {
    let mut text = Vec::new();
    let command = &mut Args::command();
    let mut of = |shell: Shell| clap_complete::generate(shell, command, "offbench", &mut text);
    match shell {
        CompletionShell::Bash => of(Shell::Bash),
        CompletionShell::Zsh => of(Shell::Zsh),
        CompletionShell::Fish => of(Shell::Fish),
        CompletionShell::Powershell => of(Shell::PowerShell),
        CompletionShell::Elvish => of(Shell::Elvish),
        CompletionShell::Nushell => {
            let shell = clap_complete_nushell::Nushell;
            clap_complete::generate(shell, command, "offbench", &mut text);
        }
    }
    text
}

/// The manual page: options from their definition, other sections written for it.
///
/// # Errors
/// None in practice: it is written to memory.
pub fn manual_page() -> io::Result<Vec<u8>> {
    // Examples and exit codes have sections of their own here.
    let command = Args::command().after_long_help("");
    let page = clap_mangen::Man::new(command).date("").section("1");
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    text.extend(manual::opening().into_bytes());
    page.render_options_section(&mut text)?;
    text.extend(manual::sections().into_bytes());
    Ok(text)
}
