//! Many runs to one attribution.

use super::*;

fn named(cause: Cause, detail: &str, place: Option<&str>) -> Named {
    Named {
        cause,
        detail: detail.to_string(),
        place: place.map(str::to_string),
    }
}

fn run(pass: Pass, idle: f64, waits: Rows, unnamed: f64) -> ExplainedRun {
    ExplainedRun {
        pass,
        depth: Depth::Tracing,
        wall: idle + 10e6,
        busy: 9e6,
        queued: 1e6,
        idle,
        on_cpu: 18e6,
        threads: 2,
        waits,
        unnamed,
        too_short: unnamed / 2.0,
        blocked: Vec::new(),
        limits: vec!["said once".to_string()],
    }
}

#[test]
fn places_merge_and_shares_are_means() {
    let flush = |place, time| (named(Cause::DiskFlush, "fsync ./f", Some(place)), time, 3);
    let waits = vec![flush("device", 10e6), flush("journal commit", 20e6)];
    let runs = [
        run(Pass::Ticks, 40e6, waits, 10e6),
        run(Pass::Ticks, 20e6, vec![flush("device", 20e6)], 0.0),
    ];
    let made = attribute(&runs).unwrap();
    assert_eq!((made.runs, made.threads, made.waits.len()), (2, 2, 1));
    let wait = &made.waits[0];
    assert!((wait.seconds - 0.025).abs() < 1e-12, "{wait:?}");
    assert_eq!((wait.count, wait.place.as_deref()), (9, Some("device")));
    assert!((made.busy + made.queued + made.idle - made.wall).abs() < 1e-12);
    assert!((made.named - 25.0 / 30.0).abs() < 1e-12);
    assert_eq!(made.threads_busy, Some(2.0));
    assert_eq!(made.limits, ["said once"]);
}

#[test]
fn the_switch_pass_gives_the_shares_and_the_ticks_the_times() {
    let waits = vec![(named(Cause::DiskFlush, "fsync ./f", None), 60e6, 100)];
    let runs = [
        run(Pass::Ticks, 40e6, Vec::new(), 40e6),
        run(Pass::Switches, 80e6, waits, 20e6),
    ];
    assert!(needs_switch_pass(&runs[..1]));
    let made = attribute(&runs).unwrap();
    assert!((made.idle - 0.040).abs() < 1e-12 && (made.wall - 0.050).abs() < 1e-12);
    assert!((made.waits[0].seconds - 0.030).abs() < 1e-12);
    assert!((made.named - 0.75).abs() < 1e-12 && (made.too_short - 0.005).abs() < 1e-12);
    assert!(attribute(&[]).is_none());
}

#[test]
fn the_switch_pass_is_for_idle_time_without_a_name_and_needs_records() {
    let half = vec![(named(Cause::Sleep, "nanosleep", None), 30e6, 1)];
    assert!(!needs_switch_pass(&[run(Pass::Ticks, 40e6, half, 10e6)]));
    let mut sampled = run(Pass::Ticks, 40e6, Vec::new(), 40e6);
    sampled.depth = Depth::Sampling;
    assert!(!needs_switch_pass(&[sampled]));
    assert!(!needs_switch_pass(&[run(
        Pass::Ticks,
        0.1e6,
        Vec::new(),
        0.1e6
    )]));
}

#[test]
fn the_number_of_runs_follows_the_idle_ticks() {
    let ms = Duration::from_millis;
    let wanted = |idle, rate, wall, measuring| runs_wanted(ms(idle), rate, ms(wall), ms(measuring));
    assert_eq!(wanted(300, 1000.0, 300, 10_000), 1);
    assert_eq!(wanted(50, 1000.0, 60, 10_000), 4);
    assert_eq!(wanted(4, 5000.0, 5, 10_000), 10);
    assert_eq!(wanted(0, 1000.0, 30, 10_000), 20, "nothing known yet");
    assert_eq!(wanted(50, 1000.0, 300, 1000), 1, "half the measuring time");
    assert_eq!(wanted(50, 1000.0, 300, 0), 1, "at least one");
}
