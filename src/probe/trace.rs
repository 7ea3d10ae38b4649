//! Exact counts of blocking calls on request (`--trace`): a diagnostic run in which ptrace sees
//! every blocking call begin and end. It slows the command several times over, so it is never
//! automatic and its times are times of the traced run.

use std::collections::HashMap;
use std::path::Path;

use super::explain::shown_directory;
use super::reader::Reader;
use crate::evidence::Cause;
use crate::explain::calls::{CALLS, CallRow, Purpose, Takes, by_number};
use crate::explain::naming;
use crate::explain::record::{Call, CallState, Look, Read};
use crate::sample::Trace;
use crate::sample::attribution::CallCount;
use crate::sys;

const LIMITS: &str = "while traced, set-user-ID programs keep their caller's rights and processes \
     left behind are killed; page faults and metadata calls are not counted";

/// Calls that are made in order to wait, or that move data. Those that only look at a path are
/// left out: there are many, and they wait for the disk once.
fn blocks(row: &CallRow) -> bool {
    match row.purpose {
        Purpose::Memory | Purpose::Other | Purpose::Restart => false,
        Purpose::Read => matches!(row.takes, Takes::Descriptor) || row.name.starts_with("open"),
        _ => true,
    }
}

/// Counts the calls of one traced run.
#[derive(Debug)]
pub struct Counter {
    reader: Reader,
    open: HashMap<u32, (naming::Named, u64)>,
    counts: HashMap<naming::Named, (u64, u64, u64)>,
    wall: Option<u64>,
    numbers: Vec<i64>,
}

impl Counter {
    /// For a command that runs in that directory (ours if absent).
    #[must_use]
    pub fn new(directory: Option<&Path>) -> Self {
        let arch = super::arch();
        let blocking = CALLS.iter().filter(|row| blocks(row));
        Self {
            reader: Reader::new(arch, shown_directory(directory)),
            open: HashMap::new(),
            counts: HashMap::new(),
            wall: None,
            numbers: blocking.filter_map(|row| row.number(arch)).collect(),
        }
    }

    /// Numbers of the calls that are to stop the run.
    #[must_use]
    pub fn numbers(&self) -> &[i64] {
        &self.numbers
    }

    /// A thread is about to make that call, or, without one, came back from it or ended.
    pub fn stop(&mut self, tid: u32, time: u64, call: Option<(i64, [u64; 6])>) {
        if let Some((number, args)) = call {
            let named = self.name(tid, Call { number, args });
            // The clock again: what naming took is not the command's.
            self.open.insert(tid, (named, sys::now()));
        } else if let Some((named, begun)) = self.open.remove(&tid) {
            let took = time.saturating_sub(begun);
            let count = self.counts.entry(named).or_default();
            *count = (count.0 + 1, count.1 + took, count.2.max(took));
        }
    }

    /// The run began and ended then.
    pub fn end(&mut self, begun: u64, ended: u64) {
        self.wall = Some(ended.saturating_sub(begun));
    }

    fn name(&mut self, tid: u32, call: Call) -> naming::Named {
        let arch = super::arch();
        let at = sys::now();
        let target = self
            .reader
            .target(tid, call)
            .map(|value| Read { at, value });
        let call_read = Some(Read {
            at,
            value: CallState::In(call),
        });
        let look = Look {
            begun: at,
            call: call_read,
            target,
            ..Look::default()
        };
        naming::name(arch, &look).unwrap_or_else(|| naming::Named {
            cause: Cause::Unknown,
            detail: by_number(arch, call.number)
                .map_or("call", |row| row.name)
                .to_string(),
            place: None,
        })
    }

    /// The table, once the run has ended.
    #[must_use]
    pub fn into_trace(self) -> Option<Trace> {
        let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
        let rows = self.counts.into_iter();
        let mut calls: Vec<_> = rows
            .map(|(named, (calls, total, longest))| CallCount {
                detail: named.detail,
                cause: named.cause,
                calls,
                seconds: seconds(total),
                longest: seconds(longest),
            })
            .collect();
        calls.sort_by(|a, b| {
            let by_time = b.seconds.total_cmp(&a.seconds);
            by_time.then_with(|| a.detail.cmp(&b.detail))
        });
        Some(Trace {
            wall: seconds(self.wall?),
            calls,
            limits: vec![LIMITS.to_string()],
        })
    }
}
