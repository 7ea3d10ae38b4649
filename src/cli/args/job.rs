//! From options to one validated job. Nothing is done yet when this returns.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::{Args, Outputs, Problem, Problems};
use crate::analysis::{Question, Reference};
use crate::cli::environment::Environment;
use crate::gate::{Gate, Regression};
use crate::plan::command::{CommandError, CommandLine, ShellChoice};
use crate::plan::parameter::{self, Binding, Parameter};
use crate::plan::{Benchmark, Hooks, Input, Invocation, Limits, Order, Output, Plan};
use crate::stats::summary::Settings;
use crate::unit::display_escaped;

/// Everything one invocation shall do.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) plan: Plan,
    pub(crate) question: Question,
    pub(crate) gates: Vec<Gate>,
    pub(crate) strict: bool,
    /// Saved sessions to compare with.
    pub(crate) baselines: Vec<PathBuf>,
    /// Saved sessions to analyse instead of running anything.
    pub(crate) compare: Vec<PathBuf>,
    /// The command runs against itself.
    pub(crate) noise: bool,
    pub(crate) outputs: Outputs,
    /// The arguments of this invocation, escaped for display.
    pub(crate) command_line: Vec<String>,
    /// Remarks on the arguments: unused parameters, unknown placeholders.
    pub(crate) remarks: Vec<String>,
}

/// Asks whether there is a program of that name.
type IsProgram<'a> = &'a dyn Fn(&OsStr) -> bool;

impl Args {
    /// Validates everything.
    ///
    /// # Errors
    /// All that is wrong, at once.
    pub(crate) fn resolve(
        &self,
        environment: &Environment,
        is_program: IsProgram<'_>,
    ) -> Result<Job, Vec<Problem>> {
        let mut problems = Problems::default();
        let pace = self.limit.resolve(&mut problems);
        let regressions = self.compare.regressions(&mut problems);
        let question = self.question(&regressions, &mut problems);
        let mut gates = self.gate.resolve(&mut problems);
        gates.extend(regressions.into_iter().map(Gate::Regression));
        let mut outputs = self.output.resolve(environment, &mut problems);
        outputs.add_baseline(self.compare.save_baseline.as_ref(), &mut problems);
        let (mut benchmarks, mut remarks) = self.benchmarks(is_program, &mut problems);
        self.compare
            .check(self.commands.len(), benchmarks.len(), &mut problems);
        if self.compare.noise {
            benchmarks.extend(benchmarks.first().cloned());
        }
        let ignore_failure = self.benchmark.ignored(&mut problems);
        let order = pace
            .order
            .unwrap_or_else(|| natural_order(&benchmarks, &mut remarks));
        problems.into_result()?;
        let plan = Plan {
            benchmarks,
            limits: Limits {
                fastest: question.reference == Reference::Fastest,
                ..pace.limits
            },
            order,
            seed: self.limit.seed,
            timeout: pace.timeout,
            sleep: pace.sleep,
            ignore_failure,
            placement: pace.placement,
            wait_descendants: self.diagnose.wait_descendants,
            check_output: self.benchmark.check_output,
            expect_wait: self.diagnose.expect_wait,
            explain: self.diagnose.explain(),
            trace: self.diagnose.trace,
            environment: environment.variables.clone(),
        };
        Ok(Job {
            plan,
            question,
            gates,
            strict: self.gate.strict,
            baselines: self.compare.baseline.clone(),
            compare: self.compare.compare.clone(),
            noise: self.compare.noise,
            outputs,
            command_line: environment.command_line(),
            remarks,
        })
    }

    fn question(&self, regressions: &[Regression], problems: &mut Problems) -> Question {
        let fastest = self
            .compare
            .reference
            .as_ref()
            .is_some_and(|word| word == "fastest");
        Question {
            settings: Settings {
                seed: self.limit.seed,
                ..Settings::default()
            },
            reference: if fastest {
                Reference::Fastest
            } else {
                Reference::Command(0)
            },
            practical_limit: self.compare.practical_limit(regressions, problems),
        }
    }

