//! The timeline without switch records: threads looked at many times a second. Pure; what it says
//! is an estimate.

use std::collections::HashMap;

use super::accounts::Accounts;
use super::blame::rank;
use super::calls::Arch;
use super::naming::{Named, name};
use super::record::Look;

/// What a thread was seen to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sight {
    /// It runs or is ready to.
    Runs,
    /// It is blocked in the same wait as when it was last looked at.
    Still,
    /// It is blocked, and this is what it waits for.
    Waits(Look),
    /// It is blocked; nobody looked in what.
    Blocked,
}

/// What one tick saw of one thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glance {
    /// The thread.
    pub tid: u32,
    /// Its time on a CPU so far and its run-queue time so far, nanoseconds (`schedstat`). Exact
    /// while it is blocked.
    pub account: Option<(u64, u64)>,
    /// What it does.
    pub sight: Sight,
}

/// The estimate of a whole run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Estimate {
    /// A thread on a CPU, nanoseconds.
    pub busy: f64,
    /// None on a CPU, one ready.
    pub queued: f64,
    /// All blocked.
    pub idle: f64,
    /// On-CPU nanoseconds of all threads, as far as seen.
    pub on_cpu: f64,
    /// Most threads seen at one tick.
    pub threads_most: u64,
    /// Idle nanoseconds and number of ticks by wait.
    pub waits: Vec<(Named, f64, u64)>,
    /// Idle nanoseconds without a name.
    pub unnamed: f64,
}

/// The accumulator.
#[derive(Debug)]
pub struct Sampled {
    arch: Arch,
    root: u32,
    start: u64,
    last: u64,
    active: f64,
    idle: f64,
    queue_weight: Vec<(f64, u32)>,
    accounts: Accounts,
    waiting: HashMap<u32, Option<Named>>,
    waits: HashMap<Named, (f64, u64)>,
    unnamed: f64,
    threads_most: u64,
}

impl Sampled {
    /// A run that began at that time, with its first thread and what that had on its account then.
    #[must_use]
    pub fn new(arch: Arch, start: u64, first: (u32, (u64, u64))) -> Self {
        Self {
            arch,
            root: first.0,
            start,
            last: start,
            active: 0.0,
            idle: 0.0,
            queue_weight: Vec::new(),
            accounts: Accounts::new(start, first),
            waiting: HashMap::new(),
            waits: HashMap::new(),
            unnamed: 0.0,
            threads_most: 0,
        }
    }

    /// Takes what one tick saw; it stands for the time since the tick before. It is `idle` if all
    /// threads were blocked at the same time.
    pub fn tick(&mut self, time: u64, idle: bool, glances: Vec<Glance>) {
        let passed = time.saturating_sub(self.last) as f64;
        self.last = self.last.max(time);
        self.threads_most = self.threads_most.max(glances.len() as u64);
        self.accounts.take(&glances);
        let mut ready = 0;
        let mut worst: Option<Named> = None;
        let mut waiting = HashMap::with_capacity(glances.len());
        for Glance { tid, sight, .. } in glances {
            let named = match sight {
                Sight::Runs => {
                    ready += 1;
                    continue;
                }
                Sight::Blocked => None,
                Sight::Waits(look) => name(self.arch, &look),
                Sight::Still => self.waiting.remove(&tid).flatten(),
            };
            worst = graver(worst, named.clone());
            waiting.insert(tid, named);
        }
        self.waiting = waiting;
        if idle {
            self.wait(passed, worst);
            self.accounts.settle(time);
        } else {
            self.active += passed;
            self.queue_weight.push((passed, ready.max(1)));
        }
    }

    fn wait(&mut self, passed: f64, worst: Option<Named>) {
        self.idle += passed;
        match worst {
            Some(named) => {
                let total = self.waits.entry(named).or_default();
                *total = (total.0 + passed, total.1 + 1);
            }
            None => self.unnamed += passed,
        }
    }

    /// Ends the run. `main` is the final account of its first thread. Ticks say how much of the
    /// time was active, accounts between which bounds that must lie: of a command in which one
    /// thread runs at a time the bounds meet. The split of active time into busy and queued is a
    /// probability: all ready threads queue at once.
    #[must_use]
    pub fn finish(mut self, end: u64, main: Option<(u64, u64)>) -> Estimate {
        let end = end.max(self.last);
        let wall = (end - self.start) as f64;
        self.accounts.end(self.root, main, end);
        let spent = self.active + self.idle;
        let active = if spent > 0.0 {
            self.active * wall / spent
        } else {
            wall
        };
        let active = self.accounts.active.hold(active).min(wall);
        let busy = active * (1.0 - self.queued_share());
        let busy = self.accounts.run.hold(busy).min(active);
        let idle = wall - active;
        let scale = if self.idle > 0.0 {
            idle / self.idle
        } else {
            0.0
        };
        let mut waits: Vec<_> = self
            .waits
            .into_iter()
            .map(|(named, (amount, ticks))| (named, amount * scale, ticks))
            .collect();
        waits.sort_by(|a, b| b.1.total_cmp(&a.1));
        let unnamed = if self.idle > 0.0 {
            self.unnamed * scale
        } else {
            idle
        };
        Estimate {
            busy,
            queued: active - busy,
            idle,
            on_cpu: self.accounts.total_run.max(busy),
            threads_most: self.threads_most.max(1),
            waits,
            unnamed,
        }
    }

    /// Share of the active time in which every ready thread queued.
    fn queued_share(&self) -> f64 {
        let (run, delay) = (self.accounts.total_run, self.accounts.total_delay);
        if self.active <= 0.0 || run + delay <= 0.0 {
            return 0.0;
        }
        let queueing = delay / (run + delay);
        let queued: f64 = self
            .queue_weight
            .iter()
            .map(|&(passed, ready)| passed * queueing.powf(f64::from(ready)))
            .sum();
        queued / self.active
    }
}

/// The wait to blame of two; an unnamed one only if there is no other.
fn graver(a: Option<Named>, b: Option<Named>) -> Option<Named> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if rank(b.cause) < rank(a.cause) { b } else { a }),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
#[path = "sampled_tests.rs"]
mod tests;
