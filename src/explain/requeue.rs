//! Time in which threads were woken but had no CPU: switch records show it as waiting, accounts
//! (`schedstat`) tell it apart. Pure.

use super::blame::rank;
use super::log::{Idle, Log};
use crate::evidence::Cause;

/// What a thread waited for a CPU after it was woken, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Late {
    /// Run-queue time beyond what the records show as such.
    pub(super) excess: u64,
    /// Time off the CPU without being ready, by the records.
    pub(super) blocked: u64,
}

/// Moves what threads waited for a CPU after being woken from idle to queued. `late` is in the
/// order of [`Log::threads`]. Less than a twentieth of the wall time is the latency of waking and
/// stays part of the waits.
///
/// Which of its waits ended late is not known of a thread. One for another thread of the tree
/// comes first: the other has run and woken it before all were blocked.
pub(super) fn requeue(log: &mut Log, late: &[Late]) {
    let all: u64 = late.iter().map(|late| late.excess).sum();
    if all * 20 < log.wall {
        return;
    }
    let inner: Vec<bool> = log.names.iter().map(|name| is_inner(name.cause)).collect();
    let is_inner = |idle: &Idle| idle.name.is_some_and(|name| inner[name]);
    for (thread, late) in late.iter().enumerate().filter(|(_, late)| late.blocked > 0) {
        let ended = |idle: &&mut Idle| idle.ender == Some(thread);
        let of_inner = log.intervals.iter_mut().filter(ended);
        let of_inner: u64 = of_inner
            .filter(|idle| is_inner(idle))
            .map(|idle| idle.length)
            .sum();
        let first = late.excess.min(of_inner);
        let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
        let inner_share = share(first, of_inner);
        let other_share = share(late.excess - first, late.blocked).min(1.0);
        for idle in log.intervals.iter_mut().filter(ended) {
            let share = if is_inner(idle) {
                inner_share
            } else {
                other_share
            };
            let moved = (idle.length as f64 * share) as u64;
            idle.length -= moved;
            idle.ticks -= (f64::from(idle.ticks) * share).round() as u32;
            log.idle -= moved;
            log.queued += moved;
        }
    }
}

/// Waits for another thread or process of the tree, mostly.
fn is_inner(cause: Cause) -> bool {
    rank(cause) >= rank(Cause::Pipe)
}