    /// The commands in order, the reference first.
    fn command_texts(&self, problems: &mut Problems) -> Vec<OsString> {
        let reference = self
            .compare
            .reference
            .iter()
            .filter(|word| *word != "fastest");
        let texts: Vec<OsString> = if self.benchmark.argv {
            Vec::new()
        } else {
            reference.chain(&self.commands).cloned().collect()
        };
        if self.commands.is_empty() && self.compare.compare.is_empty() {
            problems.add(
                Problem::new("no command was given".into())
                    .help(Some("offbench 'COMMAND', or offbench --help".into())),
            );
        }
        texts
    }

    fn benchmarks(
        &self,
        is_program: IsProgram<'_>,
        problems: &mut Problems,
    ) -> (Vec<Benchmark>, Vec<String>) {
        let texts = self.command_texts(problems);
        let shell = self.benchmark.shell(&texts, problems);
        let (parameters, pairing) = self.benchmark.parameters(problems);
        let Some(rows) = problems.parameter(parameter::combine(&parameters, pairing)) else {
            return (Vec::new(), Vec::new());
        };
        let count = if self.benchmark.argv { 1 } else { texts.len() };
        let common = Common::of(self, count, &shell, problems);
        let mut benchmarks = Vec::new();
        for row in &rows {
            for place in 0..count {
                match self.command_line(&texts, place, row, (&shell, is_program)) {
                    Ok(line) => benchmarks.push(common.benchmark(line, place, row)),
                    Err(error) => {
                        problems.add(Problem::new(error.to_string()).help(error.help()));
                        return (Vec::new(), Vec::new());
                    }
                }
            }
        }
        self.name(&mut benchmarks, &rows, count, problems);
        let remarks = self.remarks(&parameters, &texts);
        (distinct(benchmarks, &parameters), remarks)
    }

    fn command_line(
        &self,
        texts: &[OsString],
        place: usize,
        row: &[Binding],
        (shell, is_program): (&ShellChoice, IsProgram<'_>),
    ) -> Result<CommandLine, CommandError> {
        if self.benchmark.argv {
            let words = self
                .commands
                .iter()
                .map(|word| parameter::substitute(word, row));
            return CommandLine::from_words(words.collect());
        }
        let text = texts
            .get(place)
            .map(|text| parameter::substitute(text, row));
        CommandLine::parse(&text.unwrap_or_default(), shell, is_program)
    }

    /// Names: one a command with placeholders replaced, or one a benchmark in order.
    fn name(
        &self,
        benchmarks: &mut [Benchmark],
        rows: &[Vec<Binding>],
        count: usize,
        problems: &mut Problems,
    ) {
        let mut names = self.benchmark.names.clone();
        if let Some(name) = &self.compare.reference_name {
            names.insert(0, name.clone());
        }
        if names.len() > benchmarks.len() && !benchmarks.is_empty() {
            let text = format!(
                "{} names were given for {} commands",
                names.len(),
                benchmarks.len()
            );
            problems.add(Problem::new(text).help(Some("give -n at most once per command".into())));
            return;
        }
        let by_command = names.len() == count;
        for (place, benchmark) in benchmarks.iter_mut().enumerate() {
            let name = names.get(if by_command {
                place % count.max(1)
            } else {
                place
            });
            benchmark.name = name.map(|name| {
                let row = rows
                    .get(place / count.max(1))
                    .map_or(&[][..], Vec::as_slice);
                let name = parameter::substitute(OsStr::new(name), row);
                display_escaped(&name).into_owned()
            });
        }
    }

    fn remarks(&self, parameters: &[Parameter], texts: &[OsString]) -> Vec<String> {
        let hooks = [
            &self.hook.setup,
            &self.hook.prepare,
            &self.hook.conclude,
            &self.hook.cleanup,
        ];
        let mut all: Vec<&OsStr> = texts.iter().map(OsString::as_os_str).collect();
        all.extend(self.commands.iter().map(OsString::as_os_str));
        all.extend(hooks.into_iter().flatten().map(OsString::as_os_str));
        all.extend(self.benchmark.cwd.iter().map(OsString::as_os_str));
        let unused = parameter::unused(parameters, &all)
            .into_iter()
            .map(|name| format!("parameter `{name}` is used in no command or hook"));
        let unknown = texts
            .iter()
            .flat_map(|text| parameter::unknown(parameters, text))
            .map(|name| format!("`{{{name}}}` is no parameter and stays as it is"));
        unused.chain(unknown).collect()
    }
}

/// Rounds, unless benchmarks are set up each in its own way: one setup would undo another.
fn natural_order(benchmarks: &[Benchmark], remarks: &mut Vec<String>) -> Order {
    let own = |one: &Benchmark| (one.hooks.setup.clone(), one.hooks.cleanup.clone());
    if benchmarks
        .windows(2)
        .all(|pair| own(&pair[0]) == own(&pair[1]))
    {
        return Order::Rounds;
    }
    remarks.push(
        "commands have their own --setup or --cleanup, so they run one after the other and not in rounds"
            .into(),
    );
    Order::Sequential
}

/// Identical benchmarks run once, where parameters made them identical.
fn distinct(benchmarks: Vec<Benchmark>, parameters: &[Parameter]) -> Vec<Benchmark> {
    if parameters.is_empty() {
        return benchmarks;
    }
    let key = |one: &Benchmark| {
        (
            one.command.clone(),
            one.env.clone(),
            one.cwd.clone(),
            format!("{:?}", one.hooks),
        )
    };
    parameter::distinct(benchmarks, key).0
}

/// What benchmarks share, or have once per command.
struct Common {
    shell: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    cwd: Vec<OsString>,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    hooks: [Vec<OsString>; 4],
}

impl Common {
    fn of(args: &Args, count: usize, shell: &ShellChoice, problems: &mut Problems) -> Self {
        let common = Self {
            shell: script_words(shell.words()),
            env: args.benchmark.variables(problems),
            cwd: args.benchmark.cwd.clone(),
            inputs: args.benchmark.inputs(),
            outputs: args.benchmark.outputs(),
            hooks: [
                args.hook.setup.clone(),
                args.hook.prepare.clone(),
                args.hook.conclude.clone(),
                args.hook.cleanup.clone(),
            ],
        };
        let given = [
            ("--cwd", common.cwd.len()),
            ("--input", common.inputs.len()),
            ("--output", common.outputs.len()),
            ("--setup", common.hooks[0].len()),
            ("--prepare", common.hooks[1].len()),
            ("--conclude", common.hooks[2].len()),
            ("--cleanup", common.hooks[3].len()),
        ];
        for (option, times) in given {
            if times > 1 && times != count {
                let text = format!("{option} was given {times} times for {count} commands");
                let help = "give it once for all commands, or once per command";
                problems.add(Problem::new(text).help(Some(help.into())));
            }
        }
        common
    }

