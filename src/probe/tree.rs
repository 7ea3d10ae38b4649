//! Finds the threads of a running command in `/proc`: everything below its first process, and what
//! came to us as an orphan. Says nothing about what they do.

use super::task;
use crate::sys;

/// The processes of one run.
#[derive(Debug)]
pub(crate) struct Tree {
    root: u32,
    own: u32,
    /// Children of ours from before the run: hooks and earlier runs left them.
    earlier: Vec<u32>,
}

impl Tree {
    /// Of a run whose first process was just started.
    pub(crate) fn new(root: u32) -> Self {
        let own = std::process::id();
        let mut earlier = children_of(own);
        earlier.retain(|&child| child != root);
        Self { root, own, earlier }
    }

    /// Process and number of every thread. A process in `known` stays one of the command when its
    /// parent ends. One whose parent ended before it was seen is now our child: a daemon is.
    pub(crate) fn threads(&self, known: impl Iterator<Item = u32>) -> Vec<(u32, u32)> {
        let mut queue: Vec<u32> = known.collect();
        queue.push(self.root);
        let ours = children_of(self.own).into_iter();
        queue.extend(ours.filter(|child| !self.earlier.contains(child)));
        queue.sort_unstable();
        queue.dedup();
        let mut found = Vec::new();
        let mut at = 0;
        while at < queue.len() {
            let pid = queue[at];
            at += 1;
            for tid in sys::threads(pid) {
                found.push((pid, tid));
                for child in children(pid, tid) {
                    if !queue.contains(&child) {
                        queue.push(child);
                    }
                }
            }
        }
        found
    }
}

fn children_of(pid: u32) -> Vec<u32> {
    let threads = sys::threads(pid).into_iter();
    threads.flat_map(|tid| children(pid, tid)).collect()
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
