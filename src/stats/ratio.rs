//! One quantity over another of the same runs, as wall time over CPU time, and what the spread of
//! the first comes from.

use super::Series;
use super::attribution::variance_share;
use super::distribution::student_factor;
use super::estimate::{Estimate, Interval, Method};
use super::moments;

/// Fewest runs for an interval of the ratio.
pub const FEWEST_RUNS: usize = 5;

/// Wall over CPU of one command.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WallOverCpu {
    /// Σ wall / Σ CPU; `None` when the CPU time is 0.
    pub ratio: Option<Estimate>,
    /// 1 − Σ CPU / Σ wall; below 0 when several CPUs are busy.
    pub off_cpu_share: f64,
    /// Share of the variance of wall that comes with wall − CPU; `None` without spread.
    pub variance_share: Option<f64>,
    /// The spread is waiting: cv of wall ≥ 20% and that share ≥ 80%.
    pub spread_is_waiting: bool,
    /// Waiting in the slowest tenth of runs, as a share of all waiting; `None` without waiting.
    pub slowest_tenth: Option<f64>,
    /// Intermittent stalls: the spread is waiting, and at least half of it is in the slowest
    /// tenth of runs.
    pub stalls: Option<Stalls>,
}

/// Waiting that few runs carry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stalls {
    /// Runs in the slowest tenth, rounded up.
    pub slow_runs: usize,
    /// Number of runs.
    pub runs: usize,
    /// Share of all waiting in the slow runs.
    pub share: f64,
    /// Wall over CPU of the slow runs.
    pub slow_ratio: f64,
    /// Wall over CPU of the other runs.
    pub other_ratio: f64,
}

/// Compares wall and CPU time of the same runs, in one unit. When the mean CPU time is below
/// `least_cpu` the ratio has no interval. The common leading runs count if the lengths differ.
#[must_use]
pub fn wall_over_cpu(wall: &Series, cpu: &Series, level: f64, least_cpu: f64) -> WallOverCpu {
    let runs = wall.runs().min(cpu.runs());
    let leading = |series: &Series| Series::new(series.values()[..runs].to_vec());
    if wall.runs() != cpu.runs() {
        if let (Ok(wall), Ok(cpu)) = (leading(wall), leading(cpu)) {
            return wall_over_cpu(&wall, &cpu, level, least_cpu);
        }
    }
    let (wall_mean, cpu_mean) = (wall.mean(), cpu.mean());
    let ratio = (cpu_mean > 0.0).then(|| Estimate {
        value: wall_mean / cpu_mean,
        interval: (cpu_mean >= least_cpu)
            .then(|| log_delta(wall.values(), cpu.values(), level))
            .flatten(),
    });
    let pairs = wall.values().iter().zip(cpu.values());
    let waiting = Series::new(pairs.map(|(wall, cpu)| wall - cpu).collect());
    let variance_share = waiting.ok().and_then(|part| variance_share(&part, wall));
    let spread = wall.deviation().map_or(0.0, |spread| spread / wall_mean);
    let spread_is_waiting = spread >= 0.2 && variance_share.is_some_and(|share| share >= 0.8);
    let slowest = slowest_tenth(wall.values(), cpu.values());
    WallOverCpu {
        ratio,
        off_cpu_share: if wall_mean > 0.0 {
            1.0 - cpu_mean / wall_mean
        } else {
            0.0
        },
        variance_share,
        spread_is_waiting,
        slowest_tenth: slowest.map(|found| found.share),
        stalls: slowest.filter(|found| spread_is_waiting && found.share >= 0.5),
    }
}

/// Log-delta interval of R = Σ numerator / Σ denominator with t (Cochran 1977, equation 6.12, on the
/// logarithm): e = w − R c, se = √(Σ e²/(n − 1)/n)/c̄, R exp(± t se/R).
///
/// `None` below 5 runs, for lengths that differ, or sums not above 0.
#[must_use]
pub fn log_delta(numerator: &[f64], denominator: &[f64], level: f64) -> Option<Interval> {
    let (top, bottom) = (moments::mean(numerator), moments::mean(denominator));
    let fits = numerator.len() == denominator.len() && numerator.len() >= FEWEST_RUNS;
    if !fits || top <= 0.0 || bottom <= 0.0 {
        return None;
    }
    let (ratio, count) = (top / bottom, numerator.len() as f64);
    let errors = numerator
        .iter()
        .zip(denominator)
        .map(|(w, c)| (w - ratio * c).powi(2));
    let error = (errors.sum::<f64>() / (count - 1.0) / count).sqrt() / bottom;
    let half = student_factor(level, count - 1.0) * error / ratio;
    let (low, high) = (ratio * (-half).exp(), ratio * half.exp());
    Some(Interval {
        low,
        high,
        level,
        method: Method::LogDelta,
    })
}

