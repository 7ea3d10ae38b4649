//! What comes next: phase, benchmark, index, order. Pure: it starts nothing and knows no clock.
//!
//! In rounds, the order of the first of two rounds is drawn at random and the second is its
//! reverse, so that no benchmark is always first and a steady drift cancels within the pair of
//! rounds. A benchmark that has enough runs leaves the rounds; it leaves only between pairs of
//! rounds.

use std::collections::VecDeque;
use std::time::Duration;

use super::executor::Request;
use super::look::Looks;
use super::stop::{self, Tally};
use crate::plan::{Limits, Order, Plan};
use crate::sample::Phase;
use crate::stats::random::Random;

/// Longest environment padding drawn, in bytes: a page, so that the stack's place varies over all
/// alignments within one.
const MAX_PADDING: u64 = 4096;

/// The next thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Get a benchmark ready.
    Begin(usize),
    /// Make a run.
    Run(Request),
    /// A benchmark has all its measured runs: now is the time for diagnostic ones.
    Diagnose(usize),
    /// A benchmark has all its runs.
    End(usize),
    /// Nothing is left.
    Done,
}

/// Where a group of benchmarks that run together stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Begin(usize),
    Rounds(Phase),
    Diagnose(usize),
    End(usize),
}

/// Decides what comes next from what has happened.
#[derive(Debug)]
pub struct Schedule {
    limits: Limits,
    /// Groups of benchmarks that run together: one group for rounds, one each for sequential.
    groups: VecDeque<Vec<usize>>,
    stage: Stage,
    tallies: Vec<Tally>,
    looks: Looks,
    random: Random,
    queue: VecDeque<Request>,
    /// The reverse of the round just queued, to be queued next.
    mirror: Option<(Vec<usize>, u64)>,
    round: u64,
    stopping: bool,
}

