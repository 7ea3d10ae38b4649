//! What people read: one block a command, one table over all, the gates.
//!
//! Lines are made first and written at once; nothing here asks the terminal anything.

mod comparison;
mod diagnosis;
mod earlier;
mod gates;
mod histogram;
mod layout;
mod measures;
mod paint;
mod plain;
mod summary;
mod trace;

use std::io::{self, Write};

use super::{Document, Kind, Style};
use crate::analysis::{Analysis, Merged, Subject};
use crate::gate::Verdict;

pub(in crate::report) use paint::paint;

/// Everything: commands, comparison, gates.
///
/// # Errors
///
/// Those of the writer.
pub fn report(out: &mut dyn Write, style: &Style, document: &Document<'_>) -> io::Result<()> {
    if let Some(found) = document.analysis.merged.as_ref() {
        merged(out, style, document.analysis, found)?;
    } else {
        commands(out, style, document.analysis)?;
        compare(out, style, document.analysis)?;
    }
    baselines(out, style, document.analysis)?;
    gates(
        out,
        style,
        document.verdicts,
        document.analysis.subjects.len(),
    )
}

/// The blocks of all commands, one after the other; nothing where there are so many that the
/// table of [`compare`] has to do.
///
/// # Errors
///
/// Those of the writer.
pub fn commands(out: &mut dyn Write, style: &Style, analysis: &Analysis<'_>) -> io::Result<()> {
    let count = analysis.subjects.len();
    if count > comparison::BLOCKS && style.kind == Kind::Full {
        return Ok(());
    }
    for (place, subject) in analysis.subjects.iter().enumerate() {
        let number = (count > 1).then_some(place + 1);
        command(out, style, subject, number)?;
    }
    Ok(())
}

/// The block of one command; its number if there are several.
///
/// # Errors
///
/// Those of the writer.
pub fn command(
    out: &mut dyn Write,
    style: &Style,
    subject: &Subject<'_>,
    number: Option<usize>,
) -> io::Result<()> {
    let lines = match style.kind {
        Kind::None => return Ok(()),
        Kind::Basic => plain::command(style, subject, number),
        Kind::Full => {
            let mut lines = summary::header(style, subject, number);
            lines.extend(summary::body(style, subject));
            let remarks = diagnosis::lines(style, subject);
            if !remarks.is_empty() {
                lines.push(String::new());
                lines.extend(remarks);
            }
            lines.push(String::new());
            lines
        }
    };
    write_lines(out, &lines)
}

/// The table over all commands and the verdicts; nothing for a single command.
///
/// # Errors
///
/// Those of the writer.
pub fn compare(out: &mut dyn Write, style: &Style, analysis: &Analysis<'_>) -> io::Result<()> {
    if analysis.subjects.len() < 2 {
        return Ok(());
    }
    let lines = match style.kind {
        Kind::None => return Ok(()),
        Kind::Basic => plain::comparisons(style, analysis),
        Kind::Full => {
            let mut lines = comparison::lines(style, analysis);
            lines.push(String::new());
            lines
        }
    };
    write_lines(out, &lines)
}

/// What the baselines say; nothing where none was asked for.
///
/// # Errors
///
/// Those of the writer.
pub fn baselines(out: &mut dyn Write, style: &Style, analysis: &Analysis<'_>) -> io::Result<()> {
    let mut lines = earlier::baselines(style, analysis);
    if lines.is_empty() || style.kind == Kind::None {
        return Ok(());
    }
    if style.kind == Kind::Full {
        lines.push(String::new());
    }
    write_lines(out, &lines)
}

/// Sessions of the same benchmarks, merged.
fn merged(
    out: &mut dyn Write,
    style: &Style,
    analysis: &Analysis<'_>,
    found: &Merged,
) -> io::Result<()> {
    if style.kind == Kind::None {
        return Ok(());
    }
    write_lines(out, &earlier::merged(style, analysis, found))
}

/// What the gates say about that many commands; with [`Kind::None`] only those that did not pass.
///
/// # Errors
///
/// Those of the writer.
pub fn gates(
    out: &mut dyn Write,
    style: &Style,
    verdicts: &[Verdict],
    commands: usize,
) -> io::Result<()> {
    write_lines(out, &gates::lines(style, verdicts, commands))
}

fn write_lines(out: &mut dyn Write, lines: &[String]) -> io::Result<()> {
    for line in lines {
        out.write_all(line.trim_end().as_bytes())?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(in crate::report) use tests::check;
