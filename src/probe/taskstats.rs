//! `struct taskstats`: exact delays of the main thread, where delay accounting is on and we may
//! read it (`include/uapi/linux/taskstats.h`, layout of version 8 and later).

use std::time::Duration;

/// Delays of one task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delays {
    /// Waiting for block I/O.
    pub block_io: Duration,
    /// Waiting for pages from swap.
    pub swap_in: Duration,
    /// Reclaiming memory.
    pub reclaim: Duration,
    /// Waiting for pages just thrown away.
    pub thrashing: Duration,
    /// Moving pages to make large ones.
    pub compaction: Duration,
}

impl Delays {
    /// Everything that was for want of memory.
    #[must_use]
    pub fn memory(&self) -> Duration {
        // Thrashing pages that come from swap are counted in both.
        self.swap_in.max(self.thrashing) + self.reclaim + self.compaction
    }
}

/// Places of the numbers in the structure.
const PID: usize = 128;
const BLOCK_IO: usize = 40;
const SWAP_IN: usize = 56;
const RECLAIM: usize = 320;
const THRASHING: usize = 336;
const COMPACTION: usize = 360;

/// Reads the structure of that task; nothing if its layout is not the known one.
#[must_use]
pub fn parse(bytes: &[u8], pid: i32) -> Option<Delays> {
    let number = |at: usize| -> Option<u64> {
        let bytes = bytes.get(at..at + 8)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    };
    let time = |at: usize| number(at).map(Duration::from_nanos);
    // The version counts up also where the layout changed in the middle: the process id tells.
    let found = u32::try_from(number(PID)? & u64::from(u32::MAX)).ok()?;
    let little = cfg!(target_endian = "little");
    if little && i64::from(found) != i64::from(pid) {
        return None;
    }
    Some(Delays {
        block_io: time(BLOCK_IO)?,
        swap_in: time(SWAP_IN)?,
        reclaim: time(RECLAIM)?,
        thrashing: time(THRASHING)?,
        compaction: time(COMPACTION).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Availability;
    use crate::sys::platform;

    #[test]
    fn the_kernel_here_has_that_layout() {
        // Only where delay accounting is on and may be read.
        if let Availability::Ready(mut link) = platform::Taskstats::open() {
            let own = platform::own_pid();
            assert!(
                link.of(own)
                    .ok()
                    .and_then(|bytes| parse(bytes, own))
                    .is_some()
            );
        }
    }

    #[test]
    fn numbers_are_where_they_should_be() {
        let mut bytes = vec![0_u8; 368];
        let mut put =
            |at: usize, value: u64| bytes[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        put(PID, 77);
        put(BLOCK_IO, 5_000_000);
        put(SWAP_IN, 1_000);
        put(RECLAIM, 200);
        put(THRASHING, 3_000);
        put(COMPACTION, 10);
        let seen = parse(&bytes, 77).unwrap();
        assert_eq!(seen.block_io, Duration::from_millis(5));
        assert_eq!(seen.memory(), Duration::from_nanos(3_210));
        assert_eq!(parse(&bytes, 78), None, "another layout");
        assert_eq!(parse(&bytes[..200], 77), None);
    }
}
