//! Everything that is read around one run, in the order of the protocol: `arm` before the start,
//! `started` right after it, `harvest` while the dead process is still shown, `settle` after it and
//! its orphans were reaped. Nothing here happens between the stamps of a measured run.

use std::fs::File;
use std::time::Duration;

use super::machine::{Meter, Reader};
use super::{cpu_stat, io, oom, pressure, sched, schedstat, stat, taskstats};
use crate::evidence::Availability;
use crate::sample::recording::MachineCounters;
use crate::sample::{Phase, Readings};
use crate::sys::platform::{self, KernelFile, OwnGroup, Quota, Taskstats};

/// Accounts of our own group since it was made.
#[derive(Debug, Clone, Copy, Default)]
struct Tree {
    cpu: Option<Duration>,
    queued: Option<Duration>,
    io_stall: Option<Duration>,
    memory_stall: Option<Duration>,
}

impl Tree {
    /// What was added since then; nothing where one of the two could not be read.
    fn since(&self, before: &Self) -> Self {
        let passed = |from: Option<Duration>, to: Option<Duration>| Some(to?.saturating_sub(from?));
        Self {
            cpu: passed(before.cpu, self.cpu),
            queued: passed(before.queued, self.queued),
            io_stall: passed(before.io_stall, self.io_stall),
            memory_stall: passed(before.memory_stall, self.memory_stall),
        }
    }
}

/// Accounts of all quotas above us since they were set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Throttling {
    periods: u64,
    throttled_periods: u64,
    throttled: Duration,
}

impl Throttling {
    /// What was added since then; nothing where an account was set back.
    fn since(&self, before: &Self) -> Option<Self> {
        Some(Self {
            periods: self.periods.checked_sub(before.periods)?,
            throttled_periods: self
                .throttled_periods
                .checked_sub(before.throttled_periods)?,
            throttled: self.throttled.checked_sub(before.throttled)?,
        })
    }

    /// Adds one quota's `cpu.stat`; nothing where it does not tell.
    fn plus(self, text: &[u8]) -> Option<Self> {
        let stat = cpu_stat::parse(text);
        Some(Self {
            periods: self.periods.checked_add(stat.periods?)?,
            throttled_periods: self
                .throttled_periods
                .checked_add(stat.throttled_periods?)?,
            throttled: self.throttled.checked_add(stat.throttled?)?,
        })
    }
}

/// The sources of evidence of a session.
#[derive(Debug)]
pub(crate) struct Bench {
    kernel: KernelFile,
    /// The group in which the commands run.
    group: Option<OwnGroup>,
    /// The group's accounts at the end of the last run.
    tree: Tree,
    /// Limits of CPU time above us.
    quotas: Vec<Quota>,
    /// Accounts of the quotas before the run, if they can be read.
    throttling: Option<Throttling>,
    taskstats: Option<Taskstats>,
    /// `/proc/PID/sched` tells how long the process was blocked for I/O.
    schedstats: bool,
    io: Option<File>,
    reader: Reader,
    meters: Vec<Meter>,
    kills: oom::Kills,
    /// Nothing is read at all.
    blind: bool,
}

/// Descriptors below which sources that keep files open are left out: the runs and the exports need
/// them more.
const FEW_DESCRIPTORS: u64 = 40;

fn has_room() -> bool {
    crate::sys::unix::limit(nix::sys::resource::Resource::RLIMIT_NOFILE)
        .is_none_or(|most| most >= FEW_DESCRIPTORS)
}

impl Bench {
    /// Opens whatever can be had, for that many benchmarks.
    pub(crate) fn new(benchmarks: usize) -> Self {
        let room = has_room();
        let quotas = room.then(|| platform::quotas().ready()).flatten();
        let mut bench = Self {
            kernel: KernelFile::new(),
            group: None,
            tree: Tree::default(),
            quotas: quotas.unwrap_or_default(),
            throttling: None,
            taskstats: room.then(|| Taskstats::open().ready()).flatten(),
            schedstats: matches!(sched::availability(), Availability::Ready(())),
            io: None,
            reader: Reader::new(),
            meters: (0..benchmarks).map(|_| Meter::default()).collect(),
            kills: oom::Kills::begin(),
            blind: false,
        };
        if room {
            bench.regroup();
        }
        bench
    }

