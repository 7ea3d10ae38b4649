//! The sentences about a series that a reader must know before believing its numbers. The rules
//! are in `stats::warning`; here they get words.

use crate::diagnose::words::time;
use crate::stats::outlier::Floors;
use crate::stats::warning::{Finding, findings};
use crate::stats::{Series, order};
use crate::unit::{percent, signed_percent, thousands};

/// One warning about a series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Stable identifier, such as `drift`.
    pub id: &'static str,
    /// One sentence.
    pub text: String,
}

/// A slow first run needs at least this much.
const FIRST_RUN_FLOOR: f64 = 1e-3;

/// Every warning about the wall times of one benchmark.
pub(super) fn warnings(wall: &Series, resolution: f64) -> Vec<Warning> {
    let floors = Floors {
        resolution,
        first_run: FIRST_RUN_FLOOR,
    };
    findings(wall, floors)
        .iter()
        .filter(|finding| matters(finding, wall))
        .map(|finding| Warning {
            id: finding.id(),
            text: sentence(finding, wall),
        })
        .collect()
}

/// Share of the median by which runs far outside must move the mean to be worth a word.
const MOVES_THE_MEAN: f64 = 0.01;

/// Whether a finding changes what the report says: a far run among many moves no number.
fn matters(finding: &Finding, wall: &Series) -> bool {
    let Finding::Outliers(far) = finding else {
        return true;
    };
    let median = wall.median();
    let moved: f64 = far.iter().map(|one| one.value - median).sum();
    moved.abs() >= MOVES_THE_MEAN * median * wall.runs() as f64
}

fn sentence(finding: &Finding, wall: &Series) -> String {
    match finding {
        Finding::Drift { trend, halves } => {
            let p = if trend.p < 0.001 {
                "p < 0.001".to_string()
            } else {
                format!("p = {:.3}", trend.p)
            };
            let (size, word) = direction(halves.shift);
            format!(
                "the later half is {size} {word} than the earlier ({p}): the session did not hold still"
            )
        }
        Finding::Autocorrelated(found) => format!(
            "neighbouring runs resemble each other (lag-1 {:.2}): {} runs tell as much as {:.0}; interval widened {:.1}x",
            found.lag_one,
            thousands(wall.runs() as u64),
            found.effective_runs,
            found.widening
        ),
        Finding::Alternating { .. } => "every second run is slower: something periodic".into(),
        Finding::TwoSpeeds(valley) => {
            let high = 1.0 - valley.low_share;
            format!(
                "two speeds: {} of runs near {}, {} near {} ({}): core types, migration or frequency; try --cpu",
                percent(valley.low_share),
                time(valley.low_peak),
                percent(high),
                time(valley.high_peak),
                signed_percent(valley.separation)
            )
        }
        Finding::Outliers(far) => outliers(far, wall),
        Finding::SlowFirstRun(first) => format!(
            "first run {} slower than the rest: a cold cache, or what a user meets first. More --warmup, or --prepare to keep it cold",
            percent(first.excess)
        ),
        Finding::CoarseSteps(steps) => format!(
            "times come in steps of {} ({} distinct values in {} runs): clock or timer too coarse for this command",
            time(steps.step),
            steps.distinct,
            steps.runs
        ),
    }
}

fn direction(shift: f64) -> (String, &'static str) {
    let word = if shift < 0.0 { "faster" } else { "slower" };
    (format!("{:.1}%", shift.abs() * 100.0), word)
}

fn outliers(far: &[crate::stats::outlier::Outlier], wall: &Series) -> String {
    let runs = thousands(wall.runs() as u64);
    let furthest = far.iter().max_by(|a, b| a.z.abs().total_cmp(&b.z.abs()));
    let Some(furthest) = furthest else {
        return String::new();
    };
    let (run, value) = (furthest.index + 1, time(furthest.value));
    if far.len() == 1 {
        format!(
            "1 of {runs} runs is far outside: run {run}, {value}. It counts in every number above"
        )
    } else {
        format!(
            "{} of {runs} runs are far outside, the furthest run {run}, {value}. They count in every number above",
            far.len()
        )
    }
}

/// `no interval: 5 runs, 6 are the fewest`, when there are too few runs for the median's.
#[must_use]
pub fn no_interval(runs: usize, level: f64) -> Option<String> {
    let fewest = order::fewest_runs(0.5, level)?;
    let plural = if runs == 1 { "" } else { "s" };
    (runs < fewest).then(|| format!("no interval: {runs} run{plural}, {fewest} are the fewest"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_far_run_is_told_only_where_it_moves_the_mean() {
        let series = |far: f64| {
            let near = (0..60).map(|run| 0.030 + 1e-6 * f64::from(run % 7));
            Series::new(near.chain([far]).collect()).unwrap()
        };
        let ids = |far: f64| -> Vec<&str> {
            let told = warnings(&series(far), 1e-9);
            told.iter().map(|one| one.id).collect()
        };
        assert!(!ids(0.032).contains(&"outliers"));
        assert!(ids(0.090).contains(&"outliers"));
    }
}
