//! Traces with the timeline they draw: `=` on a CPU, `.` blocked, `~` ready, `|` begins or ends.
//! One character is 1 µs unless said otherwise.

#![allow(clippy::unnecessary_wraps, reason = "parts of a look are optional")]

use std::ops::Range;

use super::*;
use crate::explain::blame::{Blamed, blame};
use crate::explain::log::Log;
use crate::explain::record::{Call, CallState, Read};

const SLEEP: i64 = 230;
const FSYNC: i64 = 74;
const FUTEX: i64 = 202;
const RECEIVE: i64 = 45;

/// A trace in the making; times in microseconds.
struct Trace {
    timeline: Timeline,
}

impl Trace {
    fn new() -> Self {
        Self {
            timeline: Timeline::new(Arch::X86_64, 1, 0),
        }
    }

    fn event(mut self, time: u64, tid: u32, event: Event) -> Self {
        let pid = if tid < 10 { 1 } else { tid };
        self.timeline.record(&Record {
            time: time * 1000,
            pid,
            tid,
            event,
        });
        self
    }

    fn on(self, time: u64, tid: u32) -> Self {
        self.event(time, tid, Event::In)
    }

    fn off(self, time: u64, tid: u32) -> Self {
        self.event(time, tid, Event::Out { runnable: false })
    }

    fn preempt(self, time: u64, tid: u32) -> Self {
        self.event(time, tid, Event::Out { runnable: true })
    }

    fn fork(self, time: u64, tid: u32) -> Self {
        self.event(time, tid, Event::Fork)
    }

    fn exit(self, time: u64, tid: u32) -> Self {
        self.event(time, tid, Event::Exit)
    }

    fn tick(mut self) -> Self {
        self.timeline.tick();
        self
    }

    /// A look that lasts from `begun` to `at`.
    fn look(mut self, took: Range<u64>, tid: u32, state: char, number: i64) -> Self {
        fn read<T>(at: u64, value: T) -> Option<Read<T>> {
            Some(Read {
                at: at * 1000,
                value,
            })
        }
        let (begun, at) = (took.start, took.end);
        let look = Look {
            begun: begun * 1000,
            call: read(
                at,
                CallState::In(Call {
                    number,
                    args: [0; 6],
                }),
            ),
            state: read(at, state),
            ..Look::default()
        };
        self.timeline.look(tid, look);
        self
    }

    fn end(self, time: u64) -> Log {
        let log = self.timeline.finish(time * 1000, None);
        assert_eq!(
            log.busy + log.queued + log.idle,
            log.wall,
            "the kinds sum to wall"
        );
        assert_eq!(
            log.intervals.iter().map(|idle| idle.length).sum::<u64>(),
            log.idle
        );
        log
    }
}

fn kinds(log: &Log) -> (u64, u64, u64) {
    (log.busy / 1000, log.queued / 1000, log.idle / 1000)
}

/// Blamed microseconds by call, largest first, and what has no name.
fn blamed(log: &Log, period: Option<u64>) -> (Vec<(String, u64)>, u64) {
    let Blamed { waits, unnamed, .. } = blame(log, period);
    let mut rows: Vec<_> = waits
        .into_iter()
        .map(|(id, (time, _))| (log.names[id].detail.clone(), time as u64 / 1000))
        .collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    (rows, unnamed as u64 / 1000)
}

fn row(call: &str, time: u64) -> (String, u64) {
    (call.to_string(), time)
}

/// ```text
/// 1  |=====......==|      one thread sleeps from 5 to 11
///          L              look from 6 to 7
/// ```
#[test]
fn the_first_stretch_counts_from_the_start() {
    let log = Trace::new()
        .off(5, 1)
        .look(6..7, 1, 'S', SLEEP)
        .on(11, 1)
        .exit(13, 1)
        .end(13);
    assert_eq!(kinds(&log), (7, 0, 6));
    assert_eq!(log.on_cpu, 7000);
    assert_eq!(blamed(&log, None), (vec![row("clock_nanosleep", 6)], 0));
}

/// ```text
/// 1  |==................==|    main joins: futex from 2 to 18
/// 2   |=.....=|                sleeps from 3 to 9, then ends
/// 3   |.==.......===|          naps from 1; 6 to 13; ends at 16
/// ```
#[test]
fn symptoms_vanish_and_the_root_wait_remains() {
    let log = Trace::new()
        .fork(1, 2)
        .fork(1, 3)
        .off(2, 1)
        .look(2..2, 1, 'S', FUTEX)
        .on(2, 2)
        .off(3, 2)
        .on(3, 3)
        .look(3..4, 2, 'S', SLEEP)
        .off(5, 3)
        .look(5..6, 3, 'D', FSYNC)
        .on(9, 2)
        .exit(10, 2)
        .on(13, 3)
        .exit(16, 3)
        .on(18, 1)
        .exit(20, 1)
        .end(20);
    assert_eq!(log.idle, (4 + 3 + 2) * 1000);
    let (rows, unnamed) = blamed(&log, None);
    // The 2 µs from the end of thread 3 to main are the latency of its waking.
    assert_eq!(
        rows,
        [row("clock_nanosleep", 4), row("fsync", 3), row("futex", 2)]
    );
    assert_eq!((unnamed, log.threads_most), (0, 3));
}

