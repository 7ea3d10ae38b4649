//! What the accounts of threads (`schedstat`) say about the time of their tree: how long at least and
//! at most one of them ran. Pure.

use std::collections::HashMap;

use super::sampled::Glance;

/// What a quantity is at least and at most, nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Bounds {
    least: f64,
    most: f64,
}

impl Bounds {
    /// The nearest value within.
    pub(super) fn hold(self, value: f64) -> f64 {
        value.clamp(self.least, self.most.max(self.least))
    }

    fn add(&mut self, least: f64, most: f64, whole: f64) {
        self.least += least.min(whole);
        self.most += most.min(whole);
    }
}

/// Run time and run-queue time of a thread: so far, and when the segment began.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    now: (u64, u64),
    begun: (u64, u64),
    /// The tick that met it last.
    tick: u64,
}

/// The accounts of all threads, in segments that end when every thread is blocked: then they are
/// exact. In a segment the tree ran at least as long as that thread of it that ran longest, and at
/// most as long as all of them together.
#[derive(Debug)]
pub(super) struct Accounts {
    since: u64,
    ticks: u64,
    threads: HashMap<u32, Account>,
    /// Those that were not met when a segment ended, with what was read of them last. Most have ended.
    lost: HashMap<u32, (u64, u64)>,
    /// A thread of this segment has an end or a beginning nobody saw the account of.
    open: bool,
    /// A thread on a CPU.
    pub(super) run: Bounds,
    /// A thread on a CPU or ready for one.
    pub(super) active: Bounds,
    /// Over all threads, as far as seen.
    pub(super) total_run: f64,
    /// Over all threads, as far as seen.
    pub(super) total_delay: f64,
}

impl Accounts {
    /// Those of a run that begins with one thread.
    pub(super) fn new(start: u64, first: (u32, (u64, u64))) -> Self {
        let account = Account {
            now: first.1,
            begun: first.1,
            tick: 0,
        };
        Self {
            since: start,
            ticks: 0,
            threads: HashMap::from([(first.0, account)]),
            lost: HashMap::new(),
            open: false,
            run: Bounds::default(),
            active: Bounds::default(),
            total_run: 0.0,
            total_delay: 0.0,
        }
    }

    /// Takes what a tick read. Threads begin with nothing on their account.
    pub(super) fn take(&mut self, glances: &[Glance]) {
        self.ticks += 1;
        for glance in glances {
            if let Some(now) = glance.account {
                self.meet(glance.tid, now);
                continue;
            }
            self.open = true;
            if !self.threads.contains_key(&glance.tid) {
                self.lost.entry(glance.tid).or_default();
            }
        }
        // Whoever is gone ran on after it was last seen.
        let met = |account: &Account| account.tick == self.ticks;
        self.open |= !self.threads.values().all(met);
    }

    /// Takes the account of one thread.
    fn meet(&mut self, tid: u32, now: (u64, u64)) {
        let account = self.threads.entry(tid).or_insert_with(|| {
            // With less on its account it is another thread of that number.
            let before = self.lost.remove(&tid);
            match before.filter(|before| before.0 <= now.0 && before.1 <= now.1) {
                Some(before) => {
                    // Nobody knows in which segment it ran meanwhile: that counts in the total only.
                    self.total_run += (now.0 - before.0) as f64;
                    self.total_delay += (now.1 - before.1) as f64;
                    self.open = true;
                    Account {
                        now,
                        begun: now,
                        tick: 0,
                    }
                }
                None => Account::default(),
            }
        });
        account.now = (now.0.max(account.now.0), now.1.max(account.now.1));
        account.tick = self.ticks;
    }

    /// The run ends, with the final account of its first thread; nobody knows those of others.
    pub(super) fn end(&mut self, root: u32, main: Option<(u64, u64)>, time: u64) {
        if let Some(now) = main {
            self.meet(root, now);
            self.open |= self.threads.len() > 1;
        } else {
            self.open = true;
        }
        self.settle(time);
    }

    /// Every thread is blocked now: the segment ends.
    pub(super) fn settle(&mut self, time: u64) {
        let whole = time.saturating_sub(self.since) as f64;
        let (mut longest, mut sum, mut longest_run, mut sum_run) = (0.0_f64, 0.0, 0.0_f64, 0.0);
        for account in self.threads.values_mut() {
            let run = (account.now.0 - account.begun.0) as f64;
            let delay = (account.now.1 - account.begun.1) as f64;
            account.begun = account.now;
            (longest, sum) = (longest.max(run + delay), sum + run + delay);
            (longest_run, sum_run) = (longest_run.max(run), sum_run + run);
        }
        self.total_run += sum_run;
        self.total_delay += sum - sum_run;
        let most = |sum: f64| if self.open { whole } else { sum };
        let (most_run, most_active) = (most(sum_run), most(sum));
        self.run.add(longest_run, most_run, whole);
        self.active.add(longest, most_active, whole);
        self.threads.retain(|tid, account| {
            let met = account.tick == self.ticks;
            if !met {
                self.lost.insert(*tid, account.now);
            }
            met
        });
        (self.since, self.open) = (time, false);
    }
}
