//! Makes runs with real processes. The only place with the order of one run (see
//! [`ProcessExecutor::make`]); nothing is drawn, allocated in bulk or computed between the start
//! and the end of a run.

use std::fs::File;
use std::rc::Rc;
use std::time::Duration;

use super::family::{Family, Left};
use super::floor::Floor;
use super::hooks::{Hook, Kind, Means};
use super::ready::{self, Ready, Streams};
use super::waiting::{Rhythm, Vigil};
use super::watched::{self, Attendance, Eyes};
use super::{Executor, Made, Manner, Request, RunError, Watch};
use crate::plan::{Benchmark, Plan};
use crate::probe::{Bench, counters::Counters};
use crate::run::clock::SystemClock;
use crate::sample::host::Stamp;
use crate::sample::recording::MachineCounters;
use crate::sample::{Outcome, Readings, Sample};
use crate::sys::channel::Channel;
use crate::sys::files::{self, Kept};
use crate::sys::platform::{self, Spawner, Started, Wakeups};
use crate::sys::unix::{self, Ended, Launch, number};
use crate::sys::{self, Environment, Prepared, Slots, clock, session, terminal};

/// We stay on one CPU for about this long; choosing again costs some microseconds.
const SETTLED: u64 = 50_000_000;
/// How long a pipe may be held open after the end of the command.
const PIPE_GRACE: Duration = Duration::from_millis(100);
/// A clock that moved this much against the other means that the machine was suspended.
const SUSPENDED: Duration = Duration::from_millis(1);
/// After a run that wrote more than this to standard error, runs are looked after early.
const LOUD: u64 = 1024 * 1024;

/// Makes runs with real processes. It owns all children of the process it lives in: nobody else
/// may start or wait for any while it exists.
#[derive(Debug)]
pub struct ProcessExecutor<'p> {
    plan: &'p Plan,
    clock: SystemClock,
    environment: Environment,
    ready: Vec<Option<Ready>>,
    slots: Slots,
    pub(super) spawner: Spawner,
    settled: Option<u64>,
    wakeups: Rc<Wakeups>,
    family: Family,
    null: Rc<File>,
    stderr: Option<Kept>,
    /// Some run flooded standard error.
    loud: bool,
    bench: Bench,
    floor: Floor,
    /// The terminal is as it was when we are done.
    _modes: Option<terminal::Modes>,
}

/// What a run consists of besides the benchmark.
struct Task<'a> {
    benchmark: &'a Benchmark,
    request: &'a Request,
    tick: &'a mut dyn FnMut(Duration),
    watch: Option<&'a mut dyn Watch>,
}

/// A run that is going on.
struct Flight {
    vigil: Vigil,
    channel: Option<Channel>,
    started: Started,
    padding: u64,
    suspended: Option<Duration>,
}

/// What was read of a run at its end.
struct Harvest {
    /// Just before exec.
    stamp: u64,
    /// Right after its end was noticed.
    end: u64,
    ended: Ended,
    left: Left,
    readings: Readings,
}

impl<'p> ProcessExecutor<'p> {
    /// An executor for a plan; times of samples count from the beginning of `clock`.
    ///
    /// # Errors
    /// The CPUs asked for are not available, or the system refused a timer, memory or a file.
    pub fn new(plan: &'p Plan, clock: SystemClock) -> Result<Self, RunError> {
        let system = |error| RunError::about("", error);
        let null = files::null().map_err(|source| RunError::Input {
            path: "/dev/null".into(),
            source,
        })?;
        platform::adopt_orphans();
        session::heed_stop_requests();
        Ok(Self {
            plan,
            clock,
            environment: Environment::new(&plan.environment).map_err(system)?,
            ready: plan.benchmarks.iter().map(|_| None).collect(),
            slots: Slots::new(),
            spawner: Spawner::new(&ready::cpus(&plan.placement)).map_err(system)?,
            settled: None,
            wakeups: Wakeups::new().map_err(system)?.into(),
            family: Family::default(),
            null: null.into(),
            stderr: Kept::new(),
            loud: false,
            bench: Bench::new(plan.benchmarks.len()),
            floor: Floor::default(),
            _modes: terminal::Modes::keep(),
        })
    }

