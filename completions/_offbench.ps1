
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'offbench' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'offbench'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'offbench' {
            [CompletionResult]::new('-w', '-w', [CompletionResultType]::ParameterName, 'Runs before measuring [default: 1]')
            [CompletionResult]::new('--warmup', '--warmup', [CompletionResultType]::ParameterName, 'Runs before measuring [default: 1]')
            [CompletionResult]::new('-m', '-m', [CompletionResultType]::ParameterName, 'At least so many runs [default: 10]')
            [CompletionResult]::new('--min-runs', '--min-runs', [CompletionResultType]::ParameterName, 'At least so many runs [default: 10]')
            [CompletionResult]::new('-M', '-M ', [CompletionResultType]::ParameterName, 'At most so many runs')
            [CompletionResult]::new('--max-runs', '--max-runs', [CompletionResultType]::ParameterName, 'At most so many runs')
            [CompletionResult]::new('-r', '-r', [CompletionResultType]::ParameterName, 'Exactly so many runs')
            [CompletionResult]::new('--runs', '--runs', [CompletionResultType]::ParameterName, 'Exactly so many runs')
            [CompletionResult]::new('--min-time', '--min-time', [CompletionResultType]::ParameterName, 'Measure for at least this long [default: 3 s]')
            [CompletionResult]::new('--precision', '--precision', [CompletionResultType]::ParameterName, 'Run until the median is known this well')
            [CompletionResult]::new('--max-time', '--max-time', [CompletionResultType]::ParameterName, 'Begin no further run after this long')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'End a run that takes longer')
            [CompletionResult]::new('--sleep', '--sleep', [CompletionResultType]::ParameterName, 'Pause before each run')
            [CompletionResult]::new('--order', '--order', [CompletionResultType]::ParameterName, 'Order of the runs of several commands')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of everything random')
            [CompletionResult]::new('--cpu', '--cpu', [CompletionResultType]::ParameterName, 'Run the commands on these CPUs')
            [CompletionResult]::new('--shell', '--shell', [CompletionResultType]::ParameterName, 'Shell of the commands [default: auto]')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Name of a command in reports')
            [CompletionResult]::new('--command-name', '--command-name', [CompletionResultType]::ParameterName, 'Name of a command in reports')
            [CompletionResult]::new('-P', '-P ', [CompletionResultType]::ParameterName, 'Run for each number, as {VAR}')
            [CompletionResult]::new('--parameter-scan', '--parameter-scan', [CompletionResultType]::ParameterName, 'Run for each number, as {VAR}')
            [CompletionResult]::new('-D', '-D ', [CompletionResultType]::ParameterName, 'Step of the scan')
            [CompletionResult]::new('--parameter-step-size', '--parameter-step-size', [CompletionResultType]::ParameterName, 'Step of the scan')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'Run for each value, as {VAR}')
            [CompletionResult]::new('--parameter-list', '--parameter-list', [CompletionResultType]::ParameterName, 'Run for each value, as {VAR}')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Variables of commands and hooks')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Working directory')
            [CompletionResult]::new('--input', '--input', [CompletionResultType]::ParameterName, 'Standard input [default: null]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Standard output [default: null]')
            [CompletionResult]::new('-i', '-i', [CompletionResultType]::ParameterName, 'Go on after failing runs')
            [CompletionResult]::new('--ignore-failure', '--ignore-failure', [CompletionResultType]::ParameterName, 'Go on after failing runs')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Once before the first run')
            [CompletionResult]::new('--setup', '--setup', [CompletionResultType]::ParameterName, 'Once before the first run')
            [CompletionResult]::new('-p', '-p', [CompletionResultType]::ParameterName, 'Before each run, also warm-up')
            [CompletionResult]::new('--prepare', '--prepare', [CompletionResultType]::ParameterName, 'Before each run, also warm-up')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'After each run, also a failed one')
            [CompletionResult]::new('--conclude', '--conclude', [CompletionResultType]::ParameterName, 'After each run, also a failed one')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Once after the last run')
            [CompletionResult]::new('--cleanup', '--cleanup', [CompletionResultType]::ParameterName, 'Once after the last run')
            [CompletionResult]::new('--explain', '--explain', [CompletionResultType]::ParameterName, 'Name what is waited for')
            [CompletionResult]::new('--doctor', '--doctor', [CompletionResultType]::ParameterName, 'Examine this machine')
            [CompletionResult]::new('--help-cause', '--help-cause', [CompletionResultType]::ParameterName, 'Explain the cause of a finding')
            [CompletionResult]::new('--reference', '--reference', [CompletionResultType]::ParameterName, 'Command to compare with, or fastest')
            [CompletionResult]::new('--reference-name', '--reference-name', [CompletionResultType]::ParameterName, 'Name of the reference in reports')
            [CompletionResult]::new('--baseline', '--baseline', [CompletionResultType]::ParameterName, 'Compare with this saved session')
            [CompletionResult]::new('--save-baseline', '--save-baseline', [CompletionResultType]::ParameterName, 'Save this session for later --baseline')
            [CompletionResult]::new('--max-regression', '--max-regression', [CompletionResultType]::ParameterName, 'Exit 3 if that much slower')
            [CompletionResult]::new('--equal-within', '--equal-within', [CompletionResultType]::ParameterName, 'Call commands equal when they surely differ by less than this [default: --max-regression]')
            [CompletionResult]::new('--compare', '--compare', [CompletionResultType]::ParameterName, 'Run nothing: analyse saved files')
            [CompletionResult]::new('--fail-if', '--fail-if', [CompletionResultType]::ParameterName, 'Exit 3 if true, as ''wall/cpu > 3''')
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'Exit 3 if waiting is that loud')
            [CompletionResult]::new('--style', '--style', [CompletionResultType]::ParameterName, 'What the screen shows')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When colours are used')
            [CompletionResult]::new('-u', '-u', [CompletionResultType]::ParameterName, 'Unit of times: ns us ms s min h')
            [CompletionResult]::new('--time-unit', '--time-unit', [CompletionResultType]::ParameterName, 'Unit of times: ns us ms s min h')
            [CompletionResult]::new('--metrics', '--metrics', [CompletionResultType]::ParameterName, 'default, time, all, or a list')
            [CompletionResult]::new('--sort', '--sort', [CompletionResultType]::ParameterName, 'Order of tables')
            [CompletionResult]::new('--annotate', '--annotate', [CompletionResultType]::ParameterName, 'Annotations for a build service')
            [CompletionResult]::new('--export-json', '--export-json', [CompletionResultType]::ParameterName, 'Everything: readable as hyperfine 1 and 2, complete under the offbench keys; `-` is standard output')
            [CompletionResult]::new('--export-hyperfine-v1', '--export-hyperfine-v1', [CompletionResultType]::ParameterName, 'JSON exactly as hyperfine 1 writes it; `-` is standard output')
            [CompletionResult]::new('--export-jsonl', '--export-jsonl', [CompletionResultType]::ParameterName, 'One JSON object a line: header, runs, summaries, gates; `-` is standard output')
            [CompletionResult]::new('--export-csv', '--export-csv', [CompletionResultType]::ParameterName, 'One row a command; the first columns are those of hyperfine; `-` is standard output')
            [CompletionResult]::new('--export-csv-runs', '--export-csv-runs', [CompletionResultType]::ParameterName, 'One row a run; `-` is standard output')
            [CompletionResult]::new('--export-markdown', '--export-markdown', [CompletionResultType]::ParameterName, 'Markdown table with verdicts; `-` is standard output')
            [CompletionResult]::new('--export-asciidoc', '--export-asciidoc', [CompletionResultType]::ParameterName, 'AsciiDoc table with verdicts; `-` is standard output')
            [CompletionResult]::new('--export-orgmode', '--export-orgmode', [CompletionResultType]::ParameterName, 'Emacs org-mode table with verdicts; `-` is standard output')
            [CompletionResult]::new('--export-junit', '--export-junit', [CompletionResultType]::ParameterName, 'JUnit XML: a test case for each command and gate; `-` is standard output')
            [CompletionResult]::new('--export-openmetrics', '--export-openmetrics', [CompletionResultType]::ParameterName, 'OpenMetrics text for Prometheus and others; `-` is standard output')
            [CompletionResult]::new('--export-github-action-benchmark', '--export-github-action-benchmark', [CompletionResultType]::ParameterName, 'JSON for github-action-benchmark, smaller is better; `-` is standard output')
            [CompletionResult]::new('--completions', '--completions', [CompletionResultType]::ParameterName, 'Print completions for a shell')
            [CompletionResult]::new('--pin', '--pin', [CompletionResultType]::ParameterName, 'Run the commands on our own CPU')
            [CompletionResult]::new('-N', '-N ', [CompletionResultType]::ParameterName, 'No shell: all is literal (--shell=none)')
            [CompletionResult]::new('-S', '-S ', [CompletionResultType]::ParameterName, 'Through sh (--shell=default)')
            [CompletionResult]::new('--argv', '--argv', [CompletionResultType]::ParameterName, 'Words after -- are one command')
            [CompletionResult]::new('--zip', '--zip', [CompletionResultType]::ParameterName, 'Pair parameters instead of combining them')
            [CompletionResult]::new('--show-output', '--show-output', [CompletionResultType]::ParameterName, 'Let commands print (--output=inherit)')
            [CompletionResult]::new('--check-output', '--check-output', [CompletionResultType]::ParameterName, 'All runs must write the same')
            [CompletionResult]::new('--trace', '--trace', [CompletionResultType]::ParameterName, 'Count every blocking call in an extra run')
            [CompletionResult]::new('--expect-wait', '--expect-wait', [CompletionResultType]::ParameterName, 'Waiting is intended: no finding')
            [CompletionResult]::new('--wait-descendants', '--wait-descendants', [CompletionResultType]::ParameterName, 'Runs end with their last process')
            [CompletionResult]::new('--noise', '--noise', [CompletionResultType]::ParameterName, 'Measure one command against itself: the smallest difference detectable here now')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Exit 4 if a gate cannot be decided')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Only ASCII characters')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
