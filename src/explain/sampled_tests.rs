//! The sampler alone: what ticks saw of threads, drawn above each test (`=` runs, `~` ready without a
//! CPU, `…` blocked, `x` seen at that tick), gives these times and names.

use super::super::record::{Call, CallState, Read};
use super::*;
use crate::evidence::Cause;

const MS: u64 = 1_000_000;
const FSYNC: i64 = 74;
const FUTEX: i64 = 202;
const NANOSLEEP: i64 = 230;
const WAIT4: i64 = 61;

fn sampled() -> Sampled {
    Sampled::new(Arch::X86_64, 0, (1, (0, 0)))
}

fn waits(number: i64, state: char) -> Sight {
    let args = [0; 6];
    Sight::Waits(Look {
        call: Some(Read {
            at: 0,
            value: CallState::In(Call { number, args }),
        }),
        state: Some(Read {
            at: 0,
            value: state,
        }),
        ..Look::default()
    })
}

/// A thread that ran `run` and queued `delay` milliseconds so far.
fn glance(tid: u32, run: f64, delay: f64, sight: Sight) -> Glance {
    let ns = |ms: f64| (ms * MS as f64) as u64;
    Glance {
        tid,
        account: Some((ns(run), ns(delay))),
        sight,
    }
}

/// Busy, queued and idle in microseconds.
fn times(estimate: &Estimate) -> [u64; 3] {
    [estimate.busy, estimate.queued, estimate.idle].map(|ns| (ns / 1e3).round() as u64)
}

fn causes(estimate: &Estimate) -> Vec<Cause> {
    estimate.waits.iter().map(|wait| wait.0.cause).collect()
}

/// ```text
///      0        50       100 ms
/// 1    |=========|……………………|      runs, then sleeps: 10 ticks of 10 ms
/// ```
#[test]
fn a_single_thread_is_exact_by_its_final_account() {
    let mut sampled = sampled();
    for tick in 1..=10_u32 {
        let at = u64::from(tick) * 10 * MS;
        let run = (f64::from(tick) * 10.0).min(48.0);
        let sight = match tick {
            ..=5 => Sight::Runs,
            6 => waits(NANOSLEEP, 'S'),
            _ => Sight::Still,
        };
        sampled.tick(at, tick > 5, vec![glance(1, run, run / 16.0, sight)]);
    }
    let made = sampled.finish(100 * MS, Some((48 * MS, 3 * MS)));
    assert_eq!(times(&made), [48_000, 3_000, 49_000]);
    assert_eq!(causes(&made), [Cause::Sleep]);
    assert!((made.waits[0].1 - 49e6).abs() < 1.0 && made.unnamed == 0.0);
}

/// ```text
/// 1  |……………………|   main joins (futex)
/// 2  |……………………|   sleeps: blamed only while nothing graver waits
/// 3  |…………====|   flushes, then runs: busy
///       x x x x
/// ```
#[test]
fn without_records_the_ranking_decides() {
    let mut sampled = sampled();
    for tick in 1..=4_u32 {
        let flushes = tick < 3;
        let third = if flushes {
            waits(FSYNC, 'D')
        } else {
            Sight::Runs
        };
        let run = if flushes { 0.0 } else { f64::from(tick - 2) };
        let threads = vec![
            glance(1, 0.0, 0.0, waits(FUTEX, 'S')),
            glance(2, 0.0, 0.0, waits(NANOSLEEP, 'S')),
            glance(3, run, 0.0, third),
        ];
        sampled.tick(u64::from(tick) * MS, flushes, threads);
    }
    let made = sampled.finish(4 * MS, Some((0, 0)));
    assert_eq!(times(&made), [2_000, 0, 2_000]);
    assert_eq!(causes(&made), [Cause::DiskFlush]);
    assert_eq!(made.threads_most, 3);
}

/// Four threads on two CPUs, then a sleep.
/// ```text
///        0          200        300 ms
/// 1      |……………………………|……………………|      joins (futex), then sleeps
/// 2, 3   |=====~~~~~=|
/// 4, 5   |~~~~~=====~|                 100 ms each on a CPU, 100 ms ready
/// ```
#[test]
fn threads_that_burn_are_not_idle_while_the_first_joins() {
    let mut sampled = sampled();
    for tick in 1..=30_u32 {
        let passed = f64::from(tick) * 10.0;
        let burns = passed <= 200.0;
        let main = match tick {
            1 => waits(FUTEX, 'S'),
            21 => waits(NANOSLEEP, 'S'),
            _ => Sight::Still,
        };
        let mut threads = vec![glance(1, 0.1, 0.0, main)];
        if burns {
            let half = passed / 2.0;
            threads.extend((2..=5).map(|tid| glance(tid, half, half, Sight::Runs)));
        }
        sampled.tick(u64::from(tick) * 10 * MS, !burns, threads);
    }
    let made = sampled.finish(300 * MS, Some((MS / 10, 0)));
    let [busy, queued, idle] = times(&made);
    assert_eq!(idle, 100_000);
    // Four ready threads on one CPU or more: that all queue at once is rare.
    assert!(queued <= 12_500 && busy >= 187_500, "{made:?}");
    assert_eq!(causes(&made), [Cause::Sleep]);
}

