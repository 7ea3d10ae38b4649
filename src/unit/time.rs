//! The unit and the rounding of a row of times.

use std::str::FromStr;

use super::parse::suggest;
use super::{Unit, UnitError, decimals_of_width, fixed};

/// The unit a row of times is printed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// 1e-9 s.
    Nanosecond,
    /// 1e-6 s.
    Microsecond,
    /// 1e-3 s.
    Millisecond,
    /// 1 s.
    Second,
    /// 60 s; only where it is asked for.
    Minute,
    /// 3600 s; only where it is asked for.
    Hour,
}

impl TimeUnit {
    /// Every unit, the smallest first.
    pub const ALL: [Self; 6] = [
        Self::Nanosecond,
        Self::Microsecond,
        Self::Millisecond,
        Self::Second,
        Self::Minute,
        Self::Hour,
    ];

    /// The unit in which a median of that many seconds reads best.
    #[must_use]
    pub fn for_median(seconds: f64) -> Self {
        match seconds.abs() {
            s if s < 1e-6 && s > 0.0 => Self::Nanosecond,
            s if s < 1e-3 && s > 0.0 => Self::Microsecond,
            s if s < 1.0 => Self::Millisecond,
            _ => Self::Second,
        }
    }

    /// How many of this unit a second has.
    #[must_use]
    pub const fn per_second(self) -> f64 {
        match self {
            Self::Nanosecond => 1e9,
            Self::Microsecond => 1e6,
            Self::Millisecond => 1e3,
            Self::Second => 1.0,
            Self::Minute => 1.0 / 60.0,
            Self::Hour => 1.0 / 3600.0,
        }
    }

    /// How many seconds it has.
    pub(super) fn seconds(self) -> f64 {
        let seconds = self.per_second().recip();
        // A sixtieth is not exact, but sixty is.
        if seconds > 1.0 {
            seconds.round()
        } else {
            seconds
        }
    }

    /// The abbreviation; `us` instead of `µs` without Unicode.
    #[must_use]
    pub const fn name(self, unicode: bool) -> &'static str {
        match self {
            Self::Nanosecond => "ns",
            Self::Microsecond if unicode => "\u{b5}s",
            Self::Microsecond => "us",
            Self::Millisecond => "ms",
            Self::Second => "s",
            Self::Minute => "min",
            Self::Hour => "h",
        }
    }

    /// Decimals that reach one nanosecond; clocks tell no more.
    const fn finest_decimals(self) -> usize {
        match self {
            Self::Nanosecond => 0,
            Self::Microsecond => 3,
            Self::Millisecond => 6,
            Self::Second | Self::Minute | Self::Hour => 9,
        }
    }
}

impl FromStr for TimeUnit {
    type Err = UnitError;

    /// Reads `nanosecond` to `hour`, one of them in the plural, or an abbreviation.
    fn from_str(word: &str) -> Result<Self, UnitError> {
        let long = word.len() > 3;
        let singular = word.strip_suffix('s').filter(|_| long).unwrap_or(word);
        match singular {
            "nanosecond" | "ns" => Ok(Self::Nanosecond),
            "microsecond" | "us" | "\u{b5}s" | "\u{3bc}s" => Ok(Self::Microsecond),
            "millisecond" | "ms" => Ok(Self::Millisecond),
            "second" | "sec" | "s" => Ok(Self::Second),
            "minute" | "min" => Ok(Self::Minute),
            "hour" | "h" => Ok(Self::Hour),
            "" => Err(UnitError::Empty),
            _ => Err(UnitError::UnknownUnit {
                word: word.to_owned(),
                unit: word.to_owned(),
                position: 0,
                suggestion: suggest(word, Some(Unit::Time)),
                wanted: Some(Unit::Time),
            }),
        }
    }
}

/// How the times of one row are printed: one unit, one number of decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeFormat {
    /// The unit of every value of the row.
    pub unit: TimeUnit,
    /// Digits after the point.
    pub decimals: usize,
    /// Whether `µs` may be printed.
    pub unicode: bool,
}

impl TimeFormat {
    /// The format for a value: rounded to the first two digits of its interval, or as if that were
    /// 2% to both sides.
    #[must_use]
    pub fn around(unit: TimeUnit, value: f64, limits: Option<(f64, f64)>, unicode: bool) -> Self {
        let half = value.abs() * 0.02;
        let span = limits.unwrap_or((value - half, value + half));
        Self::in_unit(unit, span, unicode)
    }

