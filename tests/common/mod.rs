//! What test programs share: folders of their own, programs built for them, and taking turns. Each
//! uses its part.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "compiled into each of the test programs"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A number that is no other's, in this process and in those beside it.
pub fn mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{}-{number:03}", std::process::id())
}

/// A new folder of that kind.
pub fn folder(kind: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("offbench-{kind}-{}", mark()));
    fs::create_dir_all(&path).unwrap();
    path
}

/// Builds a program of `tests/programs`.
pub fn build(source: &str, program: &Path) {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built = Command::new(compiler)
        .args(["--edition", "2024", "-O", "-o"])
        .arg(program)
        .arg(programs.join(source))
        .status();
    assert!(built.unwrap().success(), "{source} does not build");
}

/// One test at a time: they share the CPUs they measure.
pub fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
