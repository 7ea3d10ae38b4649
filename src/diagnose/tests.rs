//! Samples with known waits give these findings.

use std::time::Duration;

use super::*;
use crate::sample::{Conditions, Host, Sample};
use crate::stats::{Interval, Method};

fn recording(samples: impl IntoIterator<Item = Sample>) -> Recording {
    let mut recording = Recording::new(Host::default(), Conditions::default());
    for sample in samples {
        recording.samples.push(&sample);
    }
    recording
}

fn run(wall_ms: u64, cpu_ms: u64, queued_ms: u64) -> Sample {
    let mut sample = Sample {
        wall: Duration::from_millis(wall_ms),
        ..Sample::default()
    };
    sample.usage.user = Duration::from_millis(cpu_ms);
    sample.readings.queued = Some(Duration::from_millis(queued_ms));
    sample
}

fn figures(recording: &Recording) -> Figures {
    let all: Vec<Sample> = recording.measured().collect();
    let wall: f64 = all.iter().map(|s| s.wall.as_secs_f64()).sum();
    let cpu: f64 = all.iter().map(|s| s.tree_cpu().as_secs_f64()).sum();
    let value = wall / cpu;
    let interval = Interval {
        low: value * 0.99,
        high: value * 1.01,
        level: 0.95,
        method: Method::LogDelta,
    };
    Figures {
        runs: all.len(),
        ratio: Some(Estimate {
            value,
            interval: Some(interval),
        }),
        wall: wall / all.len() as f64,
        off_cpu: (wall - cpu) / all.len() as f64,
        without_queueing: None,
        stalls: None,
        variance: None,
    }
}

fn judged(recording: &Recording) -> Diagnosis {
    diagnose(recording, &figures(recording)).unwrap()
}

#[test]
fn computing_is_no_finding() {
    let diagnosis = judged(&recording(vec![run(100, 99, 0); 10]));
    assert_eq!(diagnosis.tier, Tier::None);
    assert_eq!(diagnosis.headline, None);
    assert!(diagnosis.findings.is_empty());
}

#[test]
fn unnamed_waiting_is_severe_and_points_to_explain() {
    let diagnosis = judged(&recording(vec![run(100, 10, 0); 10]));
    assert_eq!(diagnosis.tier, Tier::Severe);
    assert_eq!(diagnosis.cause, None);
    assert!(
        diagnosis
            .headline
            .as_ref()
            .unwrap()
            .starts_with("wall is 10.0x CPU")
    );
    assert!(diagnosis.help[0].contains("--explain"));
    assert!((diagnosis.off_share.unwrap() - 0.9).abs() < 1e-9);
}

#[test]
fn a_queue_is_the_machines_whatever_the_ratio() {
    let diagnosis = judged(&recording(vec![run(110, 100, 10); 10]));
    assert_eq!(diagnosis.tier, Tier::Warning);
    assert_eq!(diagnosis.findings[0].cause, Some(Cause::CpuQueue));
    let diagnosis = judged(&recording(vec![run(300, 100, 195); 10]));
    assert_eq!(diagnosis.cause, Some(Cause::CpuQueue));
    assert!(diagnosis.consequence.unwrap().contains("machine's"));
}

#[test]
fn a_queue_in_few_runs_says_in_how_many() {
    let mut runs = vec![run(100, 100, 0); 9];
    runs.push(run(300, 100, 200));
    let diagnosis = judged(&recording(runs));
    assert!(diagnosis.findings[0].text.contains("in 1 of 10 runs"));
}

#[test]
fn hidden_work_is_counted_and_the_ratio_is_true() {
    let mut daemon = run(203, 2, 0);
    daemon.readings.orphan_cpu = Some(Duration::from_millis(200));
    let diagnosis = judged(&recording(vec![daemon; 5]));
    assert_eq!(diagnosis.tier, Tier::Note);
    assert_eq!(diagnosis.findings[0].cause, Some(Cause::HiddenCpu));
    assert_eq!(diagnosis.headline, None);
}

#[test]
fn processes_left_behind_replace_the_tier() {
    let mut left = run(200, 2, 0);
    left.readings.leftovers = Some(1);
    let diagnosis = judged(&recording(vec![left; 5]));
    assert_eq!(diagnosis.headline, None);
    assert!(diagnosis.findings[0].text.contains("CPU is incomplete"));
}

#[test]
fn auto_reaped_children_replace_the_tier_unless_a_cgroup_counted_them() {
    let mut reaper = run(300, 2, 0);
    reaper.readings.auto_reaps = Some(1);
    let diagnosis = judged(&recording(vec![reaper; 5]));
    assert_eq!((diagnosis.tier, diagnosis.headline), (Tier::Note, None));
    reaper.readings.tree_cpu = Some(Duration::from_millis(299));
    let diagnosis = judged(&recording(vec![reaper; 5]));
    assert_eq!(diagnosis.findings[0].cause, Some(Cause::HiddenCpu));
}

#[test]
fn parallel_work_counts_busy_cpus() {
    let diagnosis = judged(&recording(vec![run(100, 400, 1); 5]));
    assert!((diagnosis.cpus_busy.unwrap() - 4.0).abs() < 1e-9);
    assert_eq!(diagnosis.off_share, None);
    assert_eq!(diagnosis.tier, Tier::None);
}

#[test]
fn expected_waiting_is_silent() {
    let mut recording = recording(vec![run(100, 10, 0); 10]);
    recording.conditions.expect_wait = true;
    assert_eq!(judged(&recording).tier, Tier::None);
}
