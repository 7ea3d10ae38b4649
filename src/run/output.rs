//! Whether all runs write the same to standard output. Pure.

use super::executor::{Request, RunError};
use crate::sample::Phase;

/// The output that all others have to agree with.
#[derive(Debug, Default)]
pub(super) struct Agreement {
    first: Option<First>,
}

#[derive(Debug)]
struct First {
    benchmark: usize,
    name: String,
    run: String,
    digest: u64,
}

impl Agreement {
    /// Compares the output of a run with the first one.
    ///
    /// # Errors
    /// They differ; the error names both runs, and both commands if they are two.
    pub(super) fn compare(
        &mut self,
        request: &Request,
        name: &str,
        digest: u64,
    ) -> Result<(), RunError> {
        let run = in_words(request);
        let Some(first) = &self.first else {
            self.first = Some(First {
                benchmark: request.benchmark,
                name: name.to_owned(),
                run,
                digest,
            });
            return Ok(());
        };
        if first.digest == digest {
            return Ok(());
        }
        let other = if first.benchmark == request.benchmark {
            first.run.clone()
        } else {
            format!("{} of `{}`", first.run, first.name)
        };
        Err(RunError::OutputDiffers {
            command: name.to_owned(),
            run,
            other,
        })
    }
}

fn in_words(request: &Request) -> String {
    let kind = match request.phase {
        Phase::Warmup => "warm-up run",
        Phase::Measured => "run",
        Phase::Diagnostic => "diagnostic run",
    };
    format!("{kind} {}", request.index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(benchmark: usize, index: u64) -> Request {
        Request {
            benchmark,
            phase: Phase::Measured,
            index,
            round: 0,
            position: 0,
            padding: 0,
        }
    }

    #[test]
    fn a_difference_names_runs_and_commands() {
        let mut outputs = Agreement::default();
        assert!(outputs.compare(&request(0, 0), "a", 7).is_ok());
        assert!(outputs.compare(&request(1, 0), "b", 7).is_ok());
        let same = outputs.compare(&request(0, 2), "a", 8).unwrap_err();
        let text = "accept the output of `a`: run 3 wrote something else than run 1";
        assert_eq!(same.to_string(), text);
        let other = outputs.compare(&request(1, 1), "b", 8).unwrap_err();
        assert!(other.to_string().ends_with("than run 1 of `a`"), "{other}");
    }
}
