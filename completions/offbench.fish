complete -c offbench -s w -l warmup -d 'Runs before measuring [default: 1]' -r
complete -c offbench -s m -l min-runs -d 'At least so many runs [default: 10]' -r
complete -c offbench -s M -l max-runs -d 'At most so many runs' -r
complete -c offbench -s r -l runs -d 'Exactly so many runs' -r
complete -c offbench -l min-time -d 'Measure for at least this long [default: 3 s]' -r
complete -c offbench -l precision -d 'Run until the median is known this well' -r
complete -c offbench -l max-time -d 'Begin no further run after this long' -r
complete -c offbench -l timeout -d 'End a run that takes longer' -r
complete -c offbench -l sleep -d 'Pause before each run' -r
complete -c offbench -l order -d 'Order of the runs of several commands' -r -f -a "rounds\t'Rounds of all commands, each second round the reverse of the first'
sequential\t'All runs of one command, then of the next'"
complete -c offbench -l seed -d 'Seed of everything random' -r
complete -c offbench -l cpu -d 'Run the commands on these CPUs' -r
complete -c offbench -l shell -d 'Shell of the commands [default: auto]' -r
complete -c offbench -s n -l command-name -d 'Name of a command in reports' -r
complete -c offbench -s P -l parameter-scan -d 'Run for each number, as {VAR}' -r
complete -c offbench -s D -l parameter-step-size -d 'Step of the scan' -r
complete -c offbench -s L -l parameter-list -d 'Run for each value, as {VAR}' -r
complete -c offbench -l env -d 'Variables of commands and hooks' -r
complete -c offbench -l cwd -d 'Working directory' -r
complete -c offbench -l input -d 'Standard input [default: null]' -r
complete -c offbench -l output -d 'Standard output [default: null]' -r
complete -c offbench -s i -l ignore-failure -d 'Go on after failing runs' -r
complete -c offbench -s s -l setup -d 'Once before the first run' -r
complete -c offbench -s p -l prepare -d 'Before each run, also warm-up' -r
complete -c offbench -s C -l conclude -d 'After each run, also a failed one' -r
complete -c offbench -s c -l cleanup -d 'Once after the last run' -r
complete -c offbench -l explain -d 'Name what is waited for' -r -f -a "auto\t'When a warning has no named cause, and the number of runs is not fixed by --runs'
always\t'For every command'
never\t'For none'"
complete -c offbench -l doctor -d 'Examine this machine' -r -F
complete -c offbench -l help-cause -d 'Explain the cause of a finding' -r
complete -c offbench -l reference -d 'Command to compare with, or fastest' -r
complete -c offbench -l reference-name -d 'Name of the reference in reports' -r
complete -c offbench -l baseline -d 'Compare with this saved session' -r -F
complete -c offbench -l save-baseline -d 'Save this session for later --baseline' -r -F
complete -c offbench -l max-regression -d 'Exit 3 if that much slower' -r
complete -c offbench -l equal-within -d 'Call commands equal when they surely differ by less than this [default: --max-regression]' -r
complete -c offbench -l compare -d 'Run nothing: analyse saved files' -r -F
complete -c offbench -l fail-if -d 'Exit 3 if true, as \'wall/cpu > 3\'' -r
complete -c offbench -l fail-on -d 'Exit 3 if waiting is that loud' -r -f -a "note\t''
warning\t''
severe\t''"
complete -c offbench -l style -d 'What the screen shows' -r -f -a "auto\t'What suits where the output goes'
basic\t'No progress line, no colour'
full\t'Progress line and colour'
nocolor\t'As full, without colour'
color\t'Colour without a progress line'
none\t'Nothing but errors'"
complete -c offbench -l color -d 'When colours are used' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t''
never\t''"
complete -c offbench -s u -l time-unit -d 'Unit of times: ns us ms s min h' -r
complete -c offbench -l metrics -d 'default, time, all, or a list' -r
complete -c offbench -l sort -d 'Order of tables' -r -f -a "auto\t'As given'
command\t'As given'
mean-time\t'By mean wall time'"
complete -c offbench -l annotate -d 'Annotations for a build service' -r -f -a "auto\t'On GitHub Actions'
github\t''
never\t''"
complete -c offbench -l export-json -d 'Everything: readable as hyperfine 1 and 2, complete under the offbench keys; `-` is standard output' -r -F
complete -c offbench -l export-hyperfine-v1 -d 'JSON exactly as hyperfine 1 writes it; `-` is standard output' -r -F
complete -c offbench -l export-jsonl -d 'One JSON object a line: header, runs, summaries, gates; `-` is standard output' -r -F
complete -c offbench -l export-csv -d 'One row a command; the first columns are those of hyperfine; `-` is standard output' -r -F
complete -c offbench -l export-csv-runs -d 'One row a run; `-` is standard output' -r -F
complete -c offbench -l export-markdown -d 'Markdown table with verdicts; `-` is standard output' -r -F
complete -c offbench -l export-asciidoc -d 'AsciiDoc table with verdicts; `-` is standard output' -r -F
complete -c offbench -l export-orgmode -d 'Emacs org-mode table with verdicts; `-` is standard output' -r -F
complete -c offbench -l export-junit -d 'JUnit XML: a test case for each command and gate; `-` is standard output' -r -F
complete -c offbench -l export-openmetrics -d 'OpenMetrics text for Prometheus and others; `-` is standard output' -r -F
complete -c offbench -l export-github-action-benchmark -d 'JSON for github-action-benchmark, smaller is better; `-` is standard output' -r -F
complete -c offbench -l completions -d 'Print completions for a shell' -r -f -a "bash\t'GNU Bash'
zsh\t'Zsh'
fish\t'fish'
powershell\t'`PowerShell`'
elvish\t'Elvish'
nushell\t'Nushell'"
complete -c offbench -l pin -d 'Run the commands on our own CPU'
complete -c offbench -s N -d 'No shell: all is literal (--shell=none)'
complete -c offbench -s S -d 'Through sh (--shell=default)'
complete -c offbench -l argv -d 'Words after -- are one command'
complete -c offbench -l zip -d 'Pair parameters instead of combining them'
complete -c offbench -l show-output -d 'Let commands print (--output=inherit)'
complete -c offbench -l check-output -d 'All runs must write the same'
complete -c offbench -l trace -d 'Count every blocking call in an extra run'
complete -c offbench -l expect-wait -d 'Waiting is intended: no finding'
complete -c offbench -l wait-descendants -d 'Runs end with their last process'
complete -c offbench -l noise -d 'Measure one command against itself: the smallest difference detectable here now'
complete -c offbench -l strict -d 'Exit 4 if a gate cannot be decided'
complete -c offbench -l ascii -d 'Only ASCII characters'
complete -c offbench -s h -l help -d 'Print help (see more with \'--help\')'
complete -c offbench -s V -l version -d 'Print version'
