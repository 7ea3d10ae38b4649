//! `-h`: the options that are needed most, on one screen, made from their definition.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::error::ErrorKind;
use clap::{Arg, CommandFactory};

use super::args::Args;
use super::exit::Code;
use super::write;
use crate::report::FORMATS;

/// Columns of an option with its value.
const OPTION: usize = 37;

/// Whether clap wants to show help and the short one was asked for.
pub(crate) fn is_short(error: &clap::Error, arguments: &[OsString]) -> bool {
    let mut before = arguments.iter().take_while(|word| *word != "--");
    error.kind() == ErrorKind::DisplayHelp && !before.any(|word| word == "--help")
}

/// Prints it.
pub(crate) fn print() -> Code {
    write::page(text())
}

fn text() -> String {
    let mut command = Args::command();
    command.build();
    let about = command
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default();
    let mut text = format!("{about}\n\nUsage: offbench [OPTIONS] COMMAND...\n");
    let shown: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !arg.is_hide_short_help_set())
        .collect();
    let mut headings: Vec<&str> = Vec::new();
    for arg in &shown {
        let heading = arg.get_help_heading().unwrap_or("Options");
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for heading in headings {
        let _ = writeln!(text, "{heading}:");
        let own = |arg: &&&Arg| arg.get_help_heading().unwrap_or("Options") == heading;
        for arg in shown.iter().filter(own) {
            let _ = writeln!(text, "{}", line(arg));
        }
    }
    let _ = writeln!(text, "Exports:\n  --export-FORMAT FILE, with FORMAT one of");
    text.push_str(&formats());
    text.push_str("--help tells everything, with examples and exit codes\n");
    text
}

/// `  -w, --warmup N|auto    Runs before the measured ones`.
fn line(arg: &Arg) -> String {
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let optional = arg
        .get_num_args()
        .is_some_and(|range| range.min_values() == 0);
    let names: Vec<String> = arg
        .get_value_names()
        .filter(|_| arg.get_num_args().is_some_and(|range| range.takes_values()))
        .unwrap_or_default()
        .iter()
        .map(ToString::to_string)
        .collect();
    let value = match (names.is_empty(), optional) {
        (true, _) => String::new(),
        (false, true) => format!("[={}]", names.join(" ")),
        (false, false) => format!(" {}", names.join(" ")),
    };
    let names = match (short, long) {
        (Some(short), Some(long)) => format!("{short}, {long}"),
        (Some(short), None) => short,
        (None, long) => format!("    {}", long.unwrap_or_default()),
    };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    format!("  {:<OPTION$}{help}", format!("{names}{value} "))
}

/// The names of all formats, in lines.
fn formats() -> String {
    let mut lines = vec![String::from("   ")];
    for format in FORMATS {
        let last = lines.len() - 1;
        if lines[last].len() + format.id.len() > 78 {
            lines.push(String::from("   "));
        }
        let last = lines.len() - 1;
        lines[last].push(' ');
        lines[last].push_str(format.id);
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_help_is_one_screen() {
        let text = text();
        assert!(
            text.lines().count() <= 50,
            "{} lines:\n{text}",
            text.lines().count()
        );
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "too wide: {line}");
        }
    }

    #[test]
    fn every_option_has_its_help() {
        for arg in Args::command().get_arguments() {
            let help = arg.get_help().map(ToString::to_string);
            assert!(
                help.is_some_and(|help| !help.is_empty()),
                "{}",
                arg.get_id()
            );
        }
    }
}
