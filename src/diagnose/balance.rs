//! From the samples of a benchmark to slices of its wall time that add up to the whole. Pure.
//!
//! Seconds are means over the measured runs. What was not measured is `None`, never zero.

use std::time::Duration;

use crate::evidence::Missing;
use crate::sample::{Recording, Sample, slack};

/// Where the wall time of a run went, mean seconds a run.
///
/// `user + system + hidden_cpu + queued + waiting = wall` where CPU does not exceed wall.
/// `throttled` is part of `queued`, `disk` of `waiting`; `memory_stall` overlaps CPU.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Slices {
    /// Wall time.
    pub wall: f64,
    /// CPU in user mode.
    pub user: f64,
    /// CPU in the kernel.
    pub system: f64,
    /// CPU of background processes that user and system miss.
    pub hidden_cpu: Option<f64>,
    /// Ready to run, no CPU free. Exact where the main thread does the work.
    pub queued: Option<f64>,
    /// `queued` is a lower bound: children or several CPUs do the work, or it was cut to what the CPU
    /// time leaves of wall.
    pub queued_at_least: bool,
    /// Stopped by a CPU quota.
    pub throttled: Option<f64>,
    /// Blocked. `None` where CPU exceeds wall: waiting cannot be told from parallel work.
    pub waiting: Option<f64>,
    /// At least this much of the waiting was for the disk.
    pub disk: Option<f64>,
    /// At least this much went to memory reclaim.
    pub memory_stall: Option<f64>,
    /// Stopped by a signal or a debugger: part of the waiting.
    pub stopped: Option<f64>,
}

/// Why a slice is missing, for those that can be.
#[must_use]
pub fn missing_waiting() -> Missing {
    Missing::because("more than one CPU was busy: waiting cannot be told from parallel work")
        .remedy("--explain=always")
}

/// Adds up the measured runs. `None` without any.
#[must_use]
pub fn slices(recording: &Recording) -> Option<Slices> {
    super::tally(recording).0.slices()
}

/// The mean of a value that not every run has.
#[derive(Debug, Default, PartialEq)]
struct Mean {
    seconds: f64,
    runs: u64,
}

impl Mean {
    fn add(&mut self, value: Option<Duration>) {
        if let Some(value) = value {
            self.seconds += value.as_secs_f64();
            self.runs += 1;
        }
    }

    /// The mean, if most of all runs have the value.
    fn of(&self, all: u64) -> Option<f64> {
        (self.runs > 0 && 2 * self.runs > all).then(|| self.seconds / self.runs as f64)
    }
}

/// Sums over the measured runs.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Sums {
    runs: u64,
    wall: Mean,
    user: Mean,
    system: Mean,
    hidden: Mean,
    queued: Mean,
    throttled: Mean,
    disk: Mean,
    memory: Mean,
    stopped: Mean,
    children_work: u64,
}

impl Sums {
    /// Keys of the fields that are added up.
    pub(super) const FIELDS: &'static [&'static str] = &[
        "wall_s",
        "user_s",
        "system_s",
        "queued_s",
        "main_run_s",
        "tree_queued_s",
        "stopped_s",
        "orphan_cpu_s",
        "tree_cpu_s",
        "throttled_s",
        "io_stall_s",
        "memory_stall_s",
    ];

    /// Adds a run, with what its `queued` says.
    pub(super) fn add(&mut self, sample: &Sample, queued: Option<Duration>) {
        let readings = &sample.readings;
        let capped = |value: Option<Duration>| value.map(|time| time.min(sample.wall));
        let counted = readings.orphan_cpu.or(readings.tree_cpu);
        self.runs += 1;
        self.wall.add(Some(sample.wall));
        self.user.add(Some(sample.usage.user));
        self.system.add(Some(sample.usage.system));
        self.hidden.add(counted.map(|_| sample.hidden_cpu()));
        self.queued.add(queued);
        // The quota's account is a sum over CPUs; of it at most what was queued is this command's.
        let throttled = readings
            .throttled
            .map(|time| queued.map_or(time, |queued| time.min(queued)));
        self.throttled.add(capped(throttled));
        self.stopped.add(capped(readings.stopped));
        self.children_work += u64::from(sample.children_work());
        self.disk.add(capped(readings.io_stall));
        self.memory.add(capped(readings.memory_stall));
    }

    /// Means of the sums; `None` without any run.
    pub(super) fn slices(&self) -> Option<Slices> {
        let of = |mean: &Mean| mean.of(self.runs);
        let (wall, user, system) = (of(&self.wall)?, of(&self.user)?, of(&self.system)?);
        let hidden_cpu = of(&self.hidden);
        let off = wall - user - system - hidden_cpu.unwrap_or(0.0);
        let waiting = waiting(wall, off, of(&self.queued));
        // Where no parallel work is told, no more can have queued than was off the CPU.
        let room = waiting.map_or(f64::INFINITY, |_| off.max(0.0));
        let cut = of(&self.queued).is_some_and(|time| time > room + slack(wall));
        let queued = of(&self.queued).map(|time| time.min(room));
        Some(Slices {
            wall,
            user,
            system,
            hidden_cpu,
            queued,
            throttled: of(&self.throttled),
            waiting,
            disk: of(&self.disk),
            memory_stall: of(&self.memory),
            stopped: of(&self.stopped),
            queued_at_least: waiting.is_none() || cut || 2 * self.children_work > self.runs,
        })
    }
}

