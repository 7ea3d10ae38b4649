//! Units that a size or a count is printed in when somebody chose one.

use super::{Unit, fixed};

/// A unit of sizes or counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Its name; empty for plain counts.
    pub name: &'static str,
    /// How people write it in options.
    pub word: &'static str,
    /// How many base units it has.
    pub size: f64,
}

const fn scale(name: &'static str, word: &'static str, size: f64) -> Scale {
    Scale { name, word, size }
}

/// Units of memory, bytes first.
static SIZES: &[Scale] = &[
    scale("B", "B", 1.0),
    scale("KiB", "KiB", 1024.0),
    scale("MiB", "MiB", 1_048_576.0),
    scale("GiB", "GiB", 1_073_741_824.0),
    scale("TiB", "TiB", 1_099_511_627_776.0),
    scale("kB", "kB", 1e3),
    scale("MB", "MB", 1e6),
    scale("GB", "GB", 1e9),
    scale("TB", "TB", 1e12),
];

/// Units of counts, ones first; `B` is a billion.
static COUNTS: &[Scale] = &[
    scale("", "count", 1.0),
    scale("k", "k", 1e3),
    scale("M", "M", 1e6),
    scale("G", "G", 1e9),
    scale("G", "B", 1e9),
];

/// How many of [`SIZES`] are taken by themselves: powers of 1024 only.
pub(super) const OWN_SIZES: usize = 5;
/// The same for [`COUNTS`].
const OWN_COUNTS: usize = 4;

impl Scale {
    /// All units of a kind; empty for times, which have [`super::TimeUnit`].
    #[must_use]
    pub fn all(unit: Unit) -> &'static [Self] {
        match unit {
            Unit::Bytes => SIZES,
            Unit::Count => COUNTS,
            _ => &[],
        }
    }

    /// The unit of that word.
    #[must_use]
    pub fn named(unit: Unit, word: &str) -> Option<&'static Self> {
        Self::all(unit).iter().find(|one| one.word == word)
    }

    /// The unit in which a value reads best.
    #[must_use]
    pub fn fitting(unit: Unit, value: f64) -> Option<&'static Self> {
        let own = match unit {
            Unit::Bytes => &SIZES[..OWN_SIZES],
            Unit::Count => &COUNTS[..OWN_COUNTS],
            _ => return None,
        };
        let large = own.iter().rev().find(|one| value.abs() >= one.size);
        large.or_else(|| own.first())
    }

    /// The bare number: whole where the unit is the base unit, otherwise with two or more digits.
    #[must_use]
    pub fn value(&self, value: f64) -> String {
        let shown = value / self.size;
        let decimals = match shown.abs() {
            _ if self.size <= 1.0 => usize::from(shown.fract() != 0.0 && shown.abs() < 100.0),
            v if v >= 100.0 => 0,
            v if v >= 10.0 || v == 0.0 => 1,
            v if v >= 1.0 => 2,
            _ => 3,
        };
        fixed(shown, decimals)
    }

    /// The number with its unit.
    #[must_use]
    pub fn with_unit(&self, value: f64) -> String {
        format!("{} {}", self.value(value), self.name)
            .trim_end()
            .to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_follows_the_value() {
        let shown = |unit, value| Scale::fitting(unit, value).map(|one| one.with_unit(value));
        assert_eq!(shown(Unit::Count, 12.0).as_deref(), Some("12"));
        assert_eq!(shown(Unit::Count, 1_234_567.0).as_deref(), Some("1.23 M"));
        assert_eq!(shown(Unit::Count, 143.2e9).as_deref(), Some("143 G"));
        assert_eq!(shown(Unit::Bytes, 512.0).as_deref(), Some("512 B"));
        assert_eq!(shown(Unit::Bytes, 2_000_000.0).as_deref(), Some("1.91 MiB"));
        assert_eq!(shown(Unit::Bytes, 0.0).as_deref(), Some("0 B"));
        assert_eq!(shown(Unit::Time, 1.0), None);
    }

    #[test]
    fn units_are_found_by_the_words_of_options() {
        let millions = Scale::named(Unit::Count, "M").unwrap();
        assert_eq!(millions.with_unit(2.5e6), "2.50 M");
        assert_eq!(
            Scale::named(Unit::Count, "B").unwrap().with_unit(2e9),
            "2.00 G"
        );
        assert_eq!(
            Scale::named(Unit::Bytes, "MB").unwrap().with_unit(5e5),
            "0.500 MB"
        );
        assert_eq!(Scale::named(Unit::Bytes, "ms"), None);
    }
}