impl Schedule {
    /// The schedule of a plan.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let all: Vec<usize> = (0..plan.benchmarks.len()).collect();
        let groups = match plan.order {
            Order::Rounds => VecDeque::from([all]),
            Order::Sequential => all.into_iter().map(|one| vec![one]).collect(),
        };
        Self {
            limits: plan.limits,
            groups,
            stage: Stage::Begin(0),
            tallies: vec![Tally::default(); plan.benchmarks.len()],
            looks: Looks::new(plan),
            random: Random::new(plan.seed),
            queue: VecDeque::new(),
            mirror: None,
            round: 0,
            stopping: false,
        }
    }

    /// How far a benchmark is.
    #[must_use]
    pub fn tally(&self, benchmark: usize) -> &Tally {
        &self.tallies[benchmark]
    }

    /// What was seen of the times.
    #[must_use]
    pub fn looks(&self) -> &Looks {
        &self.looks
    }

    /// Notes that a run was made and took so long with its hooks; its wall time if it succeeded.
    pub fn made(&mut self, request: &Request, wall: Option<Duration>, with_hooks: Duration) {
        self.tallies[request.benchmark].note(request.phase, with_hooks);
        if let Some(wall) = wall {
            self.looks.note(request, wall.as_secs_f64());
        }
    }

    /// Whether the measured runs of a benchmark suffice.
    #[must_use]
    pub fn enough(&self, benchmark: usize) -> bool {
        let capped = |place: usize| stop::capped(&self.limits, &self.tallies[place]);
        capped(benchmark)
            || (stop::enough(&self.limits, &self.tallies[benchmark])
                && self.looks.precise(benchmark, capped))
    }

    fn warm(&self, benchmark: usize) -> bool {
        let steady = self.looks.steady(benchmark);
        stop::warm(&self.limits, &self.tallies[benchmark], steady)
    }

    /// A run is to be made again, next.
    pub fn again(&mut self, request: &Request) {
        self.queue.push_front(*request);
    }

    /// No further runs: only what was begun is ended.
    pub fn stop(&mut self) {
        self.stopping = true;
        self.queue.clear();
        self.mirror = None;
    }

    /// Whether no further run is to be made.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// The next thing to do. Each run step must be answered with [`Schedule::made`].
    pub fn step(&mut self) -> Step {
        loop {
            if self.groups.is_empty() || (self.stopping && self.stage == Stage::Begin(0)) {
                return Step::Done;
            }
            match self.stage {
                Stage::Begin(at) => {
                    let Some(benchmark) = self.member(at).filter(|_| !self.stopping) else {
                        self.stage = Stage::End(0);
                        self.groups[0].truncate(at);
                        continue;
                    };
                    self.stage = if self.member(at + 1).is_some() {
                        Stage::Begin(at + 1)
                    } else {
                        self.first_stage()
                    };
                    return Step::Begin(benchmark);
                }
                Stage::Rounds(phase) => match self.next_run(phase) {
                    Some(request) => return Step::Run(request),
                    None => self.stage = self.after(phase),
                },
                Stage::Diagnose(at) => match self.member(at).filter(|_| !self.stopping) {
                    Some(benchmark) => {
                        self.stage = Stage::Diagnose(at + 1);
                        return Step::Diagnose(benchmark);
                    }
                    None => self.stage = Stage::End(0),
                },
                Stage::End(at) => {
                    if let Some(benchmark) = self.member(at) {
                        self.stage = Stage::End(at + 1);
                        return Step::End(benchmark);
                    }
                    self.groups.pop_front();
                    self.stage = Stage::Begin(0);
                    self.round = 0;
                }
            }
        }
    }

    /// A benchmark of the group that is measured now.
    fn member(&self, place: usize) -> Option<usize> {
        self.groups.front()?.get(place).copied()
    }

    fn first_stage(&mut self) -> Stage {
        self.round = 0;
        Stage::Rounds(Phase::Warmup)
    }

    fn after(&mut self, phase: Phase) -> Stage {
        self.round = 0;
        if phase == Phase::Warmup && !self.stopping {
            Stage::Rounds(Phase::Measured)
        } else {
            Stage::Diagnose(0)
        }
    }

    fn next_run(&mut self, phase: Phase) -> Option<Request> {
        if self.stopping {
            return None;
        }
        if let Some(request) = self.queue.pop_front() {
            return Some(self.numbered(request));
        }
        self.queue_round(phase);
        self.queue.pop_front().map(|request| self.numbered(request))
    }

    /// Fills in the run's number, known only when it is its turn.
    fn numbered(&self, mut request: Request) -> Request {
        let tally = &self.tallies[request.benchmark];
        request.index = if request.phase == Phase::Warmup {
            tally.warmup
        } else {
            tally.measured
        };
        request
    }

    fn queue_round(&mut self, phase: Phase) {
        let (order, padding) = if let Some((order, padding)) = self.mirror.take() {
            let wanting = order
                .into_iter()
                .filter(|b| !self.capped(phase, *b))
                .collect();
            (wanting, padding)
        } else {
            let group = self.groups.front().into_iter().flatten();
            let mut order: Vec<usize> = group
                .copied()
                .filter(|b| !self.has_enough(phase, *b))
                .collect();
            self.random.shuffle(&mut order);
            let padding = self.random.below(MAX_PADDING);
            self.mirror =
                (order.len() > 1).then(|| (order.iter().rev().copied().collect(), padding));
            (order, padding)
        };
        for (position, benchmark) in order.iter().enumerate() {
            self.queue.push_back(Request {
                benchmark: *benchmark,
                phase,
                index: 0,
                round: self.round,
                position: position as u64,
                padding,
            });
        }
        self.round += 1;
    }

    fn has_enough(&self, phase: Phase, benchmark: usize) -> bool {
        match phase {
            Phase::Warmup => self.warm(benchmark),
            _ => self.enough(benchmark),
        }
    }

    /// Whether even the second round of a pair must not be made.
    fn capped(&self, phase: Phase, benchmark: usize) -> bool {
        match phase {
            Phase::Warmup => self.warm(benchmark),
            _ => stop::capped(&self.limits, &self.tallies[benchmark]),
        }
    }
}
