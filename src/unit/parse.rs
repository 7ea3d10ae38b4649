//! From words to values with a unit; never guesses a unit that was not written.

use std::str::FromStr;
use std::time::Duration;

use super::{Scale, TimeUnit, Unit};

/// Why a word is no value with a unit. Positions are byte offsets into the word, from 0.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UnitError {
    /// Nothing was written.
    #[error("empty value")]
    Empty,
    /// The word does not start with a number.
    #[error("`{word}` has no number at byte {position}")]
    NotANumber {
        /// The whole word.
        word: String,
        /// Where a number should stand.
        position: usize,
    },
    /// `nan`, `inf`, or a number beyond the floating-point range.
    #[error("`{word}` is not a finite number")]
    NotFinite {
        /// The whole word.
        word: String,
    },
    /// A value that must not be negative is.
    #[error("`{word}` is negative")]
    Negative {
        /// The whole word.
        word: String,
    },
    /// What follows the number is no unit.
    #[error("`{word}` has the unknown unit `{unit}` at byte {position}")]
    UnknownUnit {
        /// The whole word.
        word: String,
        /// The part that is no unit.
        unit: String,
        /// Where that part starts.
        position: usize,
        /// The unit that was probably meant.
        suggestion: Option<&'static str>,
        /// The kind that was wanted, if one was.
        wanted: Option<Unit>,
    },
    /// The unit exists, but is of another kind.
    #[error("`{word}` is {found} by its unit at byte {position}, not {wanted}")]
    WrongUnit {
        /// The whole word.
        word: String,
        /// Where the unit starts.
        position: usize,
        /// The kind that was written.
        found: Unit,
        /// The kind that was wanted.
        wanted: Unit,
    },
    /// A bare number where only a number with a unit is clear.
    #[error("`{word}` has no unit at byte {position}")]
    MissingUnit {
        /// The whole word.
        word: String,
        /// Where the unit should stand.
        position: usize,
        /// The kind that was wanted.
        wanted: Unit,
    },
    /// More than the type can hold.
    #[error("`{word}` is too large")]
    TooLarge {
        /// The whole word.
        word: String,
    },
}

impl UnitError {
    /// The same of a whole text, in which the value stands at that byte; nothing for an error that
    /// names no position.
    #[must_use]
    pub fn within(&self, text: &str, at: usize) -> Option<Self> {
        let mut error = self.clone();
        match &mut error {
            Self::NotANumber { word, position }
            | Self::UnknownUnit { word, position, .. }
            | Self::WrongUnit { word, position, .. }
            | Self::MissingUnit { word, position, .. } => {
                text.clone_into(word);
                *position += at;
                Some(error)
            }
            _ => None,
        }
    }

    /// What to write instead, if that can be said.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::UnknownUnit {
                suggestion: Some(unit),
                ..
            } => Some(format!("did you mean `{unit}`?")),
            Self::UnknownUnit {
                wanted: Some(unit), ..
            } => Some(format!("units are {}", unit.words().join(", "))),
            Self::UnknownUnit { .. } => {
                let all = [Unit::Time, Unit::Bytes, Unit::Percent, Unit::Ratio];
                Some(format!(
                    "units are {}",
                    all.map(Unit::words).concat().join(", ")
                ))
            }
            Self::WrongUnit { wanted, .. } => {
                Some(format!("{wanted} looks like {}", wanted.example()))
            }
            Self::MissingUnit { word, wanted, .. } => Some(match wanted {
                Unit::Percent => format!("write `{}%`", word.trim()),
                Unit::Ratio => format!("write `{}x`", word.trim()),
                other => format!("add one of {}", other.words().join(", ")),
            }),
            Self::Empty | Self::NotANumber { .. } => Some("write a number, such as 1.5".to_owned()),
            Self::NotFinite { .. } | Self::Negative { .. } | Self::TooLarge { .. } => None,
        }
    }
}

