//! Draws run events while the plan executes, between runs or from the waiting thread's own tick,
//! never from a second thread. The cursor is never hidden, and what was drawn is cleared at the end.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

use crate::plan::{Output, Plan};
use crate::report::{Kind, Style, columns, cut};
use crate::run::{Event, Flow, Observer, Request};
use crate::sample::{Phase, Sample};
use crate::unit::{TimeFormat, TimeUnit, human_duration, ratio};

/// Redraws are at least this far apart.
const REDRAW: Duration = Duration::from_millis(100);
/// Without a terminal a line says that the session is alive this often.
const HEARTBEAT: Duration = Duration::from_secs(30);
/// Columns of the bar where there is room for it.
const BAR: usize = 40;

/// Draws on standard error, or says little where that is no terminal.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    heartbeat: bool,
    names: Vec<String>,
    style: Style,
    totals: Vec<Total>,
    open: usize,
    drawn: Option<Duration>,
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
                style.text(one.name.as_ref().unwrap_or(&command))
            })
            .collect();
        // Two writers on one terminal would write over each other.
        let shared = plan
            .benchmarks
            .iter()
            .any(|one| one.output == Output::Inherit);
        let live = style.live && !shared;
        Self {
            bar: live.then(|| bar(room(&style))),
            heartbeat: !live && style.kind != Kind::None,
            names,
            style,
            totals: vec![Total::default(); plan.benchmarks.len()],
            open: 0,
            drawn: None,
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
        self.show(request, self.now);
    }

    /// Draws, or says that all is well, if that is due.
    fn show(&mut self, request: &Request, at: Duration) {
        if self.drawn.is_none_or(|before| at >= before + REDRAW) {
            self.drawn = Some(at);
            if let Some(bar) = &self.bar {
                // One drawing, not one for each line.
                bar.set_message(self.lines(request, at));
            }
        }
        if self.heartbeat && at >= self.spoken + HEARTBEAT {
            self.spoken = at;
            let parts = [vec![self.run_of(request)], self.figures(request, at)].concat();
            let name = &self.names[request.benchmark];
            print(&format!("{name}: {}\n", parts.join(", ")));
        }
    }

    /// Name and run above, bar and figures below.
    fn lines(&self, request: &Request, at: Duration) -> String {
        // A line that fills the room would be taken to go on by itself in the next.
        let width = room(&self.style) - 1;
        let run = self.run_of(request);
        let room = width.saturating_sub(columns(&run) + 1);
        let name = cut(&self.names[request.benchmark], room, "..");
        let blanks = width.saturating_sub(columns(&name) + columns(&run));
        let figures = self.figures(request, at).join("  ");
        let left = width.saturating_sub(columns(&figures) + 4).min(BAR);
        let below = if left >= 10 {
            format!("  {}  {figures}", self.drawn_bar(left))
        } else {
            cut(&format!("  {figures}"), width, "..")
        };
        format!("{name}{}{run}\n{below}", " ".repeat(blanks))
    }

    fn drawn_bar(&self, width: usize) -> String {
        let share = self.share().clamp(0.0, 1.0);
        let full = (share * width as f64) as usize;
        let rest = width - full;
        let (done, edge, open) = if self.style.unicode {
            ("\u{2501}", "\u{2578}", "\u{2500}")
        } else {
            ("#", ">", "-")
        };
        match rest {
            0 => done.repeat(full),
            _ => format!("{}{edge}{}", done.repeat(full), open.repeat(rest - 1)),
        }
    }

    /// How far the session is, 0 to 1.
    fn share(&self) -> f64 {
        let whole: f64 = self.totals.iter().map(|total| total.progress).sum();
        whole / self.totals.len().max(1) as f64
    }

    /// How far, and about how far it goes once that can be told.
    fn run_of(&self, request: &Request) -> String {
        let total = &self.totals[request.benchmark];
        match request.phase {
            Phase::Warmup => format!("warm-up run {}", request.index + 1),
            Phase::Diagnostic => format!("diagnostic run {}", request.index + 1),
            Phase::Measured if total.runs == 0 => "run 1".into(),
            Phase::Measured if total.progress > 0.0 && total.progress < 1.0 => {
                let whole = total.runs as f64 / total.progress;
                format!("run {} of ~{whole:.0}", total.runs + 1)
            }
            Phase::Measured => format!("run {}", total.runs),
        }
    }

    /// `46.8 ms`, `9.6x CPU`, `2.0 s`, and the time left once one run has been measured.
    fn figures(&self, request: &Request, at: Duration) -> Vec<String> {
        let total = &self.totals[request.benchmark];
        let mut parts = Vec::new();
        if total.runs > 0 {
            let mean = total.wall.as_secs_f64() / total.runs as f64;
            let unit = TimeUnit::for_median(mean);
            let format = TimeFormat::in_unit(unit, (mean * 0.97, mean * 1.03), self.style.unicode);
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
        parts.push(seconds(at));
        let share = self.share();
        if share > 0.0 && share < 1.0 {
            let left = at.mul_f64((1.0 - share) / share);
            parts.push(format!("~{} left", seconds(left)));
        }
        parts
    }

    fn finished(&mut self) {
        self.open = self.open.saturating_sub(1);
        if let Some(bar) = self.bar.as_ref().filter(|_| self.open == 0) {
            bar.set_message("");
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Columns to draw in: of the line some are left to what the terminal echoes, `^C` or `^\`.
fn room(style: &Style) -> usize {
    const ECHO: usize = 3;
    style.line().saturating_sub(ECHO).max(2)
}

fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(60) {
        format!("{} s", time.as_secs())
    } else {
        human_duration(time.as_secs_f64(), false)
    }
}

fn bar(columns: usize) -> ProgressBar {
    let target = if is_terminal() {
        let terminal = Terminal {
            columns,
            drawing: Mutex::default(),
        };
        ProgressDrawTarget::term_like_with_hz(Box::new(terminal), 255)
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(None, target);
    if let Ok(known) = ProgressStyle::with_template("{msg}") {
        bar.set_style(known);
    }
    bar
}

#[allow(
    clippy::disallowed_methods,
    reason = "progress belongs to the command line's edge"
)]
fn is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Nobody listens where standard error is closed.
#[allow(
    clippy::disallowed_methods,
    reason = "progress belongs to the command line's edge"
)]
fn print(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Standard error as a terminal that is a little narrower than it is: each line is filled to go on in
/// the next, and where the last one reaches the edge, an echoed `^C` goes on there as well, so that
/// the first line of what was drawn would not be found again.
#[derive(Debug)]
struct Terminal {
    columns: usize,
    drawing: Mutex<Drawing>,
}

/// What is not yet shown of a drawing.
#[derive(Debug, Default)]
struct Drawing {
    text: String,
    /// Columns of the line so far.
    column: usize,
}

impl Terminal {
    fn drawing(&self) -> io::Result<MutexGuard<'_, Drawing>> {
        self.drawing.lock().map_err(|_| ErrorKind::Other.into())
    }

    /// A move of the cursor (ECMA-48, 8.3.19 to 8.3.22).
    fn go(&self, steps: usize, way: char) -> io::Result<()> {
        if steps > 0 {
            write!(self.drawing()?.text, "\x1b[{steps}{way}").map_err(|_| ErrorKind::Other)?;
        }
        Ok(())
    }
}

impl TermLike for Terminal {
    fn width(&self) -> u16 {
        u16::try_from(self.columns).unwrap_or(u16::MAX)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.go(n, 'A')
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.go(n, 'B')
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.go(n, 'C')
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.go(n, 'D')
    }

    fn write_line(&self, s: &str) -> io::Result<()> {
        self.write_str(s)?;
        let mut drawing = self.drawing()?;
        drawing.text.push('\n');
        drawing.column = 0;
        Ok(())
    }

    fn write_str(&self, s: &str) -> io::Result<()> {
        let mut drawing = self.drawing()?;
        if drawing.column >= self.columns && !s.is_empty() {
            drawing.text.push('\n');
            drawing.column = 0;
        }
        drawing.column += columns(s);
        drawing.text += s;
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        let mut drawing = self.drawing()?;
        drawing.column = 0;
        drawing.text += "\r\x1b[2K";
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        let text = std::mem::take(&mut self.drawing()?.text);
        print(&text);
        Ok(())
    }
}

impl Observer for Progress {
    fn event(&mut self, event: &Event<'_>) -> Flow {
        match event {
            Event::Begin { .. } => self.open += 1,
            // Something is to be seen before the first run, which may be long.
            Event::Starting { request } => {
                if self.drawn.is_none() {
                    self.show(request, self.now);
                }
            }
            Event::Tick { request, elapsed } => self.show(request, self.now + *elapsed),
            Event::Sampled {
                request,
                sample,
                progress,
                look,
            } => {
                self.totals[request.benchmark].half_width = look.map(|look| look.achieved);
                self.sampled(request, sample, *progress);
            }
            Event::Finished { .. } => self.finished(),
        }
        Flow::Continue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(width: usize, unicode: bool) -> Progress {
        Progress {
            bar: None,
            heartbeat: false,
            names: vec!["dbtool commit".into()],
            style: Style {
                unicode,
                width,
                ..Style::default()
            },
            totals: vec![Total {
                runs: 22,
                wall: Duration::from_millis(22 * 47),
                cpu: Duration::from_millis(22 * 5),
                progress: 22.0 / 60.0,
                half_width: None,
            }],
            open: 1,
            drawn: None,
            spoken: Duration::ZERO,
            now: Duration::ZERO,
        }
    }

    fn request(phase: Phase) -> Request {
        Request {
            benchmark: 0,
            phase,
            index: 0,
            round: 0,
            position: 0,
            padding: 0,
        }
    }

    #[test]
    fn two_lines_say_how_far_it_is() {
        let lines = progress(80, true).lines(&request(Phase::Measured), Duration::from_secs(2));
        let (above, below) = lines.split_once('\n').unwrap();
        assert!(
            above.starts_with("dbtool commit  ") && above.ends_with("  run 23 of ~60"),
            "{above}"
        );
        assert!(below.starts_with("  \u{2501}\u{2501}"), "{below}");
        assert!(
            below.ends_with("  47.0 ms  9.4x CPU  2 s  ~3 s left"),
            "{below}"
        );
        assert_eq!(columns(above), 76);
    }

    #[test]
    fn nothing_is_estimated_before_a_run_has_been_measured() {
        let mut progress = progress(80, true);
        progress.totals[0] = Total::default();
        let lines = progress.lines(&request(Phase::Measured), Duration::from_secs(5));
        assert!(lines.lines().next().unwrap().ends_with("run 1"), "{lines}");
        assert!(lines.ends_with("  5 s"), "{lines}");
        let lines = progress.lines(&request(Phase::Warmup), Duration::ZERO);
        assert!(lines.contains("warm-up run 1"), "{lines}");
    }

    #[test]
    fn lines_fit_every_width() {
        for width in [20, 30, 40, 60, 80, 200] {
            let mut progress = progress(width, false);
            progress.names[0] =
                "a command with a name that is quite long \u{65e5}\u{672c}".repeat(4);
            let lines = progress.lines(&request(Phase::Measured), Duration::from_secs(2));
            assert_eq!(lines.lines().count(), 2);
            for line in lines.lines() {
                assert!(columns(line) < width, "{width}: {line}");
            }
        }
    }
}
