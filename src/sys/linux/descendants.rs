//! Processes that outlived the one that was started. Looked for only when a cheap call says that
//! there are any: going through `/proc` takes milliseconds on a busy machine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::sys::parse::{Member, member};

/// Process ids of everything alive below us with an id above `after`, and whose parents up to us
/// have such ids too and are not among `others`. Nothing where `/proc` does not tell.
pub(crate) fn offspring(after: i32, others: &BTreeSet<i32>) -> Option<Vec<i32>> {
    let own = nix::unistd::getpid().as_raw();
    // Another one may be mounted there: that of an outer namespace, with other ids.
    let itself = fs::read_link("/proc/self").ok()?;
    if itself.to_str()?.parse() != Ok(own) {
        return None;
    }
    let members = members(after);
    let below_us = |pid: i32| {
        let mut at = pid;
        // Parents may change while we read: never more steps than there are processes.
        for _ in 0..members.len() {
            match members.get(&at) {
                _ if others.contains(&at) => return false,
                Some(member) if member.parent == own => return true,
                Some(member) => at = member.parent,
                None => return false,
            }
        }
        false
    };
    let alive = members.iter().filter(|(_, member)| !member.dead);
    let found = alive
        .map(|(pid, _)| *pid)
        .filter(|pid| below_us(*pid))
        .collect();
    Some(found)
}

/// The process id that was given last. Below an id that lives, ids have begun anew since.
pub(crate) fn newest() -> Option<i32> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_ascii_whitespace().nth(4)?.parse().ok()
}

fn members(after: i32) -> BTreeMap<i32, Member> {
    let Ok(folder) = fs::read_dir("/proc") else {
        return BTreeMap::new();
    };
    folder
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid: &i32| *pid > after)
        .filter_map(|pid| Some((pid, member(&fs::read(format!("/proc/{pid}/stat")).ok()?)?)))
        .collect()
}
