//! One row a run of every phase; the columns are the fields of a sample. Empty is not measured.

use std::io::{self, Write};

use super::Document;
use super::csv::{harmless, number, record};
use crate::sample::field::{FIELDS, Field, Kind};
use crate::sample::{Outcome, Sample};

/// Writes the file.
pub(super) fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    let fields = || FIELDS.iter().filter(|field| field.key != "outcome");
    let heads = [
        "command_number",
        "command",
        "exit_code",
        "signal",
        "timed_out",
    ];
    record(
        out,
        heads.into_iter().chain(fields().map(|field| field.key)),
    )?;
    for (place, subject) in document.analysis.subjects.iter().enumerate() {
        let command = [(place + 1).to_string(), harmless(subject.name())];
        for sample in &subject.recording.samples {
            let mut cells: Vec<String> = command.to_vec();
            cells.extend(ending(sample.outcome));
            cells.extend(fields().map(|field| cell(field, &sample)));
            record(out, cells.iter().map(String::as_str))?;
        }
    }
    Ok(())
}

fn ending(outcome: Outcome) -> [String; 3] {
    let number = |value: Option<u8>| value.map(|value| value.to_string()).unwrap_or_default();
    [
        number(outcome.code()),
        number(outcome.signal()),
        (outcome == Outcome::TimedOut).to_string(),
    ]
}

fn cell(field: &Field, sample: &Sample) -> String {
    if field.key == "phase" {
        return sample.phase.id().to_owned();
    }
    let raw = (field.read)(sample);
    match field.kind {
        Kind::Nanoseconds | Kind::Microseconds => {
            number(raw.map(|raw| raw as f64 / field.kind.per_file_unit()))
        }
        Kind::Kibibytes => raw
            .map(|raw| raw.saturating_mul(1024).to_string())
            .unwrap_or_default(),
        Kind::Bytes | Kind::Count => raw.map(|raw| raw.to_string()).unwrap_or_default(),
    }
}
