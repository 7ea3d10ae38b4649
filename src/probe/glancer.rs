//! Watches a running command without switch records: at each tick all threads of its tree. A tick is
//! idle only if every one of them was blocked at the same time; only then names are looked up.

use std::collections::HashMap;
use std::time::Duration;

use super::reader::{Reader, Stance};
use super::sampler::{Run, Ticker};
use super::tree::Tree;
use crate::explain::Arch;
use crate::explain::record::{Call, CallState};
use crate::explain::sampled::{Estimate, Glance, Sampled, Sight};
use crate::sys;

/// How often the tree of processes is read while it works.
const WALK_PERIOD: u64 = 5_000_000;

/// What the sampler remembers of a thread.
#[derive(Debug, Default)]
struct Known {
    pid: u32,
    /// On-CPU time, run-queue time and number of stretches, where the kernel tells.
    account: Option<(u64, u64, u64)>,
    runs: bool,
    call: Option<Call>,
    /// The wait that was last looked at.
    named: Option<Wait>,
    /// The wait in which it was when the tree was last read: it has started nothing since.
    walked: Option<Wait>,
    /// It has ended and is only not reaped.
    dead: bool,
}

/// What tells a wait of a thread from its other waits: how often it has run, and its call.
type Wait = (Option<u64>, Option<Call>);

impl Known {
    fn wait(&self) -> Wait {
        (self.account.map(|account| account.2), self.call)
    }

    /// Whether it is still in that wait. Without an account it may have run meanwhile.
    fn lasts(&self, since: Option<Wait>) -> bool {
        self.account.is_some() && since == Some(self.wait())
    }
}

/// Watches without switch records.
#[derive(Debug)]
pub(crate) struct Glancer {
    tree: Tree,
    known: HashMap<u32, Known>,
    walked: u64,
    ticker: Ticker,
    arch: Arch,
    /// What the first thread had run before it was let go.
    before: (u64, u64),
    sampled: Option<Sampled>,
    seen: bool,
}

impl Glancer {
    /// Gets ready; the process was just started and may be held.
    pub(crate) fn new(arch: Arch, period: u64, pid: u32, reader: &mut Reader) -> Self {
        let before = reader.account(pid, pid).unwrap_or_default();
        Self {
            tree: Tree::new(pid),
            known: HashMap::new(),
            walked: 0,
            ticker: Ticker::new(period, sys::now()),
            arch,
            before: (before.0, before.1),
            sampled: None,
            seen: false,
        }
    }

    /// Looks; how long until the next look.
    pub(crate) fn look(&mut self, run: Run, reader: &mut Reader) -> Duration {
        let now = sys::now();
        if self.ticker.is_due(now) {
            self.ticker.advance();
            let idle = self.tick(now, reader);
            let glances = self.glances(idle, reader);
            self.seen |= !glances.is_empty();
            self.sampled(run).tick(now, idle, glances);
            self.ticker.spare(now);
        }
        self.ticker.wait()
    }

    /// The estimate of a run that ended then; `None` if no thread of it could be seen at all.
    pub(crate) fn finish(mut self, run: Run, end: u64, reader: &mut Reader) -> Option<Estimate> {
        let main = reader.account(run.pid, run.pid);
        if main.is_none() && self.walked > 0 && !self.seen {
            return None;
        }
        self.sampled(run);
        let main = main.map(|account| (account.0, account.1));
        Some(self.sampled?.finish(end, main))
    }

    fn sampled(&mut self, run: Run) -> &mut Sampled {
        let first = (run.pid, self.before);
        self.sampled
            .get_or_insert_with(|| Sampled::new(self.arch, run.begun, first))
    }

    /// Whether every thread is blocked. All are seen before and after: one that works on between
    /// two looks, or hands its work on to one that was seen blocked, has run in between.
    fn tick(&mut self, now: u64, reader: &mut Reader) -> bool {
        if now >= self.walked + WALK_PERIOD || self.known.is_empty() {
            self.walk(reader);
        }
        self.see(reader);
        let nobody = self.living().next().is_none();
        if nobody || self.living().any(|known| known.runs) || !self.rests(reader) {
            return false;
        }
        // Who waits for a process may have started it a moment ago. This takes long: what those
        // that are known do meanwhile is of no interest.
        let grown = self.living().any(|known| !known.lasts(known.walked));
        if grown && self.walk(reader) {
            self.see(reader);
            return !self.living().any(|known| known.runs);
        }
        true
    }

    fn living(&self) -> impl Iterator<Item = &Known> {
        self.known.values().filter(|known| !known.dead)
    }