/// Units that are written in another way as well, and those of shares and ratios.
static FURTHER: &[(&str, Unit, f64)] = &[
    ("\u{b5}s", Unit::Time, 1e-6),
    ("\u{3bc}s", Unit::Time, 1e-6),
    ("%", Unit::Percent, 0.01),
    ("x", Unit::Ratio, 1.0),
];

/// Every unit word with its kind and its size in base units.
fn units() -> impl Iterator<Item = (&'static str, Unit, f64)> {
    let times = TimeUnit::ALL.into_iter();
    let times = times.map(|one| (one.name(false), Unit::Time, one.seconds()));
    let sizes = Scale::all(Unit::Bytes).iter();
    let sizes = sizes.map(|one| (one.word, Unit::Bytes, one.size));
    times.chain(sizes).chain(FURTHER.iter().copied())
}

/// Unit words of other programs, and what they are called here.
static OTHER_NAMES: &[(&str, &str)] = &[
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("msec", "ms"),
    ("millis", "ms"),
    ("usec", "us"),
    ("micros", "us"),
    ("nsec", "ns"),
    ("m", "min"),
    ("mins", "min"),
    ("minutes", "min"),
    ("hr", "h"),
    ("hours", "h"),
    ("k", "KiB"),
    ("mb", "MB"),
    ("g", "GiB"),
    ("bytes", "B"),
    ("percent", "%"),
    ("times", "x"),
];

/// A number with the kind of unit written after it, in base units of that kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity {
    /// Finite value: seconds, bytes, fraction, ratio, or the bare number.
    pub value: f64,
    /// The kind of the written unit; `None` for a bare number.
    pub unit: Option<Unit>,
}

impl Quantity {
    fn parse(word: &str, wanted: Option<Unit>) -> Result<Self, UnitError> {
        let (number, position) = split_number(word)?;
        let name = word.get(position..).unwrap_or_default().trim_end();
        if name.is_empty() {
            return Ok(Self {
                value: number,
                unit: None,
            });
        }
        let Some((_, unit, factor)) = units().find(|(known, _, _)| *known == name) else {
            return Err(UnitError::UnknownUnit {
                word: shown(word),
                unit: shown(name),
                position,
                suggestion: suggest(name, wanted),
                wanted,
            });
        };
        // Dividing by 1000 is exact where multiplying by 0.001 is not.
        let value = if factor < 1.0 {
            number / factor.recip().round()
        } else {
            number * factor
        };
        if !value.is_finite() {
            return Err(UnitError::TooLarge { word: shown(word) });
        }
        if value < 0.0 && unit != Unit::Percent {
            return Err(UnitError::Negative { word: shown(word) });
        }
        Ok(Self {
            value,
            unit: Some(unit),
        })
    }

    /// The value if it is of the `wanted` kind and not negative; a bare number if `bare` allows.
    fn of(word: &str, wanted: Unit, bare: bool) -> Result<f64, UnitError> {
        let quantity = Self::parse(word, Some(wanted))?;
        let position = split_number(word)?.1;
        match quantity.unit {
            Some(found) if found != wanted => Err(UnitError::WrongUnit {
                word: shown(word),
                position,
                found,
                wanted,
            }),
            None if !bare => Err(UnitError::MissingUnit {
                word: shown(word),
                position,
                wanted,
            }),
            _ if quantity.value < 0.0 => Err(UnitError::Negative { word: shown(word) }),
            _ => Ok(quantity.value),
        }
    }
}

impl FromStr for Quantity {
    type Err = UnitError;

    /// Reads a number with any unit or none; only percentages and bare numbers may be negative.
    fn from_str(word: &str) -> Result<Self, UnitError> {
        Self::parse(word, None)
    }
}

