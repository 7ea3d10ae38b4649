//! What is wrong with the arguments, collected so that all of it is told at once.

use crate::plan::limit::LimitError;
use crate::plan::parameter::ParameterError;

/// One thing that is wrong, before anything has run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// What, lower case, naming the word and the reason.
    pub(crate) text: String,
    /// How to mend it.
    pub(crate) help: Option<String>,
}

impl Problem {
    pub(crate) fn new(text: String) -> Self {
        Self { text, help: None }
    }

    pub(crate) fn help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }
}

/// Everything that is wrong.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<Problem>);

impl Problems {
    pub(crate) fn add(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    pub(crate) fn extend(&mut self, problems: impl IntoIterator<Item = Problem>) {
        self.0.extend(problems);
    }

    /// The value, or `None` with the problem noted.
    pub(crate) fn keep<T>(&mut self, result: Result<T, Problem>) -> Option<T> {
        result.map_err(|problem| self.add(problem)).ok()
    }

    /// The same for limits.
    pub(crate) fn limit<T>(&mut self, result: Result<T, LimitError>) -> Option<T> {
        self.keep(result.map_err(|error| super::limit::limit_problem(&error)))
    }

    /// The same for parameters.
    pub(crate) fn parameter<T>(&mut self, result: Result<T, ParameterError>) -> Option<T> {
        self.keep(result.map_err(|error| Problem::new(error.to_string()).help(error.help())))
    }

    /// The problems, or nothing.
    pub(crate) fn into_result(self) -> Result<(), Vec<Problem>> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(self.0)
        }
    }
}
