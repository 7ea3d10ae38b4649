//! The sources of evidence, each with what it adds and whether it is available here.

use std::time::Duration;

use super::{counters, explain, oom, sched, schedstat};
use crate::evidence::{Availability, Missing};
use crate::sys::clock;
use crate::sys::platform::{self, KernelFile, OwnGroup, Taskstats};

/// When a source is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// At the end of each run, after the clock was read.
    Run,
    /// Around the runs, or around each long one.
    Batch,
    /// In warm-up and diagnostic runs only.
    Beside,
    /// In diagnostic runs only.
    Diagnostic,
    /// At the end of each run, if asked for.
    Wish,
}

impl When {
    /// A word for lists.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Run => "each run",
            Self::Batch => "around runs",
            Self::Beside => "warm-up",
            Self::Diagnostic => "explaining",
            Self::Wish => "on request",
        }
    }
}

/// One source of evidence.
#[derive(Debug)]
pub struct Probe {
    /// Stable identifier in kebab case.
    pub id: &'static str,
    /// A few words.
    pub title: &'static str,
    /// What it adds to a diagnosis.
    pub adds: &'static str,
    /// When it is read.
    pub when: When,
    /// It, or the way to it, is in `/proc`.
    in_proc: bool,
    /// Whether the kernel offers it; looking may open files, and leaves nothing behind.
    offered: fn() -> Availability<()>,
    /// Time of one reading, where that is measured.
    pub cost: fn() -> Option<Duration>,
}

impl Probe {
    /// Whether it can be had here; looking may open files, and leaves nothing behind.
    #[must_use]
    pub fn availability(&self) -> Availability<()> {
        let offered = (self.offered)();
        let blind = self.in_proc && !platform::has_proc();
        match offered {
            // What a kernel lacks cannot be told there.
            Availability::Missing(_) if blind => {
                Availability::Missing(Missing::because("/proc is not mounted"))
            }
            offered => offered,
        }
    }
}

/// Every source.
pub static PROBES: &[Probe] = &[
    Probe {
        id: "rusage",
        title: "wait4 account",
        adds: "CPU time, peak memory, faults, switches, blocks",
        when: When::Run,
        in_proc: false,
        offered: || Availability::Ready(()),
        cost: || None,
    },
    Probe {
        id: "schedstat",
        title: "/proc/PID/schedstat",
        adds: "time ready to run without a CPU",
        when: When::Run,
        in_proc: true,
        offered: has_schedstat,
        cost: || cost_of_own("schedstat"),
    },
    Probe {
        id: "orphans",
        title: "subreaper",
        adds: "CPU time of background processes, processes left behind",
        when: When::Run,
        in_proc: false,
        offered: adopts_orphans,
        cost: || None,
    },
    Probe {
        id: "cgroup",
        title: "own control group",
        adds: "CPU time of the whole tree, stalls on CPU, disk and memory",
        when: When::Run,
        in_proc: true,
        offered: OwnGroup::availability,
        cost: cost_of_group,
    },
    Probe {
        id: "cpu-quota",
        title: "cpu.stat above us",
        adds: "time and periods stopped by a CPU quota",
        when: When::Run,
        in_proc: true,
        offered: || platform::quotas().map(|_| ()),
        cost: cost_of_quotas,
    },
    Probe {
        id: "io",
        title: "/proc/PID/io",
        adds: "bytes fetched from and sent to the disk",
        when: When::Beside,
        in_proc: true,
        offered: || has_file("/proc/self/io", "CONFIG_TASK_IO_ACCOUNTING"),
        cost: || cost_of_own("io"),
    },
    Probe {
        id: "vmstat",
        title: "/proc/vmstat",
        adds: "swap, compaction, failed hugepages",
        when: When::Batch,
        in_proc: true,
        offered: || has_file("/proc/vmstat", "CONFIG_VM_EVENT_COUNTERS"),
        cost: || cost_of("/proc/vmstat"),
    },
    Probe {
        id: "hugepages",
        title: "HugePages_Free",
        adds: "an empty pool of hugepages",
        when: When::Batch,
        in_proc: true,
        offered: has_hugepages,
        cost: || cost_of("/proc/meminfo"),
    },
    Probe {
        id: "steal",
        title: "steal in /proc/stat",
        adds: "time the hypervisor gave to others",
        when: When::Batch,
        in_proc: true,
        offered: || has_file("/proc/stat", "/proc"),
        cost: || cost_of("/proc/stat"),
    },
    Probe {
        id: "pressure",
        title: "/proc/pressure",
        adds: "stalls of the whole machine",
        when: When::Batch,
        in_proc: true,
        offered: || has_file("/proc/pressure/memory", "CONFIG_PSI (or with psi=0)"),
        cost: || cost_of("/proc/pressure/memory"),
    },
    Probe {
        id: "oom-kill",
        title: "oom_kill",
        adds: "whether memory ran out when a command was killed",
        when: When::Batch,
        in_proc: true,
        offered: oom::availability,
        cost: || None,
    },
    Probe {
        id: "taskstats",
        title: "delay accounting",
        adds: "exact delays of the main thread: disk, swap, reclaim, compaction",
        when: When::Run,
        in_proc: true,
        offered: || Taskstats::open().map(|_| ()),
        cost: cost_of_taskstats,
    },
    Probe {
        id: "schedstats",
        title: "/proc/PID/sched",
        adds: "exact time the main thread waited for I/O",
        when: When::Run,
        in_proc: true,
        offered: sched::availability,
        cost: || cost_of_own("sched"),
    },
    Probe {
        id: "switch-records",
        title: "perf_event_open",
        adds: "when each thread ran: exact busy, queued and idle time",
        when: When::Diagnostic,
        in_proc: false,
        offered: explain::records_availability,
        cost: || None,
    },
    Probe {
        id: "thread-sampler",
        title: "/proc/PID/syscall",
        adds: "the call and the file that a thread waits in",
        when: When::Diagnostic,
        in_proc: true,
        offered: explain::sampler_availability,
        cost: || cost_of_own("syscall"),
    },
    Probe {
        id: "counters",
        title: "hardware counters",
        adds: "instructions, cycles, cache and branch misses (--metrics)",
        when: When::Wish,
        in_proc: false,
        offered: counters::availability,
        cost: || None,
    },
];

