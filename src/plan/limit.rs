//! How many runs, for how long, and how precise: values that are valid once they exist.
//!
//! It does not decide when a series is good enough; `run::stop` does.

use std::ffi::OsStr;
use std::str::FromStr;
use std::time::Duration;

use crate::unit::{
    UnitError, display_escaped, exact_duration, parse_duration, parse_percent, thousands,
};

/// The most runs of a kind that can be asked for.
pub const MAX_RUNS: u64 = 1_000_000_000;

/// The longest duration that can be asked for, about 31 years.
pub const MAX_DURATION: Duration = Duration::from_secs(1_000_000_000);

/// Measured runs where nothing else is asked for.
const DEFAULT_RUNS: u64 = 10;
/// Measuring time where nothing else is asked for.
const DEFAULT_TIME: Duration = Duration::from_secs(3);
/// Runs before a wanted precision is first looked for.
pub const PRECISION_RUNS: u64 = 20;
/// When the search for a precision ends, unless `--max-time` says otherwise.
const PRECISION_TIME: Duration = Duration::from_secs(60);

/// Why a limit is refused; `option` is the option's name, or what kind of value it is.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// No whole number, or one outside the range.
    #[error("{option} is `{word}`, not a whole number from {low} to {high}")]
    BadCount {
        /// The option.
        option: String,
        /// What was written.
        word: String,
        /// The smallest number allowed.
        low: u64,
        /// The largest number allowed.
        high: u64,
    },
    /// A value with a unit that cannot be read.
    #[error("{option}: {error}")]
    BadValue {
        /// The option.
        option: String,
        /// What is wrong with the word.
        error: UnitError,
    },
    /// A value outside its range.
    #[error("{option} is `{word}`, not {range}")]
    OutOfRange {
        /// The option.
        option: String,
        /// What was written.
        word: String,
        /// The range in words.
        range: &'static str,
    },
    /// A lower limit above its upper limit.
    #[error("{low_option} {low} is above {high_option} {high}")]
    MinAboveMax {
        /// Option of the lower limit.
        low_option: &'static str,
        /// The lower limit.
        low: String,
        /// Option of the upper limit.
        high_option: &'static str,
        /// The upper limit.
        high: String,
    },
    /// Two options that say different things about the same.
    #[error("{option} cannot go with {other}")]
    Conflict {
        /// One option.
        option: &'static str,
        /// The other.
        other: &'static str,
    },
}

impl LimitError {
    /// What to write instead, if that can be said.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::BadValue { error, .. } => error.help(),
            Self::BadCount { option, .. } => Some(format!("write a number, such as {option} 10"))
                .filter(|_| option.starts_with('-')),
            Self::MinAboveMax {
                low_option,
                high_option,
                ..
            } => Some(format!("lower {low_option} or raise {high_option}")),
            Self::Conflict { option, other } => Some(format!("leave out {option} or {other}")),
            Self::OutOfRange { .. } => None,
        }
    }
}

fn escaped(word: &str) -> String {
    display_escaped(OsStr::new(word)).into_owned()
}

fn parse_count(option: &str, word: &str, low: u64) -> Result<u64, LimitError> {
    let digits = word.trim();
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse() {
        Ok(count) if plain && (low..=MAX_RUNS).contains(&count) => Ok(count),
        _ => {
            let (option, word) = (option.to_owned(), escaped(word));
            Err(LimitError::BadCount {
                option,
                word,
                low,
                high: MAX_RUNS,
            })
        }
    }
}

/// A number of measured runs, from 1 to [`MAX_RUNS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Runs(u64);

impl Runs {
    /// Reads a count for the named option.
    ///
    /// # Errors
    ///
    /// No whole number, zero, negative, or too large.
    pub fn parse(option: &str, word: &str) -> Result<Self, LimitError> {
        parse_count(option, word, 1).map(Self)
    }

    /// That many runs, if the number is in range.
    #[must_use]
    pub fn new(count: u64) -> Option<Self> {
        (1..=MAX_RUNS).contains(&count).then_some(Self(count))
    }

