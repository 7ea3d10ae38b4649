//! Waiting for the end of one process: what ends the wait early, and what is done then.

use std::rc::Rc;
use std::time::Duration;

use crate::sys::platform::Wakeups;
use crate::sys::unix::{self, Ended, Event, number};
use crate::sys::{self, clock, session, terminal};

/// How often a run is looked after.
const EVERY: Duration = Duration::from_millis(100);
/// Before that, or half of it after short runs, a run is left alone, if nothing else is due.
const ALONE: Duration = Duration::from_secs(1);
/// The shortest time to the next interruption.
const SOON: Duration = Duration::from_micros(20);
/// How often the end of the time limit is told: a signal that comes before the wait begins is lost.
const AGAIN: Duration = Duration::from_millis(1);
/// From being asked to end by `--timeout` to being killed.
const TIMEOUT_GRACE: Duration = Duration::from_millis(100);
/// From an interrupt to being killed.
const INTERRUPT_GRACE: Duration = Duration::from_secs(2);

/// The time that long after another.
fn after(now: u64, grace: Duration) -> u64 {
    now + grace.as_nanos() as u64
}

/// How what is left of a run is told to end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grace {
    /// Until it is killed.
    pub(super) left: Duration,
    /// The group has got the signal of the keyboard only, which those whom a shell has started in
    /// the background ignore.
    pub(super) ask_group: bool,
}

/// When a wait is interrupted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rhythm {
    /// First after this long.
    pub(super) first: Duration,
    /// Then every so often.
    pub(super) every: Duration,
    /// The time limit.
    pub(super) timeout: Option<Duration>,
}

impl Rhythm {
    /// For a run that is left alone as long as possible, or `early` looked after.
    pub(super) fn new(early: bool, timeout: Option<Duration>) -> Self {
        let first = if early { EVERY } else { ALONE };
        let first = timeout.map_or(first, |limit| first.min(limit));
        Self {
            first,
            every: EVERY,
            timeout,
        }
    }
}

/// How a process is waited for, and what is done meanwhile.
pub(super) trait Attend {
    /// Waits until it ends or stops, or something interrupts.
    ///
    /// # Errors
    /// It is not our child.
    fn wait(&mut self, pid: i32) -> Result<Event, sys::Error> {
        unix::wait(pid)
    }

    /// Called after each interruption with the time since the start; how long until the next one,
    /// if the rhythm shall change.
    fn meanwhile(&mut self, pid: i32, passed: Duration) -> Option<Duration> {
        let _ = (pid, passed);
        None
    }

    /// The process and its group got that signal, because it is to end.
    fn told(&mut self, pid: i32, signal: i32) {
        let _ = (pid, signal);
    }
}

/// Only waits.
pub(super) struct Unattended;

impl Attend for Unattended {}

/// One process that is waited for.
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent facts of one wait"
)]
pub(super) struct Vigil {
    wakeups: Rc<Wakeups>,
    rhythm: Rhythm,
    pid: i32,
    /// When the process was asked for.
    begun: u64,
    /// A signal that came before concerns others.
    stop_before: Option<i32>,
    /// It winds something up, and a request to stop lets it finish.
    spared: bool,
    /// It has been reaped: its number may be that of any process.
    reaped: bool,
    kill_at: Option<u64>,
    lent: Option<terminal::Lent>,
    /// The time limit was reached.
    pub(super) timed_out: bool,
    /// Some signal stopped the process in the middle.
    pub(super) stopped: bool,
    /// Since when it is stopped.
    stopped_at: Option<u64>,
    /// How long it was stopped before.
    stopped_for: u64,
}

impl Vigil {
    /// Turns the timer on; made before the process, so that nothing remains to be done after it.
    pub(super) fn new(wakeups: Rc<Wakeups>, rhythm: Rhythm) -> Self {
        let stop_before = session::stop_signal();
        if rhythm.timeout == Some(rhythm.first) {
            wakeups.start(rhythm.first, AGAIN);
        } else if rhythm.first < EVERY {
            wakeups.start(rhythm.first, rhythm.every);
        } else {
            wakeups.start_about(rhythm.first, rhythm.every);
        }
        Self {
            wakeups,
            rhythm,
            pid: 0,
            begun: 0,
            stop_before,
            spared: false,
            reaped: false,
            kill_at: None,
            lent: None,
            timed_out: false,
            stopped: false,
            stopped_at: None,
            stopped_for: 0,
        }
    }

    /// It winds something up: a request to stop does not reach it and is no reason to kill it.
    pub(super) fn spare(&mut self) {
        self.spared = true;
        session::spare();
    }

    /// The process it is about.
    pub(super) fn watch(&mut self, pid: i32, begun: u64) {
        self.pid = pid;
        self.begun = begun;
    }