    /// The same, reading no evidence of its runs: to measure what that costs.
    #[must_use]
    pub fn without_evidence(mut self) -> Self {
        self.bench = Bench::blind();
        self
    }

    /// One run from its `prepare` to its `conclude` hook.
    fn make(&mut self, task: &mut Task<'_>) -> Result<Made, RunError> {
        let place = task.request.benchmark;
        let taken = self.ready.get_mut(place).and_then(Option::take);
        let mut ready = taken.ok_or(RunError::NotBegun)?;
        let request = task.request;
        self.slots.set_iteration(request.prefix(), request.index);
        let prepared = self.hook(&mut ready, Kind::Prepare);
        let made = prepared.and_then(|()| self.between_hooks(&mut ready, task));
        // Whatever became of the run, and of `prepare` halfway: what it has set up is taken down.
        let concluded = self.hook(&mut ready, Kind::Conclude);
        self.ready[place] = Some(ready);
        made.and_then(|made| concluded.map(|()| made))
    }

    fn between_hooks(&mut self, ready: &mut Ready, task: &mut Task<'_>) -> Result<Made, RunError> {
        if !self.plan.sleep.is_zero() {
            self.wakeups.stop();
            unix::pause(self.plan.sleep);
        }
        if self.interrupted().is_some() {
            return Err(RunError::Interrupted);
        }
        let mut command = match ready.command.take() {
            Some(command) => command,
            None => self.lay_out(task.benchmark)?,
        };
        let made = self.measure(ready, &mut command, task);
        ready.command = Some(command);
        made
    }

    /// The run itself.
    fn measure(
        &mut self,
        ready: &mut Ready,
        command: &mut Prepared,
        task: &mut Task<'_>,
    ) -> Result<Made, RunError> {
        loop {
            self.settle();
            let streams = Streams::open(task.benchmark, self.plan.check_output)?;
            let counters = Counters::open(self.plan.counters);
            let flight = self.start(ready, command, task, streams);
            let seen = flight.and_then(|mut flight| {
                let harvest = self.see_it_end(&mut flight, command, task)?;
                Ok((flight, harvest))
            });
            match seen {
                Ok((flight, mut harvest)) => {
                    counters.read(&mut harvest.readings);
                    ready.known = true;
                    return Ok(self.finish(flight, &harvest, task.request));
                }
                Err(sys::Error::TooLong) if self.slots.padded() => ready.unpadded = true,
                Err(error) => return Err(RunError::about(&ready.program, error)),
            }
        }
    }

    /// Everything up to the start, and the start.
    fn start(
        &mut self,
        ready: &Ready,
        command: &mut Prepared,
        task: &mut Task<'_>,
        mut streams: Streams,
    ) -> Result<Flight, sys::Error> {
        if let Some(kept) = &mut self.stderr {
            self.loud |= kept.clear() > LOUD;
        }
        let stderr = self.stderr.as_ref().map_or(&*self.null, Kept::file);
        let launch = Launch {
            stdio: streams.stdio(&self.null, stderr),
            cgroup: self.bench.arm(task.request.benchmark, task.request.phase),
            folder: self.bench.folder(),
            held: task.watch.is_some(),
            unless_stopped: true,
        };
        let (read, write) = streams.pipe.take().unzip();
        let check = self.plan.check_output;
        let channel = read.map(|end| Channel::new(end, self.null.clone(), check));
        let suspended = platform::suspended();
        session::was_continued();
        let mut rhythm = Rhythm::new(self.loud || !ready.known, self.plan.timeout);
        if let Some(watch) = task.watch.as_deref() {
            rhythm = watched::rhythm(rhythm, watch);
            self.spawner.set_filter(watched::filter(watch));
        }
        let vigil = Vigil::new(self.wakeups.clone(), rhythm);
        let wanted = (!ready.unpadded).then_some(task.request.padding);
        let padding = self.slots.set_padding(wanted);
        let started = self.spawner.start(command, &self.slots, &launch);
        self.spawner.set_filter(None);
        drop(write);
        Ok(Flight {
            vigil,
            channel,
            started: started?,
            padding,
            suspended,
        })
    }