    /// Rounded to the first two digits of an interval.
    #[must_use]
    pub fn in_unit(unit: TimeUnit, (low, high): (f64, f64), unicode: bool) -> Self {
        Self {
            unit,
            decimals: time_decimals(unit, high - low),
            unicode,
        }
    }

    /// The bare number; `n/a` if the value is not finite.
    #[must_use]
    pub fn value(&self, seconds: f64) -> String {
        fixed(seconds * self.unit.per_second(), self.decimals)
    }

    /// The number and the unit, such as `46.9 ms`.
    #[must_use]
    pub fn with_unit(&self, seconds: f64) -> String {
        format!("{} {}", self.value(seconds), self.unit.name(self.unicode))
    }
}

fn time_decimals(unit: TimeUnit, width_seconds: f64) -> usize {
    decimals_of_width(width_seconds * unit.per_second()).min(unit.finest_decimals())
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn the_unit_follows_the_median() {
        let table = [
            (0.0, TimeUnit::Millisecond),
            (5e-10, TimeUnit::Nanosecond),
            (9.99e-7, TimeUnit::Nanosecond),
            (1e-6, TimeUnit::Microsecond),
            (9.99e-4, TimeUnit::Microsecond),
            (1e-3, TimeUnit::Millisecond),
            (0.999, TimeUnit::Millisecond),
            (1.0, TimeUnit::Second),
            (1e6, TimeUnit::Second),
        ];
        for (seconds, unit) in table {
            assert_eq!(TimeUnit::for_median(seconds), unit, "{seconds}");
        }
        assert_eq!(TimeUnit::Microsecond.name(true), "µs");
        assert_eq!(TimeUnit::Microsecond.name(false), "us");
    }

    #[test]
    fn time_units_are_read() {
        for unit in TimeUnit::ALL {
            assert_eq!(unit.name(true).parse(), Ok(unit));
            assert_eq!(unit.name(false).parse(), Ok(unit));
        }
        assert_eq!("millisecond".parse(), Ok(TimeUnit::Millisecond));
        assert_eq!("minutes".parse(), Ok(TimeUnit::Minute));
        assert_eq!("seconds".parse(), Ok(TimeUnit::Second));
        assert!("fortnight".parse::<TimeUnit>().is_err());
        assert!("mss".parse::<TimeUnit>().is_err());
        assert!("".parse::<TimeUnit>().is_err());
        let help = "MS".parse::<TimeUnit>().unwrap_err().help();
        assert_eq!(help.as_deref(), Some("did you mean `ms`?"));
    }

    #[test]
    fn times_are_rounded_to_two_digits_of_the_interval() {
        let table: &[(f64, (f64, f64), &str)] = &[
            (0.105_23, (0.1046, 0.1061), "105.2 ms"),
            (0.046_93, (0.0462, 0.0475), "46.9 ms"),
            (0.046_93, (0.04690, 0.04696), "46.930 ms"),
            (0.5, (0.4, 0.6), "500 ms"),
            (1.5, (1.2, 1.8), "1.50 s"),
            (2.0, (2.0, 2.0), "2.0 s"),
            (0.000_5, (0.0004, 0.0006), "500 µs"),
            (5e-7, (4e-7, 6e-7), "500 ns"),
            (5e-7, (5e-7, 5.001e-7), "500 ns"),
            (1.0, (0.95, 1.0496), "1.00 s"),
            (1.0, (0.95, 1.0489), "1.000 s"),
            (1.0, (f64::NAN, 1.0), "1.0 s"),
        ];
        for (median, interval, shown) in table {
            let unit = TimeUnit::for_median(*median);
            let format = TimeFormat::in_unit(unit, *interval, true);
            assert_eq!(format.with_unit(*median), *shown, "{interval:?}");
        }
        let alone = TimeFormat::around(TimeUnit::Second, 0.0469, None, false);
        assert_eq!(alone.value(0.0469), "0.0469");
        let format = TimeFormat::in_unit(TimeUnit::Second, (0.0462, 0.0475), false);
        assert_eq!(format.value(0.0469), "0.0469");
        assert_eq!(format.value(f64::NAN), "n/a");
        assert_eq!(decimals_of_width(0.0996), 2);
        assert_eq!(decimals_of_width(0.0994), 3);
        assert_eq!(decimals_of_width(1e-300), 9);
        assert_eq!(decimals_of_width(1e300), 0);
    }
}
