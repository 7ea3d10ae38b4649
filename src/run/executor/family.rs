//! Processes that a run leaves behind: those that ended are counted with their CPU time, those
//! that live are counted and remembered, so that no later run pays for them in its account.

use std::collections::BTreeSet;
use std::time::Duration;

use super::waiting::Vigil;
use crate::probe::schedstat;
use crate::sys::clock;
use crate::sys::platform::{self, offspring};
use crate::sys::unix::{self, Brood};

/// How long a process that is just about to end may take until it counts as left behind.
const LAST_BREATH: Duration = Duration::from_millis(2);
/// How long a group that was asked to end may take.
const GRACE: Duration = Duration::from_millis(100);
/// How long one that was killed may take on a busy machine.
const DEATH: Duration = Duration::from_secs(1);

/// What one run left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Left {
    /// Processes that came to us and have ended.
    pub(super) orphans: u64,
    /// Their CPU time, and what those still alive have used so far.
    pub(super) cpu: Duration,
    /// Processes still alive.
    pub(super) alive: u64,
}

impl Left {
    /// Adds what was seen later; what is alive then is all that is alive.
    pub(super) fn add(&mut self, later: &Self) {
        self.orphans += later.orphans;
        self.cpu += later.cpu;
        self.alive = later.alive;
    }
}

/// CPU time so far of the main thread of a process.
fn run_time(pid: i32) -> Option<Duration> {
    let mut buffer = Vec::new();
    let text = platform::text(&format!("/proc/{pid}/schedstat"), &mut buffer).ok()?;
    schedstat::parse(text).map(|account| account.run)
}

/// Our children besides the run that is going on.
#[derive(Debug, Default)]
pub(super) struct Family {
    /// Alive and left by earlier runs or by hooks.
    known: BTreeSet<i32>,
    /// Process groups of runs that left something.
    groups: BTreeSet<i32>,
    /// The process id of the run before.
    last: i32,
}

impl Family {
    /// A run begins: its process id is nobody else's group any more.
    pub(super) fn begin(&mut self, pid: i32) {
        self.groups.remove(&pid);
    }

    /// Counts what the run with that process id left, after it was reaped. If its group was told to
    /// end, what is left of that gets the time for it, and is killed after that.
    pub(super) fn collect(&mut self, pid: i32, told_to_end: bool) -> Left {
        let mut left = Left::default();
        if told_to_end {
            // Who has left its group was told nothing.
            let in_its_group = |one: &i32| unix::group_of(*one) == Some(pid);
            let slow = self.let_end(pid, &mut left, GRACE, in_its_group);
            if slow.iter().any(in_its_group) {
                unix::signal_group(pid, unix::number::KILL);
                self.let_end(pid, &mut left, DEATH, in_its_group);
            }
        }
        let new = self.let_end(pid, &mut left, LAST_BREATH, |_| true);
        left.alive = new.len() as u64;
        // What lives has not been waited for, but it has worked during the run.
        let worked = new.iter().filter_map(|one| run_time(*one));
        left.cpu += worked.sum::<Duration>();
        if !new.is_empty() {
            self.groups.insert(pid);
            self.known.extend(new);
        }
        self.last = pid;
        left
    }

    /// Waits for that long at most until none of those lives whom the run has left and `awaited`
    /// chooses; all who live then.
    fn let_end(
        &mut self,
        pid: i32,
        left: &mut Left,
        patience: Duration,
        awaited: impl Fn(&i32) -> bool,
    ) -> Vec<i32> {
        let begun = clock::now();
        loop {
            let living = match self.reap(left) {
                Brood::Alive => self.newcomers(pid),
                _ => Vec::new(),
            };
            let passed = Duration::from_nanos(clock::now() - begun);
            if !living.iter().any(&awaited) || passed >= patience {
                return living;
            }
            unix::pause(LAST_BREATH);
        }
    }

    /// Waits for everything the run has started; the end of the last of them, or `end`.
    pub(super) fn wait(
        &mut self,
        vigil: &mut Vigil,
        pid: i32,
        left: &mut Left,
        mut end: u64,
    ) -> u64 {
        let mut now = end;
        loop {
            let before = left.orphans;
            let brood = self.reap(left);
            if left.orphans > before {
                end = now;
            }
            let living = match brood {
                Brood::None => return end,
                _ => self.newcomers(pid),
            };
            if living.is_empty() {
                return end;
            }
            if vigil.past_grace() {
                for one in &living {
                    unix::kill(*one);
                }
            }
            unix::await_any();
            now = clock::now();
            vigil.enforce(now);
        }
    }

    /// Whatever is alive now belongs to no run: a hook has left it.
    pub(super) fn absorb(&mut self) {
        if self.reap(&mut Left::default()) == Brood::Alive {
            self.known.extend(offspring(0));
        }
    }

    /// Reaps what has ended, and counts what does not belong to earlier runs.
    pub(super) fn reap(&mut self, left: &mut Left) -> Brood {
        loop {
            let pid = match unix::look_any() {
                Brood::Ended(pid) => pid,
                Brood::Alive => return Brood::Alive,
                Brood::None => {
                    self.known.clear();
                    return Brood::None;
                }
            };
            let earlier = self.known.remove(&pid) || self.of_earlier_run(pid);
            let Ok(ended) = unix::reap(pid) else {
                return Brood::None;
            };
            if !earlier {
                left.orphans += 1;
                left.cpu += ended.usage.cpu();
            }
        }
    }

    /// Processes alive that no earlier run or hook has left.
    pub(super) fn newcomers(&self, pid: i32) -> Vec<i32> {
        // Ids count up; after they began anew, a child's may be below its parent's.
        let anew = pid <= self.last || platform::newest().is_some_and(|newest| newest < pid);
        let after = if anew { 0 } else { pid };
        let mut all = offspring(after);
        all.retain(|one| !self.known.contains(one) && !self.of_earlier_run(*one));
        all
    }

    /// Sends a signal to everything earlier runs have left.
    pub(super) fn signal(&self, signal: i32) {
        for group in &self.groups {
            unix::signal_group(*group, signal);
        }
    }

    fn of_earlier_run(&self, pid: i32) -> bool {
        !self.groups.is_empty() && unix::group_of(pid).is_some_and(|g| self.groups.contains(&g))
    }
}