/// ```text
/// 1  |==~~~====~~==|      preempted from 2 to 5 and from 9 to 11
/// ```
#[test]
fn preempted_is_queued() {
    let log = Trace::new()
        .preempt(2, 1)
        .on(5, 1)
        .preempt(9, 1)
        .on(11, 1)
        .exit(13, 1)
        .end(13);
    assert_eq!(kinds(&log), (8, 5, 0));
    assert!(log.intervals.is_empty());
}

/// ```text
/// 1   |==.........=|     vfork: blocked from 2
/// 20    |~~~=====|       the child is ready from 2, runs from 5 to 10
/// ```
#[test]
fn a_child_not_yet_run_is_queued_not_idle() {
    let log = Trace::new()
        .fork(2, 20)
        .off(2, 1)
        .on(5, 20)
        .exit(10, 20)
        .on(11, 1)
        .exit(12, 1)
        .end(12);
    assert_eq!(kinds(&log), (8, 3, 1));
}

/// ```text
/// 1  |==....==|      blocked from 2 to 6
///       L----L       a look from 3 to 7 ends after the thread runs again: dropped
/// ```
#[test]
fn a_look_that_ends_too_late_is_dropped() {
    let log = Trace::new()
        .off(2, 1)
        .look(3..7, 1, 'S', SLEEP)
        .on(6, 1)
        .exit(8, 1)
        .end(8);
    assert_eq!(blamed(&log, None), (vec![], 4));
}

/// ```text
/// 1  |==..=.....=|      out at 2, in at 4, out at 5, in at 10; the records come late,
///          LL           so a look from 6 to 7 is attached to the first wait, and named with the second
/// ```
#[test]
fn a_look_at_a_later_wait_is_kept_for_it() {
    let log = Trace::new()
        .off(2, 1)
        .look(6..7, 1, 'S', SLEEP)
        .on(4, 1)
        .off(5, 1)
        .on(10, 1)
        .exit(11, 1)
        .end(11);
    assert_eq!(blamed(&log, None), (vec![row("clock_nanosleep", 5)], 2));
}

/// ```text
/// 1  |==........==|      stopped (T) from 2 to 10
/// 2   |=........|        its sibling sleeps; it runs first at 9
/// ```
#[test]
fn a_stopped_thread_beats_its_siblings() {
    let log = Trace::new()
        .fork(1, 2)
        .on(1, 2)
        .off(2, 2)
        .off(2, 1)
        .look(3..3, 1, 'T', RECEIVE)
        .look(3..3, 2, 'S', SLEEP)
        .on(9, 2)
        .exit(9, 2)
        .on(10, 1)
        .exit(12, 1)
        .end(12);
    let (rows, _) = blamed(&log, None);
    assert_eq!(rows, [row("stopped by a signal", 8)]);
}

/// ```text
/// 1  |=...................==|   waits from 1 to 2,000 for a peer
/// 2  |=....=....=....=....=     a timer thread runs 10 µs every 400 µs and wakes nobody
/// ```
#[test]
fn a_periodic_background_thread_is_no_waker() {
    let mut trace = Trace::new()
        .fork(0, 2)
        .on(0, 2)
        .off(1, 1)
        .look(1..2, 1, 'S', RECEIVE)
        .off(10, 2);
    for beat in 1..5 {
        let at = beat * 400;
        trace = trace
            .look(at - 350..at - 349, 2, 'S', FUTEX)
            .on(at, 2)
            .off(at + 10, 2);
    }
    let log = trace.on(2000, 1).exit(2100, 1).end(2100);
    let (rows, unnamed) = blamed(&log, None);
    assert_eq!((rows, unnamed), (vec![row("recvfrom", 390 * 5)], 0));
}

/// The same beat, but each time the thread wakes the main thread: a real waker.
#[test]
fn a_periodic_thread_that_wakes_another_is_a_waker() {
    let mut trace = Trace::new().fork(0, 2).on(0, 2).off(1, 1).off(10, 2);
    for beat in 1..5 {
        let at = beat * 400;
        trace = trace
            .look(at - 350..at - 349, 2, 'S', SLEEP)
            .look(at - 350..at - 349, 1, 'S', RECEIVE)
            .on(at, 2)
            .on(at + 5, 1)
            .off(at + 10, 2)
            .off(at + 10, 1);
    }
    let log = trace.exit(1700, 1).end(1700);
    assert_eq!(blamed(&log, None).0[0].0, "clock_nanosleep");
}

/// A single thread that flushes in short stretches is always its own waker.
#[test]
fn short_stretches_of_the_first_thread_count() {
    let mut trace = Trace::new();
    for turn in 0..10 {
        let at = turn * 100;
        trace = trace
            .off(at + 10, 1)
            .look(at + 20..at + 21, 1, 'D', FSYNC)
            .on(at + 100, 1);
    }
    let log = trace.exit(1010, 1).end(1010);
    assert_eq!(blamed(&log, None), (vec![row("fsync", 900)], 0));
}