    /// From the start to the reaping.
    fn see_it_end(
        &mut self,
        flight: &mut Flight,
        command: &Prepared,
        task: &mut Task<'_>,
    ) -> Result<Harvest, sys::Error> {
        let pid = flight.started.pid;
        flight.vigil.watch(pid, flight.started.asked);
        self.family.begin(pid);
        let mut eyes = task
            .watch
            .as_deref_mut()
            .map(|watch| Eyes::open(watch, &flight.started))
            .transpose()?;
        flight.started.release();
        self.bench.started(pid, task.request.phase);
        if let Some(channel) = &mut flight.channel {
            channel.watch(pid);
        }
        let end = flight.vigil.until_end(&mut Attendance {
            channel: flight.channel.as_mut(),
            stderr: self.stderr.as_mut(),
            tick: &mut *task.tick,
            eyes: eyes.as_mut(),
            spawner: &self.spawner,
            started: &flight.started,
            family: &mut self.family,
        })?;
        // The clock has been read; from here on nothing is measured.
        let stamp = self.spawner.stamp(&flight.started, command);
        if let Some(eyes) = &mut eyes {
            eyes.detach(pid, *stamp.as_ref().unwrap_or(&end), end);
        }
        if !flight.started.in_group() {
            // Its account would say that the command used nothing.
            self.bench.leave_group();
        }
        let before = self.spawner.account_before(&flight.started);
        let mut readings = self.bench.harvest(pid, &before);
        readings.spawn_cpu = self.spawner.cpu_before(&flight.started);
        let mut ended = flight.vigil.reap()?;
        ended.usage = ended.usage.without(readings.spawn_cpu.unwrap_or_default());
        drop(eyes);
        flight.vigil.ended_by(ended.outcome.signal());
        let mut harvest = Harvest {
            stamp: stamp?,
            end,
            ended,
            left: Left::default(),
            readings,
        };
        if self.plan.wait_descendants {
            let left = &mut harvest.left;
            harvest.end = self.family.wait(&mut flight.vigil, pid, left, end);
        }
        let left = self.family.collect(pid, flight.vigil.grace());
        harvest.left.add(&left);
        let all_ended = left.alive == Some(0);
        self.bench.settle(&mut harvest.readings, all_ended);
        Ok(harvest)
    }

    /// Puts the record together.
    fn finish(&mut self, flight: Flight, harvest: &Harvest, request: &Request) -> Made {
        let Flight {
            vigil,
            mut channel,
            started,
            padding,
            suspended,
        } = flight;
        let mut made = Made::from(self.sample(request, &started, harvest));
        made.sample.padding = padding;
        made.stopped = vigil.stopped;
        made.sample.readings.stopped = Some(vigil.stopped_for());
        made.interrupted = vigil.interrupted();
        if vigil.timed_out {
            made.sample.outcome = Outcome::TimedOut;
        }
        drop(vigil);
        let slept = suspended.zip(platform::suspended());
        made.disturbed = session::was_continued()
            || slept.is_some_and(|(before, after)| after > before + SUSPENDED);
        if let Some(channel) = &mut channel {
            made.held_open = channel.finish(PIPE_GRACE);
            made.output = channel.digest();
        }
        self.floor.note(made.sample.wall);
        self.bench
            .note(request.benchmark, request.phase, made.sample.wall);
        made
    }

    fn sample(&self, request: &Request, started: &Started, harvest: &Harvest) -> Sample {
        let mut readings = harvest.readings;
        if self.spawner.stamp_kind() == Stamp::BeforeExec {
            let latency = harvest.stamp.saturating_sub(started.asked);
            readings.spawn_latency = Some(Duration::from_nanos(latency));
        }
        if platform::ADOPTS_ORPHANS {
            readings.orphans = Some(harvest.left.orphans);
            readings.orphan_cpu = Some(harvest.left.cpu);
            readings.leftovers = harvest.left.alive;
        }
        Sample {
            phase: request.phase,
            index: request.index,
            round: request.round,
            position: request.position,
            start: self.clock.at(harvest.stamp),
            wall: Duration::from_nanos(harvest.end.saturating_sub(harvest.stamp)),
            usage: harvest.ended.usage,
            outcome: harvest.ended.outcome,
            padding: 0,
            readings,
        }
    }

