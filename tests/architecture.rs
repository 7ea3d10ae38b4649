//! Properties of the code itself: who may use whom, how large files may be, and where the system
//! may be touched. `ARCHITECTURE.md` says why.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    unreachable_pub,
    missing_docs,
    reason = "a test that fails may panic, and it runs programs"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Each module with the modules it may use, bottom to top. `cli` may use all.
const MODULES: &[(&str, &[&str])] = &[
    ("unit", &[]),
    ("evidence", &[]),
    ("sample", &["evidence"]),
    ("metric", &["sample", "unit"]),
    ("stats", &[]),
    ("explain", &["evidence", "sample"]),
    ("sys", &["sample", "evidence"]),
    ("probe", &["evidence", "sys", "explain", "sample", "unit"]),
    ("plan", &["unit", "metric", "evidence", "sample"]),
    (
        "run",
        &[
            "plan", "probe", "sys", "sample", "metric", "stats", "evidence", "unit",
        ],
    ),
    (
        "diagnose",
        &["evidence", "sample", "stats", "explain", "unit"],
    ),
    (
        "analysis",
        &["sample", "metric", "stats", "diagnose", "evidence", "unit"],
    ),
    (
        "gate",
        &["analysis", "metric", "stats", "unit", "diagnose", "sample"],
    ),
    (
        "report",
        &[
            "analysis", "gate", "diagnose", "stats", "metric", "sample", "evidence", "unit",
        ],
    ),
    (
        "doctor",
        &["run", "probe", "sys", "sample", "evidence", "unit"],
    ),
    ("progress", &["run", "plan", "sample", "unit", "report"]),
];

/// Lines of a file without its tests.
const MOST_LINES: usize = 500;

/// Words that say nothing.
const EMPTY_NAMES: &[&str] = &[
    "util", "utils", "helper", "helpers", "common", "manager", "misc",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every source file with its path below `src` and its text.
fn sources() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    collect(&root(), &mut found);
    assert!(found.len() > 20, "the sources were not found");
    found
}

fn collect(folder: &Path, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            let name = path
                .strip_prefix(root())
                .unwrap()
                .to_string_lossy()
                .into_owned();
            found.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
}

fn module_of(file: &str) -> &str {
    let first = file.split('/').next().unwrap();
    first.strip_suffix(".rs").unwrap_or(first)
}

fn is_test_file(file: &str) -> bool {
    file.ends_with("/tests.rs") || file.contains("/tests/")
}

/// The code before the tests of a file, without comments.
fn code(text: &str) -> String {
    let body = text.split("\n#[cfg(test)]\nmod ").next().unwrap();
    body.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The first segments of all `crate::…` paths.
fn used_modules(code: &str) -> Vec<String> {
    let mut used = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let inside = group.split('}').next().unwrap_or_default();
            used.extend(inside.split(',').map(|word| word.trim().to_string()));
        } else {
            let end = rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            used.push(rest[..end].to_string());
        }
    }
    used.retain(|word| !word.is_empty());
    used
}

