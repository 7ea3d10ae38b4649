//! Exact counts of blocking calls on request (`--trace`): a diagnostic run in which ptrace sees
//! every blocking call begin and end. It slows the command several times over, so it is never
//! automatic and its times are times of the traced run.

use std::collections::HashMap;

use super::explain::{Command, ExplainError};
use super::reader::Reader;
use crate::evidence::Cause;
use crate::explain::calls::{CALLS, CallRow, Purpose, Takes, by_number};
use crate::explain::naming;
use crate::explain::record::{Call, CallState, Look, Read};
use crate::sys::{self, Held, Stop};

/// One call on one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallCount {
    /// The call and what it worked on: `fsync ./wal`.
    pub detail: String,
    /// What it means when it waits.
    pub cause: Cause,
    /// How often it was made.
    pub calls: u64,
    /// Nanoseconds in it, all calls together, over all threads.
    pub total: u64,
    /// Nanoseconds in the longest.
    pub longest: u64,
}

impl CallCount {
    /// Mean nanoseconds a call.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.total as f64 / self.calls.max(1) as f64
    }
}

/// What a traced run shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// Wall nanoseconds of the traced run; the slow-down is this by the measured time.
    pub wall: u64,
    /// The calls, by total time, largest first.
    pub calls: Vec<CallCount>,
    /// Raw status of `wait(2)`.
    pub status: i32,
    /// What is not in the table and why.
    pub limits: Vec<String>,
}

/// Runs the command traced.
///
/// # Errors
/// It could not be started or executed, or tracing is not permitted.
pub fn trace(command: &Command) -> Result<Trace, ExplainError> {
    let arch = super::arch();
    let blocking = CALLS.iter().filter(|row| blocks(row));
    let numbers: Vec<i64> = blocking.filter_map(|row| row.number(arch)).collect();
    let mut start = command.start()?;
    start.filter = Some(sys::filter(&numbers));
    let mut held = Held::start(&start).map_err(ExplainError::Start)?;
    let reader = Reader::new(arch, command.shown_directory());
    let mut counter = Counter {
        reader,
        open: HashMap::new(),
        counts: HashMap::new(),
    };
    let traced = sys::trace(&mut held, |tid, time, stop| counter.stop(tid, time, stop));
    let (status, end) = traced.map_err(ExplainError::Trace)?;
    if let Some(error) = held.exec_error() {
        return Err(ExplainError::Exec(error));
    }
    Ok(Trace {
        wall: end.saturating_sub(held.stamp()),
        calls: counter.table(),
        status,
        limits: vec![
            "while traced, set-user-ID programs keep their caller's rights and processes left \
             behind are killed; page faults and metadata calls are not counted"
                .to_string(),
        ],
    })
}

/// Calls that are made in order to wait, or that move data. Those that only look at a path are
/// left out: there are many, and they wait for the disk once.
fn blocks(row: &CallRow) -> bool {
    match row.purpose {
        Purpose::Memory | Purpose::Other | Purpose::Restart => false,
        Purpose::Read => matches!(row.takes, Takes::Descriptor) || row.name.starts_with("open"),
        _ => true,
    }
}

struct Counter {
    reader: Reader,
    open: HashMap<u32, (naming::Named, u64)>,
    counts: HashMap<naming::Named, (u64, u64, u64)>,
}

impl Counter {
    fn stop(&mut self, tid: u32, time: u64, stop: Stop) {
        match stop {
            Stop::Enter { number, args } => {
                let named = self.name(tid, Call { number, args });
                // The clock again: what naming took is not the command's.
                self.open.insert(tid, (named, sys::now()));
            }
            Stop::Leave | Stop::Gone => {
                if let Some((named, begun)) = self.open.remove(&tid) {
                    let took = time.saturating_sub(begun);
                    let count = self.counts.entry(named).or_default();
                    *count = (count.0 + 1, count.1 + took, count.2.max(took));
                }
            }
        }
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

    fn table(self) -> Vec<CallCount> {
        let mut calls: Vec<_> = self
            .counts
            .into_iter()
            .map(|(named, (calls, total, longest))| CallCount {
                detail: named.detail,
                cause: named.cause,
                calls,
                total,
                longest,
            })
            .collect();
        calls.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.detail.cmp(&b.detail)));
        calls
    }
}