    /// The number.
    #[must_use]
    pub const fn count(self) -> u64 {
        self.0
    }
}

impl FromStr for Runs {
    type Err = LimitError;

    fn from_str(word: &str) -> Result<Self, LimitError> {
        Self::parse("number of runs", word)
    }
}

/// How a benchmark is warmed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warmup {
    /// Until the times are steady.
    Auto,
    /// This many runs, from 0 to [`MAX_RUNS`].
    Count(u64),
}

impl Default for Warmup {
    fn default() -> Self {
        Self::Count(1)
    }
}

impl FromStr for Warmup {
    type Err = LimitError;

    fn from_str(word: &str) -> Result<Self, LimitError> {
        match word {
            "auto" => Ok(Self::Auto),
            _ => parse_count("--warmup", word, 0).map(Self::Count),
        }
    }
}

/// The half width of the interval that is wanted, as a fraction of the value: above 0, up to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Precision(f64);

impl Precision {
    /// The fraction: 1 % is 0.01.
    #[must_use]
    pub const fn fraction(self) -> f64 {
        self.0
    }
}

impl FromStr for Precision {
    type Err = LimitError;

    fn from_str(word: &str) -> Result<Self, LimitError> {
        let option = || "--precision".to_owned();
        let fraction = parse_percent(word).map_err(|error| LimitError::BadValue {
            option: option(),
            error,
        })?;
        if fraction > 0.0 && fraction <= 1.0 {
            return Ok(Self(fraction));
        }
        let range = "above 0% and up to 100%";
        Err(LimitError::OutOfRange {
            option: option(),
            word: escaped(word),
            range,
        })
    }
}

/// Reads a duration for the named option, a bare number being seconds; zero only if `zero` allows.
///
/// # Errors
///
/// What [`parse_duration`] refuses, zero where senseless, and more than [`MAX_DURATION`].
pub fn parse_time(option: &str, word: &str, zero: bool) -> Result<Duration, LimitError> {
    let option = option.to_owned();
    let duration = match parse_duration(word, true) {
        Ok(duration) => duration,
        Err(UnitError::TooLarge { .. }) => Duration::MAX,
        Err(error) => return Err(LimitError::BadValue { option, error }),
    };
    if duration <= MAX_DURATION && (zero || !duration.is_zero()) {
        return Ok(duration);
    }
    let range = if zero {
        "from 0 s to 1000000000 s"
    } else {
        "above 0 s and up to 1000000000 s"
    };
    Err(LimitError::OutOfRange {
        option,
        word: escaped(word),
        range,
    })
}

/// The limits as asked for, each valid alone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wishes {
    /// `--warmup`.
    pub warmup: Option<Warmup>,
    /// `--runs`: exactly so many.
    pub runs: Option<Runs>,
    /// `--min-runs`.
    pub min_runs: Option<Runs>,
    /// `--max-runs`.
    pub max_runs: Option<Runs>,
    /// `--min-time`.
    pub min_time: Option<Duration>,
    /// `--max-time`.
    pub max_time: Option<Duration>,
    /// `--precision`.
    pub precision: Option<Precision>,
    /// `--timeout` of one run.
    pub timeout: Option<Duration>,
}

/// How a benchmark starts and when it stops; the limits do not contradict each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Runs before measuring.
    pub warmup: Warmup,
    /// At least this many measured runs.
    pub min_runs: u64,
    /// At most this many.
    pub max_runs: Option<u64>,
    /// Measured runs take at least this long in all, hooks included.
    pub min_time: Duration,
    /// No new run begins after this long.
    pub max_time: Option<Duration>,
    /// Wanted half-width of the median's (or ratio's) interval, as a fraction.
    pub precision: Option<f64>,
    /// Place of the command that the precision of a ratio is about.
    pub reference: usize,
    /// It is about the ratio to the fastest command instead.
    pub fastest: bool,
    /// Whether the user fixed the number of runs.
    pub fixed: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            warmup: Warmup::default(),
            min_runs: DEFAULT_RUNS,
            max_runs: None,
            min_time: DEFAULT_TIME,
            max_time: None,
            precision: None,
            reference: 0,
            fastest: false,
            fixed: false,
        }
    }
}

