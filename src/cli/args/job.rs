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
        let mut gates = self.gate.resolve(&mut problems);
        let mut outputs = self.output.resolve(environment, &mut problems);
        outputs.add_baseline(self.compare.save_baseline.as_ref(), &mut problems);
        let (mut benchmarks, mut remarks, reference) = self.benchmarks(is_program, &mut problems);
        self.compare
            .check(self.commands.len(), benchmarks.len(), &mut problems);
        if self.compare.noise {
            benchmarks.extend(benchmarks.first().cloned());
        }
        let ignore_failure = self.benchmark.ignored(&mut problems);
        let order = pace
            .order
            .unwrap_or_else(|| natural_order(&benchmarks, &mut remarks));
        let question = self.question(reference, &regressions, &mut problems);
        gates.extend(regressions.into_iter().map(Gate::Regression));
        self.check_outputs(&benchmarks, &mut problems);
        problems.into_result()?;
        let plan = Plan {
            benchmarks,
            limits: Limits {
                reference,
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
            counters: outputs.style.metrics.counts(),
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

    /// What goes elsewhere cannot be looked at.
    fn check_outputs(&self, benchmarks: &[Benchmark], problems: &mut Problems) {
        let seen = |one: &Benchmark| matches!(one.output, Output::Null | Output::Pipe);
        if self.benchmark.check_output && !benchmarks.iter().all(seen) {
            let text = "--check-output cannot see what goes to a file or to the terminal";
            let help = "leave out --output and --show-output";
            problems.add(Problem::new(text.into()).help(Some(help.into())));
        }
    }

    fn question(
        &self,
        reference: usize,
        regressions: &[Regression],
        problems: &mut Problems,
    ) -> Question {
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
                Reference::Command(reference)
            },
            practical_limit: self.compare.practical_limit(regressions, problems),
        }
    }

    /// The reference command, if one was written.
    fn reference(&self) -> Option<&OsString> {
        let written = self.compare.reference.as_ref();
        written.filter(|word| *word != "fastest")
    }

    /// Every command with every combination of parameter values, and which is the reference.
    fn benchmarks(
        &self,
        is_program: IsProgram<'_>,
        problems: &mut Problems,
    ) -> (Vec<Benchmark>, Vec<String>, usize) {
        let nothing = (Vec::new(), Vec::new(), 0);
        if self.commands.is_empty() && !self.compare.compare.is_empty() {
            return nothing;
        }
        if self.commands.is_empty() {
            let help = "offbench 'COMMAND', or offbench --help";
            problems.add(Problem::new("no command was given".into()).help(Some(help.into())));
            return nothing;
        }
        let shell = self.benchmark.shell(&self.commands, problems);
        let (parameters, pairing) = self.benchmark.parameters(problems);
        let Some(rows) = problems.parameter(parameter::combine(&parameters, pairing)) else {
            return nothing;
        };
        let mut texts: Vec<OsString> = Vec::new();
        let chosen = self.chosen_reference(&rows);
        if chosen.is_none() {
            texts.extend(self.reference().cloned());
        }
        let reference_first = !texts.is_empty();
        texts.extend(self.commands.iter().cloned());
        let count = if self.benchmark.argv { 1 } else { texts.len() };
        let common = Common::of(self, count, &shell, problems);
        let mut benchmarks = Vec::new();
        for row in &rows {
            for place in 0..count {
                match self.command_line(&texts, place, row, (&shell, is_program)) {
                    Ok(line) => benchmarks.push(common.benchmark(line, place, row)),
                    Err(error) => {
                        problems.add(Problem::new(error.to_string()).help(error.help()));
                        return nothing;
                    }
                }
            }
        }
        self.name(&mut benchmarks, &rows, reference_first, problems);
        let mut remarks = self.remarks(&parameters, &texts);
        let benchmarks = distinct(benchmarks, &parameters, &mut remarks);
        let place = chosen.and_then(|text| benchmarks.iter().position(|one| one.command == text));
        (benchmarks, remarks, place.unwrap_or(0))
    }

    /// With parameters, the reference may be one of the expanded commands, by its text or name.
    fn chosen_reference(&self, rows: &[Vec<Binding>]) -> Option<OsString> {
        let wanted = self.reference().filter(|_| rows.len() > 1)?;
        let mut found = rows.iter().flat_map(|row| {
            self.commands
                .iter()
                .enumerate()
                .filter_map(|(place, text)| {
                    let text = parameter::substitute(text, row);
                    let name = self.benchmark.names.get(place);
                    let name = name.map(|name| parameter::substitute(name, row));
                    (text == *wanted || name.as_ref() == Some(wanted)).then_some(text)
                })
        });
        let first = found.next()?;
        found.next().is_none().then_some(first)
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
        reference_first: bool,
        problems: &mut Problems,
    ) {
        let given = self.benchmark.names.iter().cloned().map(Some);
        let own = reference_first.then(|| self.compare.reference_name.clone());
        let names: Vec<Option<OsString>> = own.into_iter().chain(given).collect();
        if names.len() > benchmarks.len() && !benchmarks.is_empty() {
            let commands = benchmarks.len() - usize::from(reference_first);
            let text = format!(
                "{} names were given for {commands} command{}",
                self.benchmark.names.len(),
                if commands == 1 { "" } else { "s" }
            );
            problems.add(Problem::new(text).help(Some("give -n at most once per command".into())));
            return;
        }
        let count = (benchmarks.len() / rows.len().max(1)).max(1);
        let by_command = names.len() <= count;
        for (place, benchmark) in benchmarks.iter_mut().enumerate() {
            let name = names.get(if by_command { place % count } else { place });
            benchmark.name = name.cloned().flatten().map(|name| {
                let row = rows.get(place / count).map_or(&[][..], Vec::as_slice);
                let name = parameter::substitute(&name, row);
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
        all.extend(self.benchmark.places().map(OsString::as_os_str));
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
fn distinct(
    benchmarks: Vec<Benchmark>,
    parameters: &[Parameter],
    remarks: &mut Vec<String>,
) -> Vec<Benchmark> {
    if parameters.is_empty() {
        return benchmarks;
    }
    let key = |one: &Benchmark| {
        (
            one.command.clone(),
            one.env.clone(),
            one.cwd.clone(),
            format!("{:?} {:?} {:?}", one.hooks, one.input, one.output),
        )
    };
    let (kept, dropped) = parameter::distinct(benchmarks, key);
    if dropped > 0 {
        let total = kept.len() + dropped;
        remarks.push(format!(
            "{dropped} of {total} commands repeat another one; each runs once"
        ));
    }
    kept
}

/// What benchmarks share, or have once per command.
struct Common {
    shell: Vec<OsString>,
    env: Vec<Vec<(OsString, OsString)>>,
    cwd: Vec<OsString>,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    hooks: [Vec<OsString>; 4],
}

impl Common {
    fn of(args: &Args, count: usize, shell: &ShellChoice, problems: &mut Problems) -> Self {
        let common = Self {
            shell: script_words(shell.words()),
            env: args.benchmark.variables(count, problems),
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
            ("--env", common.env.len()),
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
        let env = pick(&self.env, place)
            .into_iter()
            .flatten()
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
            input: match pick(&self.inputs, place) {
                Some(Input::File(path)) => Input::File(replaced(&path.clone().into()).into()),
                other => other.cloned().unwrap_or_default(),
            },
            output: match pick(&self.outputs, place) {
                Some(Output::File(path)) => Output::File(replaced(&path.clone().into()).into()),
                other => other.cloned().unwrap_or_default(),
            },
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