/// A shell whose children live shorter than a tick: it is met waiting while nobody else is there to be
/// seen, yet threads that came and went leave their account open.
/// ```text
/// 1   |=………=………=………=………|   waits for each child
/// 2+     ===  ===  ===  ==
///          x    x    x
/// ```
#[test]
fn children_that_came_and_went_leave_the_ticks_their_word() {
    let mut sampled = sampled();
    for tick in 1..=8_u32 {
        let passed = f64::from(tick);
        let mut threads = vec![glance(1, passed * 0.1, 0.0, waits(WAIT4, 'S'))];
        // Every eighth tick finds nobody.
        let idle = tick == 8;
        if !idle {
            threads.push(glance(tick + 1, 0.3, 0.0, Sight::Runs));
        }
        sampled.tick(u64::from(tick) * MS, idle, threads);
    }
    let made = sampled.finish(8 * MS, Some((8 * MS / 10, 0)));
    assert_eq!(times(&made), [7_000, 0, 1_000]);
}

/// A pair that hands a byte to and fro, one running at a time: seldom met in the act, but its
/// accounts say how much it ran.
/// ```text
/// 1   |=……=……=……=……|   0.2 ms each
/// 2   |……=……=……=…  |   0.2 ms each; both rest 0.6 ms of each millisecond
///          x   x
/// ```
#[test]
fn accounts_bound_what_ticks_say() {
    let mut sampled = sampled();
    for tick in 1..=10_u32 {
        let each = f64::from(tick) * 0.2;
        let threads = vec![
            glance(1, each, 0.0, waits(FUTEX, 'S')),
            glance(2, each, 0.0, waits(NANOSLEEP, 'S')),
        ];
        sampled.tick(u64::from(tick) * MS, true, threads);
    }
    let made = sampled.finish(10 * MS, Some((2 * MS, 0)));
    let [busy, _, idle] = times(&made);
    assert!(
        (2_000..=4_000).contains(&busy) && (6_000..=8_000).contains(&idle),
        "{made:?}"
    );
    assert_eq!(causes(&made), [Cause::Sleep]);
}

/// What was on the account before the command was let go is not the command's.
/// ```text
///     held | 0       10 ms
/// 1   ====|=………………………|
/// ```
#[test]
fn what_ran_before_exec_is_left_out() {
    let mut sampled = Sampled::new(Arch::X86_64, 0, (1, (5 * MS, 2 * MS)));
    sampled.tick(
        5 * MS,
        true,
        vec![glance(1, 6.0, 2.0, waits(NANOSLEEP, 'S'))],
    );
    let made = sampled.finish(10 * MS, Some((6 * MS, 2 * MS)));
    assert_eq!(times(&made), [1_000, 0, 9_000]);
}

#[test]
fn every_tick_unnamed_is_said_so() {
    let mut seen = sampled();
    seen.tick(MS, true, vec![glance(1, 0.0, 0.0, Sight::Blocked)]);
    let made = seen.finish(MS, None);
    assert_eq!(times(&made), [0, 0, 1000]);
    assert!((made.unnamed - 1e6).abs() < 1.0);
    let nothing = sampled().finish(MS, None);
    assert_eq!(times(&nothing), [1_000, 0, 0]);
}

/// A thread that could not be read at one tick: nobody knows in which of two segments it ran what
/// it has more on its account, and what was counted is not counted again.
/// ```text
///     0        10        20        30 ms
/// 1   |……………………|……………………|……………………|
/// 2   |=======………|……………………|=……………………|
///              x                   x
/// ```
#[test]
fn a_thread_that_comes_back_is_counted_once() {
    let mut sampled = sampled();
    let second = |run| glance(2, run, 0.0, waits(NANOSLEEP, 'S'));
    let unread = Glance {
        account: None,
        ..second(0.0)
    };
    let missed = [Vec::new(), vec![unread]];
    for (turn, missed) in missed.into_iter().enumerate() {
        let (at, run) = (30 * turn as u64, 8.0 * turn as f64);
        let first = || glance(1, 0.0, 0.0, waits(FUTEX, 'S'));
        let tick = |at: u64, more: Vec<Glance>, sampled: &mut Sampled| {
            let threads = [vec![first()], more].concat();
            sampled.tick(at * MS, true, threads);
        };
        tick(at + 10, vec![second(run + 7.0)], &mut sampled);
        tick(at + 20, missed, &mut sampled);
        tick(at + 30, vec![second(run + 8.0)], &mut sampled);
    }
    let made = sampled.finish(60 * MS, Some((0, 0)));
    // What was read at two ticks in a row was run between them, 7 ms each time.
    assert_eq!(times(&made), [14_000, 0, 46_000]);
    assert!((made.on_cpu - 16e6).abs() < 1.0, "{made:?}");
}

#[test]
fn a_thread_that_takes_the_number_of_another_begins_with_nothing() {
    let mut sampled = sampled();
    let first = || glance(1, 0.0, 0.0, waits(FUTEX, 'S'));
    let second = |run| glance(2, run, 0.0, waits(NANOSLEEP, 'S'));
    sampled.tick(10 * MS, true, vec![first(), second(8.0)]);
    sampled.tick(20 * MS, true, vec![first()]);
    sampled.tick(30 * MS, true, vec![first(), second(5.0)]);
    let made = sampled.finish(30 * MS, Some((0, 0)));
    assert_eq!(times(&made), [13_000, 0, 17_000]);
}
