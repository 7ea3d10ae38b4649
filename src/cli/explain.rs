//! Whether a benchmark needs diagnostic runs: what the user wants, or else a quick analysis.

use super::args::Job;
use crate::analysis::{self, Question};
use crate::diagnose::Diagnosis;
use crate::plan::Explain;
use crate::run::Policy;
use crate::sample::Recording;
use crate::stats::summary::Settings;

/// Resamples of the quick analysis; the tier rests on an interval that needs none.
const RESAMPLES: usize = 20;

/// The wish of the user.
#[derive(Debug)]
pub(crate) struct Explaining {
    when: Explain,
    question: Question,
}

impl Explaining {
    /// As the job says.
    pub(crate) fn new(job: &Job) -> Self {
        let settings = Settings {
            resamples: RESAMPLES,
            ..job.question.settings
        };
        Self {
            when: job.plan.explain,
            question: Question {
                settings,
                ..job.question.clone()
            },
        }
    }
}

impl Policy for Explaining {
    fn explains(&self, recording: &Recording) -> bool {
        match self.when {
            Explain::Always => true,
            Explain::Never => false,
            Explain::Auto if recording.conditions.runs_fixed => false,
            Explain::Auto => {
                let subject = analysis::subject(recording, &self.question);
                let diagnosis = subject.diagnosis.as_ref();
                diagnosis.is_some_and(Diagnosis::wants_name)
            }
        }
    }
}
