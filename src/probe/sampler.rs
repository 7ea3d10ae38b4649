//! The loops that watch a running command: with switch records (looks in ticks or at every switch)
//! and without. They run in the thread that waits for the command, so nothing runs beside it.

use std::collections::HashMap;
use std::time::Duration;

use super::reader::Reader;
use super::switches::Merge;
use super::task;
use crate::explain::log::Log;
use crate::explain::record::{CallState, Look, Read};
use crate::explain::sampled::{Estimate, Glance, Sampled};
use crate::explain::timeline::{Timeline, Unseen};
use crate::explain::{Arch, Pass};
use crate::sys::{self, Held, Rings};

/// How often the tree of processes is read without switch records.
const WALK_PERIOD: u64 = 5_000_000;

/// When to look next: one period on average, jittered so that a periodic command is not always
/// met at the same place.
#[derive(Debug)]
struct Ticker {
    period: u64,
    next: u64,
    random: u64,
}

impl Ticker {
    fn new(period: u64, start: u64) -> Self {
        Self {
            period,
            next: start + period / 2,
            random: start | 1,
        }
    }

    fn wait(&self) -> Duration {
        Duration::from_nanos(self.next.saturating_sub(sys::now()))
    }

    fn advance(&mut self) {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.next += self.period / 2 + self.random % self.period;
        let now = sys::now();
        if now > self.next + 4 * self.period {
            self.next = now + self.period;
        }
    }
}

/// Watches with switch records.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    held: &'a Held,
    rings: Rings,
    merge: Merge,
    bytes: Vec<u8>,
    timeline: Option<Timeline>,
    unseen: Vec<Unseen>,
    arch: Arch,
    ticks: u64,
}

impl<'a> Watch<'a> {
    /// Gets ready; the child is still held.
    pub(crate) fn new(held: &'a Held, rings: Rings, arch: Arch) -> Self {
        let (bytes, unseen) = (Vec::with_capacity(1 << 20), Vec::new());
        let merge = Merge::default();
        Self {
            held,
            rings,
            merge,
            bytes,
            timeline: None,
            unseen,
            arch,
            ticks: 0,
        }
    }

    /// Watches until the command ended; the timeline and the real time between ticks. `None` if it
    /// never came to exec.
    pub(crate) fn run(
        mut self,
        pass: Pass,
        period: u64,
        reader: &mut Reader,
    ) -> Option<(Log, Option<u64>)> {
        let end = match pass {
            Pass::Ticks => self.in_ticks(period, reader),
            Pass::Switches => self.at_switches(reader),
        };
        self.drain(end);
        let pid = self.held.pid();
        let delay = reader.account(pid, pid).map(|account| account.1);
        let log = self.timeline?.finish(end, delay);
        let real = period.max(log.wall.checked_div(self.ticks).unwrap_or(period));
        Some((log, (pass == Pass::Ticks).then_some(real)))
    }

    fn in_ticks(&mut self, period: u64, reader: &mut Reader) -> u64 {
        let mut ticker = Ticker::new(period, sys::now());
        while !self.held.wait(&[], ticker.wait()) {
            let now = sys::now();
            ticker.advance();
            self.drain(now);
            if let Some(timeline) = &mut self.timeline {
                self.ticks += 1;
                timeline.tick();
                self.look(reader, now + period / 2);
            }
        }
        sys::now()
    }

    fn at_switches(&mut self, reader: &mut Reader) -> u64 {
        let descriptors = self.rings.descriptors();
        while !self.held.wait(&descriptors, Duration::from_millis(5)) {
            let now = sys::now();
            self.drain(now);
            self.look(reader, now + 5_000_000);
        }
        sys::now()
    }

    /// Feeds the records up to `cut`, a clock reading from before.
    fn drain(&mut self, cut: u64) {
        if self.timeline.is_none() {
            let (stamp, pid) = (self.held.stamp(), self.held.pid());
            self.timeline = (stamp > 0).then(|| Timeline::new(self.arch, pid, stamp));
        }
        let Some(timeline) = &mut self.timeline else {
            return;
        };
        self.bytes.clear();
        self.rings.drain(&mut self.bytes);
        for record in self.merge.take(&self.bytes, cut) {
            timeline.record(&record);
        }
    }

    /// Looks at the threads nobody has looked at, newest wait first, until the time is up.
    fn look(&mut self, reader: &mut Reader, deadline: u64) {
        let Some(timeline) = &mut self.timeline else {
            return;
        };
        timeline.unseen(&mut self.unseen);
        for unseen in &self.unseen {
            if let Some(look) = reader.look(unseen.pid, unseen.tid) {
                timeline.look(unseen.tid, look);
            }
            if sys::now() > deadline {
                break;
            }
        }
    }
}

