//! Workflow commands of GitHub Actions: an error for each failed gate, a warning for each tier
//! from warning on. Never one for a run.

use std::io::{self, Write};

use super::Document;
use crate::diagnose::Tier;
use crate::gate::Decision;

/// Writes the annotations.
///
/// # Errors
///
/// Those of the writer.
pub fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    let subjects = &document.analysis.subjects;
    for verdict in document.verdicts {
        if verdict.decision == Decision::Fail {
            let name = subjects
                .get(verdict.command)
                .map_or("", |subject| subject.name());
            let title = format!("gate failed: {}", verdict.expression);
            annotate(out, "error", &title, &format!("{name}: {}", verdict.reason))?;
        }
    }
    for subject in subjects {
        let Some(found) = subject
            .diagnosis
            .as_ref()
            .filter(|one| one.tier >= Tier::Warning)
        else {
            continue;
        };
        let loud = found
            .findings
            .iter()
            .filter(|finding| finding.tier >= Tier::Warning);
        let loud = loud.map(|finding| finding.text.clone());
        let headline = found
            .headline
            .clone()
            .filter(|_| found.headline_tier >= Tier::Warning);
        let consequence = found.consequence.clone().filter(|_| headline.is_some());
        let sentences: Vec<String> = headline
            .into_iter()
            .chain(consequence)
            .chain(loud)
            .collect();
        let title = format!("{}: {}", found.tier.id(), subject.name());
        annotate(out, "warning", &title, &sentences.join("\n"))?;
    }
    out.flush()
}

fn annotate(out: &mut dyn Write, level: &str, title: &str, message: &str) -> io::Result<()> {
    let title = escaped(title).replace(':', "%3A").replace(',', "%2C");
    writeln!(out, "::{level} title={title}::{}", escaped(message))
}

/// What would end the command early or be read as an escape.
fn escaped(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}
