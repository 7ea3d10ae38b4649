//! Units of time, memory, and counts: parsing what people write, printing what people read.
//!
//! Everything here is a pure function of its arguments. It must not know metrics, samples, or
//! where a word came from.

mod escape;
mod likeness;
mod parse;
mod print;
mod scale;
mod time;

use std::fmt;

pub use escape::display_escaped;
pub use likeness::closest;
pub use parse::{Quantity, UnitError, parse_duration, parse_percent};
pub use print::{
    bare_ratio, bare_signed_percent, decimal_percent, decimals_of_width, exact_duration, fixed,
    human_bytes, human_duration, level, percent, ratio, signed_percent, thousands,
};
pub use scale::Scale;
pub use time::{TimeFormat, TimeUnit};

/// The kind of unit a metric has; values of a kind share one base unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Seconds.
    Time,
    /// Bytes.
    Bytes,
    /// A plain number of things.
    Count,
    /// A quotient of two values of the same kind.
    Ratio,
    /// A share, kept as a fraction: 5 % is 0.05.
    Percent,
}

impl Unit {
    /// An example of a value of this kind, for error texts.
    #[must_use]
    pub const fn example(self) -> &'static str {
        match self {
            Self::Time => "250ms",
            Self::Bytes => "64MiB",
            Self::Count => "100",
            Self::Ratio => "1.5x",
            Self::Percent => "5%",
        }
    }

    /// The unit words of this kind, as written by people.
    #[must_use]
    pub fn words(self) -> Vec<&'static str> {
        match self {
            Self::Time => TimeUnit::ALL.map(|one| one.name(false)).to_vec(),
            Self::Bytes | Self::Count => Scale::all(self).iter().map(|one| one.word).collect(),
            Self::Ratio => vec!["x"],
            Self::Percent => vec!["%"],
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "a time",
            Self::Bytes => "a size",
            Self::Count => "a count",
            Self::Ratio => "a ratio",
            Self::Percent => "a percentage",
        })
    }
}

/// A small generator, so that the loops in tests are the same on every machine.
#[cfg(test)]
pub(crate) struct Numbers(pub(crate) u64);

#[cfg(test)]
impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) ^ (self.0 >> 40)
    }
}
