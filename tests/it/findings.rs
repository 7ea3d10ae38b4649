//! Programs whose waits are known are told so.

use serde_json::Value;

use crate::support::{Folder, does, number};

fn judged(args: &[&str]) -> Value {
    let folder = Folder::new();
    let document = folder.measure(args.iter().copied());
    document["results"][0]["offbench"].clone()
}

#[test]
fn sleeping_has_a_tier_and_its_share() {
    let ours = judged(&["-r", "6", &does("sleep 60")]);
    assert_ne!(ours["tier"], "none");
    // On a busy machine some of it is spent queueing after the sleep.
    let queued = ours["slices"]["queued"].as_f64().unwrap_or(0.0);
    let waiting = number(&ours["slices"]["waiting"]) + queued;
    assert!(
        waiting > 0.9 * number(&ours["wall"]["mean"]),
        "{}",
        ours["slices"]
    );
}

#[test]
fn expected_waiting_is_silent() {
    let ours = judged(&["-r", "6", "--expect-wait", &does("sleep 60")]);
    // On a busy machine the queue for a CPU is told all the same.
    let causes = ours["causes"].to_string();
    let other = causes.contains("cpu-queue") && !causes.contains("sleep");
    assert!(ours["tier"] == "none" || other, "{ours}");
}

#[test]
fn slices_add_up_to_wall() {
    let ours = judged(&["-r", "6", &does("mix 20 30")]);
    let slices = &ours["slices"];
    let sum: f64 = ["user", "system", "hidden_cpu", "queued", "waiting"]
        .iter()
        .map(|key| slices[key].as_f64().unwrap_or(0.0))
        .sum();
    let wall = number(&ours["wall"]["mean"]);
    assert!((sum / wall - 1.0).abs() < 0.01, "{sum} of {wall}: {slices}");
}

#[test]
fn a_background_process_is_counted() {
    let ours = judged(&["-r", "3", &does("daemon 60 600")]);
    let hidden = number(&ours["slices"]["hidden_cpu"]);
    assert!(hidden > 0.055 && hidden < 0.1, "{}", ours["slices"]);
}

#[test]
fn a_process_left_behind_is_told() {
    let folder = Folder::new();
    let finished = folder
        .offbench(["-r", "3", "sh -c 'sleep 1 & exit 0'"])
        .run();
    finished.says("still alive when it ended");
}

#[test]
fn children_in_nobodys_account_are_suspected() {
    let folder = Folder::new();
    let finished = folder.offbench(["-r", "3", &does("autoreap 60")]).run();
    let text = finished.stdout();
    assert!(
        text.contains("CPU is incomplete") || text.contains("hidden"),
        "{text}"
    );
    // The queue of a busy machine may be severe; the command's own account is not.
    let own = text.replace("severe cpu-queue", "");
    assert!(!own.contains("severe"), "{text}");
}

/// A run shows at least the peak memory of offbench, so that has to be small, and the same for the
/// first run and the last.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn the_memory_floor_is_low_and_stays() {
    let ours = judged(&["-N", "-r", "300", "true"]);
    let floor = number(&ours["conditions"]["rss_floor_bytes"]);
    let mib = f64::from(1 << 20);
    // Unoptimised, as tests are built, four times what people get.
    assert!((0.3 * mib..6.0 * mib).contains(&floor), "{floor}");
    let runs = ours["runs"].as_array().unwrap();
    let above = |run: &Value| number(&run["rss_bytes"]).max(floor);
    let (first, last) = (above(&runs[1]), above(&runs[runs.len() - 1]));
    assert!((last - first).abs() < 0.3 * mib, "{first} {last}");
}
