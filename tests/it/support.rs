//! What the tests of the program share: a folder of their own, a builder for invocations, and the
//! workload program, built once.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

use crate::common;

/// A folder that is gone with the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        Self(common::folder("it"))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.join(name)).unwrap()
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.join(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub fn exists(&self, name: &str) -> bool {
        self.join(name).exists()
    }

    /// An invocation of offbench in this folder.
    pub fn offbench<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Invocation {
        let mut command = Command::new(env!("CARGO_BIN_EXE_offbench"));
        command
            .args(args)
            .current_dir(&self.0)
            .env_remove("NO_COLOR")
            .env("LC_ALL", "C.UTF-8")
            .env("TERM", "xterm")
            .stdin(Stdio::null());
        Invocation { command }
    }

    /// The document of an invocation that must succeed.
    pub fn measure<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Value {
        self.measure_with(&["--export-json=out.json"], args)
    }

    /// The same with other options before, for command lines that end in words of a command.
    pub fn measure_with<S: AsRef<OsStr>>(
        &self,
        before: &[&str],
        args: impl IntoIterator<Item = S>,
    ) -> Value {
        let mut invocation = self.offbench(before);
        for arg in args {
            invocation = invocation.arg(arg);
        }
        let finished = invocation.run();
        assert_eq!(finished.code(), Some(0), "{finished:?}");
        serde_json::from_str(&self.read("out.json")).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// One invocation of offbench.
pub struct Invocation {
    pub command: Command,
}

impl Invocation {
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn run(mut self) -> Finished {
        Finished(self.command.output().unwrap())
    }
}

/// What an invocation did.
#[derive(Debug)]
pub struct Finished(pub Output);

impl Finished {
    pub fn code(&self) -> Option<i32> {
        self.status().code()
    }

    pub fn status(&self) -> ExitStatus {
        self.0.status
    }

    pub fn stdout(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    /// Checks that the report has that text.
    pub fn says(&self, text: &str) {
        let out = self.stdout();
        assert!(out.contains(text), "`{text}` is not in {out}");
    }

    /// Checks that the messages have that text.
    pub fn complains(&self, text: &str) {
        let err = self.stderr();
        assert!(err.contains(text), "`{text}` is not in {err}");
    }
}

/// A script of bash in that folder, with offbench as `$T`.
pub fn sh(folder: &Folder, script: &str) -> Output {
    Command::new("bash")
        .args(["-c", script])
        .env("T", env!("CARGO_BIN_EXE_offbench"))
        .env("LC_ALL", "C.UTF-8")
        .current_dir(folder.path())
        .output()
        .unwrap()
}

/// The program whose waits are known, built once.
pub fn workload() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("workload");
        common::build("workload.rs", &target);
        target
    })
}

/// `workload WORDS…` as one command.
pub fn does(words: &str) -> String {
    format!("{} {words}", workload().display())
}

/// A number in a document.
pub fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}
