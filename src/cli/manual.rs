//! The hand-written sections of the manual page, and those that tables of the program fill.

use std::fmt::Write as _;

use super::closing::{EXAMPLES, STATUS};
use crate::evidence::CAUSES;
use crate::gate::expression::OPERATORS;
use crate::metric::METRICS;
use crate::report::FORMATS;
use crate::stats::statistic::STATISTICS;
use crate::unit::Unit;

/// A section: its title, paragraphs, and a list of words with what they mean.
struct Section {
    title: &'static str,
    text: String,
    list: Vec<(String, String)>,
    after: &'static str,
}

const DESCRIPTION: &str = "\
offbench runs commands again and again, measures each run from outside, and says how long they take, how sure that is,
and whether the time is spent computing or waiting.

Each COMMAND is one argument. It is split into words with the quoting of a shell and executed directly; only a command
that holds shell syntax (such as | > $ * &&) goes through sh, and then its header says (via sh). Everything typed for
hyperfine works.

Several commands run in rounds, each second round in the reverse order of the first, and are compared in pairs with
the first command, or with --reference.

The order for each command is: setup; then for each warm-up and measured run: prepare, the run, conclude; then cleanup.
Conclude follows every run that prepare was made for, also a failed one. Cleanup runs once setup has run, also after a
failure or an interrupt. Hooks run through a shell, with the directory and the variables of their command, and are not
measured. A hook that fails ends the session with its exit code and the end of what it wrote to standard error;
--ignore-failure does not cover hooks.";

const ENVIRONMENT: &[(&str, &str)] = &[
    (
        "OFFBENCH_ITERATION, HYPERFINE_ITERATION",
        "Set for commands, prepare and conclude: 0, 1, 2, … for measured runs, warmup-0, … for warm-up runs, explain-0, … for diagnostic runs.",
    ),
    (
        "OFFBENCH_PADDING",
        "Set for commands to a text of random length, so that the place of the stack differs from round to round. Part of the seed; left out where the environment is too long.",
    ),
    (
        "NO_COLOR",
        "If set and not empty, no colours unless --color=always.",
    ),
    (
        "TERM",
        "If empty or dumb: plain lines, no control sequence at all.",
    ),
    ("COLUMNS", "Width of reports where no terminal says it."),
    (
        "LC_ALL, LC_CTYPE, LANG",
        "The first that is set decides whether more than ASCII may be written.",
    ),
    (
        "GITHUB_STEP_SUMMARY",
        "Markdown written to this file is appended, not replaced.",
    ),
    (
        "GITHUB_ACTIONS",
        "If true, --annotate=auto writes annotations.",
    ),
];

const METRICS_TEXT: &str = "\
Names for --metrics, --fail-if and exports. --metrics also takes the names of hyperfine 2. Times are in seconds,
memory is in bytes in every export. Hardware counters cover user mode; they are read only when --metrics names one,
and need permission (kernel.perf_event_paranoid of 2 or less) and a machine that has them.";

const WARNINGS_TEXT: &str = "\
When a command spends its wall time off the CPU, a faster program changes little. offbench compares wall time with the
CPU time of everything that the command started and says so in three tiers, note, warning and severe. It speaks only
where the amounts are certain; with parallel programs, incomplete accounts or too little time it is silent or says
what is missing. What is waited for is named by a cause where the evidence reaches:";

const WARNINGS_AFTER: &str = "\
--expect-wait silences the finding for commands that are meant to wait. --fail-on turns a tier into a gate.";

const GATES_TEXT: &str = "\
--fail-if 'METRIC[.STATISTIC] OPERATOR LIMIT' states the bad condition; without a statistic the median is meant.
Limits have units: UNITS. off-cpu with % is the share of wall time. The
verdict is FAIL if the whole interval of the value is past the limit, ok if none of it is, and otherwise unsure, with
the number of runs that would probably decide. Every gate is evaluated for every command. Operators and statistics:";

const EXPORTS_TEXT: &str = "\
Each is written beside its target and renamed when it is complete, so that an old file stays if the run fails. A file that
can be written but not replaced (one that is mounted into a container, one in a folder of somebody else) is overwritten in
place, once all that goes into it is complete. With - or /dev/stdout the document goes to standard output and the report
to standard error.";

