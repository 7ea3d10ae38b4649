//! What share of wall time a metric takes, with an interval of its own: wall time spreads too, and
//! an interval over a point would be far too sure.

use crate::metric::Metric;
use crate::sample::Recording;
use crate::stats::summary::{Settings, Summary};
use crate::stats::{Estimate, Interval, Series, moments, ratio};

/// A statistic of the share of wall time; `None` where a run has no value or wall time is 0.
///
/// The mean is the share that reports show: of the sums, with the interval of wall over CPU. Any
/// other statistic is that of the shares of the single runs.
pub(super) fn of_wall(
    metric: &Metric,
    statistic: &str,
    recording: &Recording,
    settings: &Settings,
) -> Option<Estimate> {
    let (mut parts, mut walls) = (Vec::new(), Vec::new());
    let mut complete = true;
    let fields = [&["wall_s"], metric.fields].concat();
    recording.visit_measured(Some(&fields), |sample| match (metric.read)(sample) {
        Some(value) => {
            parts.push(value);
            walls.push(sample.wall.as_secs_f64());
        }
        None => complete = false,
    });
    if !complete || walls.iter().any(|wall| *wall <= 0.0) {
        return None;
    }
    let shares: Vec<f64> = parts
        .iter()
        .zip(&walls)
        .map(|(part, wall)| part / wall)
        .collect();
    let whole = shares.iter().all(|share| *share <= 1.0);
    let nothing = shares.iter().all(|share| *share == 0.0);
    let shares = Series::new(shares).ok()?;
    if statistic != "mean" || nothing {
        return Summary::of(&shares, settings, 0.0).get(statistic);
    }
    let interval = ratio::log_delta(&parts, &walls, settings.level).map(|found| Interval {
        // Where no run has more than all of its time, neither has the mean.
        high: if whole {
            found.high.min(1.0)
        } else {
            found.high
        },
        ..found
    });
    Some(Estimate {
        value: moments::mean(&parts) / moments::mean(&walls),
        interval,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::metric::CPU;
    use crate::sample::{Conditions, Host, Sample};

    fn share(statistic: &str, runs: impl IntoIterator<Item = (u64, u64)>) -> Option<Estimate> {
        let mut recording = Recording::new(Host::default(), Conditions::default());
        for (wall, cpu) in runs {
            let mut sample = Sample {
                wall: Duration::from_millis(wall),
                ..Sample::default()
            };
            sample.usage.user = Duration::from_millis(cpu);
            recording.samples.push(&sample);
        }
        let cpu = Metric::from_id(CPU).unwrap();
        of_wall(cpu, statistic, &recording, &Settings::default())
    }

    fn spread() -> Vec<(u64, u64)> {
        (0..20).map(|i| (100 + 60 * (i * 7 % 20), 50)).collect()
    }

    #[test]
    fn the_spread_of_wall_time_is_in_the_interval() {
        for statistic in ["mean", "median"] {
            let found = share(statistic, spread()).unwrap();
            let interval = found.interval.unwrap();
            assert!(interval.low < found.value && found.value < interval.high);
            assert!(interval.high / interval.low > 1.2, "{found:?}");
        }
    }

    #[test]
    fn the_mean_is_of_the_sums_and_the_median_of_the_runs() {
        let runs = [(100, 50), (100, 50), (100, 50), (100, 50), (600, 50)];
        assert!((share("mean", runs).unwrap().value - 0.25).abs() < 1e-12);
        assert!((share("median", runs).unwrap().value - 0.5).abs() < 1e-12);
    }

    #[test]
    fn no_mean_is_more_than_all_where_no_run_is() {
        let runs = [(100, 99), (100, 100), (100, 90), (100, 100), (100, 100)];
        let interval = share("mean", runs).unwrap().interval.unwrap();
        assert!((interval.high - 1.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_is_surely_nothing() {
        let found = share("mean", [(100, 0); 6]).unwrap();
        assert_eq!(
            (found.value, found.interval.map(|i| (i.low, i.high))),
            (0.0, Some((0.0, 0.0)))
        );
        assert_eq!(share("mean", []), None);
    }
}
