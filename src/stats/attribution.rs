//! Which part of a quantity its spread comes from.

use super::Series;
use super::moments::covariance_about;

/// Share of the variance of `whole` that comes with `part`: cov(part, whole) / var(whole).
///
/// The shares of parts that add up to the whole add up to 1; one share may lie outside 0..=1 when
/// parts offset each other. `None` when the lengths differ, below two runs, or without spread.
#[must_use]
pub fn variance_share(part: &Series, whole: &Series) -> Option<f64> {
    if part.runs() != whole.runs() {
        return None;
    }
    let total = whole.moments().variance().filter(|total| *total > 0.0)?;
    let means = (part.mean(), whole.mean());
    covariance_about(part.values(), whole.values(), means).map(|shared| shared / total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[f64]) -> Series {
        Series::new(values.to_vec()).unwrap()
    }

    #[test]
    fn shares_of_all_parts_add_up_to_one() {
        let first = [1.0, 5.0, 2.0, 8.0];
        let second = [0.5, 0.1, 0.9, 0.2];
        let whole: Vec<f64> = first.iter().zip(second).map(|(a, b)| a + b).collect();
        let whole = series(&whole);
        let shares = [first, second].map(|part| variance_share(&series(&part), &whole).unwrap());
        assert!((shares[0] + shares[1] - 1.0).abs() < 1e-12);
        assert!(shares[0] > 0.9);
    }

    #[test]
    fn there_is_no_share_of_no_spread() {
        assert_eq!(
            variance_share(&series(&[1.0, 2.0]), &series(&[3.0, 3.0])),
            None
        );
        assert_eq!(variance_share(&series(&[1.0]), &series(&[3.0, 4.0])), None);
    }
}
