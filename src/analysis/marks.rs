//! What must be known beside the numbers of one command: where a number is no more than a bound,
//! a guess of the kernel, or mostly the price of starting a program. Computed when it is asked for.

use super::{Subject, pace};
use crate::diagnose::words::time;
use crate::metric::{CPU, RSS, WALL};

/// Below this median CPU time the split into user and system is a lottery of clock ticks.
const SPLIT_IS_SAMPLED: f64 = 0.010;

impl Subject<'_> {
    /// The median of a metric in base units; `None` where a run has no value.
    #[must_use]
    pub fn median(&self, id: &str) -> Option<f64> {
        self.summary(id)?.get("median").map(|found| found.value)
    }

    /// Whether the command's peak memory cannot be told from what starting it takes.
    #[must_use]
    pub fn rss_at_floor(&self) -> Option<bool> {
        let floor = self.recording.conditions.rss_floor_bytes?;
        Some(self.median(RSS)? <= floor as f64)
    }

    /// Whether the split of CPU time into user and system is not to be believed.
    #[must_use]
    pub fn split_is_sampled(&self) -> Option<bool> {
        Some(self.median(CPU)? < SPLIT_IS_SAMPLED)
    }

    /// Whether starting a program is a large part of the command's wall time.
    #[must_use]
    pub fn wall_near_floor(&self) -> Option<bool> {
        let conditions = &self.recording.conditions;
        conditions.wall_near_floor(self.median(WALL)?)
    }

    /// Instructions retired in a cycle, of the medians.
    #[must_use]
    pub fn instructions_per_cycle(&self) -> Option<f64> {
        let cycles = self.median("cycles").filter(|cycles| *cycles > 0.0)?;
        Some(self.median("instructions")? / cycles)
    }

    /// What else is to be said about how the runs were made, a sentence each.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let conditions = &self.recording.conditions;
        let near = self.wall_near_floor() == Some(true);
        let floor = conditions.wall_floor_s.filter(|_| near);
        let computed = [
            pace::steady(conditions),
            pace::not_reached(conditions, self.precision),
            floor.map(|floor| format!("an empty program takes {} here", time(floor))),
        ];
        let computed = computed.into_iter().flatten();
        computed.chain(self.recording.notes.clone()).collect()
    }
}
