//! From values to text for people; what is not finite prints as `n/a`.

use std::time::Duration;

use super::scale::OWN_SIZES;
use super::{Scale, TimeUnit, Unit};

/// Decimals that show the first two significant digits of an interval of that width.
///
/// One decimal if the width is zero or unknown; never fewer than none.
#[must_use]
pub fn decimals_of_width(width: f64) -> usize {
    if !width.is_finite() || width <= 0.0 {
        return 1;
    }
    // Formatting rounds first, so that 0.0996 counts as 0.10.
    let exponent: i32 = format!("{width:.1e}")
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .unwrap_or(0);
    usize::try_from(1 - exponent).unwrap_or(0).min(9)
}

/// A number with fixed decimals, without a minus before zero; `n/a` if not finite.
#[must_use]
pub fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "n/a".to_owned();
    }
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|b| matches!(b, b'0' | b'.')) => digits.to_owned(),
        _ => text,
    }
}

/// A count with a comma between thousands: `12,345`.
#[must_use]
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A size for people: `512 B`, `2.3 MiB`; `n/a` if not finite.
#[must_use]
pub fn human_bytes(bytes: f64) -> String {
    let binary = &Scale::all(Unit::Bytes)[1..OWN_SIZES];
    if !bytes.is_finite() || bytes.abs().round() < 1024.0 {
        let text = fixed(bytes, 0);
        return if bytes.is_finite() {
            format!("{text} B")
        } else {
            text
        };
    }
    // 1023.95 would print as 1024.0.
    let fits = |one: &&Scale| (bytes / one.size).abs() < 1023.95;
    let unit = binary
        .iter()
        .find(fits)
        .unwrap_or(&binary[binary.len() - 1]);
    format!("{} {}", fixed(bytes / unit.size, 1), unit.name)
}

/// A total time for people: `350 ms`, `4.3 s`, `2 min 5 s`, `1 h 2 min`; `n/a` if not finite.
#[must_use]
pub fn human_duration(seconds: f64, unicode: bool) -> String {
    if !seconds.is_finite() {
        return "n/a".to_owned();
    }
    let sign = if seconds < 0.0 { "-" } else { "" };
    let seconds = seconds.abs();
    // 59.95 s would print as 60.0 s, and 3599.5 s as 60 min.
    if seconds >= 59.95 {
        let whole = seconds.round();
        let (hours, minutes) = ((whole / 3600.0).floor(), ((whole % 3600.0) / 60.0).floor());
        return if hours > 0.0 {
            format!("{sign}{hours:.0} h {minutes:.0} min")
        } else {
            format!("{sign}{minutes:.0} min {:.0} s", whole % 60.0)
        };
    }
    if seconds >= 0.9995 || seconds == 0.0 {
        return format!("{sign}{seconds:.1} s");
    }
    let unit = match seconds {
        s if s >= 0.999_5e-3 => TimeUnit::Millisecond,
        s if s >= 0.999_5e-6 => TimeUnit::Microsecond,
        _ => TimeUnit::Nanosecond,
    };
    format!(
        "{sign}{:.0} {}",
        seconds * unit.per_second(),
        unit.name(unicode)
    )
}

/// A ratio for people: `1.23x`, `9.7x`, `120x`; `n/a` if not finite.
#[must_use]
pub fn ratio(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 1.995 => 1,
        v if v >= 0.0995 || v == 0.0 => 2,
        v => decimals_of_width(v),
    };
    let text = fixed(value, decimals);
    if value.is_finite() {
        format!("{text}x")
    } else {
        text
    }
}

/// A share for people, from a fraction: `90%`, `<1%`, `0%`; `n/a` if not finite.
#[must_use]
pub fn percent(fraction: f64) -> String {
    let value = fraction * 100.0;
    match value {
        v if !v.is_finite() => "n/a".to_owned(),
        v if v > 0.0 && v < 0.5 => "<1%".to_owned(),
        v => format!("{}%", fixed(v, 0)),
    }
}

/// A percentage with one decimal, more below a tenth of a percent, none where they are zero: `1.8%`,
/// `0.05%`, `1%`.
#[must_use]
pub fn decimal_percent(fraction: f64) -> String {
    let value = fraction * 100.0;
    let small = value != 0.0 && value.abs() < 0.1;
    let decimals = if small {
        decimals_of_width(value.abs())
    } else {
        1
    };
    let text = fixed(value, decimals);
    let short = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{short}%")
}

/// A change for people, from a fraction: `+78%`, `-4.1%`; `n/a` if not finite.
#[must_use]
pub fn signed_percent(fraction: f64) -> String {
    let value = fraction * 100.0;
    if !value.is_finite() {
        return "n/a".to_owned();
    }
    let text = fixed(value, usize::from(value.abs() < 9.95));
    let sign = if text.starts_with('-') { "" } else { "+" };
    format!("{sign}{text}%")
}

