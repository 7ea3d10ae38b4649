//! Examples and exit codes: the end of the long help, and sections of the manual page.

use std::fmt::Write as _;

use crate::report::wrap;

/// Widest line of the help.
const WIDTH: usize = 80;

/// Command lines and what they are for.
pub(super) const EXAMPLES: &[(&str, &str)] = &[
    (
        "offbench 'grep -rc fn src'",
        "How long a command takes, and whether that time is spent computing.",
    ),
    (
        "offbench -w 3 'fd -e rs' \"find . -name '*.rs'\"",
        "Two commands side by side, in rounds, after three warm-up runs each.",
    ),
    (
        "offbench -p 'sync; make clean' 'make -j4'",
        "Something to do before each run.",
    ),
    (
        "offbench -P threads 1 8 'make -j {threads}'",
        "One command for each number.",
    ),
    (
        "offbench -L cc gcc,clang -L opt 1,2,3 '{cc} -O{opt} main.c'",
        "Every combination of two lists.",
    ),
    (
        "offbench --env 'OMP_NUM_THREADS=1' ./a --env 'OMP_NUM_THREADS=8' ./a",
        "Variables without a shell.",
    ),
    (
        "offbench --export-json result.json --export-markdown result.md ./old ./new",
        "Files that tools of hyperfine read, too.",
    ),
    (
        "offbench --fail-if 'wall/cpu > 3' --export-junit gates.xml 'dbtool commit'",
        "A job in CI: it exits with 3 if that is true.",
    ),
];

/// Exit codes and what they say.
pub(super) const STATUS: &[(&str, &str)] = &[
    ("0", "Done. Gates are ok, or unsure without --strict."),
    (
        "1",
        "A benchmarked command or a hook failed, or offbench could not measure or not deliver the result.",
    ),
    (
        "2",
        "Wrong usage, or something that cannot work: nothing was run.",
    ),
    ("3", "A gate failed."),
    (
        "4",
        "--strict was given and a gate is unsure, or the baseline is missing.",
    ),
    (
        "129, 130, 131, 143",
        "Interrupted by SIGHUP, SIGINT, SIGQUIT or SIGTERM, after reporting what was measured. A second signal ends at once.",
    ),
    (
        "141",
        "Whoever read standard output has gone away; files were still written.",
    ),
];

/// What stands below the options in the long help.
pub(super) fn help() -> String {
    let mut text = String::from("Examples:\n");
    for (example, meaning) in EXAMPLES {
        let _ = writeln!(text, "  {example}\n      {meaning}");
    }
    text.push_str("\nExit status:\n");
    for (code, meaning) in STATUS {
        for line in wrap(&format!("  {code}  "), meaning, WIDTH) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text + "\nThe manual page has more: metrics, off-CPU warnings, gates, exports"
}