    /// No sources at all, to measure what reading them costs.
    pub(crate) fn blind() -> Self {
        Self {
            kernel: KernelFile::new(),
            group: None,
            tree: Tree::default(),
            quotas: Vec::new(),
            throttling: None,
            taskstats: None,
            schedstats: false,
            io: None,
            reader: Reader::new(),
            meters: Vec::new(),
            kills: oom::Kills::default(),
            blind: true,
        }
    }

    /// Before the start. The descriptor through which the process enters its group, or -1.
    pub(crate) fn arm(&mut self, benchmark: usize, phase: Phase) -> i32 {
        self.io = None;
        if phase == Phase::Measured {
            if let Some(meter) = self.meters.get_mut(benchmark) {
                meter.before(&mut self.reader);
            }
        }
        if !self.quotas.is_empty() {
            self.throttling = self.read_throttling();
        }
        self.group.as_ref().map_or(-1, OwnGroup::entrance)
    }

    /// The folder of the group, in which a process can be started, or -1.
    pub(crate) fn folder(&self) -> i32 {
        self.group.as_ref().and_then(OwnGroup::folder).unwrap_or(-1)
    }

    /// The commands do not run in the group: from now on nothing is read of one.
    pub(crate) fn leave_group(&mut self) {
        self.group = None;
        self.tree = Tree::default();
    }

    /// The process runs. Does something only beside runs that do not count.
    pub(crate) fn started(&mut self, pid: i32, phase: Phase) {
        if phase != Phase::Measured {
            self.io = platform::open_io(pid);
        }
    }

    /// What the kernel still shows of a process that has ended; `before` is its `schedstat` at the
    /// beginning of the run.
    pub(crate) fn harvest(&mut self, pid: i32, before: &[u8]) -> Readings {
        let mut readings = Readings::default();
        if self.blind {
            return readings;
        }
        let account = platform::schedstat(&mut self.kernel, pid);
        if let Some(account) = account.and_then(schedstat::parse) {
            let account = account.since(schedstat::parse(before));
            readings.main_run = Some(account.run);
            readings.queued = Some(account.queued);
        }
        if self.group.is_none() {
            // The group's account has what children took that nobody waited for.
            let stat = platform::stat(&mut self.kernel, pid);
            readings.auto_reaps = stat.and_then(stat::ignores_child_signal).map(u64::from);
        }
        if let Some(file) = self.io.take() {
            let bytes = self.kernel.reread(&file).and_then(io::parse);
            readings.read_bytes = bytes.map(|bytes| bytes.read);
            readings.write_bytes = bytes.map(|bytes| bytes.written);
        }
        self.delays(pid, &mut readings);
        readings
    }

    /// Delays of the main thread, where we may read them.
    fn delays(&mut self, pid: i32, readings: &mut Readings) {
        let answer = self.taskstats.as_mut().and_then(|link| link.of(pid).ok());
        if let Some(delays) = answer.and_then(|bytes| taskstats::parse(bytes, pid)) {
            readings.io_stall = Some(delays.block_io);
            readings.memory_stall = Some(delays.memory());
        }
        if self.schedstats {
            let text = platform::sched(&mut self.kernel, pid);
            let waited = text.and_then(sched::io_wait);
            readings.io_stall = readings.io_stall.max(waited);
        }
    }

    /// After the process and its orphans were reaped; some of its processes may live on.
    pub(crate) fn settle(&mut self, readings: &mut Readings, all_ended: bool) {
        if !self.quotas.is_empty() {
            let now = self.read_throttling();
            let passed = self.throttling.zip(now);
            let passed = passed.and_then(|(before, now)| now.since(&before));
            readings.throttled = passed.map(|found| found.throttled);
            readings.quota_periods = passed.map(|found| found.periods);
            readings.throttled_periods = passed.map(|found| found.throttled_periods);
        }
        if self.group.is_none() {
            return;
        }
        let now = self.read_tree();
        let passed = now.since(&self.tree);
        let ours = readings.spawn_cpu.unwrap_or_default();
        readings.tree_cpu = passed.cpu.map(|cpu| cpu.saturating_sub(ours));
        readings.tree_queued = passed.queued;
        readings.io_stall = readings.io_stall.max(passed.io_stall);
        readings.memory_stall = readings.memory_stall.max(passed.memory_stall);
        self.tree = now;
        if !all_ended {
            // What lives on in it would be counted to the next run.
            self.group = None;
            self.regroup();
        }
    }

