//! Screens as files: `OFFBENCH_WRITE_SCREENS=1 cargo test screens` writes them anew.

use std::path::Path;

use super::*;
use crate::analysis::{Question, analyze};
use crate::gate::{Expression, Gate, evaluate};
use crate::report::fixture::{self, DBTOOL, GREP, Program, URING};
use crate::report::{Sort, Style};
use crate::sample::Recording;

/// Recordings that are analysed once and shown often.
struct Case<'a> {
    analysis: Analysis<'a>,
    verdicts: Vec<Verdict>,
}

impl<'a> Case<'a> {
    fn new(recordings: &'a [Recording], gates: &[&str]) -> Self {
        let analysis = analyze(recordings, &Question::default());
        let gates: Vec<Gate> = gates
            .iter()
            .map(|text| Gate::Expression(Expression::parse(text).unwrap()))
            .collect();
        let verdicts = evaluate(&gates, &analysis);
        Self { analysis, verdicts }
    }

    fn screen(&self, style: &Style) -> String {
        let document = Document::new(&self.analysis, &self.verdicts, &[]);
        let mut out = Vec::new();
        report(&mut out, style, &document).unwrap();
        String::from_utf8(out).unwrap()
    }
}

pub(in crate::report) fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/report")
        .join(name);
    if option_env!("OFFBENCH_WRITE_SCREENS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, kept, "{name} has changed");
}

fn wide(width: usize) -> Style {
    Style {
        width,
        ..Style::default()
    }
}

fn ascii() -> Style {
    Style {
        unicode: false,
        ..Style::default()
    }
}

fn basic() -> Style {
    Style {
        kind: Kind::Basic,
        ..Style::default()
    }
}

fn writers() -> Vec<Recording> {
    let sync = Program {
        name: "sync-writer",
        runs: 30,
        ..DBTOOL
    };
    vec![fixture::recording(sync, 2), fixture::recording(URING, 3)]
}

const GATES: [&str; 3] = ["wall/cpu > 3", "wall > 60ms", "wall.p99 > 46ms"];

#[test]
fn screens_of_one_command() {
    let recordings = [fixture::recording(GREP, 1)];
    let clean = Case::new(&recordings, &[]);
    let recordings = [fixture::severe()];
    let severe = Case::new(&recordings, &GATES);
    for width in [80, 60, 40] {
        check(&format!("clean-{width}.txt"), &clean.screen(&wide(width)));
        check(&format!("severe-{width}.txt"), &severe.screen(&wide(width)));
    }
    check("severe-ascii.txt", &severe.screen(&ascii()));
    check("severe-basic.txt", &severe.screen(&basic()));
    let recordings = [fixture::failing()];
    let failing = Case::new(&recordings, &[]);
    check("failing-80.txt", &failing.screen(&wide(80)));
    check("failing-basic.txt", &failing.screen(&basic()));
    let recordings = [fixture::parallel()];
    check(
        "parallel-80.txt",
        &Case::new(&recordings, &[]).screen(&wide(80)),
    );
}

#[test]
fn screens_of_several_commands() {
    let recordings = writers();
    let writers = Case::new(&recordings, &GATES);
    for width in [100, 80, 60, 40] {
        check(
            &format!("versus-{width}.txt"),
            &writers.screen(&wide(width)),
        );
    }
    check("versus-basic.txt", &writers.screen(&basic()));
}

#[test]
fn screens_of_many_commands() {
    let names = [
        "n=1", "n=2", "n=3", "n=4", "n=5", "n=6", "n=7", "n=8", "n=9", "n=10", "n=11",
    ];
    let many: Vec<Recording> = (10..)
        .zip(names)
        .map(|(seed, name)| {
            let user = GREP.user * (30 - seed) as f64;
            fixture::recording(Program { name, user, ..GREP }, seed)
        })
        .collect();
    let many = Case::new(&many, &[]);
    check("scan-80.txt", &many.screen(&wide(80)));
    let sorted = Style {
        sort: Sort::MeanTime,
        ..wide(0)
    };
    check("scan-sorted.txt", &many.screen(&sorted));
}

#[test]
fn nothing_is_wider_than_the_terminal() {
    let mut recordings = writers();
    recordings.push(fixture::severe());
    recordings.push(fixture::failing());
    let case = Case::new(&recordings, &GATES);
    for width in 0..=120 {
        let screen = case.screen(&wide(width));
        assert!(!screen.is_empty());
        for line in screen.lines().filter(|_| width >= 50) {
            let taken = crate::report::style::columns(line);
            assert!(taken <= width, "{width}: {taken} {line}");
        }
    }
}

#[test]
fn plain_styles_write_no_escape() {
    let recordings = [fixture::severe(), fixture::failing()];
    let case = Case::new(&recordings, &GATES);
    for style in [ascii(), basic(), wide(80)] {
        assert!(!case.screen(&style).contains('\u{1b}'));
    }
    let ascii = case.screen(&ascii());
    assert!(ascii.is_ascii(), "{ascii}");
}

#[test]
fn colour_says_nothing_that_a_word_does_not() {
    let recordings = [fixture::severe(), fixture::failing()];
    let case = Case::new(&recordings, &GATES);
    let style = Style {
        color: true,
        ..wide(80)
    };
    let mut plain = case.screen(&style);
    assert!(!cfg!(feature = "cli") || plain.contains('\u{1b}'));
    for code in ["0", "1", "31", "32", "33"] {
        plain = plain.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(plain, case.screen(&wide(80)));
}

#[test]
fn no_style_still_tells_of_failed_gates() {
    let none = Style {
        kind: Kind::None,
        ..wide(80)
    };
    let severe = [fixture::severe()];
    assert_eq!(Case::new(&severe, &["wall > 60s"]).screen(&none), "");
    let failed = Case::new(&severe, &["wall > 60s", "wall > 1ms"]).screen(&none);
    assert!(
        failed.contains("FAIL") && !failed.contains("ok"),
        "{failed}"
    );
}

#[test]
fn a_foreign_file_writes_no_escape_to_the_terminal() {
    let mut recording = fixture::severe();
    let evil = "a\u{1b}[31m\r\n\u{9b}\u{202e}x".to_owned();
    recording.conditions.command.clone_from(&evil);
    recording.conditions.shell = Some(evil.clone());
    recording.notes.push(evil.clone());
    recording.cut_short = Some(crate::sample::recording::CutShort::Failed(evil.clone()));
    if let Some(found) = &mut recording.attribution {
        found.waits[0].detail.clone_from(&evil);
        found.waits[0].place = Some(evil);
    }
    let recordings = [recording, fixture::recording(GREP, 1)];
    let case = Case::new(&recordings, &GATES);
    for style in [wide(0), wide(80), wide(40), basic(), ascii()] {
        let screen = case.screen(&style);
        let control = |c: &char| (c.is_control() && *c != '\n') || *c == '\u{202e}';
        assert_eq!(screen.chars().find(control), None, "{screen}");
    }
}