impl Limits {
    /// Puts the wishes together with the defaults; an exact number of runs is minimum and maximum.
    ///
    /// # Errors
    ///
    /// All contradictions: a minimum above its maximum, an exact number of runs beside a minimum,
    /// a maximum, or a precision.
    pub fn new(wishes: &Wishes) -> Result<Self, Vec<LimitError>> {
        let mut errors = conflicts(wishes);
        errors.extend(runs_reversed(wishes));
        errors.extend(times_reversed(wishes));
        if errors.is_empty() {
            Ok(Self::of(wishes))
        } else {
            Err(errors)
        }
    }

    fn of(wishes: &Wishes) -> Self {
        let exact = wishes.runs.map(Runs::count);
        let most = exact.or(wishes.max_runs.map(Runs::count));
        let precision = wishes.precision.map(Precision::fraction);
        let (runs, time) = match (exact, precision) {
            (Some(exact), _) => (exact, Duration::ZERO),
            (None, Some(_)) => (PRECISION_RUNS, Duration::ZERO),
            (None, None) => (DEFAULT_RUNS, DEFAULT_TIME),
        };
        let max_time = wishes.max_time.or(precision.map(|_| PRECISION_TIME));
        let least = wishes.min_runs.map_or(runs, Runs::count);
        Self {
            warmup: wishes.warmup.unwrap_or_default(),
            min_runs: most.map_or(least, |most| least.min(most)),
            max_runs: most,
            min_time: wishes.min_time.unwrap_or(time),
            max_time,
            precision,
            reference: 0,
            fastest: false,
            fixed: exact.is_some(),
        }
    }
}

fn conflicts(wishes: &Wishes) -> Vec<LimitError> {
    let beside = [
        (wishes.min_runs.is_some(), "--min-runs"),
        (wishes.max_runs.is_some(), "--max-runs"),
        (wishes.precision.is_some(), "--precision"),
    ];
    let given = beside
        .into_iter()
        .filter(|(given, _)| *given && wishes.runs.is_some());
    given
        .map(|(_, other)| LimitError::Conflict {
            option: "--runs",
            other,
        })
        .collect()
}

fn runs_reversed(wishes: &Wishes) -> Option<LimitError> {
    let (low, high) = (wishes.min_runs?, wishes.max_runs?);
    (low > high).then(|| LimitError::MinAboveMax {
        low_option: "--min-runs",
        low: thousands(low.count()),
        high_option: "--max-runs",
        high: thousands(high.count()),
    })
}

