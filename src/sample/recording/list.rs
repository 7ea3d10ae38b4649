//! Lists of runs as JSON text: the pieces of an element, each made of a few fields. A piece whose
//! fields are the same in all runs is formatted once, and only what differs is formatted for each.

use super::run::{ALWAYS, ZERO};
use super::text::{Literal, Text};
use crate::sample::field::{FIELDS, Field, Kind};
use crate::sample::{Outcome, Phase, Samples};

/// Text is handed on in parts of this many bytes: the quickest for the page cache of Linux 6.18,
/// where 64 KiB take 15% longer and from 1 MiB on it is slower again.
pub const PART: usize = 1 << 18;

/// Writes a part of an element from the raw values of its fields.
type Write<'a> = Box<dyn Fn(&mut Text, &[Option<u64>]) + 'a>;

/// A part of each element of a list.
pub struct Piece<'a> {
    places: Vec<usize>,
    write: Write<'a>,
}

impl<'a> Piece<'a> {
    /// Made by `write` from the raw values of the fields with these keys, in their order.
    pub fn new(keys: &[&str], write: impl Fn(&mut Text, &[Option<u64>]) + 'a) -> Self {
        let place = |key: &&str| FIELDS.iter().position(|field| field.key == *key);
        Self {
            places: keys.iter().filter_map(place).collect(),
            write: Box::new(write),
        }
    }
}

/// What an element is made of, for certain samples.
enum Step<'a> {
    Literal(Literal),
    /// With the place of its first value, and of the one after its last.
    Varying(usize, usize, Write<'a>),
}

/// Pieces as steps, and the places of the fields that they need.
#[derive(Default)]
struct Steps<'a> {
    list: Vec<Step<'a>>,
    places: Vec<usize>,
    /// What is the same in all elements and not yet a step.
    same: Text,
}

impl<'a> Steps<'a> {
    fn add(&mut self, samples: &Samples, piece: Piece<'a>) {
        if let Some(values) = samples.constants(&piece.places) {
            (piece.write)(&mut self.same, &values);
            return;
        }
        self.end_literal();
        let first = self.places.len();
        self.places.extend(piece.places);
        let step = Step::Varying(first, self.places.len(), piece.write);
        self.list.push(step);
    }

    fn end_literal(&mut self) {
        if !self.same.bytes().is_empty() {
            let literal = Literal::new(self.same.bytes());
            self.list.push(Step::Literal(literal));
            self.same.cut(0);
        }
    }

    fn write(&self, out: &mut Text, values: &[Option<u64>]) {
        for step in &self.list {
            match step {
                Step::Literal(literal) => out.literal(literal),
                Step::Varying(first, end, write) => write(out, &values[*first..*end]),
            }
        }
    }
}

/// Writes the runs of a phase, or of all, with `between` between two of them, and hands the text to
/// `put` part by part; a part ends with a whole element, and between two parts nothing is written.
/// A run whose pieces write nothing is left out.
///
/// # Errors
/// Those of `put`.
pub fn write<E>(
    samples: &Samples,
    phase: Option<Phase>,
    pieces: Vec<Piece<'_>>,
    between: &str,
    mut put: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut steps = Steps::default();
    // The first value says whether the run is wanted.
    steps
        .places
        .extend(FIELDS.iter().position(|field| field.key == "phase"));
    for piece in pieces {
        steps.add(samples, piece);
    }
    steps.end_literal();
    let between = Literal::new(between.as_bytes());
    let mut out = Text::with_capacity(PART + PART / 8);
    let mut done = Ok(());
    samples.raw(&steps.places, |values| {
        if phase.is_some_and(|phase| Phase::from_raw(values[0]) != phase) {
            return true;
        }
        let before = out.bytes().len();
        if before > 0 {
            out.literal(&between);
        }
        let begin = out.bytes().len();
        steps.write(&mut out, values);
        let end = out.bytes().len();
        if end == begin {
            out.cut(before);
        } else if end >= PART {
            done = put(out.bytes());
            out.cut(0);
        }
        done.is_ok()
    });
    done?;
    if out.bytes().is_empty() {
        Ok(())
    } else {
        put(out.bytes())
    }
}

/// The pieces of a whole run, with the keys and numbers of its `Serialize`.
#[must_use]
pub fn whole_run() -> Vec<Piece<'static>> {
    let phase = |out: &mut Text, values: &[Option<u64>]| {
        out.put(b"{\"phase\":\"");
        out.put(Phase::from_raw(values[0]).id().as_bytes());
        out.put(b"\"");
    };
    let others = FIELDS.iter().filter(|field| field.key != "phase");
    let mut pieces = vec![Piece::new(&["phase"], phase)];
    pieces.extend(others.map(of_field));
    pieces.push(Piece::new(&[], |out, _| out.put(b"}")));
    pieces
}

