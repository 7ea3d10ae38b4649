//! Gates on recordings made for the purpose.

use std::time::Duration;

use super::*;
use crate::analysis::{Question, Saved, analyze};
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
fn a_share_of_wall_is_as_unsure_as_wall_is() {
    let spread = || (0..20).map(|i| 100.0 + 60.0 * f64::from(i * 7 % 20));
    for text in ["cpu < 8%", "cpu.median < 8%", "off-cpu > 92%"] {
        let found = verdict(text, recording(spread(), 50.0));
        assert_eq!(found.decision, Decision::Unsure, "{text}: {}", found.reason);
    }
    let few = verdict("off-cpu > 80%", recording([100.0; 4], 10.0));
    assert_eq!((few.decision, few.needs_runs), (Decision::Unsure, Some(5)));
}

#[test]
fn a_share_gate_reads_the_share_that_reports_show() {
    let all = [recording([100.0, 100.0, 100.0, 100.0, 100.0, 600.0], 50.0)];
    let analysis = analyze(&all, &Question::default());
    let gates = [Gate::Expression(
        Expression::parse("off-cpu > 99%").unwrap(),
    )];
    let shown = analysis.subjects[0].diagnosis.as_ref().unwrap().off_share;
    let value = evaluate(&gates, &analysis)[0].value;
    assert!((value.unwrap() - shown.unwrap()).abs() < 1e-9);
}

