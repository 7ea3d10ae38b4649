//! The timeline without switch records: threads looked at many times a second. Pure; what it says
//! is an estimate.

use std::collections::HashMap;

use super::blame::rank;
use super::calls::Arch;
use super::naming::{Named, name};
use super::record::Look;

/// What one tick saw of one thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glance {
    /// The thread.
    pub tid: u32,
    /// Its time on a CPU so far and its run-queue time so far, nanoseconds (`schedstat`).
    pub account: Option<(u64, u64)>,
    /// What it waits for; `None` if it still waits as at the tick before.
    pub look: Option<Look>,
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
    start: u64,
    last: u64,
    active: f64,
    idle: f64,
    queue_weight: Vec<(f64, u32)>,
    accounts: HashMap<u32, (u64, u64)>,
    run: f64,
    delay: f64,
    waiting: HashMap<u32, Option<Named>>,
    waits: HashMap<Named, (f64, u64)>,
    unnamed: f64,
    threads_most: u64,
}

impl Sampled {
    /// A run that began at that time.
    #[must_use]
    pub fn new(arch: Arch, start: u64) -> Self {
        Self {
            arch,
            start,
            last: start,
            active: 0.0,
            idle: 0.0,
            queue_weight: Vec::new(),
            accounts: HashMap::new(),
            run: 0.0,
            delay: 0.0,
            waiting: HashMap::new(),
            waits: HashMap::new(),
            unnamed: 0.0,
            threads_most: 0,
        }
    }

    /// Takes what one tick saw; it stands for the time since the tick before.
    pub fn tick(&mut self, time: u64, glances: Vec<Glance>) {
        let passed = time.saturating_sub(self.last) as f64;
        self.last = self.last.max(time);
        self.threads_most = self.threads_most.max(glances.len() as u64);
        let mut ready = 0;
        let mut worst: Option<Named> = None;
        let mut waiting = HashMap::with_capacity(glances.len());
        for glance in glances {
            self.account(&glance);
            if glance.look.as_ref().is_some_and(Look::runs) {
                ready += 1;
                continue;
            }
            let named = match &glance.look {
                Some(look) => name(self.arch, look),
                None => self.waiting.remove(&glance.tid).flatten(),
            };
            worst = graver(worst, named.clone());
            waiting.insert(glance.tid, named);
        }
        let idle = ready == 0 && !waiting.is_empty();
        self.waiting = waiting;
        if idle {
            self.wait(passed, worst);
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

    fn account(&mut self, glance: &Glance) {
        if let Some(now) = glance.account {
            let before = self.accounts.insert(glance.tid, now).unwrap_or(now);
            self.run += now.0.saturating_sub(before.0) as f64;
            self.delay += now.1.saturating_sub(before.1) as f64;
        }
    }

    /// Ends the run. `main` is the final account of its first thread. Of a command with one thread
    /// that account is exact; of others the split of active time into busy and queued is a
    /// probability: all ready threads queue at once.
    #[must_use]
    pub fn finish(mut self, end: u64, main: Option<(u64, u64)>) -> Estimate {
        let wall = end.saturating_sub(self.start) as f64;
        let (busy, queued) = match main {
            Some((run, delay)) if self.threads_most <= 1 => {
                self.run = run as f64;
                let busy = (run as f64).min(wall);
                (busy, (delay as f64).min(wall - busy))
            }
            _ => self.split(wall),
        };
        let idle = wall - busy - queued;
        let seen = self.idle;
        let scale = if seen > 0.0 { idle / seen } else { 0.0 };
        let mut waits: Vec<_> = self
            .waits
            .into_iter()
            .map(|(named, (amount, ticks))| (named, amount * scale, ticks))
            .collect();
        waits.sort_by(|a, b| b.1.total_cmp(&a.1));
        let unnamed = if seen > 0.0 {
            self.unnamed * scale
        } else {
            idle
        };
        let on_cpu = self.run.max(busy);
        let threads_most = self.threads_most.max(1);
        Estimate {
            busy,
            queued,
            idle,
            on_cpu,
            threads_most,
            waits,
            unnamed,
        }
    }

    fn split(&self, wall: f64) -> (f64, f64) {
        let spent = self.active + self.idle;
        let active = if spent > 0.0 {
            self.active * wall / spent
        } else {
            wall
        };
        let accounted = self.run + self.delay;
        let queueing = if accounted > 0.0 {
            self.delay / accounted
        } else {
            0.0
        };
        let queued: f64 = self
            .queue_weight
            .iter()
            .map(|&(passed, ready)| passed * queueing.powf(f64::from(ready)))
            .sum();
        let queued = if self.active > 0.0 {
            queued / self.active * active
        } else {
            0.0
        };
        (active - queued, queued)
    }
}

/// The wait to blame of two; an unnamed one only if there is no other.
fn graver(a: Option<Named>, b: Option<Named>) -> Option<Named> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if rank(b.cause) < rank(a.cause) { b } else { a }),
        (a, b) => a.or(b),
    }
}