/// A file that some kernels do not have.
fn has_file(path: &str, option: &str) -> Availability<()> {
    let mut buffer = Vec::new();
    match platform::text(path, &mut buffer) {
        Ok(text) if !text.is_empty() => Availability::Ready(()),
        Ok(_) => Availability::Missing(Missing::because(format!("{path} is empty"))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Availability::Missing(
            Missing::because(format!("this kernel runs without {option}")),
        ),
        Err(error) => Availability::Missing(Missing::because(format!("{path}: {error}"))),
    }
}

fn has_schedstat() -> Availability<()> {
    let mut buffer = Vec::new();
    let own = platform::text("/proc/self/schedstat", &mut buffer);
    match own.ok().and_then(schedstat::parse) {
        Some(_) => Availability::Ready(()),
        None => has_file("/proc/self/schedstat", "CONFIG_SCHED_INFO"),
    }
}

fn has_hugepages() -> Availability<()> {
    let mut buffer = Vec::new();
    let text = platform::text("/proc/meminfo", &mut buffer).ok();
    match text.and_then(super::hugepages::parse) {
        Some(_) => Availability::Ready(()),
        None => Availability::Missing(Missing::because("this kernel was built without hugepages")),
    }
}

fn adopts_orphans() -> Availability<()> {
    if platform::ADOPTS_ORPHANS {
        Availability::Ready(())
    } else {
        Availability::Missing(Missing::because("only Linux has it"))
    }
}

fn cost_of(path: &str) -> Option<Duration> {
    let mut buffer = Vec::new();
    platform::text(path, &mut buffer).ok()?;
    Some(typical(|| {
        let _ = platform::text(path, &mut buffer);
    }))
}

fn cost_of_own(name: &str) -> Option<Duration> {
    cost_of(&format!("/proc/self/{name}"))
}

fn cost_of_group() -> Option<Duration> {
    let group = OwnGroup::create().ready()?;
    let mut kernel = KernelFile::new();
    let files = [&group.queue, &group.io, &group.memory];
    Some(typical(|| {
        kernel.reread(&group.cpu);
        for file in files.iter().copied().flatten() {
            kernel.reread(file);
        }
    }))
}

fn cost_of_quotas() -> Option<Duration> {
    let quotas = platform::quotas().ready()?;
    let mut kernel = KernelFile::new();
    (!quotas.is_empty()).then(|| {
        typical(|| {
            for quota in &quotas {
                kernel.reread(&quota.stat);
            }
        })
    })
}

fn cost_of_taskstats() -> Option<Duration> {
    let mut link = Taskstats::open().ready()?;
    let own = platform::own_pid();
    Some(typical(|| {
        let _ = link.of(own);
    }))
}

/// The median of some readings.
fn typical(mut read: impl FnMut()) -> Duration {
    let mut times: Vec<u64> = (0..51)
        .map(|_| {
            let before = clock::now();
            read();
            clock::now() - before
        })
        .collect();
    times.sort_unstable();
    Duration::from_nanos(times[times.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_every_source_says_what_it_is() {
        let mut ids: Vec<_> = PROBES.iter().map(|probe| probe.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), PROBES.len());
        for probe in PROBES {
            let kebab = probe
                .id
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b == b'-');
            assert!(kebab, "{}", probe.id);
            assert!(!probe.title.is_empty() && !probe.adds.is_empty());
        }
    }

    #[test]
    fn what_is_missing_says_why() {
        for probe in PROBES {
            if let Availability::Missing(missing) = probe.availability() {
                assert!(!missing.reason.is_empty(), "{}", probe.id);
            }
        }
    }
}
