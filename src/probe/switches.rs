//! Records of `perf_event_open(2)` rings: bytes to [`Record`]s, merged over CPUs in order of time.
//! Layouts from `include/uapi/linux/perf_event.h`; unchanged since `PERF_RECORD_SWITCH` (Linux 4.3).

use crate::explain::record::{Event, Record};

const LOST: u32 = 2;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const SWITCH: u32 = 14;
const MISC_SWITCH_OUT: u16 = 1 << 13;
/// Linux 4.17; before, a preempted thread looks blocked.
const MISC_SWITCH_OUT_PREEMPT: u16 = 1 << 14;
const MISC_COMM_EXEC: u16 = 1 << 13;
const HEADER: usize = 8;
/// Every record ends with pid, tid (u32), time (u64), cpu, reserved (u32).
const TRAILER: usize = 24;

/// Appends the records in `bytes`; stops at the first one that is not whole.
pub fn parse(mut bytes: &[u8], into: &mut Vec<Record>) {
    while bytes.len() >= HEADER {
        let size = usize::from(u16_at(bytes, 6));
        if size < HEADER || size > bytes.len() {
            return;
        }
        into.extend(record(&bytes[..size]));
        bytes = &bytes[size..];
    }
}

fn record(bytes: &[u8]) -> Option<Record> {
    if bytes.len() < HEADER + TRAILER {
        return None;
    }
    let misc = u16_at(bytes, 4);
    let end = bytes.len() - TRAILER;
    let (pid, tid) = (u32_at(bytes, end), u32_at(bytes, end + 4));
    let time = u64_at(bytes, end + 8);
    // FORK and EXIT name the thread in their body: pid, ppid, tid, ptid, time.
    let body = |event| {
        (end >= HEADER + 24).then(|| Record {
            time,
            pid: u32_at(bytes, HEADER),
            tid: u32_at(bytes, HEADER + 8),
            event,
        })
    };
    let event = match u32_at(bytes, 0) {
        SWITCH if misc & MISC_SWITCH_OUT == 0 => Event::In,
        SWITCH => Event::Out {
            runnable: misc & MISC_SWITCH_OUT_PREEMPT != 0,
        },
        FORK => return body(Event::Fork),
        EXIT => return body(Event::Exit),
        COMM if misc & MISC_COMM_EXEC != 0 => Event::Exec,
        LOST if end >= HEADER + 16 => Event::Lost(u64_at(bytes, HEADER + 8)),
        _ => return None,
    };
    Some(Record {
        time,
        pid,
        tid,
        event,
    })
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes(array(bytes, at))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(array(bytes, at))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(array(bytes, at))
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes
        .get(at..at + N)
        .and_then(|slice| slice.try_into().ok())
        .unwrap_or([0; N])
}

/// Merges the rings of several CPUs. Each ring is in order; together they are not, so a record
/// newer than the clock read before draining waits for the next round.
#[derive(Debug, Default)]
pub struct Merge {
    held: Vec<Record>,
}

impl Merge {
    /// The records up to `cut`, in order, of those held and those in `bytes`. `cut` is a clock
    /// reading from before the bytes were drained.
    pub fn take(&mut self, bytes: &[u8], cut: u64) -> Vec<Record> {
        parse(bytes, &mut self.held);
        self.held.sort_by_key(|record| record.time);
        let ready = self.held.partition_point(|record| record.time <= cut);
        self.held.drain(..ready).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of that type and misc bits about thread `id.1` of process `id.0`.
    fn bytes(kind: (u32, u16), body: &[u8], id: (u32, u32), time: u64) -> Vec<u8> {
        let size = (HEADER + body.len() + TRAILER) as u16;
        let mut bytes = kind.0.to_ne_bytes().to_vec();
        bytes.extend(kind.1.to_ne_bytes());
        bytes.extend(size.to_ne_bytes());
        bytes.extend(body);
        bytes.extend(id.0.to_ne_bytes());
        bytes.extend(id.1.to_ne_bytes());
        bytes.extend(time.to_ne_bytes());
        bytes.extend([0; 8]);
        bytes
    }

    fn task(pid: u32, parent: u32, tid: u32, by: u32) -> Vec<u8> {
        let mut body: Vec<u8> = [pid, parent, tid, by]
            .iter()
            .flat_map(|n| n.to_ne_bytes())
            .collect();
        body.extend(7_u64.to_ne_bytes());
        body
    }

    #[test]
    fn every_kind_of_record() {
        let mut input = bytes((SWITCH, 0), &[], (5, 6), 10);
        input.extend(bytes((SWITCH, MISC_SWITCH_OUT), &[], (5, 6), 11));
        input.extend(bytes(
            (SWITCH, MISC_SWITCH_OUT | MISC_SWITCH_OUT_PREEMPT),
            &[],
            (5, 6),
            12,
        ));
        input.extend(bytes((FORK, 0), &task(5, 5, 8, 6), (5, 6), 13));
        input.extend(bytes((EXIT, 0), &task(5, 5, 8, 6), (5, 8), 14));
        input.extend(bytes((COMM, MISC_COMM_EXEC), &[0; 16], (5, 5), 15));
        input.extend(bytes((COMM, 0), &[0; 16], (5, 5), 16));
        let lost: Vec<u8> = [1_u64, 42].iter().flat_map(|n| n.to_ne_bytes()).collect();
        input.extend(bytes((LOST, 0), &lost, (5, 5), 17));
        input.extend([9; 3]);
        let mut records = Vec::new();
        parse(&input, &mut records);
        let seen: Vec<_> = records.iter().map(|r| (r.time, r.tid, r.event)).collect();
        assert_eq!(
            seen,
            [
                (10, 6, Event::In),
                (11, 6, Event::Out { runnable: false }),
                (12, 6, Event::Out { runnable: true }),
                (13, 8, Event::Fork),
                (14, 8, Event::Exit),
                (15, 5, Event::Exec),
                (17, 5, Event::Lost(42)),
            ]
        );
    }

    #[test]
    fn broken_bytes_end_the_parsing() {
        let mut records = Vec::new();
        let mut zero = bytes((SWITCH, 0), &[], (5, 6), 10);
        zero[6..8].fill(0);
        parse(&zero, &mut records);
        let whole = bytes((SWITCH, 0), &[], (5, 6), 10);
        parse(&whole[..whole.len() - 1], &mut records);
        parse(&[1, 2, 3], &mut records);
        assert!(records.is_empty());
    }

    #[test]
    fn cpus_merge_in_order_and_the_newest_wait() {
        let mut merge = Merge::default();
        let mut input = bytes((SWITCH, 0), &[], (1, 1), 20);
        input.extend(bytes((SWITCH, 0), &[], (1, 1), 40)); // newer than the clock
        input.extend(bytes((SWITCH, 0), &[], (1, 2), 10)); // the second CPU
        let times = |records: Vec<Record>| records.iter().map(|r| r.time).collect::<Vec<_>>();
        assert_eq!(times(merge.take(&input, 30)), [10, 20]);
        let late = bytes((SWITCH, 0), &[], (1, 2), 35);
        assert_eq!(times(merge.take(&late, 50)), [35, 40]);
    }
}
