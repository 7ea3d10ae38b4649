//! One run as an object of a file, there and back.
//!
//! Keys and units are those of the field table. The keys of `ALWAYS` are in every object, `null`
//! where a value was not measured; of the others an absent count of blocks or padding is 0, and
//! any other absent value was not measured.

use std::fmt;

use serde::de::{self, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::sample::field::{FIELDS, Field, Kind};
use crate::sample::{Outcome, Phase, Sample, Unaccounted};

/// Largest raw number and size in bytes that is read: 30 years of nanoseconds. Whatever is computed of
/// such numbers stays a number that can be printed.
pub(super) const MOST: f64 = 1.0e18;

/// Fields that every object has.
pub(super) const ALWAYS: [&str; 13] = [
    "index",
    "round",
    "position",
    "start_s",
    "wall_s",
    "user_s",
    "system_s",
    "queued_s",
    "rss_bytes",
    "major_faults",
    "minor_faults",
    "voluntary_switches",
    "involuntary_switches",
];
/// Fields whose absence means 0.
pub(super) const ZERO: [&str; 3] = ["blocks_in", "blocks_out", "padding"];

impl Serialize for Sample {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("phase", self.phase.id())?;
        entries(self, &mut map)?;
        map.end()
    }
}

/// Everything but the phase, for objects that have other keys as well.
///
/// # Errors
///
/// Those of the serializer.
pub fn entries<M: SerializeMap>(sample: &Sample, map: &mut M) -> Result<(), M::Error> {
    for field in FIELDS {
        match field.key {
            "phase" => {}
            "outcome" => outcome(sample.outcome, map)?,
            _ => entry(sample, field, map)?,
        }
    }
    Ok(())
}

fn entry<M: SerializeMap>(sample: &Sample, field: &Field, map: &mut M) -> Result<(), M::Error> {
    let value = (field.read)(sample);
    let omitted = if ZERO.contains(&field.key) {
        value == Some(0)
    } else {
        value.is_none() && !ALWAYS.contains(&field.key)
    };
    if omitted {
        return Ok(());
    }
    let Some(raw) = value else {
        return map.serialize_entry(field.key, &());
    };
    match field.kind {
        Kind::Nanoseconds | Kind::Microseconds => {
            map.serialize_entry(field.key, &(raw as f64 / field.kind.per_file_unit()))
        }
        Kind::Kibibytes => map.serialize_entry(field.key, &raw.saturating_mul(1024)),
        Kind::Bytes | Kind::Count => map.serialize_entry(field.key, &raw),
    }
}

fn outcome<M: SerializeMap>(outcome: Outcome, map: &mut M) -> Result<(), M::Error> {
    map.serialize_entry("exit_code", &outcome.code())?;
    map.serialize_entry("signal", &outcome.signal())?;
    match outcome {
        Outcome::Signaled { core: true, .. } => map.serialize_entry("core_dumped", &true),
        Outcome::TimedOut => map.serialize_entry("timed_out", &true),
        _ => Ok(()),
    }
}

impl<'de> Deserialize<'de> for Sample {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RunVisitor)
    }
}

struct RunVisitor;

/// What the keys about the end of a run say.
#[derive(Default)]
struct End {
    code: Option<u8>,
    signal: Option<u8>,
    core: bool,
    timed_out: bool,
}

impl End {
    fn outcome(&self) -> Option<Outcome> {
        if self.timed_out {
            return Some(Outcome::TimedOut);
        }
        match (self.code, self.signal) {
            (Some(code), None) => Some(Outcome::Exited(code)),
            (None, Some(signal)) if signal < 128 => Some(Outcome::Signaled {
                signal,
                core: self.core,
            }),
            _ => None,
        }
    }
}

