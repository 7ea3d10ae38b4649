//! Two speeds in one series: a valley in the density of its values.

use super::Series;
use super::moments;

/// Points at which the density is computed.
const POINTS: usize = 256;

/// Above this many values they are binned before the kernel is applied.
const EXACT_VALUES: usize = 4_000;

/// The deepest valley of the density and the peaks beside it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Valley {
    /// Kernel bandwidth, in the unit of the series.
    pub bandwidth: f64,
    /// Density in the valley over that of the lower peak, 0..=1; 1 when there is one peak.
    pub depth: f64,
    /// Where the valley is.
    pub split: f64,
    /// Where the peak below the valley is.
    pub low_peak: f64,
    /// Where the peak above the valley is.
    pub high_peak: f64,
    /// Share of runs not above the valley, 0..=1.
    pub low_share: f64,
    /// high peak / low peak − 1.
    pub separation: f64,
    /// Two speeds: from 30 runs, depth ≤ ½, each side ≥ 15% of runs, peaks ≥ 2% apart.
    pub two_speeds: bool,
}

/// Bandwidth 0.9 min(s, IQR/1.34) n^(−1/5) (Silverman 1986, equation 3.31); s alone when the IQR is 0.
///
/// `None` when all values are equal or there is one.
#[must_use]
pub fn bandwidth(series: &Series) -> Option<f64> {
    let spread = series.deviation().filter(|spread| *spread > 0.0)?;
    let quartiles = series.quantile(0.75) - series.quantile(0.25);
    let spread = if quartiles > 0.0 {
        spread.min(quartiles / 1.34)
    } else {
        spread
    };
    Some(0.9 * spread * (series.runs() as f64).powf(-0.2))
}

/// Deepest valley of the Gaussian kernel density that leaves at least 15% of runs on each side.
///
/// `None` without spread, or when no point leaves enough runs on both sides.
#[must_use]
pub fn valley(series: &Series) -> Option<Valley> {
    let bandwidth = bandwidth(series)?;
    let grid = grid(series, bandwidth);
    // a kernel narrower than the steps would fall between them
    let density = density(series, &grid, bandwidth.max(grid[1] - grid[0]));
    let highest_after = peaks_after(&density);
    let mut low = 0;
    let mut best: Option<(f64, usize, usize, f64)> = None;
    for point in 1..POINTS - 1 {
        if density[point - 1] > density[low] {
            low = point - 1;
        }
        let below = series
            .sorted()
            .partition_point(|value| *value <= grid[point]);
        let share = below as f64 / series.runs() as f64;
        if !(0.15..=0.85).contains(&share) {
            continue;
        }
        let lower_peak = density[low].min(density[highest_after[point]]);
        let depth = (density[point] / lower_peak).min(1.0);
        if depth.is_nan() {
            continue;
        }
        if best.is_none_or(|(deepest, ..)| depth < deepest) {
            best = Some((depth, point, low, share));
        }
    }
    let (depth, point, low, low_share) = best?;
    let (low_peak, high_peak) = (grid[low], grid[highest_after[point]]);
    let separation = high_peak / low_peak - 1.0;
    let two_speeds = series.runs() >= 30 && depth <= 0.5 && separation >= 0.02;
    let split = grid[point];
    Some(Valley {
        bandwidth,
        depth,
        split,
        low_peak,
        high_peak,
        low_share,
        separation,
        two_speeds,
    })
}

/// Equal steps over the values and three bandwidths more on each side. Values more than ten
/// interquartile ranges outside are left to the outlier rule, lest they stretch the steps, unless
/// they are a tenth of the runs.
fn grid(series: &Series, bandwidth: f64) -> Vec<f64> {
    let (first, third) = (series.quantile(0.25), series.quantile(0.75));
    let reach = 10.0 * (third - first);
    let (mut low, mut high) = (series.min(), series.max());
    if reach > 0.0 {
        low = low.max(series.quantile(0.1).min(first - reach));
        high = high.min(series.quantile(0.9).max(third + reach));
    }
    let (start, end) = (low - 3.0 * bandwidth, high + 3.0 * bandwidth);
    let step = (end - start) / (POINTS - 1) as f64;
    (0..POINTS)
        .map(|point| start + step * point as f64)
        .collect()
}

