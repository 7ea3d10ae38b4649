//! On which CPUs a thread may run (`sched_setaffinity(2)`). Room for 8192 CPUs, the kernel's most.

use std::sync::OnceLock;

use crate::sys::Error;

const WORDS: usize = 128;

/// A set of CPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CpuMask {
    words: [u64; WORDS],
    /// How many bytes of it this kernel uses.
    bytes: usize,
}

impl CpuMask {
    /// Where the calling thread may run.
    ///
    /// # Errors
    /// The system refused.
    pub(crate) fn current() -> Result<Self, Error> {
        let mut words = [0; WORDS];
        let size = size_of_val(&words);
        // SAFETY: the kernel writes at most `size` bytes to `words`.
        let bytes =
            unsafe { libc::syscall(libc::SYS_sched_getaffinity, 0, size, words.as_mut_ptr()) };
        match usize::try_from(bytes) {
            Ok(bytes) => Ok(Self { words, bytes }),
            Err(_) => Err(Error::last("sched_getaffinity")),
        }
    }

    /// These CPUs, if the calling thread could run on every one of them.
    ///
    /// # Errors
    /// The list is empty, or a CPU is not there or not allowed.
    pub(crate) fn of(cpus: &[usize]) -> Result<Self, Error> {
        let before = Self::current()?;
        let mut mask = Self {
            words: [0; WORDS],
            ..before.clone()
        };
        for &cpu in cpus {
            let word = mask
                .words
                .get_mut(cpu / 64)
                .ok_or(Error::NoSuchCpu { cpu })?;
            *word |= 1 << (cpu % 64);
        }
        if cpus.is_empty() {
            return Err(Error::NoCpu);
        }
        // Only trying tells: the kernel silently leaves out what cpuset or hotplug forbid.
        let tried = mask.apply().and_then(|()| Self::current());
        before.apply()?;
        let given = tried.unwrap_or(Self {
            words: [0; WORDS],
            ..before
        });
        match cpus.iter().find(|cpu| !given.contains(**cpu)) {
            Some(&cpu) => Err(Error::NoSuchCpu { cpu }),
            None => Ok(mask),
        }
    }

    /// Whether a CPU is in it.
    pub(crate) fn contains(&self, cpu: usize) -> bool {
        self.words
            .get(cpu / 64)
            .is_some_and(|word| word & (1 << (cpu % 64)) != 0)
    }

    /// How many CPUs.
    pub(crate) fn count(&self) -> u64 {
        self.words
            .iter()
            .map(|word| u64::from(word.count_ones()))
            .sum()
    }

    /// Lets the calling thread run on these only.
    ///
    /// # Errors
    /// None of them is allowed.
    pub(crate) fn apply(&self) -> Result<(), Error> {
        // SAFETY: the kernel reads `bytes` bytes of `words`.
        let result = unsafe {
            libc::syscall(
                libc::SYS_sched_setaffinity,
                0,
                self.bytes,
                self.words.as_ptr(),
            )
        };
        if result < 0 {
            return Err(Error::last("sched_setaffinity"));
        }
        Ok(())
    }

    /// Length and address for the system call of a child.
    pub(super) fn raw(&self) -> (usize, *const u64) {
        (self.bytes, self.words.as_ptr())
    }

    /// The CPU the calling thread is on.
    pub(super) fn here() -> Option<Self> {
        // SAFETY: plain call.
        let cpu = usize::try_from(unsafe { libc::sched_getcpu() }).ok()?;
        let mut mask = Self {
            words: [0; WORDS],
            ..Self::current().ok()?
        };
        *mask.words.get_mut(cpu / 64)? |= 1 << (cpu % 64);
        Some(mask)
    }
}

/// How many CPUs we may run on, as it was before we pinned ourselves.
pub(crate) fn allowed_cpus() -> Option<u64> {
    static FIRST: OnceLock<Option<u64>> = OnceLock::new();
    *FIRST.get_or_init(|| CpuMask::current().ok().map(|mask| mask.count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_cpus_are_named() {
        let before = CpuMask::current().unwrap();
        assert!(matches!(CpuMask::of(&[]), Err(Error::NoCpu)));
        assert!(matches!(
            CpuMask::of(&[8191]),
            Err(Error::NoSuchCpu { cpu: 8191 })
        ));
        assert!(matches!(
            CpuMask::of(&[usize::MAX]),
            Err(Error::NoSuchCpu { .. })
        ));
        let first = (0..8192).find(|cpu| before.contains(*cpu)).unwrap();
        assert!(matches!(
            CpuMask::of(&[first, 8191]),
            Err(Error::NoSuchCpu { cpu: 8191 })
        ));
        assert_eq!(CpuMask::of(&[first]).unwrap().count(), 1);
        assert_eq!(CpuMask::current().unwrap(), before);
        assert_eq!(CpuMask::here().unwrap().count(), 1);
    }
}
