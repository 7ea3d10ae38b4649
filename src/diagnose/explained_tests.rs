//! Attributions made in code give these lines, tiers and sentences.

use super::*;
use crate::evidence::Depth;
use crate::sample::attribution::Wait;

fn wait(cause: Cause, detail: &str, seconds: f64, count: u64) -> Wait {
    Wait {
        cause,
        detail: detail.into(),
        place: None,
        seconds,
        count,
    }
}

fn attribution(busy: f64, idle: f64, waits: Vec<Wait>) -> Attribution {
    let named: f64 = waits.iter().map(|wait| wait.seconds).sum();
    Attribution {
        runs: 1,
        depth: Depth::Tracing,
        wall: busy + idle,
        busy,
        queued: 0.0,
        idle,
        threads_busy: Some(1.0),
        threads: 4,
        named: named / idle.max(1e-9),
        too_short: idle - named,
        tree_cpu: Some(busy),
        waits,
        blocked: Vec::new(),
        limits: vec!["something was lost".into()],
    }
}

fn figures(wall: f64) -> Figures {
    Figures {
        runs: 10,
        ratio: None,
        wall,
        off_cpu: -0.1,
        without_queueing: None,
        stalls: None,
        variance: None,
    }
}

#[test]
fn short_waits_are_told_with_the_call_of_the_rest() {
    let waits = vec![
        wait(Cause::DiskFlush, "fsync ./wal", 0.060, 10),
        wait(Cause::Lock, "futex", 0.002, 1),
    ];
    let said = explained(&attribution(0.01, 0.1, waits), 0.105, None);
    assert_eq!(
        said.remarks,
        [
            "38% of the idle time is in waits shorter than 50 \u{b5}s, too short to name by sampling; of the named part, fsync 97%",
            "by 1 diagnostic run of 110.0 ms, 5% above the measured",
            "something was lost"
        ]
    );
}

#[test]
fn a_wall_far_from_the_measured_makes_shares_rough() {
    let said = explained(&attribution(0.1, 0.0, Vec::new()), 0.07, None);
    assert!(said.remarks[0].ends_with("above the measured: the shares are rough"));
    let said = explained(&attribution(0.1, 0.0, Vec::new()), 0.3, Some(0.9));
    let missed = "67% below the measured: they did not meet what the measured runs waited for";
    assert!(said.remarks[0].ends_with(missed), "{:?}", said.remarks);
}

#[test]
fn runs_that_did_not_wait_tell_nothing_of_those_that_did() {
    let found = attribution(0.01, 0.1, vec![wait(Cause::Pipe, "read", 0.1, 1)]);
    assert!(about(Some(&found), 0.2).is_some());
    assert!(about(Some(&found), 0.3).is_none());
    assert!(about(None, 0.3).is_none());
}

#[test]
fn accounts_that_say_something_else_are_told() {
    let said = |off: f64, threads: u64| {
        let mut found = attribution(0.1, 0.1, Vec::new());
        (found.threads, found.named, found.threads_busy) = (threads, 1.0, None);
        explained(&found, 0.2, Some(off)).remarks.swap_remove(0)
    };
    let parallel = "wall less CPU is 25%, yet nothing ran 50%: at other times threads ran at once";
    assert_eq!(said(0.25, 2), parallel);
    let apart = "the measured runs were off the CPU 75%, the diagnostic ones 50% of the time";
    assert_eq!(said(0.75, 1), apart);
    assert!(said(0.45, 4).starts_with("by 1 diagnostic run"));
}

#[test]
fn a_sentence_names_a_file_only_where_it_is_nearly_all() {
    let line = |cause, detail: &str, share| CauseLine {
        cause,
        share,
        seconds: share,
        at_least: false,
        detail: detail.into(),
        remark: String::new(),
        depth: Depth::Sampling,
    };
    let meaning = |line: &CauseLine, all| words::meaning(line, all).unwrap();
    let read = line(Cause::DiskRead, "read ./a", 0.3);
    assert!(meaning(&read, 0.3).contains("of ./a "));
    assert!(meaning(&read, 0.6).contains("of files "));
    let others = line(Cause::DiskRead, words::OTHERS, 0.3);
    assert!(meaning(&others, 0.3).contains("of files "));
    let peer = line(Cause::Network, "recvfrom 10.0.0.1:80", 0.3);
    assert!(meaning(&peer, 0.6).contains("10.0.0.1:80 and others to answer"));
}

#[test]
fn a_lock_that_goes_round_serialises_and_a_join_does_not() {
    let mut found = attribution(0.2, 0.001, Vec::new());
    found.blocked = vec![wait(Cause::Lock, "futex", 0.6, 80)];
    let said = explained(&found, 0.2, None).remarks;
    assert_eq!(
        said[0],
        "4 threads, 1.0 busy on average: a lock serialises them"
    );
    found.blocked[0].count = 4;
    let said = explained(&found, 0.2, None).remarks;
    assert!(!said[0].contains("lock"), "{said:?}");
}

#[test]
fn idle_time_has_a_tier_from_a_quarter_of_wall_on() {
    let tier = |busy, idle| idle_tier(&attribution(busy, idle, Vec::new()), &figures(busy + idle));
    assert_eq!(tier(0.2, 0.1), Tier::Note);
    assert_eq!(tier(0.02, 0.1), Tier::Severe);
    assert_eq!(tier(0.4, 0.1), Tier::None);
    assert_eq!(tier(0.002, 0.004), Tier::None);
}

#[test]
fn small_waits_share_a_line() {
    let waits = vec![
        wait(Cause::DiskFlush, "fsync ./wal", 0.05, 9),
        wait(Cause::Lock, "futex", 0.0005, 1),
        wait(Cause::Sleep, "nanosleep", 0.0004, 1),
    ];
    let lines = lines(&attribution(0.05, 0.051, waits), 0.202);
    assert_eq!(lines.len(), 2);
    assert!((lines[0].seconds - 0.1).abs() < 1e-9);
    assert_eq!(lines[1].detail, "other waits");
    assert_eq!(lines[1].remark, "lock or condition variable, sleep");
    assert_eq!(main_cause(&lines), Some(Cause::DiskFlush));
}
