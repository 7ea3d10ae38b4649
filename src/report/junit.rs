//! JUnit XML for build servers: the invocation is a suite, each command and gate a case. A gate
//! that cannot be decided is skipped, a command without a good run is an error.

use std::io::{self, Write};

use super::{Document, date};
use crate::analysis::Subject;
use crate::gate::{Decision, Verdict};
use crate::metric::WALL;
use crate::unit::display_escaped;

/// Writes the file.
pub(super) fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    let subjects = &document.analysis.subjects;
    let verdicts = document.verdicts;
    let count = |decision| {
        verdicts
            .iter()
            .filter(|one| one.decision == decision)
            .count()
    };
    let errors = subjects
        .iter()
        .filter(|subject| subject.counts.counted() == 0)
        .count();
    let total: f64 = subjects
        .iter()
        .map(|one| one.recording.conditions.elapsed_s)
        .sum();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{errors}\" skipped=\"{}\" time=\"{total}\"",
        subjects.len() + verdicts.len(),
        count(Decision::Fail),
        count(Decision::Unsure),
    );
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"offbench\" {counts}>")?;
    write!(out, "  <testsuite name=\"{}\" {counts}", suite(document))?;
    let first = subjects.first().map(|subject| subject.recording);
    if let Some(started) = first.and_then(|first| first.conditions.started_unix_s) {
        write!(out, " timestamp=\"{}\"", date::utc(started))?;
    }
    if let Some(name) = first.and_then(|first| first.host.hostname.as_deref()) {
        write!(out, " hostname=\"{}\"", attribute(name))?;
    }
    writeln!(out, ">")?;
    for (place, subject) in subjects.iter().enumerate() {
        command(out, subject)?;
        for verdict in verdicts.iter().filter(|verdict| verdict.command == place) {
            gate(out, subject, verdict)?;
        }
    }
    writeln!(out, "  </testsuite>\n</testsuites>")?;
    out.flush()
}

fn suite(document: &Document<'_>) -> String {
    let words = document.command_line.join(" ");
    attribute(if words.is_empty() { "offbench" } else { &words })
}

/// Class name and time of a case.
fn case(subject: &Subject<'_>, name: &str) -> String {
    format!(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{}\"",
        attribute(subject.name()),
        attribute(name),
        subject.median(WALL).unwrap_or(0.0)
    )
}

fn command(out: &mut dyn Write, subject: &Subject<'_>) -> io::Result<()> {
    let case = case(subject, "runs");
    if subject.counts.counted() > 0 {
        return writeln!(out, "{case}/>");
    }
    let counts = subject.counts;
    let message = format!("failed {} of {} runs", counts.failed, counts.measured);
    writeln!(
        out,
        "{case}>\n      <error message=\"{message}\"/>\n    </testcase>"
    )
}

fn gate(out: &mut dyn Write, subject: &Subject<'_>, verdict: &Verdict) -> io::Result<()> {
    let case = case(subject, &verdict.expression);
    let element = match verdict.decision {
        Decision::Ok => return writeln!(out, "{case}/>"),
        Decision::Fail => "failure",
        Decision::Unsure => "skipped",
    };
    let message = attribute(&format!("{} {}", verdict.expression, verdict.reason));
    writeln!(
        out,
        "{case}>\n      <{element} message=\"{message}\"/>\n    </testcase>"
    )
}

/// Text between double quotes. Control characters are shown escaped: XML cannot hold most of them.
fn attribute(text: &str) -> String {
    let shown = display_escaped(text.as_ref());
    let mut escaped = String::with_capacity(shown.len());
    for c in shown.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_characters_are_no_markup() {
        assert_eq!(attribute("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&apos;");
        assert_eq!(
            attribute("a\u{1b}[0m\n\u{0}\u{ffff}"),
            "a\\x1b[0m\\n\\x00\u{fffd}"
        );
    }
}
