//! The reader of recordings, and everything that is made from what it accepts: analysis, gates,
//! every format and every screen. Nothing panics, nothing hangs, no control character comes out.
#![no_main]

use libfuzzer_sys::fuzz_target;
use offbench::analysis::{self, Question};
use offbench::gate::{self, Expression, Gate};
use offbench::report::{Document, FORMATS, Style, terminal};
use offbench::sample::recording;

fuzz_target!(|bytes: &[u8]| {
    let recordings = match recording::read(bytes) {
        Ok(recordings) => recordings,
        Err(error) => {
            let _ = error.to_string();
            return;
        }
    };
    let mut question = Question::default();
    question.settings.resamples = 20;
    let analysis = analysis::analyze(&recordings, &question);
    let gates: Vec<Gate> = ["wall>1ms", "off-cpu>10%", "rss.p99>1MiB", "wall/cpu>=2"]
        .iter()
        .filter_map(|text| Expression::parse(text).ok())
        .map(Gate::Expression)
        .collect();
    let verdicts = gate::evaluate(&gates, &analysis);
    let document = Document::new(&analysis, &verdicts, &[]);
    let mut out = Vec::new();
    for format in FORMATS {
        out.clear();
        (format.write)(&mut out, &document).expect("memory takes everything");
    }
    for width in [0, 1, 40, 100] {
        out.clear();
        let style = Style { width, ..Style::default() };
        terminal::report(&mut out, &style, &document).expect("memory takes everything");
        let text = String::from_utf8_lossy(&out);
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
});
