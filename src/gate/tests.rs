//! Gates on recordings made for the purpose.

use std::time::Duration;

use super::*;
use crate::analysis::{Question, analyze};
use crate::sample::{Conditions, Host, Outcome, Recording, Sample};

fn recording(walls_ms: impl IntoIterator<Item = f64>, cpu_ms: f64) -> Recording {
    let mut recording = Recording::new(Host::default(), Conditions::default());
    for (index, wall) in walls_ms.into_iter().enumerate() {
        let mut sample = Sample {
            index: index as u64,
            wall: Duration::from_secs_f64(wall / 1e3),
            ..Sample::default()
        };
        sample.usage.user = Duration::from_secs_f64(cpu_ms / 1e3);
        sample.usage.max_rss = 4 << 20;
        recording.samples.push(&sample);
    }
    recording
}

/// Twenty runs spread evenly over ±2% of the value.
fn around(center: f64) -> Vec<f64> {
    (0..20)
        .map(|i| center * (0.98 + 0.002 * f64::from(i * 7 % 20)))
        .collect()
}

fn verdict(text: &str, recording: Recording) -> Verdict {
    let all = [recording];
    let analysis = analyze(&all, &Question::default());
    let gates = [Gate::Expression(Expression::parse(text).unwrap())];
    evaluate(&gates, &analysis).remove(0)
}

#[test]
fn the_whole_interval_decides() {
    let decide = |text: &str| verdict(text, recording(around(100.0), 10.0)).decision;
    assert_eq!(decide("wall > 90ms"), Decision::Fail);
    assert_eq!(decide("wall > 110ms"), Decision::Ok);
    assert_eq!(decide("wall > 99.9ms"), Decision::Unsure);
    assert_eq!(decide("wall < 110ms"), Decision::Fail);
    assert_eq!(decide("wall/cpu > 3"), Decision::Fail);
    assert_eq!(decide("wall/cpu > 12"), Decision::Ok);
    assert_eq!(decide("off-cpu > 80%"), Decision::Fail);
    assert_eq!(decide("off-cpu > 95%"), Decision::Ok);
}

#[test]
fn unsure_says_what_would_decide() {
    let unsure = verdict("wall > 99.5ms", recording(around(100.0), 10.0));
    assert_eq!(unsure.decision, Decision::Unsure);
    assert!(unsure.reason.contains("would decide") || unsure.reason.contains("cannot be decided"));
    let few = verdict("wall > 90ms", recording([100.0; 4], 10.0));
    assert_eq!((few.decision, few.needs_runs), (Decision::Unsure, Some(6)));
    assert!(
        few.reason.contains("4 runs, an interval needs 6"),
        "{}",
        few.reason
    );
    let p99 = verdict("wall.p99 > 90ms", recording(around(100.0), 10.0));
    assert_eq!(
        (p99.decision, p99.needs_runs),
        (Decision::Unsure, Some(368))
    );
}

#[test]
fn statistics_without_interval_decide_by_the_point_and_say_so() {
    let max = verdict("wall.max > 90ms", recording(around(100.0), 10.0));
    assert_eq!(max.decision, Decision::Fail);
    assert!(max.reason.contains("by the point"));
}

#[test]
fn an_inclusive_limit_includes_the_limit() {
    let at = |text: &str| verdict(text, recording([100.0; 20], 10.0)).decision;
    assert_eq!(at("rss >= 4MiB"), Decision::Fail);
    assert_eq!(at("rss > 4MiB"), Decision::Ok);
    assert_eq!(at("rss <= 4MiB"), Decision::Fail);
}

#[test]
fn a_command_that_always_fails_decides_nothing() {
    let mut recording = recording(Vec::new(), 0.0);
    let failed = Sample {
        outcome: Outcome::Exited(1),
        ..Sample::default()
    };
    recording.samples.push(&failed);
    let verdict = verdict("wall > 1s", recording);
    assert_eq!(verdict.decision, Decision::Unsure);
    assert!(verdict.reason.contains("1 of 1 runs failed"));
}

#[test]
fn no_cpu_time_has_no_ratio() {
    let verdict = verdict("wall/cpu > 3", recording(around(100.0), 0.0));
    assert_eq!(verdict.decision, Decision::Unsure);
    assert_eq!(verdict.value, None);
}