/// Splits a word into its number and the offset of what follows number and blanks.
fn split_number(word: &str) -> Result<(f64, usize), UnitError> {
    let start = word.len() - word.trim_start().len();
    let text = word.get(start..).unwrap_or_default();
    if text.is_empty() {
        return Err(UnitError::Empty);
    }
    let unsigned = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
    if unsigned.starts_with("nan") || unsigned.starts_with("inf") {
        return Err(UnitError::NotFinite { word: shown(word) });
    }
    let length = number_length(text.as_bytes());
    let number: f64 = text
        .get(..length)
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| UnitError::NotANumber {
            word: shown(word),
            position: start,
        })?;
    if !number.is_finite() {
        return Err(UnitError::NotFinite { word: shown(word) });
    }
    let rest = text.get(length..).unwrap_or_default();
    Ok((
        number,
        start + length + (rest.len() - rest.trim_start().len()),
    ))
}

/// How many bytes at the start form a decimal number with optional sign, fraction, and exponent.
fn number_length(text: &[u8]) -> usize {
    let digits = |from: usize| {
        text.get(from..).map_or(0, |rest| {
            rest.iter().take_while(|b| b.is_ascii_digit()).count()
        })
    };
    let sign = |at: usize| usize::from(matches!(text.get(at), Some(b'+' | b'-')));
    let mut end = sign(0);
    end += digits(end);
    if text.get(end) == Some(&b'.') {
        end += 1 + digits(end + 1);
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let exponent = end + 1 + sign(end + 1);
        if digits(exponent) > 0 {
            end = exponent + digits(exponent);
        }
    }
    end
}

/// The unit that was probably meant by `name`, preferring the wanted kind.
pub(super) fn suggest(name: &str, wanted: Option<Unit>) -> Option<&'static str> {
    let fits = |unit: Unit| wanted.is_none_or(|wanted| wanted == unit);
    let same_letters = units()
        .find(|(known, unit, _)| fits(*unit) && known.eq_ignore_ascii_case(name))
        .map(|(known, _, _)| known);
    let other = || {
        let (_, known) = OTHER_NAMES
            .iter()
            .find(|(other, _)| other.eq_ignore_ascii_case(name))?;
        units()
            .find(|(word, unit, _)| word == known && fits(*unit))
            .map(|(word, _, _)| word)
    };
    same_letters.or_else(other)
}

/// Reads a duration such as `250ms`, `1.5 s`, `2min`; `bare_seconds` allows a number alone.
///
/// # Errors
///
/// No number, not finite, negative, an unknown or missing unit, or more than 2^64 nanoseconds.
pub fn parse_duration(word: &str, bare_seconds: bool) -> Result<Duration, UnitError> {
    let seconds = Quantity::of(word, Unit::Time, bare_seconds)?;
    let nanoseconds = (seconds * 1e9).round();
    if nanoseconds >= u64::MAX as f64 {
        return Err(UnitError::TooLarge { word: shown(word) });
    }
    Ok(Duration::from_nanos(nanoseconds as u64))
}

/// Reads a percentage such as `5%` as a fraction, 0.05.
///
/// # Errors
///
/// As [`parse_duration`]; a bare number is refused, since 0.05 and 5 would both look right.
pub fn parse_percent(word: &str) -> Result<f64, UnitError> {
    Quantity::of(word, Unit::Percent, false)
}

