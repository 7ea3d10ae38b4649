//! Gates decide on the interval, and the exit code says what they decided.

use crate::support::{Folder, does};

#[test]
fn a_failing_gate_exits_3_with_the_reason() {
    let folder = Folder::new();
    let finished = folder
        .offbench(["-r", "6", "--fail-if", "wall/cpu > 3", &does("mix 4 30")])
        .run();
    assert_eq!(finished.code(), Some(3), "{finished:?}");
    finished.says("FAIL");
    finished.complains("1 gate failed");
}

#[test]
fn a_clean_command_passes() {
    let folder = Folder::new();
    let finished = folder
        .offbench(["-r", "6", "--fail-if", "cpu > 5s", &does("spin 20")])
        .run();
    assert_eq!(finished.code(), Some(0), "{finished:?}");
    finished.says("ok");
}

#[test]
fn what_cannot_be_decided_is_unsure_and_strict_makes_it_4() {
    let folder = Folder::new();
    let args = ["-r", "3", "--fail-if", "wall > 1us", "true"];
    let finished = folder.offbench(args).run();
    assert_eq!(finished.code(), Some(0), "{finished:?}");
    finished.says("unsure");
    let finished = folder.offbench(args).arg("--strict").run();
    assert_eq!(finished.code(), Some(4), "{finished:?}");
}

#[test]
fn a_tier_can_fail_the_job() {
    let folder = Folder::new();
    let sleeps = does("mix 2 40");
    let finished = folder
        .offbench(["-r", "6", "--fail-on", "note", &sleeps])
        .run();
    assert_eq!(finished.code(), Some(3), "{finished:?}");
    let spins = does("spin 20");
    let finished = folder
        .offbench(["-r", "6", "--fail-on", "severe", &spins])
        .run();
    let busy = finished.stdout().contains("cpu-queue");
    assert!(busy || finished.code() == Some(0), "{finished:?}");
}

#[test]
fn every_gate_gets_a_verdict_in_the_document() {
    let folder = Folder::new();
    let args = [
        "-r",
        "6",
        "--fail-if",
        "wall > 10s",
        "--fail-if",
        "rss > 10GiB",
    ];
    let document = folder.measure(args.iter().copied().chain(["true"]));
    let gates = document["offbench"]["gates"].as_array().unwrap();
    assert_eq!(gates.len(), 2);
    assert!(
        gates.iter().all(|gate| gate["verdict"] == "ok"),
        "{gates:?}"
    );
}
