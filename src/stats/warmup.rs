//! When a command has warmed up: the steadiness rule of `--warmup auto`.
//!
//! The rule is fixed before measuring and looks only at warm-up runs.

use super::order::median_of;

/// Runs of one window.
pub const WINDOW: usize = 5;
/// Consecutive windows that must agree.
pub const WINDOWS: usize = 5;
/// Spread of window medians that is steady however quiet the runs are.
pub const TOLERANCE: f64 = 0.01;
/// Most warm-up runs.
pub const MOST_RUNS: usize = 100;

/// One look at the last five windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Check {
    /// Warm-up runs so far.
    pub runs: usize,
    /// (max − min)/min of the last five window medians.
    pub spread: f64,
    /// Spread that chance alone explains, at least 1%.
    pub tolerance: f64,
}

impl Check {
    /// Whether the runs are steady.
    #[must_use]
    pub fn steady(&self) -> bool {
        self.spread <= self.tolerance
    }
}

/// Looks at the last 25 warm-up runs. Steady when the spread of the medians m of five windows of 5
/// is at most max(1%, 3 · 1.2533 σ̂/√5/min m), σ̂ = 1.4826 √(5/4) median|x − own window's median|.
///
/// `None` unless a window has just been filled and there are five.
#[must_use]
pub fn check(values: &[f64]) -> Option<Check> {
    let start = values.len().checked_sub(WINDOW * WINDOWS)?;
    if values.len() % WINDOW != 0 {
        return None;
    }
    let recent = &values[start..];
    let medians = window_medians(recent);
    let low = medians.iter().copied().fold(f64::INFINITY, f64::min);
    let high = medians.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let windows = recent.chunks_exact(WINDOW).zip(&medians);
    let mut deviations: Vec<f64> = windows
        .flat_map(|(window, median)| window.iter().map(move |x| (x - median).abs()))
        .collect();
    let window = WINDOW as f64;
    let sigma = 1.4826 * (window / (window - 1.0)).sqrt() * median_of(&mut deviations);
    let tolerance = TOLERANCE.max(3.0 * 1.2533 * sigma / window.sqrt() / low);
    Some(Check {
        runs: values.len(),
        spread: (high - low) / low,
        tolerance,
    })
}

/// Medians of disjoint windows of 5 runs; an unfinished window does not count.
#[must_use]
pub fn window_medians(values: &[f64]) -> Vec<f64> {
    values
        .chunks_exact(WINDOW)
        .map(|window| median_of(&mut window.to_vec()))
        .collect()
}

/// Every look at a whole warm-up, up to and including the first steady one; at most 100 runs count.
#[must_use]
pub fn checks(values: &[f64]) -> Vec<Check> {
    let mut checks = Vec::new();
    for runs in 1..=values.len().min(MOST_RUNS) {
        if let Some(found) = check(&values[..runs]) {
            checks.push(found);
            if found.steady() {
                break;
            }
        }
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_come_only_with_full_windows() {
        let values = [1.0; 40];
        for runs in 0..40 {
            assert_eq!(
                check(&values[..runs]).is_some(),
                runs >= 25 && runs % 5 == 0,
                "{runs}"
            );
        }
    }

    #[test]
    fn a_slope_is_not_steady_and_its_end_is() {
        let values: Vec<f64> = (0..90)
            .map(|run| 1.0 + 0.02 * f64::from((50 - run).max(0)))
            .collect();
        let checks = checks(&values);
        let last = checks.last().unwrap();
        assert!(
            last.steady() && last.runs >= 60 && last.runs <= 75,
            "{last:?}"
        );
        assert!(
            checks[..checks.len() - 1]
                .iter()
                .all(|check| !check.steady())
        );
    }
}
