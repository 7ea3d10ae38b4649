//! Which wait each idle interval is charged to. Pure.
//!
//! The rule: an interval in which every thread is blocked is charged to the wait of the thread that
//! ends it. Waits for one another can never end such an interval, so only root causes remain.

use std::collections::HashMap;

use super::log::{Idle, Log};
use crate::evidence::Cause;

/// Longest stretch of a thread that only keeps time in the background.
const SHORT_STRETCH: u64 = 100_000;
/// A shorter wait is over before a reading of it is.
pub const TOO_SHORT: u64 = 50_000;

/// Idle nanoseconds by wait.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Blamed {
    /// Place of the name in [`Log::names`]: nanoseconds and number of waits seen.
    pub waits: HashMap<usize, (f64, u64)>,
    /// Idle time without a name.
    pub unnamed: f64,
    /// Of that, in waits shorter than 50 µs.
    pub too_short: f64,
}

/// Charges the idle intervals of a run. `period` is the time between two ticks of the sampler;
/// `None` if every wait was looked at.
#[must_use]
pub fn blame(log: &Log, period: Option<u64>) -> Blamed {
    let background = background(log);
    let charged = charge(log, &background);
    let mut blamed = Blamed::default();
    let mut pool = Pool::default();
    for (interval, name, wait) in charged {
        if period.is_none_or(|period| wait >= period) {
            blamed.add(name, interval.length as f64, 1, wait < TOO_SHORT);
        } else {
            pool.add(interval, name, wait < TOO_SHORT);
        }
    }
    pool.pour(&mut blamed);
    blamed
}

impl Blamed {
    fn add(&mut self, name: Option<usize>, amount: f64, count: u64, short: bool) {
        if let Some(name) = name {
            let total = self.waits.entry(name).or_default();
            *total = (total.0 + amount, total.1 + count);
        } else {
            self.unnamed += amount;
            self.too_short += if short { amount } else { 0.0 };
        }
    }
}

/// Waits shorter than a tick: a tick falls into few of them, and each that it falls into stands for
/// those it missed. The sum of their time is exact, its split is estimated from the ticks.
#[derive(Default)]
struct Pool {
    total: f64,
    short: f64,
    ticks: HashMap<(Option<usize>, bool), u64>,
}

impl Pool {
    fn add(&mut self, interval: &Idle, name: Option<usize>, short: bool) {
        self.total += interval.length as f64;
        self.short += if short { interval.length as f64 } else { 0.0 };
        if interval.ticks > 0 {
            *self.ticks.entry((name, short)).or_default() += u64::from(interval.ticks);
        }
    }

    fn pour(self, blamed: &mut Blamed) {
        let ticks: u64 = self.ticks.values().sum();
        if ticks == 0 {
            blamed.unnamed += self.total;
            blamed.too_short += self.short;
            return;
        }
        for ((name, short), count) in self.ticks {
            blamed.add(name, self.total * count as f64 / ticks as f64, count, short);
        }
    }
}

/// Each interval with the name and the length of the wait it is charged to. An interval ended by a
/// background thread goes to the wait of the next thread that is none.
fn charge<'a>(log: &'a Log, background: &[bool]) -> Vec<(&'a Idle, Option<usize>, u64)> {
    let mut next: Option<&Idle> = None;
    let mut charged: Vec<_> = log
        .intervals
        .iter()
        .rev()
        .map(|interval| {
            let ignored = interval.ender.is_some_and(|ender| background[ender]);
            if !ignored {
                next = Some(interval);
            }
            let to = next.unwrap_or(interval);
            (interval, to.name, to.wait)
        })
        .collect();
    charged.reverse();
    charged
}

/// Which threads are periodic background threads (timers of a runtime): not the first one, and at
/// least three times ended idle time, every time ran under 100 µs and woke nobody, in waits that
/// are timeouts of nearly equal length.
fn background(log: &Log) -> Vec<bool> {
    let mut habits: Vec<Habit> = log.threads.iter().map(|_| Habit::default()).collect();
    for interval in &log.intervals {
        if let Some(ender) = interval.ender {
            habits[ender].add(interval, log);
        }
    }
    let judged = log.threads.iter().zip(&habits);
    judged
        .map(|(thread, habit)| !thread.first && habit.periodic())
        .collect()
}

#[derive(Default)]
struct Habit {
    times: u64,
    busy: bool,
    sum: f64,
    squares: f64,
}

impl Habit {
    fn add(&mut self, interval: &Idle, log: &Log) {
        let timeout = interval.name.is_none_or(|name| {
            matches!(
                log.names[name].cause,
                Cause::Sleep | Cause::Lock | Cause::EventLoop
            )
        });
        self.times += 1;
        self.busy |= interval.stretch >= SHORT_STRETCH || interval.woke || !timeout;
        self.sum += interval.wait as f64;
        self.squares += (interval.wait as f64).powi(2);
    }

    fn periodic(&self) -> bool {
        if self.times < 3 || self.busy {
            return false;
        }
        let mean = self.sum / self.times as f64;
        let variance = self.squares / self.times as f64 - mean * mean;
        variance.max(0.0).sqrt() < 0.25 * mean
    }
}

/// Without switch records nobody knows which thread ended a wait: of several blocked threads the
/// one whose cause ranks lowest here is blamed. Symptoms (lock, child) come last.
#[must_use]
pub fn rank(cause: Cause) -> u8 {
    match cause {
        Cause::Stopped => 0,
        Cause::DiskFlush
        | Cause::DiskRead
        | Cause::Disk
        | Cause::PageFault
        | Cause::Swap
        | Cause::WriterThrottled
        | Cause::MemoryPressure
        | Cause::IoUring => 1,
        Cause::Sleep => 2,
        Cause::Network => 3,
        Cause::LocalService => 4,
        Cause::EventLoop => 6,
        Cause::Pipe => 7,
        Cause::Lock => 8,
        Cause::Child => 9,
        _ => 5,
    }
}
