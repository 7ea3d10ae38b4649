//! Recordings made in code, for the tests of every format.

use std::time::Duration;

use crate::evidence::{Cause, Depth};
use crate::sample::attribution::Wait;
use crate::sample::{Attribution, Conditions, Host, Outcome, Phase, Recording, Sample};
use crate::stats::random::Random;

/// How a fixture behaves; times in milliseconds.
#[derive(Clone, Copy)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) runs: usize,
    pub(crate) user: f64,
    pub(crate) system: f64,
    pub(crate) queued: f64,
    pub(crate) waiting: f64,
    /// Relative spread of each part.
    pub(crate) noise: f64,
}

pub(crate) const GREP: Program = Program {
    name: "grep -rc fn src",
    runs: 40,
    user: 16.8,
    system: 87.5,
    queued: 0.1,
    waiting: 0.8,
    noise: 0.04,
};

pub(crate) const DBTOOL: Program = Program {
    name: "dbtool commit",
    runs: 60,
    user: 3.1,
    system: 1.9,
    queued: 0.5,
    waiting: 41.4,
    noise: 0.05,
};

pub(crate) const URING: Program = Program {
    name: "uring-writer",
    runs: 30,
    user: 5.2,
    system: 3.7,
    queued: 0.1,
    waiting: 21.8,
    noise: 0.05,
};

fn host() -> Host {
    Host {
        kernel: Some("Linux 6.18.0".into()),
        cpu_model: Some("Example CPU".into()),
        cpus: Some(2),
        clock: "CLOCK_MONOTONIC".into(),
        clock_resolution_ns: Some(1),
        hostname: None,
        facts: [("governor".to_owned(), "performance".into())].into(),
    }
}

/// One warm-up and the measured runs.
pub(crate) fn recording(program: Program, seed: u64) -> Recording {
    let conditions = Conditions {
        command: program.name.into(),
        seed: 42,
        paired: true,
        started_unix_s: Some(1_760_000_000),
        elapsed_s: (program.user + program.system + program.waiting) * program.runs as f64 / 1e3,
        ..Conditions::default()
    };
    let mut recording = Recording::new(host(), conditions);
    let mut random = Random::new(seed);
    let mut start = Duration::ZERO;
    for index in 0..=program.runs {
        let mut sample = run(program, &mut random);
        sample.phase = if index == 0 {
            Phase::Warmup
        } else {
            Phase::Measured
        };
        sample.index = index.saturating_sub(1) as u64;
        sample.round = sample.index;
        sample.position = seed % 2;
        sample.start = start;
        start += sample.wall;
        recording.samples.push(&sample);
    }
    recording
}

fn run(program: Program, random: &mut Random) -> Sample {
    let mut part = |mean: f64| {
        let slow = random.unit();
        let value = mean * (1.0 + program.noise * (slow - 0.5 + slow.powi(20)));
        Duration::from_micros((value * 1e3) as u64)
    };
    let (user, system) = (part(program.user), part(program.system));
    let (queued, waiting) = (part(program.queued), part(program.waiting));
    let mut sample = Sample {
        wall: user + system + queued + waiting + Duration::from_nanos(137),
        ..Sample::default()
    };
    (sample.usage.user, sample.usage.system) = (user, system);
    sample.usage.max_rss = 3 << 20;
    sample.usage.minor_faults = 180;
    sample.usage.voluntary_switches = 12;
    sample.readings.queued = Some(queued);
    sample
}

/// What three diagnostic runs of [`DBTOOL`] found.
pub(crate) fn flushes() -> Attribution {
    let wait = |cause, detail: &str, place: Option<&str>, seconds| Wait {
        cause,
        detail: detail.into(),
        place: place.map(Into::into),
        seconds,
        count: 600,
    };
    Attribution {
        runs: 3,
        depth: Depth::Sampling,
        wall: 0.0485,
        busy: 0.0052,
        queued: 0.0006,
        idle: 0.0427,
        threads_busy: Some(1.0),
        threads: 1,
        named: 0.97,
        too_short: 0.001,
        tree_cpu: Some(0.0052),
        waits: vec![
            wait(
                Cause::DiskFlush,
                "fsync ./wal",
                Some("journal commit 74%"),
                0.0382,
            ),
            wait(Cause::Lock, "futex", None, 0.0036),
        ],
        limits: vec!["2 records were lost".into()],
    }
}

/// A recording with a named wait.
pub(crate) fn severe() -> Recording {
    let mut recording = recording(DBTOOL, 2);
    recording.attribution = Some(flushes());
    recording
}

/// A recording in which some runs failed and which was cut short.
pub(crate) fn failing() -> Recording {
    let mut recording = Recording {
        cut_short: Some(crate::sample::recording::CutShort::Interrupted),
        notes: vec!["the command holds its output open".into()],
        ..Recording::new(host(), Conditions::default())
    };
    recording.conditions.command = "sh -c 'exit 3'".into();
    recording.conditions.shell = Some("/bin/sh -c".into());
    let mut random = Random::new(5);
    for index in 0..7_u64 {
        let mut sample = run(Program { runs: 7, ..GREP }, &mut random);
        (sample.index, sample.round) = (index, index);
        sample.outcome = match index {
            2 => Outcome::Exited(3),
            4 => Outcome::Signaled {
                signal: 11,
                core: true,
            },
            5 => Outcome::TimedOut,
            _ => Outcome::Exited(0),
        };
        recording.samples.push(&sample);
    }
    recording
}

/// More CPU than wall.
pub(crate) fn parallel() -> Recording {
    let mut all = recording(
        Program {
            name: "make -j8",
            runs: 12,
            ..GREP
        },
        9,
    );
    let samples: Vec<Sample> = all.samples.iter().collect();
    all.samples = samples
        .into_iter()
        .map(|mut sample| {
            sample.usage.user *= 30;
            sample
        })
        .collect();
    all
}