impl<'de> Visitor<'de> for RunVisitor {
    type Value = Sample;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a run")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Sample, A::Error> {
        let mut sample = Sample::default();
        sample.readings.unaccounted = Unaccounted::ALL;
        let (mut end, mut wall, mut next) = (End::default(), false, 0);
        while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            match key.as_ref() {
                "phase" => sample.phase = map.next_value::<Phase>()?,
                "exit_code" => end.code = map.next_value()?,
                "signal" => end.signal = map.next_value()?,
                "core_dumped" => end.core = map.next_value()?,
                "timed_out" => end.timed_out = map.next_value()?,
                "outcome" => drop(map.next_value::<IgnoredAny>()?),
                other => match find(other, &mut next) {
                    Some(field) => {
                        let value: Option<f64> = map.next_value()?;
                        wall |= field.key == "wall_s" && value.is_some();
                        (field.write)(&mut sample, raw(field, value)?);
                    }
                    None => drop(map.next_value::<IgnoredAny>()?),
                },
            }
        }
        if !wall {
            return Err(de::Error::missing_field("wall_s"));
        }
        sample.outcome = end
            .outcome()
            .ok_or_else(|| de::Error::custom("a run without exit_code, signal or timed_out"))?;
        Ok(sample)
    }
}

/// The field of that key. Files have the order of the table, so the search begins where the last
/// one ended.
fn find(key: &str, next: &mut usize) -> Option<&'static Field> {
    let (before, after) = FIELDS.split_at((*next).min(FIELDS.len()));
    let mut all = after.iter().chain(before);
    let offset = all.position(|field| field.key == key)?;
    let place = (*next + offset) % FIELDS.len();
    *next = place + 1;
    FIELDS.get(place)
}

fn raw<E: de::Error>(field: &Field, value: Option<f64>) -> Result<Option<u64>, E> {
    let Some(value) = value else {
        return Ok(None);
    };
    let raw = (value * field.kind.per_file_unit()).round();
    // Of memory the bytes must fit too, not only the KiB.
    if !(0.0..=MOST).contains(&raw) || value > MOST {
        return Err(E::custom(format_args!(
            "{value:e} of {} is out of range",
            field.key
        )));
    }
    Ok(Some(raw as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::field::tests::distinct;

    #[test]
    fn a_run_comes_back_as_it_went_out() {
        let mut unknown = distinct();
        unknown.readings.queued = None;
        unknown.readings.unaccounted = Unaccounted::ALL;
        unknown.usage = crate::sample::Usage::default();
        unknown.outcome = Outcome::TimedOut;
        for sample in [distinct(), Sample::default(), unknown] {
            let text = serde_json::to_string(&sample).unwrap();
            let back: Sample = serde_json::from_str(&text).unwrap();
            assert_eq!(back, sample, "{text}");
        }
    }

    #[test]
    fn keys_in_any_order_and_unknown_ones_are_read() {
        let text = r#"{"exit_code": 3, "new": [1], "wall_s": 0.25, "phase": "warmup"}"#;
        let run: Sample = serde_json::from_str(text).unwrap();
        assert_eq!(run.wall.as_millis(), 250);
        assert_eq!(
            (run.phase, run.outcome),
            (Phase::Warmup, Outcome::Exited(3))
        );
        assert!(run.readings.unaccounted.cpu);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            r#"{"exit_code": 0}"#,
            r#"{"wall_s": 1}"#,
            r#"{"wall_s": -1, "exit_code": 0}"#,
            r#"{"wall_s": 1e300, "exit_code": 0}"#,
            r#"{"wall_s": 1, "rss_bytes": 1e21, "exit_code": 0}"#,
            r#"{"wall_s": "1", "exit_code": 0}"#,
            r#"{"wall_s": 1, "exit_code": 300}"#,
            r#"{"wall_s": 1, "exit_code": 0, "phase": "lunch"}"#,
        ] {
            assert!(serde_json::from_str::<Sample>(text).is_err(), "{text}");
        }
        let huge = r#"{"wall_s": 1e308, "exit_code": 0}"#;
        let error = serde_json::from_str::<Sample>(huge)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("1e308 of wall_s is out of range"),
            "{error}"
        );
        let most = r#"{"wall_s": 1, "rss_bytes": 1e18, "exit_code": 0}"#;
        let run: Sample = serde_json::from_str(most).unwrap();
        assert_eq!(run.usage.max_rss >> 10, 1_000_000_000_000_000_000 >> 10);
    }
}