/// A word of the user's made safe for a terminal.
fn shown(word: &str) -> String {
    super::display_escaped(word.as_ref()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Numbers, exact_duration, human_bytes};
    #[test]
    fn durations_are_read() {
        let table: &[(&str, u64)] = &[
            ("0s", 0),
            ("1ns", 1),
            ("1us", 1_000),
            ("1µs", 1_000),
            ("1\u{3bc}s", 1_000),
            ("250ms", 250_000_000),
            ("250 ms", 250_000_000),
            (" 1.5 s ", 1_500_000_000),
            (".5s", 500_000_000),
            ("5.s", 5_000_000_000),
            ("+2s", 2_000_000_000),
            ("2min", 120_000_000_000),
            ("1h", 3_600_000_000_000),
            ("1e3ms", 1_000_000_000),
            ("1e-3s", 1_000_000),
            ("3", 3_000_000_000),
            ("0.1", 100_000_000),
            ("-0", 0),
        ];
        for (word, nanoseconds) in table {
            assert_eq!(
                parse_duration(word, true),
                Ok(Duration::from_nanos(*nanoseconds)),
                "{word}"
            );
        }
    }

    #[test]
    fn senseless_durations_are_refused() {
        for word in [
            "nan",
            "NaN",
            "inf",
            "-inf",
            "+Infinity",
            "infs",
            "nans",
            "1e999",
            "1e400s",
        ] {
            assert!(
                matches!(parse_duration(word, true), Err(UnitError::NotFinite { .. })),
                "{word}"
            );
        }
        for word in ["-1", "-1s", "-0.5ms"] {
            assert!(
                matches!(parse_duration(word, true), Err(UnitError::Negative { .. })),
                "{word}"
            );
        }
        for word in ["1e30", "1e30s", "1e308h", "600000000000s"] {
            assert!(
                matches!(parse_duration(word, true), Err(UnitError::TooLarge { .. })),
                "{word}"
            );
        }
        for word in ["s", "ms", "-", ".", "e5", "--1", "x1s", "٣s"] {
            assert!(
                matches!(
                    parse_duration(word, true),
                    Err(UnitError::NotANumber { .. })
                ),
                "{word}"
            );
        }
        assert_eq!(parse_duration("", true), Err(UnitError::Empty));
        assert_eq!(parse_duration("  ", true), Err(UnitError::Empty));
    }

    #[test]
    fn unit_errors_tell_position_and_suggestion() {
        let cases: &[(&str, &str, &str)] = &[
            (
                "5 MS",
                "`5 MS` has the unknown unit `MS` at byte 2",
                "did you mean `ms`?",
            ),
            (
                "5sec",
                "`5sec` has the unknown unit `sec` at byte 1",
                "did you mean `s`?",
            ),
            (
                "5m",
                "`5m` has the unknown unit `m` at byte 1",
                "did you mean `min`?",
            ),
            (
                "5q",
                "`5q` has the unknown unit `q` at byte 1",
                "units are ns, us, ms, s, min, h",
            ),
            (
                "5e",
                "`5e` has the unknown unit `e` at byte 1",
                "units are ns, us, ms, s, min, h",
            ),
            (
                "5kB",
                "`5kB` is a size by its unit at byte 1, not a time",
                "a time looks like 250ms",
            ),
        ];
        for (word, message, help) in cases {
            let error = parse_duration(word, true).unwrap_err();
            assert_eq!(error.to_string(), *message);
            assert_eq!(error.help().as_deref(), Some(*help), "{word}");
        }
        let error = parse_duration("5", false).unwrap_err();
        assert_eq!(error.to_string(), "`5` has no unit at byte 1");
        let error = parse_percent("5").unwrap_err();
        assert_eq!(error.help().as_deref(), Some("write `5%`"));
    }

    #[test]
    fn sizes_are_read() {
        let table: &[(&str, u64)] = &[
            ("0B", 0),
            ("1B", 1),
            ("1KiB", 1024),
            ("1.5 KiB", 1536),
            ("2MiB", 2_097_152),
            ("1GiB", 1_073_741_824),
            ("1kB", 1000),
            ("1MB", 1_000_000),
            ("1GB", 1_000_000_000),
        ];
        for (word, bytes) in table {
            let read = word.parse::<Quantity>().map(|found| found.value);
            assert_eq!(read, Ok(*bytes as f64), "{word}");
        }
        for (word, help) in [("1KB", "KiB"), ("1mb", "MB"), ("1K", "KiB"), ("1g", "GiB")] {
            let shown = word.parse::<Quantity>().unwrap_err().help().unwrap();
            let kilo = word == "1KB" && shown.contains("kB");
            assert!(kilo || shown.contains(help), "{word}: {shown}");
        }
        for word in ["", "-1B", "nanB"] {
            assert!(word.parse::<Quantity>().is_err(), "{word}");
        }
    }

    #[test]
    fn shares_and_ratios_are_read() {
        assert_eq!(parse_percent("5%"), Ok(0.05));
        assert_eq!(parse_percent("0.5 %"), Ok(0.005));
        assert_eq!(parse_percent("80%"), Ok(0.8));
        for word in ["5", "-5%", "nan%", "inf%", "5%%", "5x", ""] {
            assert!(parse_percent(word).is_err(), "{word}");
        }
        for word in ["-1x", "nan", "1xx"] {
            assert!(word.parse::<Quantity>().is_err(), "{word}");
        }
    }

    #[test]
    fn quantities_tell_their_kind() {
        let table: &[(&str, f64, Option<Unit>)] = &[
            ("3", 3.0, None),
            ("-3", -3.0, None),
            ("-5%", -0.05, Some(Unit::Percent)),
            ("250ms", 0.25, Some(Unit::Time)),
            ("2KiB", 2048.0, Some(Unit::Bytes)),
            ("1.05x", 1.05, Some(Unit::Ratio)),
        ];
        for (word, value, unit) in table {
            assert_eq!(
                word.parse(),
                Ok(Quantity {
                    value: *value,
                    unit: *unit
                }),
                "{word}"
            );
        }
        assert!("-1s".parse::<Quantity>().is_err());
        assert!(
            "3 foo"
                .parse::<Quantity>()
                .unwrap_err()
                .help()
                .unwrap()
                .contains("KiB")
        );
    }

    #[test]
    fn printed_values_read_back() {
        let mut numbers = Numbers(1);
        for _ in 0..5000 {
            // Below 2^50 ns the way through f64 is exact.
            let bits = numbers.next() % 50;
            let duration = Duration::from_nanos(numbers.next() & ((1 << bits) - 1));
            assert_eq!(
                parse_duration(&exact_duration(duration), false),
                Ok(duration)
            );
            let bytes = (numbers.next() % (1 << 40)) as f64;
            let read = human_bytes(bytes).parse::<Quantity>().unwrap().value;
            assert!(
                (read - bytes).abs() <= bytes * 0.051 + 0.5,
                "{bytes} {read}"
            );
            let fraction = numbers.next() as f64 / u64::MAX as f64 * 1e3;
            let read = parse_percent(&format!("{}%", fraction * 100.0)).unwrap();
            assert!((read - fraction).abs() <= fraction * 1e-12);
        }
        for word in ["0s", "1ns", "1500us", "90s", "2min", "60min"] {
            let duration = parse_duration(word, false).unwrap();
            assert_eq!(
                parse_duration(&exact_duration(duration), false),
                Ok(duration)
            );
        }
    }

    #[test]
    fn random_words_never_panic() {
        let mut numbers = Numbers(7);
        let alphabet: Vec<char> = "0123456789.eE+-nsmuµhxBKiMGk% \u{3bc}٣é".chars().collect();
        for _ in 0..20_000 {
            let length = numbers.next() % 8;
            let word: String = (0..length)
                .map(|_| alphabet[numbers.next() as usize % alphabet.len()])
                .collect();
            if let Ok(quantity) = word.parse::<Quantity>() {
                assert!(quantity.value.is_finite(), "{word}");
            }
            if let Err(error) = parse_duration(&word, true) {
                let _ = (error.to_string(), error.help());
            }
        }
    }

    #[test]
    fn errors_show_no_control_characters() {
        for word in ["5\u{b}\0%", "1\u{1b}[31m", "\u{7}", "-\u{1b}"] {
            let error = word.parse::<Quantity>().unwrap_err().to_string();
            assert!(!error.chars().any(char::is_control), "{error:?}");
        }
    }
}
