//! Mean, variance, and covariance, computed so that a large common offset costs no digits.

/// Arithmetic mean; summed around the first value, so that equal values give exactly that value.
///
/// 0 for an empty slice.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    let Some(&origin) = values.first() else {
        return 0.0;
    };
    origin + values.iter().map(|value| value - origin).sum::<f64>() / values.len() as f64
}

/// What two passes over a series tell of its center and spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moments {
    count: usize,
    pub(super) mean: f64,
    /// Sum of squared deviations from the mean.
    pub(super) squares: f64,
    /// Sum of deviations: what rounding left.
    rest: f64,
    /// Sum of the products of neighbouring deviations.
    pub(super) products: f64,
}

impl Moments {
    pub(super) fn of(values: &[f64]) -> Self {
        let mean = mean(values);
        let (mut squares, mut rest, mut products) = (0.0, 0.0, 0.0);
        let mut before = 0.0;
        for value in values {
            let deviation = value - mean;
            squares += deviation * deviation;
            rest += deviation;
            products += before * deviation;
            before = deviation;
        }
        Self {
            count: values.len(),
            mean,
            squares,
            rest,
            products,
        }
    }

    /// As [`variance`].
    pub(super) fn variance(&self) -> Option<f64> {
        if self.count < 2 {
            return None;
        }
        let count = self.count as f64;
        Some(((self.squares - self.rest * self.rest / count) / (count - 1.0)).max(0.0))
    }
}

/// Variance with divisor n − 1, in two passes (Chan, Golub, `LeVeque` 1983, equation 1.7).
///
/// `None` for fewer than two values.
#[must_use]
pub fn variance(values: &[f64]) -> Option<f64> {
    Moments::of(values).variance()
}

/// Standard deviation with divisor n − 1, in the unit of the values; `None` below two values.
#[must_use]
pub fn deviation(values: &[f64]) -> Option<f64> {
    variance(values).map(f64::sqrt)
}

/// Covariance with divisor n − 1 of the common leading part; `None` below two values.
#[must_use]
pub fn covariance(first: &[f64], second: &[f64]) -> Option<f64> {
    let count = first.len().min(second.len());
    if count < 2 {
        return None;
    }
    let (first, second) = (&first[..count], &second[..count]);
    covariance_about(first, second, (mean(first), mean(second)))
}

/// The same where the means are known already.
pub(super) fn covariance_about(
    first: &[f64],
    second: &[f64],
    (left, right): (f64, f64),
) -> Option<f64> {
    let count = first.len().min(second.len());
    let pairs = first.iter().zip(second);
    let products = pairs.map(|(a, b)| (a - left) * (b - right));
    (count >= 2).then(|| products.sum::<f64>() / (count as f64 - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_offset_keeps_the_spread() {
        let spread = [0.001, 0.002, 0.004, 0.003];
        let shifted: Vec<f64> = spread.iter().map(|value| value + 86_400.0).collect();
        let (plain, offset) = (deviation(&spread).unwrap(), deviation(&shifted).unwrap());
        assert!((plain / offset - 1.0).abs() < 1e-6);
    }

    #[test]
    fn equal_values_have_no_spread() {
        assert_eq!(variance(&[0.1; 7]), Some(0.0));
        assert!((mean(&[0.1; 7]) - 0.1).abs() < f64::EPSILON / 8.0);
        assert_eq!(variance(&[0.1]), None);
    }

    #[test]
    fn covariance_with_itself_is_the_variance() {
        let values = [1.0, 4.0, 2.0, 8.0];
        let difference = covariance(&values, &values).unwrap() - variance(&values).unwrap();
        assert!(difference.abs() < 1e-12);
        assert_eq!(covariance(&values, &[1.0]), None);
    }
}