/// What is left of the wall time. CPU may exceed wall by a little without any parallel work: it
/// includes the child's part before exec.
fn waiting(wall: f64, off: f64, queued: Option<f64>) -> Option<f64> {
    if off >= 0.0 {
        Some((off - queued.unwrap_or(0.0)).max(0.0))
    } else if -off <= slack(wall) {
        Some(0.0)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Conditions, Host};

    fn sample(wall: u64, user: u64, queued: Option<u64>) -> Sample {
        let mut sample = Sample {
            wall: Duration::from_millis(wall),
            ..Sample::default()
        };
        sample.usage.user = Duration::from_millis(user);
        sample.readings.queued = queued.map(Duration::from_millis);
        sample
    }

    fn of(samples: impl IntoIterator<Item = Sample>) -> Option<Slices> {
        let mut recording = Recording::new(Host::default(), Conditions::default());
        recording.samples = samples.into_iter().collect();
        slices(&recording)
    }

    #[test]
    fn slices_add_up_to_wall() {
        let all = [sample(100, 20, Some(30)), sample(140, 40, Some(10))];
        let slices = of(all).unwrap();
        let sum = slices.user + slices.system + slices.queued.unwrap() + slices.waiting.unwrap();
        assert!((sum - slices.wall).abs() < 1e-12);
        assert!((slices.waiting.unwrap() - 0.070).abs() < 1e-12);
    }

    #[test]
    fn parallel_work_hides_waiting() {
        let slices = of([sample(100, 350, Some(5))]).unwrap();
        assert_eq!(slices.waiting, None);
        assert!(slices.queued.is_some());
    }

    #[test]
    fn a_hair_more_cpu_than_wall_is_no_parallel_work() {
        let slices = of([sample(1000, 1010, None)]).unwrap();
        assert_eq!(slices.waiting, Some(0.0));
        assert_eq!(slices.queued, None);
    }

    #[test]
    fn no_more_is_off_the_cpu_than_cpu_time_leaves() {
        for (wall, user) in [(1000, 1010), (1000, 990), (1000, 1000)] {
            let slices = of([sample(wall, user, Some(300))]).unwrap();
            let off = slices.queued.unwrap() + slices.waiting.unwrap();
            let left = wall.saturating_sub(user);
            assert!((off - left as f64 / 1e3).abs() < 1e-12, "{slices:?}");
            assert!(slices.queued_at_least);
        }
        // What several CPUs hide is not made less.
        let parallel = of([sample(1000, 1500, Some(300))]).unwrap();
        assert_eq!((parallel.queued, parallel.waiting), (Some(0.3), None));
    }

    #[test]
    fn hidden_cpu_counts() {
        let mut one = sample(210, 2, None);
        one.readings.orphan_cpu = Some(Duration::from_millis(202));
        let slices = of([one]).unwrap();
        assert!((slices.hidden_cpu.unwrap() - 0.202).abs() < 1e-12);
        assert!((slices.waiting.unwrap() - 0.006).abs() < 1e-12);
    }
}
