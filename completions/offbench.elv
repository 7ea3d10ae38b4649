
use builtin;
use str;

set edit:completion:arg-completer[offbench] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'offbench'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'offbench'= {
            cand -w 'Runs before measuring [default: 1]'
            cand --warmup 'Runs before measuring [default: 1]'
            cand -m 'At least so many runs [default: 10]'
            cand --min-runs 'At least so many runs [default: 10]'
            cand -M 'At most so many runs'
            cand --max-runs 'At most so many runs'
            cand -r 'Exactly so many runs'
            cand --runs 'Exactly so many runs'
            cand --min-time 'Measure for at least this long [default: 3 s]'
            cand --precision 'Run until the median is known this well'
            cand --max-time 'Begin no further run after this long'
            cand --timeout 'End a run that takes longer'
            cand --sleep 'Pause before each run'
            cand --order 'Order of the runs of several commands'
            cand --seed 'Seed of everything random'
            cand --cpu 'Run the commands on these CPUs'
            cand --shell 'Shell of the commands [default: auto]'
            cand -n 'Name of a command in reports'
            cand --command-name 'Name of a command in reports'
            cand -P 'Run for each number, as {VAR}'
            cand --parameter-scan 'Run for each number, as {VAR}'
            cand -D 'Step of the scan'
            cand --parameter-step-size 'Step of the scan'
            cand -L 'Run for each value, as {VAR}'
            cand --parameter-list 'Run for each value, as {VAR}'
            cand --env 'Variables of commands and hooks'
            cand --cwd 'Working directory'
            cand --input 'Standard input [default: null]'
            cand --output 'Standard output [default: null]'
            cand -i 'Go on after failing runs'
            cand --ignore-failure 'Go on after failing runs'
            cand -s 'Once before the first run'
            cand --setup 'Once before the first run'
            cand -p 'Before each run, also warm-up'
            cand --prepare 'Before each run, also warm-up'
            cand -C 'After each run, also a failed one'
            cand --conclude 'After each run, also a failed one'
            cand -c 'Once after the last run'
            cand --cleanup 'Once after the last run'
            cand --explain 'Name what is waited for'
            cand --doctor 'Examine this machine'
            cand --help-cause 'Explain the cause of a finding'
            cand --reference 'Command to compare with, or fastest'
            cand --reference-name 'Name of the reference in reports'
            cand --baseline 'Compare with this saved session'
            cand --save-baseline 'Save this session for later --baseline'
            cand --max-regression 'Exit 3 if that much slower'
            cand --equal-within 'Call commands equal when they surely differ by less than this [default: --max-regression]'
            cand --compare 'Run nothing: analyse saved files'
            cand --fail-if 'Exit 3 if true, as ''wall/cpu > 3'''
            cand --fail-on 'Exit 3 if waiting is that loud'
            cand --style 'What the screen shows'
            cand --color 'When colours are used'
            cand -u 'Unit of times: ns us ms s min h'
            cand --time-unit 'Unit of times: ns us ms s min h'
            cand --metrics 'default, time, all, or a list'
            cand --sort 'Order of tables'
            cand --annotate 'Annotations for a build service'
            cand --export-json 'Everything: readable as hyperfine 1 and 2, complete under the offbench keys; `-` is standard output'
            cand --export-hyperfine-v1 'JSON exactly as hyperfine 1 writes it; `-` is standard output'
            cand --export-jsonl 'One JSON object a line: header, runs, summaries, gates; `-` is standard output'
            cand --export-csv 'One row a command; the first columns are those of hyperfine; `-` is standard output'
            cand --export-csv-runs 'One row a run; `-` is standard output'
            cand --export-markdown 'Markdown table with verdicts; `-` is standard output'
            cand --export-asciidoc 'AsciiDoc table with verdicts; `-` is standard output'
            cand --export-orgmode 'Emacs org-mode table with verdicts; `-` is standard output'
            cand --export-junit 'JUnit XML: a test case for each command and gate; `-` is standard output'
            cand --export-openmetrics 'OpenMetrics text for Prometheus and others; `-` is standard output'
            cand --export-github-action-benchmark 'JSON for github-action-benchmark, smaller is better; `-` is standard output'
            cand --completions 'Print completions for a shell'
            cand --pin 'Run the commands on our own CPU'
            cand -N 'No shell: all is literal (--shell=none)'
            cand -S 'Through sh (--shell=default)'
            cand --argv 'Words after -- are one command'
            cand --zip 'Pair parameters instead of combining them'
            cand --show-output 'Let commands print (--output=inherit)'
            cand --check-output 'All runs must write the same'
            cand --trace 'Count every blocking call in an extra run'
            cand --expect-wait 'Waiting is intended: no finding'
            cand --wait-descendants 'Runs end with their last process'
            cand --noise 'Measure one command against itself: the smallest difference detectable here now'
            cand --strict 'Exit 4 if a gate cannot be decided'
            cand --ascii 'Only ASCII characters'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
    ]
    $completions[$command]
}