/// ```text
/// 1  |=.=.=.=.=…|   100 waits of 40 µs; 4 ticks fall into them, 3 looks are in time
/// ```
#[test]
fn short_waits_are_estimated_from_the_ticks() {
    let mut trace = Trace::new();
    for turn in 0..100 {
        let at = turn * 50;
        trace = trace.off(at + 10, 1);
        if turn % 25 == 0 {
            let late = if turn == 50 { 60 } else { 20 };
            trace = trace.tick().look(at + 15..at + late, 1, 'D', FSYNC);
        }
        trace = trace.on(at + 50, 1);
    }
    let log = trace.exit(5010, 1).end(5010);
    assert_eq!(
        blamed(&log, Some(1_000_000)),
        (vec![row("fsync", 3000)], 1000)
    );
    assert!((blame(&log, Some(1_000_000)).too_short - 1e6).abs() < 1.0);
    // Looking at every switch nothing is estimated: three waits have a name.
    assert_eq!(blamed(&log, None), (vec![row("fsync", 120)], 3880));
}

/// Records that arrive out of order neither break the sum nor count time twice; so do an end
/// without a beginning and a beginning without an end.
#[test]
fn disorder_and_loss_keep_the_sum() {
    let log = Trace::new()
        .off(10, 1)
        .on(8, 1)
        .event(12, 1, Event::Lost(3))
        .on(14, 1)
        .off(16, 1)
        .off(17, 1)
        .on(20, 7)
        .exit(22, 9)
        .exit(22, 7)
        .end(18);
    assert_eq!((log.wall, log.lost), (22_000, 3));
}

/// ```text
/// 1  |==......|            the leader waits
/// 2   |===E=====|          another thread calls exec at 4 and becomes the leader
/// ```
#[test]
fn exec_from_another_thread_ends_the_others() {
    let log = Trace::new()
        .fork(1, 2)
        .on(1, 2)
        .off(2, 1)
        .event(4, 1, Event::Exec)
        .off(6, 1)
        .on(9, 1)
        .exit(10, 1)
        .end(10);
    assert_eq!(kinds(&log), (7, 0, 3));
}

/// After the command's last thread has ended, what is left is its teardown and our waking.
#[test]
fn the_rest_after_the_end_is_busy() {
    let log = Trace::new()
        .fork(1, 20)
        .on(1, 20)
        .off(2, 20)
        .exit(5, 1)
        .end(9);
    assert_eq!(kinds(&log), (9, 0, 0));
}

/// ```text
/// 1  |=....~~~~=|     woken at 50 but without a CPU until 90: the schedstat says 40
/// ```
#[test]
fn waiting_for_a_cpu_after_waking_is_queued() {
    let trace = Trace::new()
        .off(10, 1)
        .look(20..21, 1, 'S', SLEEP)
        .on(90, 1)
        .exit(100, 1);
    let log = trace.timeline.finish(100_000, Some(40_000));
    assert_eq!(kinds(&log), (20, 40, 40));
    assert_eq!(log.wall, 100_000);
}

/// ```text
/// 1  |==...........=|     an event loop; wakes its helper at 20, 70 and 120
/// 2  |.~====.....~=.|     queues, flushes for 30 and is woken late again: its schedstat says 50
/// ```
/// The helper's wait for the loop (futex) ends idle time only because the helper had no CPU.
#[test]
fn a_helper_that_was_woken_late_was_queued() {
    let trace = Trace::new()
        .fork(0, 2)
        .on(0, 2)
        .off(1, 2)
        .look(2..3, 2, 'S', FUTEX)
        .off(20, 1)
        .on(50, 2) // woken at 20
        .off(60, 2)
        .look(61..62, 2, 'D', FSYNC)
        .on(90, 2)
        .off(92, 2)
        .look(93..94, 2, 'S', FUTEX);
    let mut trace = trace.on(95, 1).off(100, 1).on(120, 2).off(121, 2);
    trace.timeline.delayed(2, 50_000);
    let trace = trace.on(130, 1).exit(140, 1);
    let log = trace.timeline.finish(140_000, Some(0));
    // 20…50 and 100…120 are the helper's late wakings; 60…90, 92…95 and 121…130 are idle.
    assert_eq!(kinds(&log), (48, 50, 42));
    let charged = blame(&log, None);
    let futex = log.names.iter().position(|name| name.cause == Cause::Lock);
    let (lock, _) = charged.waits[&futex.unwrap()];
    assert!(lock < 1.0, "{charged:?}");
}

#[test]
fn unseen_threads_come_newest_first() {
    let trace = Trace::new()
        .fork(1, 2)
        .fork(1, 3)
        .on(1, 2)
        .on(1, 3)
        .off(2, 1)
        .off(3, 2)
        .off(4, 3);
    let trace = trace.look(5..5, 2, 'S', SLEEP);
    let mut unseen = Vec::new();
    trace.timeline.unseen(&mut unseen);
    assert_eq!(unseen.iter().map(|u| u.tid).collect::<Vec<_>>(), [3, 1]);
}
