//! What the schedule sees of the times: whether a warm-up is steady, and how precisely the median or
//! the ratio is known. Pure; it keeps times only where a rule asks for them.

use crate::plan::limit::PRECISION_RUNS;
use crate::plan::{Limits, Order, Plan, Warmup};
use crate::sample::Phase;
use crate::stats::precision::{self, Look};
use crate::stats::summary::LEVEL;
use crate::stats::verdict::{level_against_fastest, level_against_reference};
use crate::stats::warmup::{self, Check};
use crate::stats::{Series, compare, order};

use super::executor::Request;

/// The runs that a plan gives a wanted precision reach its first look.
const _: () = assert!(PRECISION_RUNS as usize == precision::FIRST_LOOK);

/// The times of one benchmark, as far as a rule needs them.
#[derive(Debug, Clone, Default)]
struct Seen {
    /// Wall times of warm-up runs, in seconds.
    warmup: Vec<f64>,
    /// Round and wall time of measured runs.
    measured: Vec<(u64, f64)>,
    /// The same wall times in ascending order, where the fastest command is asked for.
    sorted: Vec<f64>,
    /// The last look at the warm-up.
    check: Option<Check>,
    /// The last look at the median, or at the ratio to the reference.
    look: Option<Look>,
}

/// Everything seen of all benchmarks.
#[derive(Debug)]
pub struct Looks {
    /// Whether warm-up times are wanted.
    warmup: bool,
    /// The wanted precision, as a fraction.
    precision: Option<f64>,
    /// Whether the ratio is looked at; otherwise each median.
    ratio: bool,
    fastest: bool,
    /// The chosen benchmark, or the one with the smallest median so far.
    reference: usize,
    seen: Vec<Seen>,
}

