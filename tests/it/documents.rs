//! What the documents tell people to type is run: every line with offbench in a fenced block that is
//! marked `test`.

use std::path::Path;
use std::process::Command;

use crate::support::Folder;

/// The lines of blocks marked `test` that start offbench.
fn lines(document: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
    let text = std::fs::read_to_string(path).unwrap();
    let mut marked = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if let Some(info) = line.strip_prefix("```") {
            marked = info.ends_with(" test");
            continue;
        }
        let line = line.trim().trim_start_matches("- ");
        if marked && line.starts_with("offbench ") {
            found.push(line.to_owned());
        }
    }
    found
}

fn run_all(document: &str, least: usize) {
    let folder = Folder::new();
    let program = Path::new(env!("CARGO_BIN_EXE_offbench"));
    let path = format!(
        "{}:{}",
        program.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let all = lines(document);
    assert!(all.len() >= least, "{document}: {} lines", all.len());
    for line in all {
        let done = Command::new("sh")
            .args(["-c", &line])
            .env("PATH", &path)
            .env("GITHUB_STEP_SUMMARY", folder.join("summary.md"))
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(done.status.code(), Some(0), "{line}: {done:?}");
        assert!(
            !String::from_utf8_lossy(&done.stderr).contains("warning:"),
            "{line}: {done:?}"
        );
    }
}

#[test]
fn examples_of_the_readme_run() {
    run_all("README.md", 5);
}

#[test]
fn recipes_for_build_servers_run() {
    run_all("docs/from-hyperfine.md", 4);
}

#[test]
fn every_option_of_hyperfine_is_in_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/from-hyperfine.md");
    let text = std::fs::read_to_string(path).unwrap();
    for option in [
        "--warmup",
        "-m",
        "-M",
        "-r",
        "--setup",
        "--reference",
        "--reference-name",
        "--prepare",
        "--conclude",
        "--cleanup",
        "-P",
        "-D",
        "-L",
        "--shell",
        "-N",
        "-S",
        "--ignore-failure",
        "--style",
        "--sort",
        "--time-unit",
        "--export-asciidoc",
        "--export-csv",
        "--export-json",
        "--export-markdown",
        "--export-orgmode",
        "--show-output",
        "--output",
        "--input",
        "--command-name",
        "--metrics",
        "--env",
        "--min-benchmarking-time",
        "--debug-mode",
    ] {
        let short = option.trim_start_matches("--export-");
        assert!(
            text.contains(option) || text.contains(&format!("`-{short}`")),
            "{option}"
        );
    }
}
