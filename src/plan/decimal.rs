//! Exact decimal numbers for ranges; they count, and do no other arithmetic.

use std::fmt;
use std::str::FromStr;

/// An exact decimal number: `digits` / 10^`decimals`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) digits: i128,
    pub(super) decimals: u32,
}

/// Why a word is no [`Decimal`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DecimalFault {
    NotANumber,
    TooManyDigits,
}

impl Decimal {
    /// So many digits fit twice into an `i128` with room for a common scale.
    const MAX_DIGITS: usize = 28;

    /// The digits at that many decimals, if they fit; it must not be fewer than there are.
    pub(super) fn scaled_to(self, decimals: u32) -> Option<i128> {
        self.digits
            .checked_mul(10_i128.checked_pow(decimals.checked_sub(self.decimals)?)?)
    }
}

impl FromStr for Decimal {
    type Err = DecimalFault;

    fn from_str(word: &str) -> Result<Self, DecimalFault> {
        let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(DecimalFault::NotANumber);
        }
        if digits.trim_start_matches('0').len() > Self::MAX_DIGITS
            || fraction.len() > Self::MAX_DIGITS
        {
            return Err(DecimalFault::TooManyDigits);
        }
        let value: i128 = digits.parse().map_err(|_| DecimalFault::TooManyDigits)?;
        let digits = if word.starts_with('-') { -value } else { value };
        Ok(Self {
            digits,
            decimals: fraction.len() as u32,
        })
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = 10_u128.pow(self.decimals);
        let size = self.digits.unsigned_abs();
        let sign = if self.digits < 0 { "-" } else { "" };
        match self.decimals as usize {
            0 => write!(f, "{sign}{size}"),
            width => write!(f, "{sign}{}.{:0width$}", size / unit, size % unit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Numbers;

    #[test]
    fn printed_decimals_read_back() {
        let mut numbers = Numbers(9);
        for _ in 0..5000 {
            let digits = i128::from(numbers.next()) - i128::from(u64::MAX / 4);
            let number = Decimal {
                digits,
                decimals: (numbers.next() % 29) as u32,
            };
            let read: Result<Decimal, _> = number.to_string().parse();
            assert_eq!(read.ok(), Some(number));
        }
    }
}