    /// Takes account and stance of all threads.
    fn see(&mut self, reader: &mut Reader) {
        self.known.retain(|&tid, known| {
            known.account = reader.account(known.pid, tid);
            let stance = reader.stance(known.pid, tid);
            known.runs = stance == Some(Stance::Runs);
            known.dead = stance == Some(Stance::Ended);
            known.call = match stance {
                Some(Stance::Blocked(call)) => call,
                _ => None,
            };
            if stance.is_none() {
                reader.forget(tid);
            }
            stance.is_some()
        });
    }

    /// Whether none has run since it was seen, or is ready to. One thread alone need not be asked.
    fn rests(&self, reader: &mut Reader) -> bool {
        let mut living = self.known.iter().filter(|(_, known)| !known.dead);
        self.living().nth(1).is_none() || living.all(|(&tid, known)| rests(reader, tid, known))
    }

    /// Reads the tree; whether it has grown.
    fn walk(&mut self, reader: &mut Reader) -> bool {
        self.walked = sys::now();
        for known in self.known.values_mut() {
            known.walked = (!known.runs).then(|| known.wait());
        }
        let pids = self.known.values().map(|known| known.pid);
        let before = self.known.len();
        for (pid, tid) in self.tree.threads(pids) {
            self.known.entry(tid).or_insert_with(|| {
                reader.forget(tid);
                Known {
                    pid,
                    ..Known::default()
                }
            });
        }
        self.known.len() > before
    }

    /// What was seen of each thread; names only of an idle tick.
    fn glances(&mut self, idle: bool, reader: &mut Reader) -> Vec<Glance> {
        let mut glances = Vec::with_capacity(self.known.len());
        for (&tid, known) in &mut self.known {
            let sight = if known.runs {
                known.named = None;
                Sight::Runs
            } else if known.lasts(known.named) {
                Sight::Still
            } else if idle && !known.dead {
                named(reader, tid, known)
            } else {
                Sight::Blocked
            };
            if !known.dead {
                glances.push(Glance {
                    tid,
                    account: known.account.map(|account| (account.0, account.1)),
                    sight,
                });
            }
        }
        glances
    }
}

/// What a blocked thread waits for.
fn named(reader: &mut Reader, tid: u32, known: &mut Known) -> Sight {
    let Some(look) = reader.look(known.pid, tid).filter(|look| !look.ended()) else {
        known.dead = true;
        return Sight::Blocked;
    };
    if rests(reader, tid, known) {
        known.named = Some(known.wait());
        return Sight::Waits(look);
    }
    // It ran meanwhile, but the call it was seen in says by itself what it waited for. A later wait
    // in the same call has the same name.
    let Some(call) = known.call else {
        return Sight::Blocked;
    };
    if look.call.as_ref().map(|read| read.value) == Some(CallState::In(call)) {
        return Sight::Waits(look);
    }
    reader
        .bare(known.pid, call)
        .map_or(Sight::Blocked, Sight::Waits)
}

/// Whether a thread is still in the wait it was seen in.
fn rests(reader: &mut Reader, tid: u32, known: &Known) -> bool {
    let stretches = reader.account(known.pid, tid).map(|account| account.2);
    let Some(Stance::Blocked(call)) = reader.stance(known.pid, tid) else {
        return false;
    };
    known.wait() == (stretches, call)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TID: u32 = 7;

    /// Looks twice at a thread named before, without being allowed to name it anew.
    fn sights(account: Option<(u64, u64, u64)>, runs: [bool; 2]) -> [Sight; 2] {
        let mut reader = Reader::new(Arch::X86_64, String::new());
        let mut glancer = Glancer::new(Arch::X86_64, 1_000_000, 1, &mut reader);
        let known = Known {
            account,
            named: Some((account.map(|account| account.2), None)),
            ..Known::default()
        };
        glancer.known.insert(TID, known);
        runs.map(|runs| {
            glancer.known.get_mut(&TID).unwrap().runs = runs;
            glancer.glances(false, &mut reader).remove(0).sight
        })
    }

    #[test]
    fn a_name_lasts_as_long_as_the_wait_it_was_given_to() {
        let account = Some((1, 2, 3));
        assert_eq!(sights(account, [false; 2]), [Sight::Still, Sight::Still]);
        let ran = sights(account, [true, false]);
        assert_eq!(ran, [Sight::Runs, Sight::Blocked]);
    }

    #[test]
    fn without_an_account_nobody_knows_that_it_is_the_same_wait() {
        let blocked = [Sight::Blocked, Sight::Blocked];
        assert_eq!(sights(None, [false; 2]), blocked);
        let known = Known::default();
        assert!(!known.lasts(Some(known.wait())));
    }
}