impl Looks {
    /// Nothing seen yet.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let Limits {
            warmup,
            precision,
            fastest,
            reference,
            ..
        } = plan.limits;
        let count = plan.benchmarks.len();
        Self {
            warmup: warmup == Warmup::Auto,
            precision,
            ratio: plan.order == Order::Rounds && count > 1,
            fastest,
            reference,
            seen: vec![Seen::default(); count],
        }
    }

    /// Notes the wall time of a run that succeeded, in seconds, and looks where it is time to.
    pub fn note(&mut self, request: &Request, wall: f64) {
        let Some(seen) = self.seen.get_mut(request.benchmark) else {
            return;
        };
        match request.phase {
            Phase::Warmup if self.warmup => {
                seen.warmup.push(wall);
                seen.check = warmup::check(&seen.warmup).or(seen.check);
            }
            Phase::Measured => {
                if let Some(wanted) = self.precision {
                    seen.measured.push((request.round, wall));
                    if self.fastest {
                        let place = seen.sorted.partition_point(|other| *other <= wall);
                        seen.sorted.insert(place, wall);
                    }
                    let changed = self.fastest && self.follow_the_fastest();
                    self.look(request.benchmark, wanted, changed);
                }
            }
            _ => {}
        }
    }

    /// Takes the fastest as reference, as the report will; what was seen of ratios to another one
    /// is void then. Whether it changed.
    fn follow_the_fastest(&mut self) -> bool {
        let median = |place: &usize| order::quantile(&self.seen[*place].sorted, 0.5);
        let fastest = (0..self.seen.len())
            .filter(|place| !self.seen[*place].sorted.is_empty())
            .min_by(|a, b| median(a).total_cmp(&median(b)))
            .unwrap_or(0);
        let changed = self.ratio && fastest != self.reference;
        if changed {
            self.reference = fastest;
            self.seen.iter_mut().for_each(|seen| seen.look = None);
        }
        changed
    }

    /// Looks where it is time to: at what the run of this benchmark belongs to, or at everything.
    fn look(&mut self, benchmark: usize, wanted: f64, everything: bool) {
        if !self.ratio {
            let seen = &mut self.seen[benchmark];
            if precision::is_look(seen.measured.len()) {
                let values = seen.measured.iter().map(|(_, wall)| *wall).collect();
                let series = Series::new(values).ok();
                seen.look = series.and_then(|series| precision::look(&series, LEVEL, wanted));
            }
            return;
        }
        let reference = self.reference;
        for other in (0..self.seen.len()).filter(|other| *other != reference) {
            let concerned = everything || benchmark == reference || benchmark == other;
            if concerned && self.is_pair_look(reference, other) {
                self.seen[other].look = self.look_at_pair(reference, other, wanted);
            }
        }
    }

    /// Whether both have just ended the same round, and as many runs as a look is planned at.
    fn is_pair_look(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.seen[a].measured, &self.seen[b].measured);
        let last = |runs: &[(u64, f64)]| runs.last().map(|(round, _)| *round);
        last(a) == last(b) && precision::is_look(a.len().min(b.len()))
    }

    fn look_at_pair(&self, a: usize, b: usize, wanted: f64) -> Option<Look> {
        let (first, second) =
            compare::common_rounds(&self.seen[a].measured, &self.seen[b].measured);
        let (first, second) = (Series::new(first).ok()?, Series::new(second).ok()?);
        let ratio = compare::paired(&first, &second, self.level()).ok()?;
        precision::look_at_ratio(&ratio, wanted)
    }

    /// The level that the comparison will use, so that what is reached is what is reported.
    fn level(&self) -> f64 {
        if self.fastest {
            level_against_fastest(LEVEL, self.seen.len())
        } else {
            level_against_reference(LEVEL, self.seen.len())
        }
    }

    /// Whether the warm-up of a benchmark is steady.
    #[must_use]
    pub fn steady(&self, benchmark: usize) -> bool {
        self.check(benchmark).is_some_and(|check| check.steady())
    }

    /// The last look at the warm-up of a benchmark.
    #[must_use]
    pub fn check(&self, benchmark: usize) -> Option<Check> {
        self.seen.get(benchmark)?.check
    }

    /// The last look at what is to be precise: the benchmark's median or ratio; for the reference
    /// the widest of the ratios.
    #[must_use]
    pub fn last(&self, benchmark: usize) -> Option<Look> {
        if !self.ratio || (benchmark != self.reference && !self.fastest) {
            return self.seen.get(benchmark)?.look;
        }
        let reference = self.reference;
        let others = (0..self.seen.len()).filter(|other| *other != reference);
        let all: Option<Vec<Look>> = others.map(|other| self.seen[other].look).collect();
        all?.into_iter()
            .max_by(|a, b| a.achieved.total_cmp(&b.achieved))
    }

    /// Whether a benchmark needs no further runs for the wanted precision; `ended` tells which
    /// benchmarks get no further runs whatever is seen.
    pub fn precise(&self, benchmark: usize, ended: impl Fn(usize) -> bool) -> bool {
        if self.precision.is_none() {
            return true;
        }
        let reached = |place: usize| self.seen[place].look.is_some_and(|look| look.reached);
        let reference = self.reference;
        let mut others = (0..self.seen.len()).filter(|other| *other != reference);
        if !self.ratio {
            reached(benchmark)
        } else if self.fastest || benchmark == reference {
            others.all(|other| reached(other) || ended(other))
        } else {
            reached(benchmark) || ended(reference)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is seen of two commands in so many rounds.
    fn fastest(rounds: u64, wall: impl Fn(usize, u64) -> f64) -> Looks {
        let mut looks = Looks {
            warmup: false,
            precision: Some(0.05),
            ratio: true,
            fastest: true,
            reference: 0,
            seen: vec![Seen::default(); 2],
        };
        for round in 0..rounds {
            for benchmark in 0..2 {
                let request = Request {
                    benchmark,
                    phase: Phase::Measured,
                    index: round,
                    round,
                    position: benchmark as u64,
                    padding: 0,
                };
                looks.note(&request, wall(benchmark, round));
            }
        }
        looks
    }

    #[test]
    fn the_fastest_is_the_one_of_the_report() {
        // The second has the smaller median and the larger mean.
        let looks = fastest(20, |command, round| match (command, round) {
            (0, _) => 1.0,
            (_, 3) => 50.0,
            _ => 0.9,
        });
        assert_eq!(looks.reference, 1);
        assert!(looks.seen[0].look.is_some() && looks.seen[1].look.is_none());
        assert!(looks.precise(0, |_| false));
    }

    #[test]
    fn another_reference_voids_the_looks() {
        let wall = |command: usize, round: u64| match (command, round) {
            (0, 0..10) => 1.0,
            (0, _) => 1.02,
            _ => 1.015,
        };
        let seen = |rounds: u64| {
            let looks = fastest(rounds, wall);
            (looks.reference, looks.precise(0, |_| false))
        };
        assert_eq!(seen(20), (0, true));
        assert_eq!(seen(21), (1, false));
        assert_eq!(seen(30), (1, true));
    }
}
