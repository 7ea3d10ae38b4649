//! From switch records and looks to wall time in three kinds that sum to it exactly: busy (a thread
//! of the tree on a CPU), queued (none on a CPU, one ready), idle (all blocked); and a list of the
//! idle intervals with the wait that ended each. A state machine without input or output.

use std::collections::HashMap;

use super::calls::Arch;
use super::log::{Idle, Kind, Log, ThreadFacts};
use super::naming::{Named, name};
use super::record::{Event, Look, Record};
use super::requeue::{Late, requeue};
use crate::evidence::Cause;

/// Threads that begin to run this long after another left the CPU may have been woken by it.
const WAKE_REACH: u64 = 50_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    On,
    Ready,
    Blocked,
    Ended,
}

#[derive(Debug)]
struct Thread {
    facts: ThreadFacts,
    state: State,
    since: u64,
    look: Option<Look>,
    stopped: bool,
    preempted: u64,
    blocked: u64,
    /// Its run-queue time by `/proc/PID/task/TID/schedstat`, as last read.
    delay: Option<u64>,
}

impl Thread {
    fn late(&self) -> Late {
        let queued = self.delay.unwrap_or(0);
        Late {
            excess: queued.saturating_sub(self.preempted).min(self.blocked),
            blocked: self.blocked,
        }
    }
}

/// The last thread that ended an idle interval, while it can still wake others.
#[derive(Debug)]
struct Waker {
    interval: usize,
    thread: usize,
    left: Option<u64>,
}

/// A thread that is blocked and has no look yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unseen {
    /// Its process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// When it left the CPU.
    pub since: u64,
}

/// The state machine.
#[derive(Debug)]
pub struct Timeline {
    arch: Arch,
    root: u32,
    now: u64,
    idle_since: u64,
    on: usize,
    ready: usize,
    stopped: usize,
    alive: usize,
    root_alive: usize,
    ticks: u32,
    threads: Vec<Thread>,
    live: HashMap<u32, usize>,
    ids: HashMap<Named, usize>,
    waker: Option<Waker>,
    log: Log,
}

impl Timeline {
    /// A run whose first thread `root` is on a CPU from `start` on: its first stretch has no record
    /// of a beginning.
    #[must_use]
    pub fn new(arch: Arch, root: u32, start: u64) -> Self {
        let mut timeline = Self {
            arch,
            root,
            now: start,
            idle_since: start,
            on: 0,
            ready: 0,
            stopped: 0,
            alive: 0,
            root_alive: 0,
            ticks: 0,
            threads: Vec::new(),
            live: HashMap::new(),
            ids: HashMap::new(),
            waker: None,
            log: Log::default(),
        };
        let first = timeline.add(root, root, State::On, start);
        timeline.threads[first].facts.first = true;
        timeline
    }

    /// Takes one record; records come in order of time, an older one counts as of now.
    pub fn record(&mut self, record: &Record) {
        let time = record.time.max(self.now);
        self.settle(time);
        let before = self.kind();
        let ender = match record.event {
            Event::In => self.enter(record, time),
            Event::Out { runnable } => self.leave(record, time, runnable),
            Event::Fork => self.fork(record, time),
            Event::Exit => self.exit(record.tid, time),
            Event::Exec => self.exec(record, time),
            Event::Lost(count) => {
                self.log.lost += count;
                None
            }
        };
        self.turn(before, ender, time);
    }

    /// Notes that the sampler looked now; a tick in idle time weighs what it stands for.
    pub fn tick(&mut self) {
        if self.kind() == Kind::Idle {
            self.ticks += 1;
        }
    }

    /// Attaches what was seen of a blocked thread.
    pub fn look(&mut self, tid: u32, look: Look) {
        let Some(&at) = self.live.get(&tid) else {
            return;
        };
        let thread = &mut self.threads[at];
        if thread.state != State::Blocked || look.begun < thread.since || look.runs() {
            return;
        }
        if look.stopped() && !thread.stopped {
            thread.stopped = true;
            self.stopped += 1;
        }
        thread.look = Some(look);
    }

    /// Notes the run-queue time of a thread that is blocked.
    pub fn delayed(&mut self, tid: u32, delay: u64) {
        if let Some(&at) = self.live.get(&tid) {
            self.threads[at].delay = Some(delay);
        }
    }