/// The key of a field and its value, if that is told.
fn of_field(field: &'static Field) -> Piece<'static> {
    if field.key == "outcome" {
        return Piece::new(&[field.key], |out, values| {
            outcome(out, Outcome::from_raw(values[0].unwrap_or_default()));
        });
    }
    let key = Literal::new(format!(",\"{}\":", field.key).as_bytes());
    let zero = ZERO.contains(&field.key);
    let always = zero || ALWAYS.contains(&field.key);
    Piece::new(&[field.key], move |out, values| match values[0] {
        Some(0) if zero => {}
        None if !always => {}
        None => {
            out.literal(&key);
            out.put(b"null");
        }
        Some(raw) => {
            out.literal(&key);
            value(out, field.kind, raw);
        }
    })
}

fn value(out: &mut Text, kind: Kind, raw: u64) {
    match kind {
        Kind::Nanoseconds => out.seconds(raw),
        Kind::Microseconds => out.seconds_of_micros(raw),
        Kind::Kibibytes => out.whole(raw.saturating_mul(1024)),
        Kind::Bytes | Kind::Count => out.whole(raw),
    }
}

/// Appends a whole number, or that there is none.
pub fn whole_or_null(out: &mut Text, value: Option<u64>) {
    match value {
        Some(value) => out.whole(value),
        None => out.put(b"null"),
    }
}

fn outcome(out: &mut Text, outcome: Outcome) {
    out.put(b",\"exit_code\":");
    whole_or_null(out, outcome.code().map(u64::from));
    out.put(b",\"signal\":");
    whole_or_null(out, outcome.signal().map(u64::from));
    match outcome {
        Outcome::Signaled { core: true, .. } => out.put(b",\"core_dumped\":true"),
        Outcome::TimedOut => out.put(b",\"timed_out\":true"),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::field::tests::distinct;
    use crate::sample::shelf::tests::Board;
    use crate::sample::{Sample, Unaccounted, Usage};
    use std::time::Duration;

    /// Runs of every kind.
    fn all() -> Vec<Sample> {
        let mut unknown = distinct();
        unknown.readings.queued = None;
        unknown.readings.unaccounted = Unaccounted::ALL;
        unknown.usage = Usage::default();
        unknown.outcome = Outcome::TimedOut;
        let mut dumped = distinct();
        dumped.outcome = Outcome::from_raw(256 + 128 + 11);
        let mut runs = Vec::new();
        for nanos in [0, 7, 9_999, 61_230, 1_000_000_000, u64::MAX / 2] {
            for mut sample in [distinct(), Sample::default(), unknown, dumped] {
                sample.wall = Duration::from_nanos(nanos);
                sample.usage.user = Duration::from_micros(nanos / 1_000);
                runs.push(sample);
            }
        }
        runs
    }

    fn text(samples: &Samples, phase: Option<Phase>) -> String {
        let mut text = Vec::new();
        let done = write(samples, phase, whole_run(), ",", |part| {
            if !text.is_empty() {
                text.push(b',');
            }
            text.extend_from_slice(part);
            Ok::<(), ()>(())
        });
        assert_eq!(done, Ok(()));
        String::from_utf8(text).unwrap()
    }

    fn serialized(runs: &[Sample]) -> String {
        let json = serde_json::to_string(runs).unwrap();
        json[1..json.len() - 1].to_owned()
    }

    #[test]
    fn text_is_what_the_serializer_writes() {
        let all = all();
        let mut shelved = Samples::on_shelf(Board::new(usize::MAX), 2_000);
        for run in &all {
            shelved.push(run);
        }
        assert_eq!(text(&shelved, None), serialized(&all));
        let columns: Samples = all.iter().copied().collect();
        assert_eq!(text(&columns, None), serialized(&all));
        // Alone, all its fields are the same in all runs.
        for run in &all {
            let alone: Samples = [*run].into_iter().collect();
            assert_eq!(text(&alone, None), serialized(&[*run]));
        }
        assert_eq!(text(&Samples::new(), None), "");
    }

    #[test]
    fn a_long_list_comes_in_parts_and_only_the_runs_of_its_phase() {
        let mut all = all().repeat(100);
        for (place, run) in all.iter_mut().enumerate() {
            run.index = place as u64;
            run.phase = Phase::from_raw(Some(place as u64 % 3));
        }
        let samples: Samples = all.iter().copied().collect();
        let mut parts = 0;
        let counted = write(&samples, None, whole_run(), "", |_| {
            parts += 1;
            Ok::<(), ()>(())
        });
        assert!(counted.is_ok() && parts > 1);
        for phase in [Phase::Warmup, Phase::Measured, Phase::Diagnostic] {
            let of_phase = all.iter().copied().filter(|run| run.phase == phase);
            let expected = serialized(&of_phase.collect::<Vec<_>>());
            assert_eq!(text(&samples, Some(phase)), expected);
        }
    }

    #[test]
    fn runs_for_which_nothing_is_written_are_left_out_and_errors_end_it() {
        let samples: Samples = all().into_iter().collect();
        let piece = || {
            Piece::new(&["queued_s"], |out, values| {
                if values[0].is_some() {
                    out.put(b"x");
                }
            })
        };
        let mut found = Vec::new();
        let done = write(&samples, None, vec![piece()], ",", |part| {
            found.extend_from_slice(part);
            Ok::<(), ()>(())
        });
        assert_eq!(
            (done, &found[..]),
            (Ok(()), &b"x,x,x,x,x,x,x,x,x,x,x,x"[..])
        );
        let failed = write(&samples, None, vec![piece()], ",", |_| Err(7));
        assert_eq!(failed, Err(7));
    }
}
