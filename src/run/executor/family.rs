//! Processes that a run leaves behind: those that ended are counted with their CPU time, those
//! that live are counted and remembered, so that no later run pays for them in its account.

use std::collections::BTreeSet;
use std::time::Duration;

use super::waiting::{Grace, Vigil};
use crate::probe::schedstat;
use crate::sys::clock;
use crate::sys::platform::{self, offspring};
use crate::sys::unix::{self, Brood, number};

/// How long a process that is just about to end may take until it counts as left behind.
const LAST_BREATH: Duration = Duration::from_millis(2);
/// How long one that was killed may take on a busy machine.
const DEATH: Duration = Duration::from_secs(1);

/// What one run left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Left {
    /// Processes that came to us and have ended.
    pub(super) orphans: u64,
    /// Their CPU time, and what those still alive have used so far.
    pub(super) cpu: Duration,
    /// Processes still alive; nothing where they cannot be counted.
    pub(super) alive: Option<u64>,
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
    /// Process groups and sessions of those: what is in one of them comes from them.
    theirs: BTreeSet<i32>,
    /// Process groups of runs that left something.
    groups: BTreeSet<i32>,
    /// Who of the present run was asked to end.
    asked: BTreeSet<i32>,
    /// The process id of the run before.
    last: i32,
}

impl Family {
    /// A run begins: its process id is nobody else's any more.
    pub(super) fn begin(&mut self, pid: i32) {
        self.groups.remove(&pid);
        self.theirs.remove(&pid);
        self.known.remove(&pid);
        self.asked.clear();
    }

    /// Counts what the run with that process id left, after it was reaped. If it was told to end,
    /// what is left of it gets that long for it, and is killed after that.
    pub(super) fn collect(&mut self, pid: i32, grace: Option<Grace>) -> Left {
        let mut left = Left::default();
        let brood = match grace {
            Some(grace) => self.end(pid, &mut left, grace),
            None => self.let_end(pid, &mut left, LAST_BREATH, None),
        };
        left.alive = Some(0);
        if brood == Brood::Alive {
            self.keep(pid, &mut left);
        }
        self.last = pid;
        left
    }

    /// Ends what is left of a run; what is alive then.
    fn end(&mut self, pid: i32, left: &mut Left, grace: Grace) -> Brood {
        let mut brood = self.reap(left);
        if grace.ask_group && brood == Brood::Alive {
            self.signal_group(pid, number::TERM);
        }
        if brood == Brood::Alive {
            brood = self.let_end(pid, left, grace.left, Some(number::TERM));
        }
        if brood == Brood::Alive {
            brood = self.let_end(pid, left, DEATH, Some(number::KILL));
        }
        brood
    }

    /// To the group of a run that was reaped, which nobody of ours may have by now.
    fn signal_group(&self, pid: i32, signal: i32) {
        let in_group = |one: &i32| unix::group_of(*one) == Some(pid);
        let new = self.newcomers(pid);
        if new.map_or_else(|| unix::group_exists(pid), |new| new.iter().any(in_group)) {
            unix::signal_group(pid, signal);
        }
    }

    /// From now on what is alive of the run is something it has left.
    fn keep(&mut self, pid: i32, left: &mut Left) {
        let new = self.newcomers(pid);
        left.alive = new.as_ref().map(|new| new.len() as u64);
        let new = new.unwrap_or_default();
        // What lives has not been waited for, but it has worked during the run.
        left.cpu += new
            .iter()
            .filter_map(|one| run_time(*one))
            .sum::<Duration>();
        if !new.is_empty() || unix::group_exists(pid) {
            self.groups.insert(pid);
            self.theirs.insert(pid);
        }
        self.know(new);
    }

    /// Waits for that long at most until nothing of the run lives any more, and sends it a signal if
    /// there is one; what is alive then.
    fn let_end(
        &mut self,
        pid: i32,
        left: &mut Left,
        patience: Duration,
        signal: Option<i32>,
    ) -> Brood {
        let begun = clock::now();
        loop {
            let brood = self.reap(left);
            if brood != Brood::Alive || !self.is_alive(pid) {
                return brood;
            }
            // Again and again: while we look for them, processes start others.
            if let Some(signal) = signal {
                if signal == number::KILL {
                    self.signal_group(pid, signal);
                }
                self.tell(pid, signal);
            }
            let passed = Duration::from_nanos(clock::now() - begun);
            if passed >= patience {
                return brood;
            }
            unix::pause(LAST_BREATH);
        }
    }

    /// Sends a signal to what the run has started and what has left its group. Asked to end is
    /// everyone but once: a second request is to many programs one not to wind up.
    pub(super) fn tell(&mut self, pid: i32, signal: i32) {
        for one in self.alive(pid, pid - 1).unwrap_or_default() {
            let in_group = one == pid || unix::group_of(one) == Some(pid);
            if !in_group && (signal == number::KILL || self.asked.insert(one)) {
                unix::signal_process(one, signal);
                unix::signal_process(one, number::CONT);
            }
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
            if brood == Brood::None || !self.is_alive(pid) {
                return end;
            }
            unix::await_any();
            now = clock::now();
            if let Some(signal) = vigil.enforce(now) {
                self.tell(pid, signal);
            }
        }
    }

    /// Whatever is alive now belongs to no run: a hook has left it.
    pub(super) fn absorb(&mut self) {
        if self.reap(&mut Left::default()) == Brood::Alive {
            self.know(offspring(0, &BTreeSet::new()).unwrap_or_default());
        }
    }

    /// These belong to no run that follows, and neither does what they start.
    fn know(&mut self, left: Vec<i32>) {
        let ours = [unix::group_of(0), unix::session_of(0)];
        for one in left {
            let theirs = [unix::group_of(one), unix::session_of(one)];
            let theirs = theirs.into_iter().filter(|id| !ours.contains(id));
            self.theirs.extend(theirs.flatten());
            self.known.insert(one);
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
            let earlier = self.known.remove(&pid) || self.is_theirs(pid);
            let Ok(ended) = unix::reap(pid) else {
                return Brood::None;
            };
            if !earlier {
                left.orphans += 1;
                left.cpu += ended.usage.cpu();
            }
        }
    }

    /// Whether anything of the run lives.
    fn is_alive(&self, pid: i32) -> bool {
        match self.newcomers(pid) {
            Some(new) => !new.is_empty(),
            None => unix::group_exists(pid),
        }
    }

    /// Processes alive that no earlier run or hook has left, once the run itself was reaped; nothing
    /// where that cannot be told.
    pub(super) fn newcomers(&self, pid: i32) -> Option<Vec<i32>> {
        self.alive(pid, pid)
    }

    /// The same with ids above `after`.
    fn alive(&self, pid: i32, after: i32) -> Option<Vec<i32>> {
        // Ids count up; after they began anew, a child's may be below its parent's.
        let anew = pid <= self.last || platform::newest().is_some_and(|newest| newest < pid);
        let after = if anew { 0 } else { after };
        let mut all = offspring(after, &self.known)?;
        all.retain(|one| !self.is_theirs(*one));
        Some(all)
    }

    /// Sends a signal to everything earlier runs have left.
    pub(super) fn signal(&self, signal: i32) {
        for group in &self.groups {
            unix::signal_group(*group, signal);
        }
    }

    /// Whether a process is in a group or session that hooks or earlier runs have left.
    fn is_theirs(&self, pid: i32) -> bool {
        let is = |id: Option<i32>| id.is_some_and(|id| self.theirs.contains(&id));
        !self.theirs.is_empty() && (is(unix::group_of(pid)) || is(unix::session_of(pid)))
    }
}
