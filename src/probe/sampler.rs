//! Watches a running command with switch records: looks in ticks or at every switch. The thread that
//! waits for the command also looks, so nothing runs beside it.

use std::os::fd::RawFd;
use std::time::Duration;

use super::reader::Reader;
use super::switches::Merge;
use crate::explain::log::Log;
use crate::explain::timeline::{Timeline, Unseen};
use crate::explain::{Arch, Pass};
use crate::sys::{self, Rings};

/// At every switch: how long one look may take, and when to look if nothing is switched.
const LONGEST_LOOK: u64 = 5_000_000;
/// At every switch: so many looks suffice for the shares; the rest of the run is left alone.
const MOST_LOOKS: u64 = 20_000;

/// When to look next: one period on average, jittered so that a periodic command is not always
/// met at the same place.
#[derive(Debug)]
pub(super) struct Ticker {
    period: u64,
    next: u64,
    random: u64,
}

impl Ticker {
    pub(super) fn new(period: u64, start: u64) -> Self {
        Self {
            period,
            next: start + period / 2,
            random: start | 1,
        }
    }

    /// Other signals end a wait as well.
    pub(super) fn is_due(&self, now: u64) -> bool {
        now + self.period / 8 >= self.next
    }

    pub(super) fn wait(&self) -> Duration {
        Duration::from_nanos(self.next.saturating_sub(sys::now()))
    }

    pub(super) fn advance(&mut self) {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.next += self.period / 2 + self.random % self.period;
        let now = sys::now();
        if now > self.next + 4 * self.period {
            self.next = now + self.period;
        }
    }

    /// After a look that began then: however many threads there are, looking takes no more than a
    /// third of a CPU from them.
    pub(super) fn spare(&mut self, begun: u64) {
        let now = sys::now();
        self.next = self.next.max(now + 2 * now.saturating_sub(begun));
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
            if let Some((_, delay, _)) = reader.account(unseen.pid, unseen.tid) {
                timeline.delayed(unseen.tid, delay);
            }
            if let Some(look) = reader.look(unseen.pid, unseen.tid) {
                timeline.look(unseen.tid, look);
            }
            if sys::now() > deadline {
                break;
            }
        }
    }
}
