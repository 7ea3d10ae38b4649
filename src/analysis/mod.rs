//! From recordings to an [`Analysis`]: estimates, comparisons, diagnoses, warnings.
//!
//! Everything that a gate or a report shows is computed here, once. Pure: no clock, no chance but
//! the question's seed, no output.

pub mod baseline;
mod comparison;
mod marks;
pub mod noise;
mod pace;
mod sentence;
pub mod sessions;
mod share;
mod summaries;
mod warning;

use crate::diagnose::{self, Diagnosis, Figures, Variance, words};
use crate::metric::{CPU, Metric, QUEUED, WALL};
use crate::sample::{Phase, Recording};
use crate::stats::precision::Look;
use crate::stats::ratio::{self, Stalls, WallOverCpu};
use crate::stats::summary::{Settings, Summary};
use crate::stats::{Estimate, Series, attribution, order};

pub use baseline::{Against, Medians, Saved};
pub use comparison::{Comparison, Verdict, Versus};
pub use sessions::Merged;
use summaries::Summaries;
pub use warning::{Warning, no_interval};

/// Which command the others are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// This one, named before the run.
    Command(usize),
    /// The one with the smallest median, which widens the intervals.
    Fastest,
}

/// What is asked of the recordings.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Level, seed, resamples.
    pub settings: Settings,
    /// Which command the others are compared with.
    pub reference: Reference,
    /// Differences below this fraction do not matter: "equal within 5%".
    pub practical_limit: Option<f64>,
}

impl Default for Question {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            reference: Reference::Command(0),
            practical_limit: None,
        }
    }
}

/// How many runs there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Warm-up runs.
    pub warmup: usize,
    /// Measured runs, failed ones included.
    pub measured: usize,
    /// Measured runs that failed: in no statistic.
    pub failed: usize,
    /// Diagnostic runs.
    pub diagnostic: usize,
}

impl Counts {
    /// The runs that statistics come from.
    #[must_use]
    pub fn counted(&self) -> usize {
        self.measured - self.failed
    }
}

/// Everything computed about one benchmark.
#[derive(Debug)]
pub struct Subject<'a> {
    /// What it was computed from.
    pub recording: &'a Recording,
    /// How many runs.
    pub counts: Counts,
    /// Every metric that was measured in each run.
    summaries: Summaries<'a>,
    /// Wall over tree CPU of the sums; `None` without CPU time.
    pub ratio: Option<Estimate>,
    /// Whether and on what it waited; `None` without a run that counts.
    pub diagnosis: Option<Diagnosis>,
    /// How well the median is known, where a precision was wanted of it.
    pub precision: Option<Look>,
    /// What to know before believing the numbers.
    pub warnings: Vec<Warning>,
}

impl Subject<'_> {
    /// Whether CPU time is in nobody's account.
    #[must_use]
    pub fn incomplete(&self) -> bool {
        self.diagnosis
            .as_ref()
            .is_some_and(|found| found.incomplete)
    }

    /// The summary of a metric, computed when it is first asked for; `None` where a run has no value.
    #[must_use]
    pub fn summary(&self, id: &str) -> Option<&Summary> {
        self.summaries.get(id)
    }

    /// A metric's share of wall time. The mean is that of the sums, as in the diagnosis; any other
    /// statistic is of the shares of the runs. `None` where a run has no value.
    #[must_use]
    pub fn share_of_wall(&self, id: &str, statistic: &str) -> Option<Estimate> {
        self.summaries.share(id, statistic)
    }

    /// The name for reports.
    #[must_use]
    pub fn name(&self) -> &str {
        self.recording.name()
    }
}

/// Everything computed about an invocation.
#[derive(Debug)]
pub struct Analysis<'a> {
    /// What was asked.
    pub question: Question,
    /// One entry a benchmark, in plan order.
    pub subjects: Vec<Subject<'a>>,
    /// Place of the reference. It is none of the subjects while that has not been measured.
    pub reference: usize,
    /// One entry a command other than the reference; none without that.
    pub comparisons: Vec<Versus>,
    /// One entry a command, if a baseline was asked for.
    pub baselines: Vec<Against>,
    /// The same benchmarks in several sessions.
    pub merged: Option<Merged>,
}

/// Computes everything.
#[must_use]
pub fn analyze<'a>(recordings: &'a [Recording], question: &Question) -> Analysis<'a> {
    let subjects: Vec<Subject<'a>> = recordings
        .iter()
        .map(|recording| subject(recording, question))
        .collect();
    let reference = reference(&subjects, question);
    let comparisons = comparison::compare_all(&subjects, reference, question);
    Analysis {
        question: question.clone(),
        subjects,
        reference,
        comparisons,
        baselines: Vec::new(),
        merged: None,
    }
}

