//! The summaries of a benchmark's metrics, each computed when it is first asked for: a screen shows
//! a few of them, and most of the work on many runs is here.

use std::sync::OnceLock;

use crate::metric::{METRICS, Metric, WALL};
use crate::sample::Recording;
use crate::stats::summary::{Settings, Summary};
use crate::stats::{Estimate, Series};

/// All metrics of one benchmark.
#[derive(Debug)]
pub(super) struct Summaries<'a> {
    recording: &'a Recording,
    settings: Settings,
    /// That of the clock of wall times, in seconds.
    resolution: f64,
    /// In table order; empty inside where a run has no value. Boxed, because there may be very many
    /// benchmarks of which nearly nothing is asked.
    slots: Vec<OnceLock<Option<Box<Summary>>>>,
}

impl<'a> Summaries<'a> {
    pub(super) fn new(recording: &'a Recording, settings: Settings, resolution: f64) -> Self {
        Self {
            recording,
            settings,
            resolution,
            slots: METRICS.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// The summary of a metric; `None` for an unknown id or where a run has no value.
    pub(super) fn get(&self, id: &str) -> Option<&Summary> {
        let place = METRICS.iter().position(|metric| metric.id == id)?;
        let metric = &METRICS[place];
        let slot = self.slots.get(place)?;
        let compute = || series(self.recording, metric).map(|values| self.of(metric, &values));
        slot.get_or_init(compute).as_deref()
    }

    /// A statistic of a metric's share of wall time; `None` where a run has no value.
    pub(super) fn share(&self, id: &str, statistic: &str) -> Option<Estimate> {
        let metric = Metric::from_id(id)?;
        super::share::of_wall(metric, statistic, self.recording, &self.settings)
    }

    /// Notes the values of a metric that are at hand.
    pub(super) fn note(&self, id: &str, values: &Series) {
        let place = METRICS.iter().position(|metric| metric.id == id);
        if let Some((metric, slot)) = place.map(|place| (&METRICS[place], &self.slots[place])) {
            slot.get_or_init(|| Some(self.of(metric, values)));
        }
    }

    fn of(&self, metric: &Metric, values: &Series) -> Box<Summary> {
        let resolution = if metric.id == WALL {
            self.resolution
        } else {
            0.0
        };
        Box::new(Summary::of(values, &self.settings, resolution))
    }
}

/// The values of one metric in the runs that count; `None` where a run has none.
pub(super) fn series(recording: &Recording, metric: &Metric) -> Option<Series> {
    let [series] = all_series(recording, [metric]);
    series
}

/// The same of several metrics, in one go.
pub(super) fn all_series<const N: usize>(
    recording: &Recording,
    metrics: [&Metric; N],
) -> [Option<Series>; N] {
    let keys = metrics.map(|metric| metric.fields).concat();
    let room = recording.samples.len();
    let mut found = metrics.map(|metric| Some((metric.read, Vec::with_capacity(room))));
    recording.visit_measured(Some(&keys), |sample| {
        for one in &mut found {
            let Some((read, values)) = one else { continue };
            match read(sample) {
                Some(value) => values.push(value),
                None => *one = None,
            }
        }
    });
    found.map(|one| Series::new(one?.1).ok())
}
