//! What it costs to analyse and export many runs: `cargo run --release --example analysis_cost`,
//! with the numbers of runs as arguments (5,000, 100,000 and 1,000,000 without).
//!
//! Prints, for each number: bytes a run in memory, the analysis with what the screen needs, the
//! JSON with every statistic and run (milliseconds on a CPU), and our peak memory.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example prints"
)]

use std::io;
use std::time::Duration;

use offbench::analysis::{self, Question};
use offbench::report::{Document, Format, Style, terminal};
use offbench::sample::{Conditions, Host, Phase, Recording, Sample};
use offbench::stats::random::Random;

fn main() -> io::Result<()> {
    let given: Vec<u64> = std::env::args()
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    let sizes = if given.is_empty() {
        vec![5_000, 100_000, 1_000_000]
    } else {
        given
    };
    println!("      runs  bytes/run  analysis+screen      JSON   peak RSS");
    for runs in sizes {
        one(runs)?;
    }
    Ok(())
}

fn one(runs: u64) -> io::Result<()> {
    let recordings = [recording(runs)];
    let samples = &recordings[0].samples;
    let bytes = samples.heap_bytes() as f64 / samples.len() as f64;
    let before = busy();
    let analysis = analysis::analyze(&recordings, &Question::default());
    let document = Document::new(&analysis, &[], &[]);
    let mut screen = Vec::new();
    terminal::report(&mut screen, &Style::default(), &document)?;
    let analysed = busy() - before;
    let before = busy();
    if let Some(format) = Format::from_id("json") {
        (format.write)(&mut io::sink(), &document)?;
    }
    let written = busy() - before;
    println!(
        "{runs:>10}  {bytes:>9.1}  {:>12.1} ms  {:>6.0} ms  {:>8}",
        analysed * 1e3,
        written * 1e3,
        peak()
    );
    Ok(())
}

/// Runs of a short command, with everything that is read by default.
fn recording(runs: u64) -> Recording {
    let mut random = Random::new(7);
    let conditions = Conditions {
        command: "noop".into(),
        ..Conditions::default()
    };
    let mut recording = Recording::new(Host::default(), conditions);
    for index in 0..runs {
        let skewed = |random: &mut Random| random.unit().powi(6);
        let wall = 60_000 + (40_000.0 * skewed(&mut random)) as u64;
        let mut sample = Sample {
            phase: Phase::Measured,
            index,
            round: index,
            position: 0,
            start: Duration::from_micros(100 * index),
            wall: Duration::from_nanos(wall),
            padding: random.below(4096),
            ..Sample::default()
        };
        sample.usage.user = Duration::from_micros(random.below(40));
        sample.usage.system = Duration::from_micros(5 + random.below(10));
        sample.usage.max_rss = 2_400_000;
        sample.usage.minor_faults = 20 + random.below(2);
        sample.usage.voluntary_switches = 1;
        sample.usage.involuntary_switches = u64::from(random.unit() < 0.01);
        sample.readings.queued = Some(Duration::from_nanos(2_000 + random.below(3_000)));
        sample.readings.main_run = Some(Duration::from_nanos(wall - 20_000));
        sample.readings.spawn_latency = Some(Duration::from_nanos(30_000 + random.below(9_000)));
        recording.samples.push(&sample);
    }
    recording
}

/// Seconds this thread has been on a CPU: other load does not count.
fn busy() -> f64 {
    let clock = nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID;
    nix::time::clock_gettime(clock).map_or(0.0, |time| Duration::from(time).as_secs_f64())
}

/// Our peak memory, where the system tells it.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.unwrap_or("unknown").trim().to_string()
}
