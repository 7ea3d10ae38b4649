//! All runs of one benchmark, with host and conditions: complete, so that every number and every
//! screen can be made again from it.

pub mod list;
mod read;
pub mod run;
pub mod text;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Attribution, Conditions, Host, Phase, Sample, Samples, Trace};

pub use read::{MOST_BYTES, ReadError, looks_like_one, read};

/// The version of the recording format that this program writes.
pub const SCHEMA: &str = "offbench/1";

/// Why a recording ended before its plan did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutShort {
    /// A signal asked to stop.
    Interrupted,
    /// A run failed and failures were not to be ignored; the sentence says how.
    Failed(String),
}

/// How the note begins that tells what an interrupt has left out besides measured runs.
pub const INTERRUPTED: &str = "interrupted ";

/// What happened on the whole machine while the benchmark ran: differences of counters.
///
/// Keys are those of the table in `probe`; a key that is absent was not measured.
pub type MachineCounters = BTreeMap<String, f64>;

/// All samples of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// The machine.
    pub host: Host,
    /// What was asked.
    pub conditions: Conditions,
    /// Every run that was made, of every phase.
    pub samples: Samples,
    /// Machine-wide counters over the measured runs.
    pub machine: MachineCounters,
    /// What diagnostic runs found.
    pub attribution: Option<Attribution>,
    /// What a traced run counted.
    pub trace: Option<Trace>,
    /// Set if something that was asked for is missing.
    pub cut_short: Option<CutShort>,
    /// Remarks made while it ran, each a whole sentence in lower case.
    pub notes: Vec<String>,
}

impl Recording {
    /// A recording without samples.
    #[must_use]
    pub fn new(host: Host, conditions: Conditions) -> Self {
        Self {
            host,
            conditions,
            samples: Samples::new(),
            machine: MachineCounters::new(),
            attribution: None,
            trace: None,
            cut_short: None,
            notes: Vec::new(),
        }
    }

    /// The name for reports: the given one, or the command.
    #[must_use]
    pub fn name(&self) -> &str {
        self.conditions
            .name
            .as_deref()
            .unwrap_or(&self.conditions.command)
    }

    /// Whether an interrupt has left out nothing but what follows the measured runs.
    #[must_use]
    pub fn lacks_diagnosis_only(&self) -> bool {
        let told = self.notes.iter().any(|note| note.starts_with(INTERRUPTED));
        told && self.cut_short == Some(CutShort::Interrupted)
    }

    /// The runs of one phase, in order.
    pub fn of_phase(&self, phase: Phase) -> impl Iterator<Item = Sample> + '_ {
        self.samples
            .iter()
            .filter(move |sample| sample.phase == phase)
    }

    /// The measured runs that count: those that succeeded.
    pub fn measured(&self) -> impl Iterator<Item = Sample> + '_ {
        self.of_phase(Phase::Measured)
            .filter(|sample| sample.outcome.success())
    }

    /// The measured runs that count, each with these fields and nothing else: for one metric of many
    /// runs that is much quicker than whole samples.
    pub fn measured_fields<'a>(&'a self, keys: &[&str]) -> impl Iterator<Item = Sample> + use<'a> {
        let keys = [&["phase", "outcome"], keys].concat();
        self.samples
            .fields(&keys)
            .filter(|sample| sample.phase == Phase::Measured && sample.outcome.success())
    }

    /// Shows the measured runs that count, each with these fields and nothing else, or with all:
    /// the quickest way through very many.
    pub fn visit_measured(&self, keys: Option<&[&str]>, mut show: impl FnMut(&Sample)) {
        let keys = keys.map(|keys| [&["phase", "outcome"], keys].concat());
        self.samples.visit(keys.as_deref(), |sample| {
            if sample.phase == Phase::Measured && sample.outcome.success() {
                show(sample);
            }
        });
    }

    /// How many measured runs failed.
    #[must_use]
    pub fn failed(&self) -> usize {
        let mut failed = 0;
        self.samples.visit(Some(&["phase", "outcome"]), |sample| {
            failed += usize::from(sample.phase == Phase::Measured && !sample.outcome.success());
        });
        failed
    }
}
