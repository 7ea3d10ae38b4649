//! How many runs, how long, in which order and on which CPUs.

use std::time::Duration;

use clap::Args;

use super::{Problem, Problems};
use crate::plan::limit::{LimitError, Precision, Runs, Warmup, Wishes, parse_time};
use crate::plan::{Limits, Order, Placement};

/// Options of the runs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Runs")]
pub(crate) struct LimitArgs {
    /// Runs before measuring [default: 1]
    ///
    /// A number, or `auto` to run until the times are steady. Warm-up runs have the prepare and conclude
    /// commands around them and enter no statistic.
    #[arg(short, long, value_name = "N|auto", allow_hyphen_values = true)]
    warmup: Option<String>,
    /// At least so many runs [default: 10]
    #[arg(short, long, value_name = "N", allow_hyphen_values = true)]
    min_runs: Option<String>,
    /// At most so many runs
    #[arg(short = 'M', long, value_name = "N", allow_hyphen_values = true)]
    max_runs: Option<String>,
    /// Exactly so many runs
    #[arg(short, long, value_name = "N", allow_hyphen_values = true)]
    runs: Option<String>,
    /// Measure for at least this long [default: 3 s]
    ///
    /// The time counts from the first measured run of a command, hooks included. A number alone is seconds.
    #[arg(
        hide_short_help = true,
        long,
        alias = "min-benchmarking-time",
        value_name = "SECONDS",
        allow_hyphen_values = true
    )]
    min_time: Option<String>,
    /// Run until the median is known this well
    ///
    /// For several commands: until their ratio is. Such as 1% or 0.5%.
    #[arg(long, value_name = "P%", allow_hyphen_values = true)]
    precision: Option<String>,
    /// Begin no further run after this long
    ///
    /// Such as 90s or 5min; a number alone is seconds.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "DURATION",
        allow_hyphen_values = true
    )]
    max_time: Option<String>,
    /// End a run that takes longer
    ///
    /// The command and everything it started is ended; the run counts as failed. Such as 500ms or 2min; a
    /// number alone is seconds.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    timeout: Option<String>,
    /// Pause before each run
    ///
    /// Between the prepare command and the run. A number alone is seconds.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "DURATION",
        allow_hyphen_values = true
    )]
    sleep: Option<String>,
    /// Order of the runs of several commands
    ///
    /// In rounds by default: all commands once, in random order, then once in the reverse order. One after
    /// the other where commands have their own --setup or --cleanup.
    #[arg(hide_short_help = true, long, value_enum, value_name = "ORDER")]
    order: Option<OrderWord>,
    /// Seed of everything random
    ///
    /// Order of runs, length of the environment padding, resampling.
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 42)]
    pub(crate) seed: u64,
    /// Run the commands on these CPUs
    ///
    /// Such as 2 or 0-3,6.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "LIST",
        conflicts_with = "pin"
    )]
    cpu: Option<String>,
    /// Run the commands on our own CPU
    ///
    /// Best for short single-threaded ones.
    #[arg(hide_short_help = true, long)]
    pin: bool,
}

/// The words of `--order`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum OrderWord {
    /// Rounds of all commands, each second round the reverse of the first
    Rounds,
    /// All runs of one command, then of the next
    Sequential,
}

/// What the limit options come to.
#[derive(Debug)]
pub(crate) struct Pace {
    pub(crate) limits: Limits,
    pub(crate) order: Option<Order>,
    pub(crate) placement: Placement,
    pub(crate) timeout: Option<Duration>,
    pub(crate) sleep: Duration,
}

impl LimitArgs {
    /// Validates the options.
    pub(crate) fn resolve(&self, problems: &mut Problems) -> Pace {
        let wishes = self.wishes(problems);
        let limits = Limits::new(&wishes).unwrap_or_else(|errors| {
            problems.extend(errors.iter().map(limit_problem));
            Limits::default()
        });
        let sleep = problems
            .limit(time("--sleep", self.sleep.as_ref(), true))
            .flatten();
        let placement = match &self.cpu {
            Some(list) => problems
                .keep(parse_cpus(list))
                .map_or(Placement::Free, Placement::Cpus),
            None if self.pin => Placement::Pin,
            None => Placement::Free,
        };
        Pace {
            limits,
            order: self.order.map(|word| match word {
                OrderWord::Rounds => Order::Rounds,
                OrderWord::Sequential => Order::Sequential,
            }),
            placement,
            timeout: wishes.timeout,
            sleep: sleep.unwrap_or_default(),
        }
    }

    fn wishes(&self, problems: &mut Problems) -> Wishes {
        let runs = |option: &str, word: &Option<String>| {
            word.as_ref()
                .map(|word| Runs::parse(option, word))
                .transpose()
        };
        Wishes {
            warmup: problems
                .limit(parsed::<Warmup>(self.warmup.as_ref()))
                .flatten(),
            runs: problems.limit(runs("--runs", &self.runs)).flatten(),
            min_runs: problems.limit(runs("--min-runs", &self.min_runs)).flatten(),
            max_runs: problems.limit(runs("--max-runs", &self.max_runs)).flatten(),
            min_time: problems
                .limit(time("--min-time", self.min_time.as_ref(), true))
                .flatten(),
            max_time: problems
                .limit(time("--max-time", self.max_time.as_ref(), false))
                .flatten(),
            precision: problems
                .limit(parsed::<Precision>(self.precision.as_ref()))
                .flatten(),
            timeout: problems
                .limit(time("--timeout", self.timeout.as_ref(), false))
                .flatten(),
        }
    }
}

fn parsed<T: std::str::FromStr<Err = LimitError>>(
    word: Option<&String>,
) -> Result<Option<T>, LimitError> {
    word.map(|word| word.parse()).transpose()
}

fn time(option: &str, word: Option<&String>, zero: bool) -> Result<Option<Duration>, LimitError> {
    word.map(|word| parse_time(option, word, zero)).transpose()
}

/// The problem a limit error is.
pub(super) fn limit_problem(error: &LimitError) -> Problem {
    Problem::new(error.to_string()).help(error.help())
}

/// Highest CPU number the kernel's default mask can name (`CPU_SETSIZE`).
const MOST_CPUS: usize = 1024;

/// Reads `0-3,6`.
fn parse_cpus(list: &str) -> Result<Vec<usize>, Problem> {
    let bad = |word: &str| {
        Problem::new(format!("--cpu: `{word}` is no CPU number or range")).help(Some(
            "write CPU numbers and ranges, such as 2 or 0-3,6".into(),
        ))
    };
    let mut cpus = Vec::new();
    for word in list.split(',') {
        let (low, high) = word.split_once('-').unwrap_or((word, word));
        let low: usize = low.trim().parse().map_err(|_| bad(word))?;
        let high: usize = high.trim().parse().map_err(|_| bad(word))?;
        if low > high || high >= MOST_CPUS {
            return Err(bad(word));
        }
        cpus.extend(low..=high);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_are_read() {
        assert_eq!(parse_cpus("2").unwrap(), [2]);
        assert_eq!(parse_cpus("0-2,6,1").unwrap(), [0, 1, 2, 6]);
        for list in ["", "x", "3-1", "1,,2", "0-5000", "-1"] {
            assert!(parse_cpus(list).is_err(), "{list}");
        }
    }
}