/// The waiting of the slowest tenth of runs against that of the others.
fn slowest_tenth(wall: &[f64], cpu: &[f64]) -> Option<Stalls> {
    let runs = wall.len();
    let total = moments::mean(wall) - moments::mean(cpu);
    if total <= 0.0 {
        return None;
    }
    let count = runs.div_ceil(10);
    // of equal ones the earlier runs are taken
    let (limit, mut equal) = slowest(wall, count);
    let (mut slow, mut others) = ([0.0; 3], [0.0; 3]);
    for (wall, cpu) in wall.iter().zip(cpu) {
        let takes_equal = wall.total_cmp(&limit).is_eq() && equal > 0;
        equal -= usize::from(takes_equal);
        let sums = if *wall > limit || takes_equal {
            &mut slow
        } else {
            &mut others
        };
        sums[0] += wall;
        sums[1] += cpu;
        // a run with more CPU than wall has not waited less than nothing
        sums[2] += (wall - cpu).max(0.0);
    }
    let ([slow_wall, slow_cpu, slow_waited], [other_wall, other_cpu, other_waited]) =
        (slow, others);
    Some(Stalls {
        slow_runs: count,
        runs,
        share: slow_waited / (slow_waited + other_waited),
        slow_ratio: slow_wall / slow_cpu,
        other_ratio: other_wall / other_cpu,
    })
}

/// The smallest of the `count` slowest values, and how many of these equal it.
fn slowest(wall: &[f64], count: usize) -> (f64, usize) {
    let mut copy = wall.to_vec();
    let place = wall.len() - count;
    let (_, limit, above) = copy.select_nth_unstable_by(place, f64::total_cmp);
    let limit = *limit;
    let equal = 1 + above
        .iter()
        .filter(|value| value.total_cmp(&limit).is_eq())
        .count();
    (limit, equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[f64]) -> Series {
        Series::new(values.to_vec()).unwrap()
    }

    #[test]
    fn no_cpu_time_is_no_ratio_but_all_waiting() {
        let found = wall_over_cpu(&series(&[0.5; 6]), &series(&[0.0; 6]), 0.95, 0.001);
        assert_eq!((found.ratio, found.stalls), (None, None));
        assert!((found.off_cpu_share - 1.0).abs() < 1e-15);
    }

    #[test]
    fn too_little_cpu_time_or_too_few_runs_have_no_interval() {
        let wall = [0.5, 0.51, 0.49, 0.5, 0.52];
        let cpu = [0.1, 0.11, 0.1, 0.09, 0.1];
        let interval = |runs: usize, least| {
            let (wall, cpu) = (series(&wall[..runs]), series(&cpu[..runs]));
            wall_over_cpu(&wall, &cpu, 0.95, least)
                .ratio
                .unwrap()
                .interval
        };
        assert!(interval(5, 0.05).is_some());
        assert!(interval(5, 0.2).is_none() && interval(4, 0.05).is_none());
    }

    #[test]
    fn stalls_show_both_worlds() {
        let (mut wall, cpu) = ([0.0201; 20], [0.02; 20]);
        (wall[4], wall[11]) = (0.42, 0.42);
        let found = wall_over_cpu(&series(&wall), &series(&cpu), 0.95, 0.001);
        let stalls = found.stalls.unwrap();
        assert_eq!((stalls.slow_runs, stalls.runs), (2, 20));
        assert!((stalls.slow_ratio - 21.0).abs() < 1e-9);
        assert!((stalls.other_ratio - 1.005).abs() < 1e-9);
        assert!(found.spread_is_waiting && stalls.share > 0.99);
    }

    #[test]
    fn runs_with_more_cpu_than_wall_take_no_waiting_away() {
        let (mut wall, cpu) = ([0.0100; 8], [0.0101; 8]);
        wall[3] = 0.05;
        let found = wall_over_cpu(&series(&wall), &series(&cpu), 0.95, 0.001);
        let share = found.stalls.unwrap().share;
        assert!((share - 1.0).abs() < 1e-9, "{share}");
    }
}
