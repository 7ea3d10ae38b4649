//! Generated files are what the program would generate now.
//!
//! `OFFBENCH_REGENERATE=1 cargo test --test it generated` writes them again.

use std::fs;
use std::path::{Path, PathBuf};

use offbench::cli::{COMPLETIONS, completion_text, manual_page};

fn check(name: &str, text: &[u8]) {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    if std::env::var_os("OFFBENCH_REGENERATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let kept = fs::read(&path).unwrap_or_default();
    assert!(
        kept == text,
        "{name} is stale: OFFBENCH_REGENERATE=1 cargo test --test it generated"
    );
}

#[test]
fn generated_completions_are_up_to_date() {
    for (shell, file) in COMPLETIONS {
        check(&format!("completions/{file}"), &completion_text(*shell));
    }
}

#[test]
fn generated_manual_page_is_up_to_date() {
    check("man/offbench.1", &manual_page().unwrap());
}

#[test]
fn generated_completions_are_printed() {
    let folder = crate::support::Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish", "nushell"] {
        let finished = folder.offbench(["--completions", shell]).run();
        assert_eq!(finished.code(), Some(0), "{finished:?}");
        assert!(finished.stdout().contains("max-runs"), "{shell}");
    }
    let finished = folder.offbench(["--completions", "cmd"]).run();
    assert_eq!(finished.code(), Some(2));
}
