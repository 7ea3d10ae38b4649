//! Kills by the kernel's out-of-memory killer: the line `oom_kill` of `memory.events` (control groups
//! of version 2), of `memory.oom_control` (version 1), or of `/proc/vmstat`, all since Linux 4.13.

use std::time::Duration;

use super::{machine, number_after};
use crate::evidence::{Availability, Missing};
use crate::sys::platform;

/// How many processes it has killed.
#[must_use]
pub fn parse(text: &str) -> Option<u64> {
    number_after(text, "oom_kill ")
}

fn count() -> Option<u64> {
    parse(&platform::oom_account()?)
}

/// Whether the kills are counted here.
pub(crate) fn availability() -> Availability<()> {
    match count() {
        Some(_) => Availability::Ready(()),
        None => Availability::Missing(Missing::because("nothing here counts oom_kill")),
    }
}

/// The kills that are known already.
#[derive(Debug, Default)]
pub(crate) struct Kills {
    known: Option<u64>,
    /// Some came during the last run.
    lately: bool,
}

impl Kills {
    /// Those until now.
    pub(crate) fn begin() -> Self {
        Self {
            known: count(),
            lately: false,
        }
    }

    /// A run took so long. Where that is long enough to read beside it, which it is wherever memory
    /// is filled, later runs have nothing to do with the kills until now.
    pub(crate) fn after(&mut self, wall: Duration) {
        self.lately = wall >= machine::LONG && self.more();
    }

    /// Something else than a run begins: what came until now is the last run's.
    pub(crate) fn pause(&mut self) {
        self.lately |= self.more();
    }

    /// It is over: what came meanwhile is nobody's.
    pub(crate) fn resume(&mut self) {
        self.known = count().filter(|_| self.known.is_some());
    }

    /// Whether any came during the last run.
    pub(crate) fn lately(&mut self) -> bool {
        self.lately || self.more()
    }

    /// Whether there are more than before; they are known from now on.
    fn more(&mut self) -> bool {
        let Some(before) = self.known else {
            return false;
        };
        self.known = count();
        self.known.is_some_and(|now| now > before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_account_has_the_same_line() {
        let v2 = "low 0\nhigh 0\nmax 53\noom 2\noom_kill 1\noom_group_kill 0\n";
        let v1 = "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n";
        let machine = "drop_slab 0\noom_kill 3\nnuma_pte_updates 0\n";
        let found = [v2, v1, machine].map(parse);
        assert_eq!(found, [Some(1), Some(7), Some(3)]);
        assert_eq!(parse("oom_kill_disable 0\nunder_oom 0\n"), None);
    }
}