/// A confidence level as people write it: `95%`, `97.5%`.
#[must_use]
pub fn level(level: f64) -> String {
    format!("{}%", (level * 1000.0).round() / 10.0)
}

/// [`ratio`] without its unit, for limits beside a value that has it.
#[must_use]
pub fn bare_ratio(value: f64) -> String {
    ratio(value).trim_end_matches('x').to_owned()
}

/// [`signed_percent`] without its unit, for limits beside a value that has it.
#[must_use]
pub fn bare_signed_percent(fraction: f64) -> String {
    signed_percent(fraction).trim_end_matches('%').to_owned()
}

/// A duration exactly, in the largest unit that divides it; [`super::parse_duration`] reads it back.
#[must_use]
pub fn exact_duration(duration: Duration) -> String {
    let nanoseconds = duration.as_nanos();
    if nanoseconds == 0 {
        return "0s".to_owned();
    }
    // Hours are left out: few write them.
    let units = TimeUnit::ALL.iter().rev().skip(1);
    let mut sizes = units.map(|one| ((one.seconds() * 1e9).round() as u128, one.name(false)));
    let (size, name) = sizes
        .find(|(size, _)| nanoseconds % size == 0)
        .unwrap_or((1, "ns"));
    format!("{}{name}", nanoseconds / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_of_percentages_go_where_they_say_nothing() {
        for (fraction, text) in [
            (0.018, "1.8%"),
            (0.01, "1%"),
            (0.0005, "0.05%"),
            (0.0, "0%"),
            (0.5, "50%"),
            (0.000_01, "0.001%"),
            (-0.0312, "-3.1%"),
        ] {
            assert_eq!(decimal_percent(fraction), text);
        }
    }
    #[test]
    fn counts_get_thousands() {
        let table = [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
            (100_000, "100,000"),
        ];
        for (count, shown) in table {
            assert_eq!(thousands(count), shown);
        }
    }

    #[test]
    fn sizes_are_shown() {
        let table = [
            (0.0, "0 B"),
            (512.0, "512 B"),
            (1023.4, "1023 B"),
            (1023.6, "1.0 KiB"),
            (1024.0, "1.0 KiB"),
            (2_411_725.0, "2.3 MiB"),
            (1_048_575.0, "1.0 MiB"),
            (1_073_741_824.0, "1.0 GiB"),
            (1e15, "909.5 TiB"),
            (f64::NAN, "n/a"),
        ];
        for (bytes, shown) in table {
            assert_eq!(human_bytes(bytes), shown, "{bytes}");
        }
    }

    #[test]
    fn totals_are_shown() {
        let table = [
            (0.0, "0.0 s"),
            (4.3, "4.3 s"),
            (59.94, "59.9 s"),
            (59.96, "1 min 0 s"),
            (125.2, "2 min 5 s"),
            (3599.6, "1 h 0 min"),
            (3720.0, "1 h 2 min"),
            (0.35, "350 ms"),
            (0.9996, "1.0 s"),
            (0.000_012, "12 µs"),
            (3e-8, "30 ns"),
            (-4.3, "-4.3 s"),
            (f64::INFINITY, "n/a"),
        ];
        for (seconds, shown) in table {
            assert_eq!(human_duration(seconds, true), shown, "{seconds}");
        }
        assert_eq!(human_duration(0.000_012, false), "12 us");
    }

    #[test]
    fn ratios_and_shares_are_shown() {
        let ratios = [
            (9.7, "9.7x"),
            (1.23, "1.23x"),
            (1.999, "2.0x"),
            (3.5, "3.5x"),
            (99.96, "100x"),
            (0.5, "0.50x"),
            (0.004_21, "0.0042x"),
            (0.0, "0.00x"),
            (f64::NAN, "n/a"),
        ];
        for (value, shown) in ratios {
            assert_eq!(ratio(value), shown, "{value}");
        }
        let shares = [
            (0.9, "90%"),
            (0.001, "<1%"),
            (0.0, "0%"),
            (0.5, "50%"),
            (-0.001, "0%"),
            (f64::NAN, "n/a"),
        ];
        for (fraction, shown) in shares {
            assert_eq!(percent(fraction), shown, "{fraction}");
        }
        let changes = [
            (0.78, "+78%"),
            (-0.35, "-35%"),
            (0.041, "+4.1%"),
            (-0.008, "-0.8%"),
            (-0.0001, "+0.0%"),
        ];
        for (fraction, shown) in changes {
            assert_eq!(signed_percent(fraction), shown, "{fraction}");
        }
    }
}
