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

/// Variance with divisor n − 1, in two passes (Chan, Golub, `LeVeque` 1983, equation 1.7).
///
/// `None` for fewer than two values.
#[must_use]
pub fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let center = mean(values);
    let (mut squares, mut rest) = (0.0, 0.0);
    for value in values {
        let deviation = value - center;
        squares += deviation * deviation;
        rest += deviation;
    }
    let count = values.len() as f64;
    Some(((squares - rest * rest / count) / (count - 1.0)).max(0.0))
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
    let (left, right) = (mean(&first[..count]), mean(&second[..count]));
    let products = first
        .iter()
        .zip(second)
        .map(|(a, b)| (a - left) * (b - right));
    Some(products.sum::<f64>() / (count as f64 - 1.0))
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
