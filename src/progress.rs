//! Draws run events while the plan executes, between runs or from the waiting thread's own tick,
//! never from a second thread.

use std::io::Write;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::plan::Plan;
use crate::report::{Kind, Style};
use crate::run::{Event, Flow, Observer, Request};
use crate::sample::{Phase, Sample};
use crate::unit::{TimeFormat, TimeUnit, human_duration, ratio};

/// Redraws are at least this far apart.
const REDRAW: Duration = Duration::from_millis(100);
/// Without a terminal a line says that the session is alive this often.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// Draws on standard error, or says little where that is no terminal.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    heartbeat: bool,
    names: Vec<String>,
    style: Style,
    totals: Vec<Total>,
    drawn: Duration,
    spoken: Duration,
    now: Duration,
}

/// What is shown of one benchmark.
#[derive(Debug, Clone, Default)]
struct Total {
    runs: u64,
    wall: Duration,
    cpu: Duration,
    progress: f64,
    /// Relative half-width of the interval at the last look, where a precision is wanted.
    half_width: Option<f64>,
}

impl Progress {
    /// An observer for a plan.
    #[must_use]
    pub fn new(plan: &Plan, style: Style) -> Self {
        let names = plan
            .benchmarks
            .iter()
            .map(|one| {
                let command = crate::unit::display_escaped(&one.command).into_owned();
                one.name.clone().unwrap_or(command)
            })
            .collect();
        Self {
            bar: style.live.then(|| bar(&style)),
            heartbeat: !style.live && style.kind != Kind::None,
            names,
            style,
            totals: vec![Total::default(); plan.benchmarks.len()],
            drawn: Duration::ZERO,
            spoken: Duration::ZERO,
            now: Duration::ZERO,
        }
    }

    fn sampled(&mut self, request: &Request, sample: &Sample, progress: f64) {
        self.now = sample.start + sample.wall;
        if sample.phase == Phase::Measured {
            let total = &mut self.totals[request.benchmark];
            total.runs += 1;
            total.wall += sample.wall;
            total.cpu += sample.tree_cpu();
            total.progress = progress;
        }
        if self.now >= self.drawn + REDRAW {
            self.draw(request, self.now);
        }
        if self.heartbeat && self.now >= self.spoken + HEARTBEAT {
            self.spoken = self.now;
            let line = self.line(request, self.now);
            print_line(&line);
        }
    }

    fn draw(&mut self, request: &Request, elapsed: Duration) {
        self.drawn = elapsed;
        let line = self.line(request, elapsed);
        let whole: f64 = self.totals.iter().map(|total| total.progress).sum();
        let share = whole / self.totals.len().max(1) as f64;
        let Some(bar) = &self.bar else { return };
        // One drawing, not one for each change.
        bar.update(|state| state.set_pos((share * 1000.0) as u64));
        bar.set_message(line);
    }

    /// `dbtool commit: run 23 of ~60, 46.8 ms, 9.6x CPU, 2 s`.
    fn line(&self, request: &Request, elapsed: Duration) -> String {
        let total = &self.totals[request.benchmark];
        let name = &self.names[request.benchmark];
        let mut parts = Vec::new();
        match request.phase {
            Phase::Warmup => parts.push(format!("warm-up run {}", request.index + 1)),
            Phase::Measured => parts.push(run_of(total)),
            Phase::Diagnostic => parts.push(format!("diagnostic run {}", request.index + 1)),
        }
        if total.runs > 0 {
            let mean = total.wall.as_secs_f64() / total.runs as f64;
            let unit = TimeUnit::for_median(mean);
            let format = TimeFormat::in_unit(unit, (mean * 0.99, mean * 1.01), self.style.unicode);
            parts.push(format.with_unit(mean));
            if !total.cpu.is_zero() {
                let by = total.wall.as_secs_f64() / total.cpu.as_secs_f64();
                parts.push(format!("{} CPU", ratio(by)));
            }
        }
        if let Some(half) = total.half_width {
            let sign = if self.style.unicode { "\u{b1}" } else { "+-" };
            parts.push(format!("{sign}{:.1}%", half * 100.0));
        }
        parts.push(human_duration(elapsed.as_secs_f64(), self.style.unicode));
        format!("{name}: {}", parts.join(", "))
    }
}

/// How far, and about how far it goes once that can be told.
fn run_of(total: &Total) -> String {
    if total.runs == 0 {
        return "run 1".into();
    }
    let whole = total.runs as f64 / total.progress.max(1e-9);
    if total.progress > 0.0 && total.progress < 1.0 {
        format!("run {} of ~{whole:.0}", total.runs + 1)
    } else {
        format!("run {}", total.runs + 1)
    }
}

fn bar(style: &Style) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr_with_hz(255));
    let chars = if style.unicode {
        "\u{2501}\u{2578}\u{2500}"
    } else {
        "#>-"
    };
    let template = "{wide_msg}\n  {bar:40}";
    if let Ok(known) = ProgressStyle::with_template(template) {
        bar.set_style(known.progress_chars(chars));
    }
    bar
}

/// Nobody listens where standard error is closed.
#[allow(
    clippy::disallowed_methods,
    reason = "progress belongs to the command line's edge"
)]
fn print_line(line: &str) {
    let _ = std::io::stderr()
        .lock()
        .write_all(format!("{line}\n").as_bytes());
}

impl Observer for Progress {
    fn event(&mut self, event: &Event<'_>) -> Flow {
        match event {
            Event::Begin { .. } | Event::Starting { .. } => {}
            Event::Tick { request, elapsed } => {
                let at = self.now + *elapsed;
                self.draw(request, at);
            }
            Event::Sampled {
                request,
                sample,
                progress,
                look,
            } => {
                self.totals[request.benchmark].half_width = look.map(|look| look.achieved);
                self.sampled(request, sample, *progress);
            }
            Event::Finished { .. } => {
                if let Some(bar) = &self.bar {
                    bar.finish_and_clear();
                }
            }
        }
        Flow::Continue
    }
}
