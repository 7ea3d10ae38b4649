//! Samples with known waits give these findings.

use std::time::Duration;

use super::*;
use crate::sample::field::FIELDS;
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
fn what_a_quota_stopped_backs_the_ratio_once() {
    let recording = recording(vec![run(5, 1, 1); 10]);
    let slices = Slices {
        wall: 1.0,
        queued: Some(0.3),
        throttled: Some(0.3),
        ..Slices::default()
    };
    let figures = Figures {
        off_cpu: 1.0,
        ..figures(&recording)
    };
    assert!(!grounds(&slices, &figures, false).backed);
    let slices = Slices {
        queued: None,
        throttled: Some(0.6),
        ..slices
    };
    assert!(grounds(&slices, &figures, false).backed);
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
fn what_was_wanted_is_no_advice() {
    let mut waits = recording(vec![run(1000, 100, 0); 10]);
    waits.conditions.explaining = true;
    let diagnosis = judged(&waits);
    assert_eq!(diagnosis.tier, Tier::Severe);
    assert!(diagnosis.help.is_empty(), "{:?}", diagnosis.help);
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
fn a_pipeline_alone_on_the_machine_queues_behind_itself() {
    let mut alone = recording(vec![run(100, 160, 50); 5]);
    alone.machine = [("busy_s".into(), 0.82), ("observed_s".into(), 0.5)].into();
    assert_eq!(judged(&alone).tier, Tier::None);
    let mut beside = alone.clone();
    beside.machine.insert("busy_s".into(), 1.0);
    assert_eq!(judged(&beside).findings[0].cause, Some(Cause::CpuQueue));
}

#[test]
fn expected_waiting_is_silent() {
    let mut recording = recording(vec![run(100, 10, 0); 10]);
    recording.conditions.expect_wait = true;
    assert_eq!(judged(&recording).tier, Tier::None);
}

#[test]
fn a_command_on_all_cpus_queues_behind_itself() {
    let mut recording = recording(vec![run(100, 199, 50); 10]);
    recording.host.cpus = Some(2);
    assert!(judged(&recording).findings.is_empty());
    recording.host.cpus = Some(4);
    let diagnosis = judged(&recording);
    assert_eq!(diagnosis.findings[0].cause, Some(Cause::CpuQueue));
}

#[test]
fn what_is_left_behind_in_few_runs_or_was_counted_leaves_the_tier() {
    let mut left = run(200, 20, 0);
    let mut runs = vec![left; 19];
    left.readings.leftovers = Some(1);
    runs.push(left);
    let diagnosis = judged(&recording(runs));
    assert_eq!(diagnosis.tier, Tier::Severe);
    assert!(diagnosis.findings[0].text.contains("in 1 of 20 runs"));
    left.readings.tree_cpu = Some(Duration::from_millis(199));
    let diagnosis = judged(&recording(vec![left; 5]));
    assert!(!diagnosis.findings[0].text.contains("incomplete"));
    assert_eq!(diagnosis.findings[1].cause, Some(Cause::HiddenCpu));
}

#[test]
fn a_stop_is_a_cause_with_its_time() {
    let mut stopped = run(400, 100, 0);
    stopped.readings.stopped = Some(Duration::from_millis(290));
    let diagnosis = judged(&recording(vec![stopped; 5]));
    assert_eq!(diagnosis.cause, Some(Cause::Stopped));
    assert!((diagnosis.causes[0].seconds - 0.29).abs() < 1e-9);
    let sum: f64 = diagnosis.causes.iter().map(|line| line.seconds).sum();
    assert!(
        (sum - 0.3).abs() < 1e-9,
        "the causes add up to what is off the CPU"
    );
}

#[test]
fn sleeping_until_there_is_memory_is_a_cause() {
    let mut slept = run(400, 0, 0);
    slept.usage.system = Duration::from_millis(100);
    slept.readings.memory_stall = Some(Duration::from_millis(380));
    let diagnosis = judged(&recording(vec![slept; 5]));
    assert_eq!(diagnosis.cause, Some(Cause::MemoryPressure));
    let line = &diagnosis.causes[0];
    assert!(line.at_least && (line.seconds - 0.28).abs() < 1e-9);
    assert!(diagnosis.findings[0].text.contains("most of it asleep"));
    // What the kernel was busy with is no waiting.
    slept.usage.system = Duration::from_millis(350);
    let diagnosis = judged(&recording(vec![slept; 5]));
    assert!(diagnosis.findings[0].text.contains("billed as system"));
    let asleep = diagnosis
        .causes
        .iter()
        .map(|line| line.seconds)
        .sum::<f64>();
    assert!(asleep < 0.06, "{:?}", diagnosis.causes);
}

#[test]
fn a_quota_is_told_with_its_limit_and_what_it_took() {
    let mut run = run(500, 100, 390);
    run.readings.throttled = Some(Duration::from_millis(800));
    run.readings.throttled_periods = Some(5);
    run.readings.quota_periods = Some(5);
    let mut recording = recording(vec![run; 5]);
    recording.machine.insert("quota_cpus".into(), 0.2);
    let diagnosis = judged(&recording);
    assert_eq!(diagnosis.cause, Some(Cause::CpuQuota));
    // Summed over CPUs it exceeds what was queued: only that much is this command's.
    assert!((diagnosis.slices.throttled.unwrap() - 0.39).abs() < 1e-9);
    assert!(
        diagnosis.findings[0]
            .text
            .contains("quota (20% of a CPU) stopped the command in 25 of 25 periods")
    );
    assert_eq!(
        diagnosis.findings.len(),
        1,
        "what the quota took is no queue"
    );
}

#[test]
fn children_that_work_have_their_queue_from_the_group() {
    let mut tree = run(300, 100, 0);
    tree.readings.main_run = Some(Duration::from_millis(2));
    tree.readings.tree_queued = Some(Duration::from_millis(500));
    let diagnosis = judged(&recording(vec![tree; 5]));
    assert_eq!(diagnosis.cause, Some(Cause::CpuQueue));
    assert!(diagnosis.causes[0].at_least);
    assert!((diagnosis.slices.queued.unwrap() - 0.2).abs() < 1e-9);
    tree.readings.main_run = Some(Duration::from_millis(98));
    let diagnosis = judged(&recording(vec![tree; 5]));
    assert_eq!(
        diagnosis.slices.queued,
        Some(0.0),
        "the main thread's account is exact"
    );
}

#[test]
fn what_is_added_up_and_counted_needs_its_fields_and_no_others() {
    let mut recording = Recording::new(Host::default(), Conditions::default());
    for number in 1..4 {
        let mut run = Sample::default();
        for (place, field) in FIELDS.iter().enumerate() {
            let value = (place as u64 + 1) * 1_000_000 * number;
            match field.key {
                "phase" | "outcome" => {}
                "auto_reaps" => (field.write)(&mut run, Some(1)),
                _ => (field.write)(&mut run, Some(value)),
            }
        }
        recording.samples.push(&run);
    }
    assert_eq!(tally(&recording), tally_of(&recording, None));
}
