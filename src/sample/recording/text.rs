//! Runs as JSON text, quickly: the same keys and numbers as their `Serialize`, for lists of very
//! many of them. Nothing is looked up or formatted twice.

use super::run::{ALWAYS, ZERO};
use crate::sample::field::{FIELDS, Field, Kind};
use crate::sample::{Outcome, Sample};

/// A field with its key ready to be written.
#[derive(Debug)]
struct Ready {
    key: String,
    field: &'static Field,
    always: bool,
    zero: bool,
}

/// Writes runs, one at a time.
#[derive(Debug)]
pub struct Text(Vec<Ready>);

impl Default for Text {
    fn default() -> Self {
        let ready = |field: &'static Field| Ready {
            key: format!(",\"{}\":", field.key),
            field,
            always: ALWAYS.contains(&field.key),
            zero: ZERO.contains(&field.key),
        };
        Self(FIELDS.iter().map(ready).collect())
    }
}

impl Text {
    /// Appends one run as an object.
    pub fn run(&self, out: &mut Vec<u8>, sample: &Sample) {
        out.extend_from_slice(b"{\"phase\":\"");
        out.extend_from_slice(sample.phase.id().as_bytes());
        out.push(b'"');
        for one in &self.0 {
            match one.field.key {
                "phase" => {}
                "outcome" => outcome(out, sample.outcome),
                _ => one.append(out, sample),
            }
        }
        out.push(b'}');
    }
}

impl Ready {
    fn append(&self, out: &mut Vec<u8>, sample: &Sample) {
        match (self.field.read)(sample) {
            Some(0) if self.zero => {}
            None if !self.always && !self.zero => {}
            None => {
                out.extend_from_slice(self.key.as_bytes());
                out.extend_from_slice(b"null");
            }
            Some(raw) => {
                out.extend_from_slice(self.key.as_bytes());
                match self.field.kind {
                    Kind::Nanoseconds => seconds(out, raw, 9),
                    Kind::Microseconds => seconds(out, raw, 6),
                    Kind::Kibibytes => whole(out, raw.saturating_mul(1024)),
                    Kind::Bytes | Kind::Count => whole(out, raw),
                }
            }
        }
    }
}

fn outcome(out: &mut Vec<u8>, outcome: Outcome) {
    let number = |out: &mut Vec<u8>, value: Option<u8>| match value {
        Some(value) => whole(out, u64::from(value)),
        None => out.extend_from_slice(b"null"),
    };
    out.extend_from_slice(b",\"exit_code\":");
    number(out, outcome.code());
    out.extend_from_slice(b",\"signal\":");
    number(out, outcome.signal());
    match outcome {
        Outcome::Signaled { core: true, .. } => out.extend_from_slice(b",\"core_dumped\":true"),
        Outcome::TimedOut => out.extend_from_slice(b",\"timed_out\":true"),
        _ => {}
    }
}

/// Appends a whole number.
pub fn whole(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends `raw` units of 10^-`places` seconds, as seconds.
///
/// Up to 15 digits a decimal fraction is the shortest text of the number nearest to it, so that
/// these are the digits any writer of shortest numbers gives. Others are left to such a one.
pub fn seconds(out: &mut Vec<u8>, raw: u64, places: u32) {
    let unit = 10_u64.pow(places);
    let tiny = raw < unit / 100_000;
    if raw >= 1_000_000_000_000_000 || (tiny && raw > 0) {
        let number = raw as f64 / unit as f64;
        // Writing to memory cannot fail, nor can a finite number.
        let _ = serde_json::to_writer(&mut *out, &number);
        return;
    }
    whole(out, raw / unit);
    let (mut rest, mut places) = (raw % unit, places as usize);
    while rest % 10 == 0 && places > 1 {
        rest /= 10;
        places -= 1;
    }
    let mut digits = [b'0'; 10];
    digits[0] = b'.';
    for digit in digits[1..=places].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(&digits[..=places]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::field::tests::distinct;
    use crate::sample::{Unaccounted, Usage};
    use std::time::Duration;

    #[test]
    fn text_is_what_the_serializer_writes() {
        let mut unknown = distinct();
        unknown.readings.queued = None;
        unknown.readings.unaccounted = Unaccounted::ALL;
        unknown.usage = Usage::default();
        unknown.outcome = Outcome::TimedOut;
        let mut dumped = distinct();
        dumped.outcome = Outcome::from_raw(256 + 128 + 11);
        for nanos in [
            0,
            7,
            9_999,
            10_000,
            61_230,
            1_000_000_000,
            86_400_000_000_123,
            u64::MAX / 2,
        ] {
            for mut sample in [distinct(), Sample::default(), unknown, dumped] {
                sample.wall = Duration::from_nanos(nanos);
                sample.usage.user = Duration::from_micros(nanos / 1_000);
                let mut text = Vec::new();
                Text::default().run(&mut text, &sample);
                let expected = serde_json::to_string(&sample).unwrap();
                assert_eq!(String::from_utf8(text).unwrap(), expected);
            }
        }
    }
}
