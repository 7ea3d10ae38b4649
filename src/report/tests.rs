//! Every format on the same recordings, odd names included.

use super::*;
use crate::analysis::{Question, analyze};
use crate::gate::{Expression, Gate, evaluate};
use crate::sample::Recording;

/// Two commands with odd names, one of them failing in part, and one with a named wait.
fn recordings() -> Vec<Recording> {
    let mut all = vec![
        fixture::severe(),
        fixture::failing(),
        fixture::recording(fixture::GREP, 1),
    ];
    all[2].conditions.name = Some("=a|b `c` \"d\", <e> & 100%\nf".into());
    all[2].conditions.parameters = [("n".to_owned(), "1,5".to_owned())].into();
    all
}

fn with_document(test: impl Fn(&Document<'_>)) {
    let recordings = recordings();
    let analysis = analyze(&recordings, &Question::default());
    let gates = ["wall/cpu > 3", "wall > 60ms", "wall.p99 > 46ms"]
        .map(|text| Gate::Expression(Expression::parse(text).unwrap()));
    let verdicts = evaluate(&gates, &analysis);
    let command_line = ["offbench".to_owned(), "<x>".to_owned()];
    test(&Document {
        version: "0.1.0",
        ..Document::new(&analysis, &verdicts, &command_line)
    });
}

fn text(write: fn(&mut dyn Write, &Document<'_>) -> io::Result<()>, of: &Document<'_>) -> String {
    let mut out = Vec::new();
    write(&mut out, of).unwrap();
    String::from_utf8(out).unwrap()
}

fn written(id: &str, document: &Document<'_>) -> String {
    text(Format::from_id(id).unwrap().write, document)
}

#[test]
fn the_table_is_consistent() {
    for (place, format) in FORMATS.iter().enumerate() {
        let id = format.id;
        let kebab = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        assert!(id.bytes().all(kebab), "{id}");
        assert!(
            !format.help.is_empty() && !format.help.ends_with('.'),
            "{id}"
        );
        assert!(FORMATS[..place].iter().all(|other| other.id != id));
    }
}

#[test]
fn every_format_writes_and_fails_with_its_writer() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("full"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    with_document(|document| {
        for format in FORMATS {
            let text = text(format.write, document);
            assert!(text.ends_with('\n') && text.len() > 100, "{}", format.id);
            assert!(
                !text.contains("NaN") && !text.contains("inf,"),
                "{}",
                format.id
            );
            assert!(
                (format.write)(&mut Full, document).is_err(),
                "{}",
                format.id
            );
        }
    });
}

#[test]
fn formats_are_as_kept() {
    with_document(|document| {
        for id in [
            "markdown",
            "asciidoc",
            "orgmode",
            "junit",
            "openmetrics",
            "csv",
        ] {
            terminal::check(&format!("export.{id}.txt"), &written(id, document));
        }
        let annotations = text(annotations::write, document);
        terminal::check("export.annotations.txt", &annotations);
        let charts = written("github-action-benchmark", document);
        terminal::check("export.github-action-benchmark.txt", &charts);
    });
}

#[test]
fn hyperfine_one_has_its_keys_only() {
    with_document(|document| {
        let file: serde_json::Value =
            serde_json::from_str(&written("hyperfine-v1", document)).unwrap();
        let keys = |value: &serde_json::Value| -> Vec<String> {
            value.as_object().unwrap().keys().cloned().collect()
        };
        assert_eq!(keys(&file), ["results"]);
        let expected = "command exit_codes max mean median memory_usage_byte min parameters stddev \
                        system times user";
        assert_eq!(keys(&file["results"][2]).join(" "), expected);
        assert_eq!(file["results"][2]["parameters"]["n"], "1,5");
        let back = crate::sample::recording::read(file.to_string().as_bytes()).unwrap();
        assert_eq!(back[0].of_phase(crate::sample::Phase::Measured).count(), 60);
    });
}

#[test]
fn lines_are_objects_of_a_type() {
    with_document(|document| {
        let text = written("jsonl", document);
        let types: Vec<String> = text
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|line| line["type"].as_str().unwrap().to_owned())
            .collect();
        let count = |wanted: &str| types.iter().filter(|one| *one == wanted).count();
        assert_eq!(types[0], "header");
        assert_eq!(count("run"), 61 + 7 + 41);
        assert_eq!((count("summary"), count("gate")), (3, 9));
    });
}

#[test]
fn rows_of_runs_have_equal_columns() {
    with_document(|document| {
        let text = written("csv-runs", document);
        let mut lines = text.lines();
        let columns = lines.next().unwrap().split(',').count();
        assert!(
            lines
                .next()
                .unwrap()
                .starts_with("1,dbtool commit,0,,false,warmup,0,0,")
        );
        assert!(
            text.lines()
                .take(60)
                .all(|line| line.split(',').count() == columns)
        );
        assert!(
            text.contains("\"'=a|b `c` \"\"d\"\", <e> & 100%\nf\""),
            "{text}"
        );
    });
}