fn times_reversed(wishes: &Wishes) -> Option<LimitError> {
    let (low, high) = (wishes.min_time?, wishes.max_time?);
    (low > high).then(|| LimitError::MinAboveMax {
        low_option: "--min-time",
        low: exact_duration(low),
        high_option: "--max-time",
        high: exact_duration(high),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read() {
        for (word, count) in [
            ("1", 1),
            ("10", 10),
            (" 7 ", 7),
            ("1000000", 1_000_000),
            ("1000000000", 1_000_000_000),
        ] {
            assert_eq!(word.parse::<Runs>().unwrap().count(), count);
        }
        assert_eq!("0".parse(), Ok(Warmup::Count(0)));
        assert_eq!("3".parse(), Ok(Warmup::Count(3)));
        assert_eq!("auto".parse(), Ok(Warmup::Auto));
        assert_eq!(Warmup::default(), Warmup::Count(1));
        assert_eq!(Runs::new(0), None);
        assert_eq!(Runs::new(5).map(Runs::count), Some(5));
    }

    #[test]
    fn senseless_counts_are_refused_with_the_range() {
        let words = [
            "0",
            "-3",
            "+3",
            "1.5",
            "1e3",
            "",
            " ",
            "nan",
            "inf",
            "ten",
            "1000000001",
            "2147483648",
            "18446744073709551616",
            "99999999999999999999",
            "1_000",
            "٣",
        ];
        for word in words {
            let error = Runs::parse("--runs", word).unwrap_err();
            let expected = format!("--runs is `{word}`, not a whole number from 1 to 1000000000");
            assert_eq!(error.to_string(), expected);
            assert!(error.help().is_some());
        }
        for word in ["-1", "Auto", "99999999999999999999", ""] {
            let error = word.parse::<Warmup>().unwrap_err();
            assert!(error.to_string().starts_with("--warmup is `"), "{error}");
        }
        let error = Runs::parse("--runs", "1\x1b").unwrap_err();
        assert!(!error.to_string().contains('\x1b'));
    }

    #[test]
    fn times_are_read_with_their_range() {
        let parse = |word| parse_time("--min-time", word, true);
        assert_eq!(parse("0"), Ok(Duration::ZERO));
        assert_eq!(parse("3"), Ok(Duration::from_secs(3)));
        assert_eq!(parse("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(parse("1000000000"), Ok(MAX_DURATION));
        for word in ["inf", "nan", "-1", "", "x", "5%"] {
            let error = parse(word).unwrap_err();
            assert!(matches!(error, LimitError::BadValue { .. }), "{word}");
            assert!(error.to_string().starts_with("--min-time: "), "{error}");
        }
        for word in ["1e30", "1000000001", "1e300h"] {
            let expected = format!("--min-time is `{word}`, not from 0 s to 1000000000 s");
            assert_eq!(parse(word).unwrap_err().to_string(), expected);
        }
        let error = parse_time("--timeout", "0s", false).unwrap_err();
        let expected = "--timeout is `0s`, not above 0 s and up to 1000000000 s";
        assert_eq!(error.to_string(), expected);
        assert!(parse_time("--timeout", "0.1ns", false).is_err());
    }

    #[test]
    fn precisions_are_read() {
        assert_eq!("1%".parse::<Precision>().map(Precision::fraction), Ok(0.01));
        assert_eq!(
            "100%".parse::<Precision>().map(Precision::fraction),
            Ok(1.0)
        );
        for word in ["0%", "-1%", "101%", "nan%", "inf", "", "x", "5s"] {
            assert!(word.parse::<Precision>().is_err(), "{word}");
        }
        let error = "5".parse::<Precision>().unwrap_err();
        assert_eq!(error.help().as_deref(), Some("write `5%`"));
    }

    #[test]
    fn limits_hold_together() {
        let wishes = Wishes {
            runs: Runs::new(7),
            ..Wishes::default()
        };
        let limits = Limits::new(&wishes).unwrap();
        assert_eq!(
            (limits.min_runs, limits.max_runs, limits.fixed),
            (7, Some(7), true)
        );
        let wishes = Wishes {
            max_runs: Runs::new(5),
            ..Wishes::default()
        };
        let limits = Limits::new(&wishes).unwrap();
        assert_eq!((limits.min_runs, limits.max_runs), (5, Some(5)));
        assert_eq!(Limits::new(&Wishes::default()), Ok(Limits::default()));
        let wishes = Wishes {
            precision: "1%".parse().ok(),
            ..Wishes::default()
        };
        let limits = Limits::new(&wishes).unwrap();
        assert_eq!(
            (limits.min_runs, limits.max_time),
            (20, Some(Duration::from_secs(60)))
        );
    }

    #[test]
    fn all_contradictions_are_named() {
        let wishes = Wishes {
            min_runs: Runs::new(10),
            max_runs: Runs::new(5),
            min_time: Some(Duration::from_secs(90)),
            max_time: Some(Duration::from_secs(60)),
            ..Wishes::default()
        };
        let errors = Limits::new(&wishes).unwrap_err();
        let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
        let expected = [
            "--min-runs 10 is above --max-runs 5",
            "--min-time 90s is above --max-time 1min",
        ];
        assert_eq!(texts, expected);
        let wishes = Wishes {
            runs: Runs::new(3),
            min_runs: Runs::new(2),
            ..Wishes::default()
        };
        let errors = Limits::new(&wishes).unwrap_err();
        assert_eq!(errors[0].to_string(), "--runs cannot go with --min-runs");
        assert!(errors.iter().all(|error| error.help().is_some()));
    }
}