    /// The blocked threads nobody has looked at, newest wait first.
    pub fn unseen(&self, into: &mut Vec<Unseen>) {
        into.clear();
        into.extend(
            self.live
                .values()
                .map(|&at| &self.threads[at])
                .filter_map(|thread| {
                    let wanted = thread.state == State::Blocked && thread.look.is_none();
                    wanted.then_some(Unseen {
                        pid: thread.facts.pid,
                        tid: thread.facts.tid,
                        since: thread.since,
                    })
                }),
        );
        into.sort_unstable_by_key(|unseen| std::cmp::Reverse(unseen.since));
    }

    /// What the tree does now.
    #[must_use]
    pub fn kind(&self) -> Kind {
        if self.on > 0 || self.root_alive == 0 {
            // After the command's own last thread ended only its teardown and our waking are left.
            Kind::Busy
        } else if self.ready > 0 {
            Kind::Queued
        } else {
            Kind::Idle
        }
    }

    /// Ends the run at that time. `delay` is the run-queue time of the first thread by
    /// `/proc/PID/schedstat`: what exceeds its preempted time, as that of any thread, was spent woken
    /// but without a CPU.
    #[must_use]
    pub fn finish(mut self, end: u64, delay: Option<u64>) -> Log {
        let end = end.max(self.now);
        self.settle(end);
        if self.kind() == Kind::Idle {
            self.close(None, end);
        }
        self.log.wall = self.log.busy + self.log.queued + self.log.idle;
        self.threads[0].delay = delay.or(self.threads[0].delay);
        let late: Vec<Late> = self.threads.iter().map(Thread::late).collect();
        requeue(&mut self.log, &late);
        self.log.threads = self
            .threads
            .into_iter()
            .map(|thread| thread.facts)
            .collect();
        self.log
    }

    fn settle(&mut self, time: u64) {
        let passed = time - self.now;
        match self.kind() {
            Kind::Busy => self.log.busy += passed,
            Kind::Queued => self.log.queued += passed,
            Kind::Idle => self.log.idle += passed,
        }
        self.log.on_cpu += passed * self.on as u64;
        self.now = time;
    }

    /// Opens or closes an idle interval when the kind of time changed.
    fn turn(&mut self, before: Kind, ender: Option<Ender>, time: u64) {
        let after = self.kind();
        if before == Kind::Idle && after != Kind::Idle {
            self.close(ender, time);
        } else if before != Kind::Idle && after == Kind::Idle {
            self.idle_since = time;
            self.ticks = 0;
        }
    }

    fn close(&mut self, ender: Option<Ender>, time: u64) {
        let length = time - self.idle_since;
        let interval = self.log.intervals.len();
        if let Some(ender) = &ender {
            self.waker = Some(Waker {
                interval,
                thread: ender.thread,
                left: None,
            });
        }
        self.log.intervals.push(Idle {
            length,
            wait: ender.as_ref().map_or(length, |ender| ender.wait),
            name: ender.as_ref().and_then(|ender| ender.name),
            ender: ender.map(|ender| ender.thread),
            ticks: self.ticks,
            stretch: u64::MAX,
            woke: false,
        });
    }

    fn add(&mut self, pid: u32, tid: u32, state: State, since: u64) -> usize {
        let at = self.threads.len();
        self.threads.push(Thread {
            facts: ThreadFacts {
                pid,
                tid,
                first: false,
            },
            state: State::Ended,
            since,
            look: None,
            stopped: false,
            preempted: 0,
            blocked: 0,
            delay: None,
        });
        self.live.insert(tid, at);
        self.alive += 1;
        self.root_alive += usize::from(pid == self.root);
        self.log.threads_most = self.log.threads_most.max(self.alive as u64);
        self.set(at, state, since);
        at
    }

    fn find(&mut self, record: &Record, otherwise: State, time: u64) -> usize {
        match self.live.get(&record.tid) {
            Some(&at) => at,
            None => self.add(record.pid, record.tid, otherwise, time),
        }
    }

    fn set(&mut self, at: usize, state: State, time: u64) {
        let thread = &mut self.threads[at];
        match thread.state {
            State::On => self.on -= 1,
            State::Ready => self.ready -= 1,
            State::Blocked | State::Ended => {}
        }
        match state {
            State::On => self.on += 1,
            State::Ready => self.ready += 1,
            State::Blocked | State::Ended => {}
        }
        thread.state = state;
        thread.since = time;
    }

