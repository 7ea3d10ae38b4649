//! What there is to say about warm-up and wanted precision.

use crate::sample::host::WarmupReport;
use crate::sample::{Conditions, Recording};
use crate::stats::precision::{self, Look};
use crate::stats::warmup::{WINDOW, WINDOWS};
use crate::stats::{Estimate, Series};
use crate::unit::{decimal_percent, human_duration};

use super::{Question, Warning};

/// Fewest warm-up runs that a look needs.
const FEWEST: u64 = (WINDOW * WINDOWS) as u64;

/// The last look at the median; of runs in rounds the ratio was looked at instead.
pub(super) fn look(recording: &Recording, question: &Question, wall: &Series) -> Option<Look> {
    let conditions = &recording.conditions;
    let wanted = conditions.precision.filter(|_| !conditions.paired)?;
    precision::look(wall, question.settings.level, wanted)
}

/// A warm-up that did not become steady.
pub(super) fn unsteady(recording: &Recording) -> Option<Warning> {
    let warmup = recording.conditions.warmup.as_ref()?;
    (!warmup.steady).then(|| Warning {
        id: "warm-up",
        text: not_steady(warmup),
    })
}

fn not_steady(warmup: &WarmupReport) -> String {
    if warmup.runs < FEWEST {
        return format!(
            "not steady after {} warm-up runs: the time was up, {FEWEST} are the fewest to tell",
            warmup.runs
        );
    }
    format!(
        "not steady after {} runs (last medians spread {})",
        warmup.runs,
        decimal_percent(warmup.spread)
    )
}

/// `steady within 1.4% after 40 runs`.
pub(super) fn steady(conditions: &Conditions) -> Option<String> {
    let warmup = conditions.warmup.as_ref().filter(|found| found.steady)?;
    Some(format!(
        "steady within {} after {} runs",
        decimal_percent(warmup.spread),
        warmup.runs
    ))
}

/// `±1.8% after 60 s, ±1% not reached`, of a median; nothing when it was reached.
pub(super) fn not_reached(conditions: &Conditions, look: Option<Look>) -> Option<String> {
    let wanted = conditions.precision?;
    let look = look.filter(|look| !look.reached)?;
    Some(format!(
        "±{} after {}, ±{} not reached",
        decimal_percent(look.achieved),
        human_duration(conditions.elapsed_s, false),
        decimal_percent(wanted)
    ))
}

/// The same of a ratio of runs in rounds.
pub(super) fn ratio_not_reached(
    (a, b): (&Conditions, &Conditions),
    ratio: Option<Estimate>,
) -> Option<String> {
    let wanted = b.precision.or(a.precision).filter(|_| b.paired)?;
    let look = precision::look_at_ratio(&ratio?, wanted);
    let slower = if a.elapsed_s > b.elapsed_s { a } else { b };
    let conditions = Conditions {
        precision: Some(wanted),
        elapsed_s: slower.elapsed_s,
        ..Conditions::default()
    };
    not_reached(&conditions, look).map(|text| format!("the ratio: {text}"))
}