fn reference(subjects: &[Subject<'_>], question: &Question) -> usize {
    let median = |subject: &Subject<'_>| subject.median(WALL);
    match question.reference {
        Reference::Command(place) => place,
        Reference::Fastest => (0..subjects.len())
            .filter(|place| median(&subjects[*place]).is_some())
            .min_by(|a, b| {
                median(&subjects[*a])
                    .partial_cmp(&median(&subjects[*b]))
                    .unwrap_or(std::cmp::Ordering::Equal)
            })
            .unwrap_or(0),
    }
}

/// Everything about one benchmark; what needs only one recording.
#[must_use]
pub fn subject<'a>(recording: &'a Recording, question: &Question) -> Subject<'a> {
    let counts = counts(recording);
    let resolution = recording.host.clock_resolution_ns.unwrap_or(1) as f64 * 1e-9;
    let [wall, cpu, queued] = clocks(recording);
    let mut subject = Subject {
        recording,
        counts,
        summaries: Summaries::new(recording, question.settings, resolution),
        ratio: None,
        diagnosis: None,
        precision: None,
        warnings: Vec::new(),
    };
    let Some(wall) = wall else { return subject };
    subject.summaries.note(WALL, &wall);
    subject.warnings = warning::warnings(&wall, resolution);
    if let Some(cpu) = cpu {
        let clocks = Clocks {
            wall: &wall,
            cpu: &cpu,
            queued: queued.as_ref(),
        };
        let figures = clocks.figures(question);
        subject.diagnosis = diagnose::diagnose(recording, &figures);
        subject.ratio = figures.ratio.filter(|_| !subject.incomplete());
    }
    subject.precision = pace::look(recording, question, &wall);
    subject.warnings.extend(pace::unsteady(recording));
    subject
}

/// Wall time, CPU time and queueing of the runs that count; `None` where a run has no value.
fn clocks(recording: &Recording) -> [Option<Series>; 3] {
    match [WALL, CPU, QUEUED].map(Metric::from_id) {
        [Some(wall), Some(cpu), Some(queued)] => {
            summaries::all_series(recording, [wall, cpu, queued])
        }
        _ => [None, None, None],
    }
}

fn counts(recording: &Recording) -> Counts {
    let mut counts = Counts::default();
    let keys: &[&str] = &["phase", "outcome"];
    recording
        .samples
        .visit(Some(keys), |sample| match sample.phase {
            Phase::Warmup => counts.warmup += 1,
            Phase::Diagnostic => counts.diagnostic += 1,
            Phase::Measured => {
                counts.measured += 1;
                counts.failed += usize::from(!sample.outcome.success());
            }
        });
    counts
}

/// Below this mean CPU time the ratio has no interval: starting a process costs as much.
pub const LEAST_CPU: f64 = 1e-3;
/// Spread of wall times, as a fraction, from which it is worth saying who explains it.
const SPREAD_WORTH_EXPLAINING: f64 = 0.02;
/// Share of the spread from which the time without queueing is given.
const MOSTLY_QUEUEING: f64 = 0.5;

/// Wall time, CPU time and queueing of the same runs.
struct Clocks<'a> {
    wall: &'a Series,
    cpu: &'a Series,
    queued: Option<&'a Series>,
}

impl Clocks<'_> {
    fn figures(&self, question: &Question) -> Figures {
        let level = question.settings.level;
        let ratio = ratio::wall_over_cpu(self.wall, self.cpu, level, LEAST_CPU);
        let pairs = self.wall.values().iter().zip(self.cpu.values());
        let mut off: Vec<f64> = pairs.map(|(wall, cpu)| wall - cpu).collect();
        let variance = self.variance();
        Figures {
            runs: self.wall.runs(),
            ratio: ratio.ratio,
            wall: self.wall.median(),
            off_cpu: order::median_of(&mut off),
            without_queueing: self.without_queueing(variance, question),
            stalls: stalls(&ratio),
            variance,
        }
    }

    /// What share of the spread each slice explains, where the spread is worth it.
    fn variance(&self) -> Option<Variance> {
        let wall = self.wall;
        let spread = wall.deviation()?;
        if spread < SPREAD_WORTH_EXPLAINING * wall.mean() {
            return None;
        }
        let cpu = attribution::variance_share(self.cpu, wall)?;
        let queued = self.queued.map_or(Some(0.0), |queued| {
            attribution::variance_share(queued, wall)
        })?;
        Some(Variance {
            cpu,
            queued,
            waiting: 1.0 - cpu - queued,
        })
    }

    /// The median of wall minus queueing, where queueing explains most of the spread or the time.
    fn without_queueing(&self, variance: Option<Variance>, question: &Question) -> Option<String> {
        let queued = self.queued?;
        let share = queued.values().iter().sum::<f64>() / self.wall.values().iter().sum::<f64>();
        let explains = variance.is_some_and(|found| found.queued >= MOSTLY_QUEUEING);
        if !explains && share < MOSTLY_QUEUEING / 10.0 {
            return None;
        }
        let pairs = self.wall.values().iter().zip(queued.values());
        let rest = Series::new(pairs.map(|(wall, queued)| wall - queued).collect()).ok()?;
        let summary = Summary::of(&rest, &question.settings, 0.0);
        let median = summary.get("median")?;
        Some(match median.interval {
            Some(found) => words::plus_minus(median.value, (found.high - found.low) / 2.0),
            None => words::time(median.value),
        })
    }
}

fn stalls(ratio: &WallOverCpu) -> Option<String> {
    let Stalls {
        slow_runs,
        runs,
        share,
        slow_ratio,
        other_ratio,
    } = ratio.stalls?;
    Some(words::stalls(
        share,
        slow_runs,
        runs,
        (other_ratio, slow_ratio),
    ))
}