    fn enter(&mut self, record: &Record, time: u64) -> Option<Ender> {
        let at = self.find(record, State::Blocked, time);
        self.woken(Some(at), time);
        let Thread { state, since, .. } = self.threads[at];
        let wait = time - since;
        let ender = match state {
            State::On | State::Ended => None,
            State::Ready => {
                self.threads[at].preempted += wait;
                Some(Ender {
                    thread: at,
                    wait,
                    name: None,
                })
            }
            State::Blocked => {
                self.threads[at].blocked += wait;
                Some(Ender {
                    thread: at,
                    wait,
                    name: self.wait_name(at, time),
                })
            }
        };
        if state != State::On {
            self.set(at, State::On, time);
        }
        ender
    }

    /// The name of the wait that thread just ended, by what was read before it ran again. While any
    /// thread is stopped, that is the wait: its siblings are only held up by it.
    fn wait_name(&mut self, at: usize, time: u64) -> Option<usize> {
        let any_stopped = self.stopped > 0;
        let thread = &mut self.threads[at];
        if thread.stopped {
            thread.stopped = false;
            self.stopped -= 1;
        }
        let wait = time - thread.since;
        // A look that began after this wait ended is about a later one, whose record is to come.
        let look = thread.look.take_if(|look| look.begun < time);
        let seen = look.and_then(|look| name(self.arch, &look.until(time)));
        let own = seen.map(|named| self.intern(named));
        if let Some(own) = own {
            let total = self.log.blocked.entry(own).or_default();
            *total = (total.0 + wait, total.1 + 1);
        }
        if any_stopped {
            return Some(self.intern(Named {
                cause: Cause::Stopped,
                detail: "stopped by a signal".to_string(),
                place: None,
            }));
        }
        own
    }

    fn intern(&mut self, named: Named) -> usize {
        if let Some(&id) = self.ids.get(&named) {
            return id;
        }
        let id = self.log.names.len();
        self.log.names.push(named.clone());
        self.ids.insert(named, id);
        id
    }

    fn leave(&mut self, record: &Record, time: u64, runnable: bool) -> Option<Ender> {
        let at = self.find(record, State::On, time);
        let began = self.threads[at].since;
        if let Some(waker) = self.waker.as_mut().filter(|waker| waker.thread == at) {
            if waker.left.is_none() {
                waker.left = Some(time);
                self.log.intervals[waker.interval].stretch = time - began;
            }
        }
        self.threads[at].look.take_if(|look| look.begun < time);
        self.set(
            at,
            if runnable {
                State::Ready
            } else {
                State::Blocked
            },
            time,
        );
        None
    }

    fn fork(&mut self, record: &Record, time: u64) -> Option<Ender> {
        self.woken(None, time);
        if let Some(&at) = self.live.get(&record.tid) {
            self.end(at, time); // its end was lost, the number is used again
        }
        self.add(record.pid, record.tid, State::Ready, time);
        None
    }

    fn exit(&mut self, tid: u32, time: u64) -> Option<Ender> {
        let at = *self.live.get(&tid)?;
        self.end(at, time);
        None
    }

    fn end(&mut self, at: usize, time: u64) {
        self.set(at, State::Ended, time);
        let thread = &mut self.threads[at];
        if thread.stopped {
            thread.stopped = false;
            self.stopped -= 1;
        }
        thread.look = None;
        self.live.remove(&thread.facts.tid);
        self.alive -= 1;
        self.root_alive -= usize::from(thread.facts.pid == self.root);
    }

    /// The thread that calls exec takes the number of its process; all others are gone.
    fn exec(&mut self, record: &Record, time: u64) -> Option<Ender> {
        let others: Vec<usize> = self
            .live
            .values()
            .copied()
            .filter(|&at| {
                let facts = &self.threads[at].facts;
                facts.pid == record.pid && facts.tid != record.tid
            })
            .collect();
        let at = self.find(record, State::On, time);
        if self.threads[at].state != State::On {
            self.set(at, State::On, time);
        }
        for other in others {
            self.end(other, time);
        }
        None
    }

    /// Notes that a thread began or was born: was it the doing of the last waker?
    fn woken(&mut self, thread: Option<usize>, time: u64) {
        if let Some(waker) = &self.waker {
            let near = waker.left.is_none_or(|left| time <= left + WAKE_REACH);
            if near && thread != Some(waker.thread) {
                self.log.intervals[waker.interval].woke = true;
            }
        }
    }
}

/// Who ended the waiting, and what its wait was.
#[derive(Debug)]
struct Ender {
    thread: usize,
    wait: u64,
    name: Option<usize>,
}

#[cfg(test)]
#[path = "timeline_tests.rs"]
mod tests;