#[test]
fn modules_use_only_what_stands_below_them() {
    let allowed: BTreeMap<_, _> = MODULES.iter().copied().collect();
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let module = module_of(&file).to_string();
        if ["lib", "main", "cli"].contains(&module.as_str()) || is_test_file(&file) {
            continue;
        }
        let may = allowed.get(module.as_str());
        let Some(may) = may else {
            wrong.push(format!("{file}: module `{module}` is not on the map"));
            continue;
        };
        for used in used_modules(&code(&text)) {
            if used != module && !may.contains(&used.as_str()) {
                wrong.push(format!("{file}: `{module}` must not use `{used}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_map_has_no_way_back() {
    for (place, (module, uses)) in MODULES.iter().enumerate() {
        for used in *uses {
            let below = MODULES[..place].iter().any(|(other, _)| other == used);
            assert!(below, "`{module}` uses `{used}`, which stands above it");
        }
    }
}

/// The rows of the table in section 2 of `ARCHITECTURE.md`: a module and what it may use.
fn table() -> Vec<(String, Vec<String>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    let text = fs::read_to_string(path).unwrap();
    let section = text.split("\n## ").find(|part| part.starts_with("2. "));
    let rows = section
        .unwrap()
        .lines()
        .filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let words = cells.last().unwrap().split(", ");
        let uses = words.filter(|word| *word != "–").map(str::to_owned);
        (cells[0].trim_matches('`').to_owned(), uses.collect())
    })
    .collect()
}

#[test]
fn the_table_for_people_is_the_map() {
    let map = MODULES.iter().map(|(module, uses)| {
        let uses = uses.iter().map(|used| (*used).to_owned());
        ((*module).to_owned(), uses.collect::<Vec<_>>())
    });
    let mut rows = table();
    assert_eq!(rows.pop().map(|(module, _)| module).as_deref(), Some("cli"));
    assert_eq!(rows, map.collect::<Vec<_>>());
    let files = sources();
    for (module, _) in rows {
        let there = files.keys().any(|file| module_of(file) == module);
        assert!(there, "there is no module `{module}`");
    }
}

#[test]
fn files_hold_one_idea() {
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let body = text.split("\n#[cfg(test)]\n").next().unwrap();
        let lines = body.lines().count();
        if lines > MOST_LINES && !is_test_file(&file) {
            wrong.push(format!("{file}: {lines} lines, {MOST_LINES} are the most"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_say_what_they_are_for() {
    for (file, text) in sources() {
        assert!(
            text.starts_with("//! "),
            "{file} does not open with what it is for"
        );
    }
}

/// What only `sys` may hold. An open `File` may be carried about, but not opened elsewhere.
const SYSTEM: &[&str] = &[
    "unsafe ",
    "unsafe{",
    "target_os",
    "target_arch",
    "libc::",
    "nix::",
    "fs::",
    "File::open",
    "File::create",
    "File::options",
    "OpenOptions",
];

/// Who else may hold one of them.
const EXCEPTIONS: &[(&str, &str)] = &[
    // Which limit is read is named by the type of the call.
    ("probe/bench.rs", "nix::"),
];

/// Whether a word stands in the code, not as the end of another one.
fn holds(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

#[test]
fn only_sys_touches_the_system() {
    for (file, text) in sources() {
        if module_of(&file) == "sys" || is_test_file(&file) {
            continue;
        }
        let code = code(&text).replace("use std::fs::File;", "");
        let code = code.replace("std::os::unix::fs::", "");
        for word in SYSTEM {
            let found = holds(&code, word) && !EXCEPTIONS.contains(&(file.as_str(), word));
            assert!(!found, "{file} holds `{word}`, which belongs into sys");
        }
    }
    assert!(holds("use nix::libc::c_int;", "libc::") && !holds("unix::wait()", "nix::"));
}

#[test]
fn every_unsafe_block_has_its_reason() {
    for (file, text) in sources() {
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let line = line.trim();
            let opens = line.contains("unsafe {") && !line.starts_with("//");
            let near = &lines[number.saturating_sub(6)..number];
            let reason = near.iter().any(|above| above.contains("SAFETY:"));
            assert!(
                !opens || reason,
                "{file}:{}: unsafe without SAFETY",
                number + 1
            );
        }
    }
}

#[test]
fn names_mean_something() {
    for file in sources().keys() {
        for part in file.split('/') {
            let name = part.strip_suffix(".rs").unwrap_or(part);
            assert!(
                !EMPTY_NAMES.contains(&name),
                "{file}: `{name}` says nothing"
            );
        }
    }
}

#[test]
fn only_main_and_cli_end_the_program() {
    for (file, text) in sources() {
        let ends = code(&text).contains("process::exit(");
        assert!(!ends, "{file} ends the program");
    }
}