/// The description, which stands above the options.
pub(super) fn opening() -> String {
    let mut text = String::from(
        ".SH SYNOPSIS\n\\fBoffbench\\fR [\\fIOPTIONS\\fR] \\fICOMMAND\\fR...\n.SH DESCRIPTION\n",
    );
    paragraphs(&mut text, DESCRIPTION);
    text
}

/// Everything below the options.
pub(super) fn sections() -> String {
    let mut text = String::new();
    for section in all() {
        let _ = writeln!(text, ".SH {}", section.title);
        paragraphs(&mut text, &section.text);
        for (word, meaning) in &section.list {
            let _ = writeln!(text, ".TP\n\\fB{}\\fR\n{}", escaped(word), escaped(meaning));
        }
        if !section.after.is_empty() {
            text.push_str(".PP\n");
        }
        paragraphs(&mut text, section.after);
    }
    text.push_str(".SH SEE ALSO\n\\fBtime\\fR(1), \\fBperf\\fR(1), \\fBhyperfine\\fR(1)\n");
    text
}

fn all() -> Vec<Section> {
    let words = |list: &[(&str, &str)]| -> Vec<(String, String)> {
        list.iter()
            .map(|(word, meaning)| ((*word).to_owned(), (*meaning).to_owned()))
            .collect()
    };
    let section = |title, text: &str, list, after| Section {
        title,
        text: text.to_owned(),
        list,
        after,
    };
    let named =
        |name: &str, help: &str| (name.to_owned(), format!("{}.", help.trim_end_matches('.')));
    let metrics = METRICS.iter().map(|one| named(one.id, one.help)).collect();
    let causes = CAUSES
        .iter()
        .map(|one| named(one.id, one.explanation))
        .collect();
    let operators = OPERATORS.iter().map(|one| named(one.symbol, one.help));
    let statistics = STATISTICS.iter().map(|one| named(one.id, one.help));
    let exports = FORMATS
        .iter()
        .map(|one| named(&format!("--export-{} FILE", one.id), one.help))
        .collect();
    let units = [Unit::Time, Unit::Bytes, Unit::Percent, Unit::Ratio];
    let units = units.map(|unit| unit.words().join(" "));
    vec![
        section("EXIT STATUS", "", words(STATUS), ""),
        section("ENVIRONMENT", "", words(ENVIRONMENT), ""),
        section("METRICS", METRICS_TEXT, metrics, ""),
        section("OFF-CPU WARNINGS", WARNINGS_TEXT, causes, WARNINGS_AFTER),
        section(
            "GATES",
            &GATES_TEXT.replace("UNITS", &units.join(", ")),
            operators.chain(statistics).collect(),
            "",
        ),
        section("EXPORTS", EXPORTS_TEXT, exports, ""),
        section("EXAMPLES", "", words(EXAMPLES), ""),
    ]
}

fn paragraphs(text: &mut String, body: &str) {
    for (place, paragraph) in body.split("\n\n").enumerate() {
        if place > 0 {
            text.push_str(".PP\n");
        }
        if !paragraph.is_empty() {
            text.push_str(&escaped(paragraph));
            text.push('\n');
        }
    }
}

/// Text as roff reads it: no line begins with a control character, and hyphens stay hyphens.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + 8);
    for (place, line) in text.lines().enumerate() {
        if place > 0 {
            shown.push('\n');
        }
        if line.starts_with(['.', '\'']) {
            shown.push_str("\\&");
        }
        for c in line.chars() {
            match c {
                '\\' => shown.push_str("\\e"),
                '-' => shown.push_str("\\-"),
                '\'' => shown.push_str("\\(aq"),
                '…' => shown.push_str("..."),
                c => shown.push(c),
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_a_table_is_in_the_manual() {
        let text = sections();
        let ids = METRICS.iter().map(|one| one.id);
        let ids = ids.chain(CAUSES.iter().map(|one| one.id));
        let ids = ids.chain(FORMATS.iter().map(|one| one.id));
        for id in ids.chain(STATISTICS.iter().map(|one| one.id)) {
            assert!(text.contains(&escaped(id)), "{id}");
        }
    }

    #[test]
    fn roff_does_not_act_on_text() {
        assert_eq!(escaped(".x\n'y' a-b \\"), "\\&.x\n\\&\\(aqy\\(aq a\\-b \\e");
    }
}