#[test]
fn unsure_says_what_would_decide() {
    let unsure = verdict("wall > 99.5ms", recording(around(100.0), 10.0));
    assert_eq!(unsure.decision, Decision::Unsure);
    assert!(unsure.reason.contains("runs would decide"));
    let near = verdict("wall > 99.9ms", recording(around(100.0), 10.0));
    assert_eq!((near.decision, near.needs_runs), (Decision::Unsure, None));
    assert!(near.reason.contains("cannot be decided"));
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
fn what_has_no_value_says_why() {
    let unsure = |text: &str, walls: &[f64], cpu: f64, why: &str| {
        let found = verdict(text, recording(walls.iter().copied(), cpu));
        assert_eq!((found.decision, &*found.reason), (Decision::Unsure, why));
    };
    let (ten, zero, many) = (&[10.0; 6], &[10.0, 0.0, 10.0], &[10.0; 20]);
    let alone = "has no value: 1 run is too few";
    unsure("wall.stddev > 1ms", &ten[..1], 1.0, alone);
    let timeless = "has no share of wall: the wall time of a run is 0";
    unsure("cpu > 50%", zero, 1.0, timeless);
    unsure("cpu.max > 50%", &[0.0], 1.0, timeless);
    unsure("cpu.cv > 5%", many, 0.0, "has no value: the mean is 0");
    let parallel = "has no value: CPU time exceeds wall time in a run";
    unsure("off-cpu > 50%", ten, 20.0, parallel);
    unsure("off-cpu > 1ms", ten, 20.0, parallel);
    let counters = "has no value: cycles was not measured in every run";
    unsure("cycles > 1", ten, 1.0, counters);
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
fn little_cpu_time_has_no_ratio_but_a_bound() {
    for cpu in [0.0, 0.4] {
        let decide = |text: &str| verdict(text, recording(around(100.0), cpu));
        let far = decide("wall/cpu > 3");
        assert_eq!((far.decision, far.interval), (Decision::Fail, None));
        assert!(far.reason.starts_with("is at least 9"), "{}", far.reason);
        assert_eq!(decide("wall/cpu > 200").decision, Decision::Unsure);
        assert_eq!(decide("wall/cpu < 3").decision, Decision::Ok);
        assert_eq!(decide("wall/cpu < 200").decision, Decision::Unsure);
    }
    // An interval that reaches below zero bounds nothing.
    let wide = verdict("wall/cpu > 3", recording([1.0, 90.0, 2.0], 0.4));
    assert_eq!(wide.decision, Decision::Unsure);
    assert!(!wide.reason.contains('-'), "{}", wide.reason);
    let none = verdict("wall/cpu > 3", recording([100.0], 0.0));
    assert_eq!((none.decision, none.value), (Decision::Unsure, None));
}

fn new_over_old(new: f64, saved: &[Saved], text: &str) -> Verdict {
    let all = [recording(around(new), 10.0)];
    let mut analysis = analyze(&all, &Question::default());
    crate::analysis::baseline::compare_with(&mut analysis, saved);
    let gates = [Gate::Regression(Regression::parse(text).unwrap())];
    evaluate(&gates, &analysis).remove(0)
}

fn saved(file: &str, center: f64, cpu_model: &str) -> Saved {
    let mut old = recording(around(center), 10.0);
    old.host.cpu_model = Some(cpu_model.into());
    old.host.cpus = Some(2);
    Saved {
        file: file.into(),
        recordings: Ok(vec![old]),
    }
}

/// The machine of [`saved`] with that model is the one of [`recording`].
fn here(mut saved: Saved) -> Saved {
    if let Ok(all) = &mut saved.recordings {
        all[0].host = Host {
            kernel: Some("Linux 1".into()),
            ..Host::default()
        };
    }
    saved
}

fn on_this_host(new: f64, sessions: &[f64], text: &str) -> Verdict {
    let files: Vec<Saved> = sessions
        .iter()
        .enumerate()
        .map(|(place, center)| here(saved(&format!("{place}.json"), *center, "")))
        .collect();
    let mut all = [recording(around(new), 10.0)];
    all[0].host.kernel = Some("Linux 1".into());
    let mut analysis = analyze(&all, &Question::default());
    crate::analysis::baseline::compare_with(&mut analysis, &files);
    let gates = [Gate::Regression(Regression::parse(text).unwrap())];
    evaluate(&gates, &analysis).remove(0)
}

#[test]
fn one_baseline_decides_by_the_whole_interval() {
    let decide = |new| on_this_host(new, &[100.0], "5%").decision;
    assert_eq!(decide(110.0), Decision::Fail);
    assert_eq!(decide(101.0), Decision::Ok);
    let unsure = on_this_host(105.0, &[100.0], "5%");
    assert_eq!(unsure.decision, Decision::Unsure);
    assert_eq!(unsure.expression, "wall 0.json +5%");
    assert!(unsure.reason.starts_with("is +5.0% ["), "{}", unsure.reason);
    assert_eq!(
        on_this_host(110.0, &[100.0], "cpu=5%").decision,
        Decision::Ok
    );
}

#[test]
fn five_sessions_show_what_is_usual() {
    let quiet = [100.0, 100.1, 99.9, 100.2, 99.8];
    let noisy = [100.0, 110.0, 90.0, 106.0, 95.0];
    assert_eq!(on_this_host(107.0, &quiet, "5%").decision, Decision::Fail);
    assert_eq!(on_this_host(104.0, &quiet, "5%").decision, Decision::Ok);
    assert_eq!(on_this_host(107.0, &noisy, "5%").decision, Decision::Ok);
    let few = on_this_host(107.0, &noisy[..3], "5%");
    assert_eq!(few.decision, Decision::Unsure);
    assert!(few.reason.contains("3 sessions: 5 show"), "{}", few.reason);
}

#[test]
fn another_machine_decides_nothing() {
    let verdict = new_over_old(150.0, &[saved("old.json", 100.0, "Other")], "5%");
    assert_eq!(verdict.decision, Decision::Unsure);
    assert!(
        verdict
            .reason
            .contains("not comparable: CPU model Other there"),
        "{}",
        verdict.reason
    );
    let unknown = Saved {
        file: "gone.json".into(),
        recordings: Err("does not exist".into()),
    };
    let verdict = new_over_old(150.0, &[unknown], "5%");
    assert_eq!(verdict.decision, Decision::Unsure);
    assert!(
        verdict.reason.contains("gone.json does not exist"),
        "{}",
        verdict.reason
    );
}

#[test]
fn without_a_baseline_the_reference_is_it() {
    let mut all = [
        recording(around(100.0), 10.0),
        recording(around(100.0), 10.0),
        recording(around(120.0), 10.0),
    ];
    for one in &mut all {
        one.conditions.paired = true;
        for (round, sample) in one.samples.clone().iter().enumerate() {
            let mut sample = sample;
            sample.round = round as u64;
            if round == 0 {
                one.samples = crate::sample::Samples::new();
            }
            one.samples.push(&sample);
        }
    }
    let analysis = analyze(&all, &Question::default());
    let gates = [Gate::Regression(Regression::parse("5%").unwrap())];
    let verdicts = evaluate(&gates, &analysis);
    let found: Vec<_> = verdicts.iter().map(|v| (v.command, v.decision)).collect();
    assert_eq!(found, [(1, Decision::Ok), (2, Decision::Fail)]);
    assert_eq!(verdicts[0].expression, "wall vs 1 +5%");
}

#[test]
fn sessions_merged_decide_by_the_spread_between_them() {
    let walls = [100.0, 104.0, 96.0, 102.0, 99.0];
    let all: Vec<_> = walls
        .iter()
        .map(|wall| recording(around(*wall), 10.0))
        .collect();
    let files: Vec<String> = (0..5).map(|place| format!("{place}.json")).collect();
    let mut analysis = analyze(&all, &Question::default());
    crate::analysis::sessions::merge(&mut analysis, &files);
    let merged = analysis.merged.as_ref().unwrap();
    let wall = merged.benchmarks[0].metric("wall").unwrap();
    assert!(wall.between.unwrap() > 0.02 && wall.typical.interval.unwrap().low < 98.0e-3);
    let decide = |text: &str| {
        let gates = [Gate::Expression(Expression::parse(text).unwrap())];
        evaluate(&gates, &analysis)
    };
    assert_eq!(decide("wall > 90ms")[0].decision, Decision::Fail);
    assert_eq!(decide("wall > 101ms")[0].decision, Decision::Unsure);
    assert_eq!(decide("wall > 101ms").len(), 1);
    assert_eq!(decide("wall.max > 90ms").len(), 5);
}

/// Twenty runs whose children nobody's account has.
fn incomplete() -> Recording {
    let mut recording = Recording::new(Host::default(), Conditions::default());
    for wall in around(300.0) {
        let mut sample = Sample {
            wall: Duration::from_secs_f64(wall / 1e3),
            ..Sample::default()
        };
        sample.usage.user = Duration::from_millis(1);
        sample.readings.auto_reaps = Some(1);
        recording.samples.push(&sample);
    }
    recording
}

#[test]
fn an_incomplete_account_decides_nothing_about_cpu() {
    for text in ["wall/cpu > 3", "cpu < 5ms", "off-cpu > 80%"] {
        let found = verdict(text, incomplete());
        assert_eq!(found.decision, Decision::Unsure, "{text}");
        assert!(found.reason.contains("CPU is incomplete"), "{text}");
    }
    assert_eq!(verdict("wall > 1ms", incomplete()).decision, Decision::Fail);
    let all = [incomplete()];
    let tiers = [Gate::Tier(Tier::Severe), Gate::Tier(Tier::None)];
    for tier in evaluate(&tiers, &analyze(&all, &Question::default())) {
        assert_eq!(tier.decision, Decision::Unsure);
        assert!(tier.reason.contains("CPU is incomplete"));
    }
}

#[test]
fn an_incomplete_account_decides_nothing_about_cpu_of_other_sessions() {
    let regression = |text| Gate::Regression(Regression::parse(text).unwrap());
    let unsure = |found: &Verdict| {
        assert_eq!(found.decision, Decision::Unsure);
        assert!(
            found.reason.contains("CPU is incomplete"),
            "{}",
            found.reason
        );
    };
    let mut now = recording(around(300.0), 100.0);
    now.host.kernel = Some("Linux 1".into());
    for sessions in [1, 5] {
        let mut old = incomplete();
        old.host = now.host.clone();
        let old = Saved {
            file: "old.json".into(),
            recordings: Ok(vec![old]),
        };
        let all = [now.clone()];
        let mut analysis = analyze(&all, &Question::default());
        crate::analysis::baseline::compare_with(&mut analysis, &vec![old; sessions]);
        let found = evaluate(&[regression("cpu=5%"), regression("wall=5%")], &analysis);
        unsure(&found[0]);
        assert!(
            !found[1].reason.contains("CPU is incomplete"),
            "{}",
            found[1].reason
        );
    }
    let all = [recording(around(300.0), 100.0), incomplete()];
    let found = evaluate(
        &[regression("cpu=5%")],
        &analyze(&all, &Question::default()),
    );
    unsure(&found[0]);
    let sessions = [incomplete(), incomplete()];
    let mut analysis = analyze(&sessions, &Question::default());
    let files = ["a.json".to_owned(), "b.json".to_owned()];
    crate::analysis::sessions::merge(&mut analysis, &files);
    let gates = [Gate::Expression(Expression::parse("cpu < 1s").unwrap())];
    unsure(&evaluate(&gates, &analysis)[0]);
}

#[test]
fn one_session_needs_another_and_not_more_runs() {
    let sessions = [
        recording(around(100.0), 10.0),
        recording(around(100.0), 10.0),
        Recording {
            conditions: Conditions {
                name: Some("other".into()),
                ..Conditions::default()
            },
            ..recording(around(100.0), 10.0)
        },
    ];
    let mut analysis = analyze(&sessions, &Question::default());
    let files = ["a.json", "b.json", "a.json"].map(str::to_owned);
    crate::analysis::sessions::merge(&mut analysis, &files);
    let gates = [
        Gate::Expression(Expression::parse("wall > 90ms").unwrap()),
        Gate::Regression(Regression::parse("5%").unwrap()),
    ];
    let found = evaluate(&gates, &analysis);
    assert_eq!(found[0].decision, Decision::Fail);
    assert_eq!(
        (found[1].decision, found[1].needs_runs),
        (Decision::Unsure, Some(2))
    );
    let says =
        |verdict: &Verdict, text| assert!(verdict.reason.contains(text), "{}", verdict.reason);
    says(&found[1], ", 1 session, an interval needs 2");
    says(&found[2], ", 1 session is too few");
}

#[test]
fn without_cpu_time_there_is_no_tier_and_the_reason_is_true() {
    let mut recording = Recording::new(Host::default(), Conditions::default());
    recording.samples.push(&Sample {
        wall: Duration::from_millis(100),
        readings: crate::sample::Readings {
            unaccounted: crate::sample::Unaccounted::ALL,
            ..crate::sample::Readings::default()
        },
        ..Sample::default()
    });
    let all = [recording];
    let found = evaluate(
        &[Gate::Tier(Tier::Warning)],
        &analyze(&all, &Question::default()),
    );
    assert_eq!(found[0].decision, Decision::Unsure);
    assert_eq!(found[0].reason, "has no tier: no CPU time was measured");
}