    /// Chooses our CPU again from time to time; when we begin, the system has just done so.
    fn settle(&mut self) {
        let now = clock::now();
        match self.settled {
            None => self.spawner.stay(),
            Some(at) if now - at > SETTLED => self.spawner.settle(),
            Some(_) => return,
        }
        self.settled = Some(now);
    }

    fn lay_out(&self, benchmark: &Benchmark) -> Result<Prepared, RunError> {
        ready::prepare(&ready::words(benchmark), benchmark, &self.environment)
    }

    fn hook(&mut self, ready: &mut Ready, kind: Kind) -> Result<(), RunError> {
        let Some(hook) = &mut ready.hooks[kind as usize] else {
            return Ok(());
        };
        let before = session::stop_signal();
        self.bench.pause();
        let done = hook.run(Means {
            spawner: &mut self.spawner,
            wakeups: self.wakeups.clone(),
            slots: &mut self.slots,
            null: &self.null,
        });
        self.bench.resume();
        self.family.absorb();
        match done {
            Err(_) if before.is_none() && session::stop_signal().is_some() => {
                Err(RunError::Interrupted)
            }
            done => done,
        }
    }

    fn benchmark(&self, place: usize) -> Result<&'p Benchmark, RunError> {
        self.plan.benchmarks.get(place).ok_or(RunError::NotBegun)
    }
}

impl Executor for ProcessExecutor<'_> {
    fn begin(&mut self, place: usize) -> Result<(), RunError> {
        let benchmark = self.benchmark(place)?;
        let hook = |kind| Hook::new(kind, benchmark, &self.environment);
        let mut ready = Ready {
            command: None,
            program: ready::program(&ready::words(benchmark)),
            hooks: [
                hook(Kind::Setup)?,
                hook(Kind::Prepare)?,
                hook(Kind::Conclude)?,
                hook(Kind::Cleanup)?,
            ],
            unpadded: false,
            known: false,
        };
        let done = self.hook(&mut ready, Kind::Setup);
        let done = done.and_then(|()| {
            let laid_out = self.lay_out(benchmark);
            // What is not there yet may be made by the hook before each run.
            if ready.hooks[Kind::Prepare as usize].is_some() {
                ready.command = laid_out.ok();
                return Ok(());
            }
            ready.command = Some(laid_out?);
            ready::files_error(benchmark).map_or(Ok(()), Err)
        });
        self.ready[place] = Some(ready);
        done
    }

    fn run(&mut self, request: &Request, tick: &mut dyn FnMut(Duration)) -> Result<Made, RunError> {
        let benchmark = self.benchmark(request.benchmark)?;
        self.make(&mut Task {
            benchmark,
            request,
            tick,
            watch: None,
        })
    }

    fn run_watched(&mut self, request: &Request, watch: &mut dyn Watch) -> Result<Made, RunError> {
        let benchmark = self.benchmark(request.benchmark)?;
        let tick = &mut |_| {};
        self.make(&mut Task {
            benchmark,
            request,
            tick,
            watch: Some(watch),
        })
    }

    fn end(&mut self, place: usize) -> Result<(), RunError> {
        if self.interrupted().is_none() {
            self.floor
                .ensure(&mut self.spawner, &mut self.slots, &self.null);
        }
        match self.ready.get_mut(place).and_then(Option::take) {
            Some(mut ready) => self.hook(&mut ready, Kind::Cleanup),
            None => Ok(()),
        }
    }

    fn machine(&mut self, place: usize) -> MachineCounters {
        self.bench.machine(place)
    }

    fn out_of_memory(&mut self) -> bool {
        self.bench.out_of_memory()
    }

    fn interrupted(&self) -> Option<i32> {
        session::stop_signal()
    }

    fn last_stderr(&self) -> Vec<u8> {
        self.stderr.as_ref().map(Kept::tail).unwrap_or_default()
    }

    fn manner(&self) -> Manner {
        Manner {
            stamp: self.spawner.stamp_kind(),
            rss_floor: platform::peak_memory(),
            wall_floor: self.floor.seconds(),
        }
    }
}

impl Drop for ProcessExecutor<'_> {
    /// Whoever interrupts us does not want to look for what the runs have left.
    fn drop(&mut self) {
        if self.interrupted().is_some() {
            // Not the signal itself: a shell's children in the background ignore the keyboard's.
            self.family.signal(number::TERM);
        }
    }
}