    /// Waits until the process has ended; the clock right after.
    ///
    /// # Errors
    /// It cannot be waited for. Nothing is left of it then.
    pub(super) fn until_end(&mut self, attendant: &mut dyn Attend) -> Result<u64, sys::Error> {
        loop {
            let event = attendant.wait(self.pid).inspect_err(|_| self.abandon())?;
            let now = clock::now();
            match event {
                Event::Ended => {
                    let passed = Duration::from_nanos(now.saturating_sub(self.begun));
                    let late = self.rhythm.timeout.is_some_and(|limit| passed > limit);
                    if late && !self.timed_out {
                        self.time_is_up(now);
                    }
                    self.went_on(now);
                    return Ok(now);
                }
                Event::Stopped(signal) => {
                    self.stopped_at.get_or_insert(now);
                    self.resume(signal);
                }
                Event::Continued => self.went_on(now),
                Event::Nothing => {}
            }
            if let Some(signal) = self.enforce(now) {
                attendant.told(self.pid, signal);
            }
            let passed = Duration::from_nanos(now.saturating_sub(self.begun));
            if let Some(next) = attendant.meanwhile(self.pid, passed) {
                // A signal that comes before the next wait begins is lost: it has to come again.
                let next = next.max(SOON);
                self.wakeups.start(next, next);
            }
        }
    }

    fn went_on(&mut self, now: u64) {
        let since = self.stopped_at.take().unwrap_or(now);
        self.stopped_for += now.saturating_sub(since);
    }

    /// How long signals had stopped the process, once it has ended.
    pub(super) fn stopped_for(&self) -> Duration {
        Duration::from_nanos(self.stopped_for)
    }

    /// Ends the process if its time is up, or some time after an interrupt; the signal that is due
    /// to what has left its group.
    pub(super) fn enforce(&mut self, now: u64) -> Option<i32> {
        let passed = Duration::from_nanos(now.saturating_sub(self.begun));
        let mut due = None;
        if let Some(limit) = self.rhythm.timeout.filter(|_| !self.timed_out) {
            let left = limit.saturating_sub(passed);
            if left.is_zero() {
                self.time_is_up(now);
                self.wakeups.start(TIMEOUT_GRACE, self.rhythm.every);
                due = Some(number::TERM);
            } else if left < self.rhythm.every {
                self.wakeups.start(left, AGAIN);
            }
        }
        if self.kill_at.is_none() && !self.spared && self.interrupted() {
            // The signal itself was passed on to the group when it came.
            self.kill_at = Some(after(now, INTERRUPT_GRACE));
            due = Some(number::TERM);
        }
        if self.kill_at.is_some_and(|at| now >= at) {
            self.signal(number::KILL);
            due = Some(number::KILL);
        }
        due
    }

    fn time_is_up(&mut self, now: u64) {
        self.timed_out = true;
        self.kill_at = Some(after(now, TIMEOUT_GRACE));
        self.signal(number::TERM);
    }

    /// What is left of a run that has ended is to end, too; nothing if nobody wants it to.
    pub(super) fn grace(&self) -> Option<Grace> {
        let left = |at: u64| Duration::from_nanos(at.saturating_sub(clock::now()));
        let interrupted = !self.timed_out && self.interrupted();
        let given = interrupted.then_some(INTERRUPT_GRACE);
        Some(Grace {
            left: self.kill_at.map(left).or(given)?,
            ask_group: interrupted,
        })
    }

    /// Whether a signal asked to stop since the wait began.
    pub(super) fn interrupted(&self) -> bool {
        self.stop_before.is_none() && session::stop_signal().is_some()
    }

    /// Reaps the process once it has ended. What it has left may still be waited for.
    ///
    /// # Errors
    /// It is not our child.
    pub(super) fn reap(&mut self) -> Result<Ended, sys::Error> {
        self.let_go();
        unix::reap(self.pid)
    }

    /// From now on only its group gets signals.
    pub(super) fn let_go(&mut self) {
        self.reaped = true;
        session::let_go();
    }

    /// To the group, and to the process itself if it has left its group.
    fn signal(&self, signal: i32) {
        unix::signal_group(self.pid, signal);
        if !self.reaped && unix::group_of(self.pid) != Some(self.pid) {
            unix::signal_process(self.pid, signal);
        }
    }

    /// Ends a process that nobody waits for any more, with its group.
    fn abandon(&self) {
        unix::signal_group(self.pid, number::KILL);
        // Whoever is no child of ours may be anybody by now.
        while let Ok(event) = unix::look(self.pid) {
            if event == Event::Ended {
                // What it was like is of no interest.
                let _ = unix::reap(self.pid);
                return;
            }
            unix::kill(self.pid);
            let _ = unix::wait(self.pid);
        }
    }

    /// The process was stopped: if the terminal did that, lend it; if its user did, stop too.
    fn resume(&mut self, signal: i32) {
        match signal {
            number::TTIN | number::TTOU => {
                if self.lent.is_none() {
                    self.lent = terminal::lend(self.pid);
                }
                if self.lent.is_some() {
                    unix::signal_group(self.pid, number::CONT);
                } else {
                    // We are in the background ourselves: be stopped like any such program.
                    session::suspend_self(signal);
                    self.stopped = true;
                }
            }
            number::TSTP if self.lent.is_some() => {
                self.lent = None;
                session::suspend_self(signal);
            }
            _ => self.stopped = true,
        }
    }

    /// The process has ended by that signal: with the terminal in its hands, the key that ends us
    /// reached only it.
    pub(super) fn ended_by(&mut self, signal: Option<u8>) {
        if self.lent.take().is_some() && signal.map(i32::from) == Some(number::INT) {
            session::ask_to_stop(number::INT);
        }
    }
}

impl Drop for Vigil {
    fn drop(&mut self) {
        self.wakeups.rest();
        session::leave();
    }
}