    /// A run has been put together.
    pub(crate) fn note(&mut self, benchmark: usize, phase: Phase, wall: Duration) {
        self.kills.after(wall);
        if let Some(meter) = self.meters.get_mut(benchmark) {
            if phase == Phase::Measured {
                meter.after(&mut self.reader, wall);
            }
        }
    }

    /// A hook begins.
    pub(crate) fn pause(&mut self) {
        self.kills.pause();
    }

    /// It has ended.
    pub(crate) fn resume(&mut self) {
        self.kills.resume();
    }

    /// Whether the out-of-memory killer was at work during the last run.
    pub(crate) fn out_of_memory(&mut self) -> bool {
        self.kills.lately()
    }

    /// What happened on the machine during the measured runs of a benchmark that has no more.
    pub(crate) fn machine(&mut self, benchmark: usize) -> MachineCounters {
        let Some(meter) = self.meters.get_mut(benchmark) else {
            return MachineCounters::new();
        };
        meter.close(&mut self.reader);
        let mut totals = meter.take();
        if let Some(tightest) = cpu_stat::tightest(&self.quotas) {
            totals.insert("quota_cpus".into(), tightest);
        }
        totals
    }

    fn regroup(&mut self) {
        self.group = OwnGroup::create().ready();
        self.tree = Tree::default();
        if self.group.is_some() {
            self.tree = self.read_tree();
        }
    }

    fn read_tree(&mut self) -> Tree {
        let Some(group) = &self.group else {
            return Tree::default();
        };
        let kernel = &mut self.kernel;
        let cpu = kernel.reread(&group.cpu).and_then(|text| {
            if group.unified() {
                cpu_stat::parse(text).usage
            } else {
                cpu_stat::parse_usage(text)
            }
        });
        let mut stalled = |file: &Option<File>| {
            let text = kernel.reread(file.as_ref()?)?;
            pressure::parse(text).full
        };
        Tree {
            cpu,
            queued: stalled(&group.queue),
            io_stall: stalled(&group.io),
            memory_stall: stalled(&group.memory),
        }
    }

    /// The tightest of several quotas counts most; all of them stop the same command. `None` where
    /// one cannot be read.
    fn read_throttling(&mut self) -> Option<Throttling> {
        let mut found = Throttling::default();
        for quota in &self.quotas {
            found = found.plus(self.kernel.reread(&quota.stat)?)?;
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(cpu: Option<u64>) -> Tree {
        Tree {
            cpu: cpu.map(Duration::from_millis),
            ..Tree::default()
        }
    }

    #[test]
    fn a_failed_reading_charges_the_next_run_nothing() {
        assert_eq!(tree(Some(9)).since(&tree(Some(4))).cpu, tree(Some(5)).cpu);
        assert_eq!(tree(None).since(&tree(Some(4))).cpu, None);
        assert_eq!(tree(Some(9)).since(&tree(None)).cpu, None);
    }

    #[test]
    fn quotas_are_told_whole_or_not_at_all() {
        let text = |periods: u32| {
            format!("nr_periods {periods}\nnr_throttled 1\nthrottled_usec 300\n").into_bytes()
        };
        let of = |periods: u32| Throttling::default().plus(&text(periods)).unwrap();
        assert_eq!(of(7).since(&of(4)).unwrap().periods, 3);
        assert_eq!(of(4).since(&of(7)), None);
        assert_eq!(of(4).plus(&text(5)).unwrap().periods, 9);
        assert_eq!(of(4).plus(b""), None);
    }
}