    fn benchmark(&self, line: CommandLine, place: usize, row: &[Binding]) -> Benchmark {
        let replaced = |text: &OsString| parameter::substitute(text, row);
        let hook = |place_of: usize| pick(&self.hooks[place_of], place).map(replaced);
        let env = self
            .env
            .iter()
            .map(|(name, value)| (name.clone(), replaced(value)))
            .collect();
        let parameters: BTreeMap<String, String> = row
            .iter()
            .map(|one| (one.name.clone(), display_escaped(&one.value).into_owned()))
            .collect();
        Benchmark {
            command: line.source,
            invocation: match line.invocation {
                Invocation::Shell { shell, script } => Invocation::Shell {
                    shell: script_words(shell),
                    script,
                },
                direct @ Invocation::Direct(_) => direct,
            },
            name: None,
            parameters,
            env,
            cwd: pick(&self.cwd, place).map(|cwd| replaced(cwd).into()),
            input: pick(&self.inputs, place).cloned().unwrap_or_default(),
            output: pick(&self.outputs, place).cloned().unwrap_or_default(),
            hooks: Hooks {
                shell: self.shell.clone(),
                setup: hook(0),
                prepare: hook(1),
                conclude: hook(2),
                cleanup: hook(3),
            },
        }
    }
}

/// The one for all, or the one for this command.
fn pick<T>(given: &[T], place: usize) -> Option<&T> {
    if given.len() == 1 {
        given.first()
    } else {
        given.get(place)
    }
}

/// A shell's words with the option that takes a script.
fn script_words(mut shell: Vec<OsString>) -> Vec<OsString> {
    shell.push("-c".into());
    shell
}