/// For each point the position of the highest density after it.
fn peaks_after(density: &[f64]) -> Vec<usize> {
    let mut after = vec![density.len() - 1; density.len()];
    for point in (0..density.len() - 1).rev() {
        let candidate = point + 1;
        after[point] = if density[candidate] >= density[after[candidate]] {
            candidate
        } else {
            after[candidate]
        };
    }
    after
}

/// Gaussian kernel sums at the points of `grid`, up to a common factor.
fn density(series: &Series, grid: &[f64], bandwidth: f64) -> Vec<f64> {
    let places = places(series, bandwidth / 20.0);
    let at = |point: &f64| {
        // beyond nine bandwidths the kernel is below 1e-17
        let from = places.partition_point(|place| place.0 < point - 9.0 * bandwidth);
        let to = places.partition_point(|place| place.0 <= point + 9.0 * bandwidth);
        let near = &places[from..to];
        near.iter()
            .map(|(place, count)| count * kernel((point - place) / bandwidth))
            .sum()
    };
    grid.iter().map(at).collect()
}

/// The Gaussian kernel without its constant.
fn kernel(distance: f64) -> f64 {
    (-0.5 * distance * distance).exp()
}

/// Ascending places with the number of values at each: every value by itself, or for long series
/// the means of the values within `width`.
fn places(series: &Series, width: f64) -> Vec<(f64, f64)> {
    let sorted = series.sorted();
    if sorted.len() <= EXACT_VALUES {
        return sorted.iter().map(|value| (*value, 1.0)).collect();
    }
    let (mut places, mut rest) = (Vec::new(), sorted);
    while let Some(&first) = rest.first() {
        let count = rest.partition_point(|value| *value <= first + width);
        let (near, far) = rest.split_at(count);
        places.push((moments::mean(near), count as f64));
        rest = far;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;

    /// Triangular noise around two centers.
    fn two(runs: usize, share: f64, gap: f64) -> Series {
        let mut random = Random::new(5);
        let values = (0..runs).map(|_| {
            let center = if random.unit() < share {
                100.0
            } else {
                100.0 + gap
            };
            center + random.unit() + random.unit() - 1.0
        });
        Series::new(values.collect()).unwrap()
    }

    #[test]
    fn two_speeds_are_found_with_their_shares() {
        let found = valley(&two(200, 0.7, 6.0)).unwrap();
        assert!(found.two_speeds && (found.low_share - 0.7).abs() < 0.08);
        assert!((found.low_peak - 100.0).abs() < 0.5 && (found.high_peak - 106.0).abs() < 0.5);
    }

    #[test]
    fn one_speed_and_close_speeds_are_not() {
        assert!(!valley(&two(200, 1.1, 6.0)).unwrap().two_speeds);
        assert!(!valley(&two(200, 0.7, 1.0)).unwrap().two_speeds);
        assert!(!valley(&two(20, 0.7, 6.0)).unwrap().two_speeds);
        assert_eq!(valley(&Series::new(vec![1.0; 40]).unwrap()), None);
    }

    #[test]
    fn binning_does_not_move_the_valley() {
        let large = two(EXACT_VALUES + 1_000, 0.6, 6.0);
        let exact = Series::new(large.values()[..EXACT_VALUES].to_vec()).unwrap();
        let (large, exact) = (valley(&large).unwrap(), valley(&exact).unwrap());
        assert!((large.depth - exact.depth).abs() < 0.02);
        assert!((large.low_peak - exact.low_peak).abs() < 0.2);
    }

    #[test]
    fn a_far_run_does_not_hide_two_speeds() {
        let mut values = two(200, 0.7, 6.0).values().to_vec();
        values[10] = 100_000.0;
        assert!(valley(&Series::new(values).unwrap()).unwrap().two_speeds);
    }

    #[test]
    fn speeds_far_apart_are_found_although_each_is_narrow() {
        let found = valley(&two(200, 0.8, 5_000.0)).unwrap();
        assert!(
            found.two_speeds && (found.low_share - 0.8).abs() < 0.08,
            "{found:?}"
        );
    }
}
