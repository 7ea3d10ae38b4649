//! `--help-cause`: the sections of `docs/causes.md`, which is part of the program.

use super::args::Problem;
use crate::evidence::{ALL_CAUSES, Cause};

/// The whole document.
const DOCUMENT: &str = include_str!("../../docs/causes.md");

/// The section of a cause, without its heading.
pub(crate) fn section(cause: Cause) -> Option<&'static str> {
    let heading = format!("\n## {}\n", cause.id());
    let begin = DOCUMENT.find(&heading)? + heading.len();
    let rest = &DOCUMENT[begin..];
    let end = rest.find("\n## ").unwrap_or(rest.len());
    Some(rest[..end].trim())
}

/// What `--help-cause ID` prints.
///
/// # Errors
/// There is no such cause.
pub(crate) fn help(id: &str) -> Result<String, Problem> {
    let found = Cause::from_id(id).and_then(|cause| Some((cause, section(cause)?)));
    let Some((cause, text)) = found else {
        return Err(unknown(id));
    };
    let class = cause.class().id();
    Ok(format!("{} ({class})\n\n{text}\n", cause.id()))
}

fn unknown(id: &str) -> Problem {
    let ids = ALL_CAUSES.iter().map(|cause| cause.id());
    let guess = crate::unit::closest(id, ids.clone(), 0.8)
        .map(|name| format!("did you mean `{name}`?\n"))
        .unwrap_or_default();
    let all: Vec<&str> = ids.collect();
    let help = format!("{guess}the causes are {}", all.join(", "));
    Problem::new(format!("--help-cause: there is no cause `{id}`")).help(Some(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_a_page_that_says_three_things() {
        for cause in ALL_CAUSES {
            let text = section(*cause).unwrap_or_else(|| panic!("{cause} has no section"));
            for part in [
                "**How it looks.**",
                "**How to confirm.**",
                "**What to do.**",
            ] {
                assert!(text.contains(part), "{cause} lacks {part}");
            }
        }
    }

    #[test]
    fn every_page_has_a_cause() {
        let headings = DOCUMENT.lines().filter_map(|line| line.strip_prefix("## "));
        for id in headings {
            assert!(Cause::from_id(id).is_some(), "no cause `{id}`");
        }
    }

    #[test]
    fn a_wrong_id_gets_a_suggestion() {
        assert!(
            help("disk-flush")
                .unwrap()
                .starts_with("disk-flush (program)")
        );
        let problem = help("diskflush").unwrap_err();
        assert!(problem.help.unwrap().contains("did you mean `disk-flush`?"));
    }
}
