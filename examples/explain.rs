//! Explains one command: `cargo run --release --example explain -- [--no-records] [--switches]
//! [--runs N] CMD ARGS…`.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program for the terminal"
)]

use std::time::Duration;

use offbench::explain::{Pass, attribute};
use offbench::probe::explain::{Command, ExplainError, Options, diagnose, explain};
use offbench::probe::trace::trace;
use offbench::sample::Attribution;

fn main() -> Result<(), ExplainError> {
    let mut arguments = std::env::args_os().skip(1).peekable();
    let (mut records, mut switches, mut runs) = (true, false, 0);
    let (mut json, mut traced) = (false, false);
    while let Some(option) =
        arguments.next_if(|argument| argument.to_str().is_some_and(|text| text.starts_with("--")))
    {
        match option.to_str().unwrap_or_default() {
            "--no-records" => records = false,
            "--switches" => switches = true,
            "--json" => json = true,
            "--trace" => traced = true,
            "--runs" => {
                let number = arguments.next().and_then(|n| n.to_str()?.parse().ok());
                runs = number.unwrap_or(1);
            }
            _ => break,
        }
    }
    let command = Command {
        arguments: arguments.collect(),
        ..Command::default()
    };
    if traced {
        return print_trace(&command);
    }
    let first = Options {
        records,
        pass: Pass::Ticks,
        rate: 1000.0,
    };
    let attribution = if switches || runs > 0 {
        let pass = if switches {
            Pass::Switches
        } else {
            Pass::Ticks
        };
        let options = Options { pass, ..first };
        let made: Result<Vec<_>, _> = (0..runs.max(1))
            .map(|_| diagnose(&command, options).map(|made| made.run))
            .collect();
        attribute(&made?)
    } else {
        let run = diagnose(&command, first)?.run;
        let wall = Duration::from_nanos(run.wall as u64);
        explain(&command, records, wall, Duration::from_secs(6))?
    };
    if let Some(attribution) = attribution {
        if json {
            println!(
                "{}",
                serde_json::to_string(&attribution).unwrap_or_default()
            );
        } else {
            print(&attribution);
        }
    }
    Ok(())
}

fn print_trace(command: &Command) -> Result<(), ExplainError> {
    let made = trace(command)?;
    println!("traced wall {:.2} ms", made.wall as f64 / 1e6);
    for call in made.calls.iter().take(12) {
        let (mean, total) = (call.mean() / 1e3, call.total as f64 / 1e6);
        println!(
            "  {} {} calls {mean:.1} us each, {total:.2} ms",
            call.detail, call.calls
        );
    }
    Ok(())
}

fn print(a: &Attribution) {
    let ms = |seconds: f64| format!("{:.2} ms", seconds * 1e3);
    println!(
        "wall {} = busy {} + queued {} + idle {}; {} runs, {}",
        ms(a.wall),
        ms(a.busy),
        ms(a.queued),
        ms(a.idle),
        a.runs,
        a.depth.id()
    );
    println!(
        "threads {} at most, {:.2} busy; named {:.0}% of idle; too short {}; tree CPU {}",
        a.threads,
        a.threads_busy.unwrap_or(0.0),
        a.named * 100.0,
        ms(a.too_short),
        a.tree_cpu.map_or("unknown".to_string(), ms)
    );
    let thread_seconds = a.blocked.iter().map(|wait| wait.seconds).sum();
    for (title, waits, whole) in [
        ("idle", &a.waits, a.idle),
        ("blocked threads", &a.blocked, thread_seconds),
    ] {
        println!("{title}:");
        for wait in waits.iter().take(8) {
            let place = wait
                .place
                .as_deref()
                .map(|place| format!(", {place}"))
                .unwrap_or_default();
            let share = 100.0 * wait.seconds / whole.max(1e-9);
            println!(
                "  {:>10} {share:5.1}% {:>6}  {}: {}{place}",
                ms(wait.seconds),
                wait.count,
                wait.cause,
                wait.detail
            );
        }
    }
    for limit in &a.limits {
        println!("limit: {limit}");
    }
}
