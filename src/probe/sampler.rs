//! Watches a running command: with switch records (looks in ticks or at every switch) and without.
//! The thread that waits for the command also looks, so nothing runs beside it.

use std::collections::HashMap;
use std::os::fd::RawFd;
use std::time::Duration;

use super::reader::Reader;
use super::switches::Merge;
use super::task;
use crate::explain::log::Log;
use crate::explain::record::{CallState, Look, Read};
use crate::explain::sampled::{Estimate, Glance, Sampled};
use crate::explain::timeline::{Timeline, Unseen};
use crate::explain::{Arch, Pass};
use crate::sys::{self, Rings};

/// How often the tree of processes is read without switch records.
const WALK_PERIOD: u64 = 5_000_000;
/// At every switch: how long one look may take, and when to look if nothing is switched.
const LONGEST_LOOK: u64 = 5_000_000;
/// At every switch: so many looks suffice for the shares; the rest of the run is left alone.
const MOST_LOOKS: u64 = 20_000;

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

    /// Other signals end a wait as well.
    fn is_due(&self, now: u64) -> bool {
        now + self.period / 8 >= self.next
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

/// One run that is going on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// Its first process.
    pub(crate) pid: u32,
    /// Just before exec.
    pub(crate) begun: u64,
}

/// Watches with switch records.
#[derive(Debug)]
pub(crate) struct Recorder {
    rings: Rings,
    merge: Merge,
    bytes: Vec<u8>,
    timeline: Option<Timeline>,
    unseen: Vec<Unseen>,
    arch: Arch,
    pass: Pass,
    ticker: Ticker,
    ticks: u64,
    /// The timeline of the looked-at part of a run with very many switches.
    part: Option<Log>,
}

impl Recorder {
    /// Gets ready; the child is still held.
    pub(crate) fn new(rings: Rings, arch: Arch, pass: Pass, period: u64) -> Self {
        Self {
            rings,
            merge: Merge::default(),
            bytes: Vec::with_capacity(1 << 20),
            timeline: None,
            unseen: Vec::new(),
            arch,
            pass,
            ticker: Ticker::new(period, sys::now()),
            ticks: 0,
            part: None,
        }
    }

    /// What becomes readable when a thread was switched; nothing to look at in ticks.
    pub(crate) fn descriptors(&self) -> Vec<RawFd> {
        match self.pass {
            Pass::Switches if self.part.is_none() => self.rings.descriptors(),
            Pass::Ticks | Pass::Switches => Vec::new(),
        }
    }

    /// Looks; how long until the next look.
    pub(crate) fn look(&mut self, run: Run, reader: &mut Reader) -> Duration {
        let now = sys::now();
        if self.pass == Pass::Switches {
            if self.part.is_none() {
                self.drain(run, now);
                self.read(reader, now + LONGEST_LOOK);
                self.ticks += 1;
            }
            if self.ticks == MOST_LOOKS && self.part.is_none() {
                let timeline = self.timeline.take();
                self.part = timeline.map(|timeline| timeline.finish(now, None));
            }
            return Duration::from_nanos(LONGEST_LOOK);
        }
        if self.ticker.is_due(now) {
            self.ticker.advance();
            self.drain(run, now);
            if let Some(timeline) = &mut self.timeline {
                self.ticks += 1;
                timeline.tick();
                self.read(reader, now + self.ticker.period / 2);
            }
        }
        self.ticker.wait()
    }

    /// The timeline of a run that ended then, and the real time between ticks.
    pub(crate) fn finish(
        mut self,
        run: Run,
        end: u64,
        reader: &mut Reader,
    ) -> Option<(Log, Option<u64>)> {
        if let Some(part) = self.part {
            return Some((part, None));
        }
        self.drain(run, end);
        let delay = reader.account(run.pid, run.pid).map(|account| account.1);
        let log = self.timeline?.finish(end, delay);
        let real = log.wall.checked_div(self.ticks);
        let real = real.unwrap_or(self.ticker.period).max(self.ticker.period);
        Some((log, (self.pass == Pass::Ticks).then_some(real)))
    }

    /// Feeds the records up to `cut`, a clock reading from before.
    fn drain(&mut self, run: Run, cut: u64) {
        let new = || Timeline::new(self.arch, run.pid, run.begun);
        let timeline = self.timeline.get_or_insert_with(new);
        self.bytes.clear();
        self.rings.drain(&mut self.bytes);
        for record in self.merge.take(&self.bytes, cut) {
            timeline.record(&record);
        }
    }

    /// Looks at the threads nobody has looked at, newest wait first, until the time is up.
    fn read(&mut self, reader: &mut Reader, deadline: u64) {
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
pub(crate) struct Glancer {
    arch: Arch,
    known: HashMap<u32, Known>,
    walked: u64,
    ticker: Ticker,
    sampled: Option<Sampled>,
    seen: bool,
}

impl Glancer {
    /// Gets ready.
    pub(crate) fn new(arch: Arch, period: u64) -> Self {
        Self {
            arch,
            known: HashMap::new(),
            walked: 0,
            ticker: Ticker::new(period, sys::now()),
            sampled: None,
            seen: false,
        }
    }

    /// Looks; how long until the next look.
    pub(crate) fn look(&mut self, run: Run, reader: &mut Reader) -> Duration {
        let now = sys::now();
        if self.ticker.is_due(now) {
            self.ticker.advance();
            self.walk(now, run, reader);
            let glances = self.glance(reader, now + self.ticker.period / 2);
            self.seen |= !glances.is_empty();
            self.sampled
                .get_or_insert_with(|| Sampled::new(self.arch, run.begun))
                .tick(now, glances);
        }
        self.ticker.wait()
    }

    /// The estimate of a run that ended then; `None` if no thread of it could be seen at all.
    pub(crate) fn finish(mut self, run: Run, end: u64, reader: &mut Reader) -> Option<Estimate> {
        let main = reader.account(run.pid, run.pid);
        let main = main.map(|account| (account.0, account.1));
        if main.is_none() && self.walked > 0 && !self.seen {
            return None;
        }
        let new = || Sampled::new(self.arch, run.begun);
        Some(self.sampled.take().unwrap_or_else(new).finish(end, main))
    }

    fn glance(&mut self, reader: &mut Reader, deadline: u64) -> Vec<Glance> {
        let mut glances = Vec::with_capacity(self.known.len());
        let mut gone = Vec::new();
        let mut looked = false;
        for (&tid, known) in &mut self.known {
            let Some((run, delay, stretches)) = reader.account(known.pid, tid) else {
                gone.push(tid);
                continue;
            };
            let waits_on = known.blocked && known.stretches == stretches;
            // One look at least, however late this tick is.
            let look = if waits_on || (looked && sys::now() > deadline) {
                None
            } else {
                looked = true;
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
    fn walk(&mut self, now: u64, run: Run, reader: &mut Reader) {
        if now < self.walked + WALK_PERIOD && !self.known.is_empty() {
            return;
        }
        self.walked = now;
        let mut queue: Vec<u32> = self.known.values().map(|known| known.pid).collect();
        queue.push(run.pid);
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