/// What the sampler remembers of a thread.
#[derive(Debug)]
struct Known {
    pid: u32,
    stretches: u64,
    blocked: bool,
}

/// Watches without switch records.
#[derive(Debug)]
pub(crate) struct Glancer<'a> {
    held: &'a Held,
    known: HashMap<u32, Known>,
    walked: u64,
}

impl<'a> Glancer<'a> {
    /// Gets ready; the child is still held.
    pub(crate) fn new(held: &'a Held) -> Self {
        Self {
            held,
            known: HashMap::new(),
            walked: 0,
        }
    }

    /// Watches until the command ended. `None` if it never came to exec.
    pub(crate) fn run(mut self, arch: Arch, period: u64, reader: &mut Reader) -> Option<Estimate> {
        let mut ticker = Ticker::new(period, sys::now());
        let mut sampled: Option<Sampled> = None;
        while !self.held.wait(&[], ticker.wait()) {
            let now = sys::now();
            ticker.advance();
            let stamp = self.held.stamp();
            if stamp == 0 {
                continue;
            }
            self.walk(now, reader);
            let glances = self.glance(reader, now + period / 2);
            sampled
                .get_or_insert_with(|| Sampled::new(arch, stamp))
                .tick(now, glances);
        }
        let end = sys::now();
        let pid = self.held.pid();
        let main = reader
            .account(pid, pid)
            .map(|account| (account.0, account.1));
        let stamp = self.held.stamp();
        let sampled = sampled.or_else(|| (stamp > 0).then(|| Sampled::new(arch, stamp)));
        Some(sampled?.finish(end, main))
    }

    fn glance(&mut self, reader: &mut Reader, deadline: u64) -> Vec<Glance> {
        let mut glances = Vec::with_capacity(self.known.len());
        let mut gone = Vec::new();
        for (&tid, known) in &mut self.known {
            let Some((run, delay, stretches)) = reader.account(known.pid, tid) else {
                gone.push(tid);
                continue;
            };
            let waits_on = known.blocked && known.stretches == stretches;
            let look = if waits_on || sys::now() > deadline {
                None
            } else {
                match checked(reader, known.pid, tid) {
                    Some(look) => Some(look),
                    None => continue,
                }
            };
            known.stretches = stretches;
            known.blocked = waits_on || look.as_ref().is_some_and(|look| !look.runs());
            glances.push(Glance {
                tid,
                account: Some((run, delay)),
                look,
            });
        }
        for tid in gone {
            self.known.remove(&tid);
            reader.forget(tid);
        }
        glances
    }

    /// Finds the threads of the tree. A process once seen stays known when its parent ends.
    fn walk(&mut self, now: u64, reader: &mut Reader) {
        if now < self.walked + WALK_PERIOD && !self.known.is_empty() {
            return;
        }
        self.walked = now;
        let mut queue: Vec<u32> = self.known.values().map(|known| known.pid).collect();
        queue.push(self.held.pid());
        queue.sort_unstable();
        queue.dedup();
        let mut at = 0;
        while at < queue.len() {
            let pid = queue[at];
            at += 1;
            for tid in sys::threads(pid) {
                for child in children(pid, tid) {
                    if !queue.contains(&child) {
                        queue.push(child);
                    }
                }
                self.known.entry(tid).or_insert_with(|| {
                    reader.forget(tid);
                    Known {
                        pid,
                        stretches: 0,
                        blocked: false,
                    }
                });
            }
        }
    }
}

/// A look that counts as running if the thread ran meanwhile; `None` for one that has ended.
fn checked(reader: &mut Reader, pid: u32, tid: u32) -> Option<Look> {
    let before = reader.account(pid, tid)?.2;
    let look = reader.look(pid, tid)?;
    if matches!(
        look.state,
        Some(Read {
            value: 'Z' | 'X',
            ..
        })
    ) {
        return None;
    }
    if reader.account(pid, tid)?.2 == before {
        return Some(look);
    }
    let call = Some(Read {
        at: sys::now(),
        value: CallState::Running,
    });
    Some(Look {
        begun: look.begun,
        call,
        ..Look::default()
    })
}

fn children(pid: u32, tid: u32) -> Vec<u32> {
    match sys::children(pid, tid) {
        Ok(children) => children,
        // Without CONFIG_PROC_CHILDREN every process is asked for its parent.
        Err(_) if pid == tid => sys::processes()
            .into_iter()
            .filter(|&child| {
                let stat = sys::text(child, "stat").unwrap_or_default();
                task::stat(&stat).is_some_and(|(_, parent)| parent == pid)
            })
            .collect(),
        Err(_) => Vec::new(),
    }
}
