//! The document has the promised keys and comes back as it went out.

use serde_json::Value;

use super::*;
use crate::analysis::{Analysis, Question, analyze};
use crate::gate::{Expression, Gate, evaluate};
use crate::report::fixture::{self, GREP, URING};
use crate::sample::Recording;
use crate::sample::recording::read;

fn document(recordings: &[Recording]) -> String {
    let analysis = analyze(recordings, &Question::default());
    let gate = Gate::Expression(Expression::parse("wall/cpu > 3").unwrap());
    let verdicts = evaluate(&[gate], &analysis);
    write_to_string(&analysis, &verdicts)
}

fn write_to_string(analysis: &Analysis<'_>, verdicts: &[crate::gate::Verdict]) -> String {
    let command_line = ["offbench".to_owned(), "a \"b\"".to_owned()];
    let document = Document {
        version: "0.1.0",
        ..Document::new(analysis, verdicts, &command_line)
    };
    let mut out = Vec::new();
    write(&mut out, &document).unwrap();
    String::from_utf8(out).unwrap()
}

fn all() -> Vec<Recording> {
    vec![
        fixture::severe(),
        fixture::recording(URING, 3),
        fixture::failing(),
        fixture::parallel(),
    ]
}

#[test]
fn what_is_read_back_is_what_was_written() {
    let text = document(&all());
    let back = read(text.as_bytes()).unwrap();
    assert_eq!(back, all());
    assert_eq!(document(&back), text);
}

#[test]
fn the_promised_keys_are_there() {
    let value: Value = serde_json::from_str(&document(&all())).unwrap();
    let top = &value["offbench"];
    assert_eq!(value["schema_version"], 2);
    assert_eq!(value["primary_metric"], "time_wall_clock");
    assert_eq!(value["metadata"]["start_time"], "2025-10-09T08:53:20Z");
    assert_eq!(top["schema"], "offbench/1");
    assert_eq!(top["host"]["governor"], "performance");
    assert_eq!(top["comparisons"][0]["command"], 1);
    assert_eq!(top["gates"][0]["verdict"], "fail");
    let result = &value["results"][0];
    assert_eq!(result["times"].as_array().unwrap().len(), 60);
    assert_eq!(
        result["measurements"][0]["time_wall_clock"]["unit"],
        "second"
    );
    assert_eq!(result["summary"]["time_wall_clock"]["count"], 60);
    assert_eq!(result["mean"], result["offbench"]["wall"]["mean"]);
    let ours = &result["offbench"];
    assert_eq!(ours["tier"], "severe");
    assert_eq!(ours["phases"]["measured"], 60);
    assert_eq!(ours["causes"][0]["id"], "disk-flush");
    assert_eq!(ours["explain"]["named"], 0.97);
    assert!(ours["wall"]["median_exact_interval"][0].is_f64());
    assert!(ours["wall"]["p99_interval"].is_null());
    assert!(ours["slices"]["throttled"].is_null());
    assert_eq!(ours["runs"].as_array().unwrap().len(), 61);
    assert_eq!(ours["runs"][0]["phase"], "warmup");
    let failing = &value["results"][2];
    assert_eq!(failing["exit_codes"][2], 3);
    assert_eq!(failing["exit_codes"][4], 139);
    assert_eq!(failing["offbench"]["partial"], true);
    assert!(value["results"][3]["offbench"]["off_cpu"].is_null());
}

#[test]
fn a_command_without_a_good_run_has_nulls() {
    let mut recording = fixture::failing();
    let failed: Vec<_> = recording
        .samples
        .iter()
        .filter(|s| !s.outcome.success())
        .collect();
    recording.samples = failed.into_iter().collect();
    let text = document(&[recording, fixture::recording(GREP, 1)]);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert!(value["results"][0]["mean"].is_null());
    assert!(value["results"][0]["offbench"]["wall"].is_null());
    assert_eq!(value["offbench"]["comparisons"][0]["verdict"], "failed");
}

#[test]
fn unknown_cpu_time_is_no_zero() {
    let foreign = br#"{"results": [{"command": "x", "times": [1.0, 1.1, 1.2], "user": 0.5}]}"#;
    let text = document(&read(foreign).unwrap());
    let value: Value = serde_json::from_str(&text).unwrap();
    let result = &value["results"][0];
    assert!(result["user"].is_null() && result["offbench"]["cpu"].is_null());
    assert!(result["offbench"]["runs"][0]["user_s"].is_null());
    assert!(result["offbench"]["wall_cpu_ratio"]["value"].is_null());
    assert_eq!(result["memory_usage_byte"].as_array().unwrap().len(), 0);
    assert_eq!(document(&read(text.as_bytes()).unwrap()), text);
}

#[test]
fn the_document_is_as_its_schema_says() {
    let mut recordings = all();
    recordings[1].conditions.name = Some("x".into());
    recordings[1].conditions.parameters = [("n".to_owned(), "1".to_owned())].into();
    recordings[3].host.cpus = None;
    recordings[3].machine = [("pgmajfault".to_owned(), 3.0)].into();
    recordings[3].cut_short = Some(crate::sample::recording::CutShort::Failed("x".into()));
    recordings.extend(read(br#"{"results": [{"command": "x", "times": [1.0, 1.1]}]}"#).unwrap());
    let value: Value = serde_json::from_str(&document(&recordings)).unwrap();
    let faults = schema::faults(&value);
    assert!(faults.is_empty(), "{faults:#?}");
    let mut wrong = value;
    wrong["results"][0]["offbench"]["tier"] = "loud".into();
    wrong["results"][0]["offbench"]["runs"][0]["wall_s"] = Value::Null;
    assert_eq!(schema::faults(&wrong).len(), 2);
}

/// A recording whose lists are written in several parts.
fn long() -> Recording {
    let mut recording = fixture::severe();
    let runs: Vec<_> = recording.samples.iter().collect();
    for round in 0..40 {
        for mut run in runs.iter().copied() {
            run.round += 1_000 * round;
            recording.samples.push(&run);
        }
    }
    recording
}

#[test]
fn lists_look_the_same_within_a_part_and_between_two() {
    let text = document(&[long()]);
    let (_, runs) = text.split_once("\"runs\": [\n").unwrap();
    let (runs, _) = runs.split_once("\n    ]").unwrap();
    let lines: Vec<_> = runs.split(",\n").collect();
    assert_eq!(lines.len(), long().samples.len());
    assert!(runs.len() > 2 * crate::sample::recording::list::PART);
    for line in lines {
        let run = line.strip_prefix("     {\"phase\":").unwrap();
        assert!(run.ends_with('}') && !run.contains('\n'), "{run}");
    }
    let (_, measurements) = text.split_once("\"measurements\": [").unwrap();
    assert!(!measurements.split_once(']').unwrap().0.contains('\n'));
}

#[test]
fn hyperfine_one_has_the_usual_layout() {
    let recordings = [long()];
    let analysis = analyze(&recordings, &Question::default());
    let mut out = Vec::new();
    let format = crate::report::Format::from_id("hyperfine-v1").unwrap();
    (format.write)(&mut out, &Document::new(&analysis, &[], &[])).unwrap();
    let text = String::from_utf8(out).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let usual = serde_json::to_string_pretty(&value).unwrap() + "\n";
    // Of a value the keys come in another order.
    let lines = |text: &str| {
        let mut lines: Vec<_> = text
            .lines()
            .map(|line| line.trim_end_matches(',').to_owned())
            .collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(lines(&text), lines(&usual));
}
