module completions {

  def "nu-complete offbench order" [] {
    [ "rounds" "sequential" ]
  }

  def "nu-complete offbench explain" [] {
    [ "auto" "always" "never" ]
  }

  def "nu-complete offbench fail_on" [] {
    [ "note" "warning" "severe" ]
  }

  def "nu-complete offbench style" [] {
    [ "auto" "basic" "full" "nocolor" "color" "none" ]
  }

  def "nu-complete offbench color" [] {
    [ "auto" "always" "never" ]
  }

  def "nu-complete offbench sort" [] {
    [ "auto" "command" "mean-time" ]
  }

  def "nu-complete offbench annotate" [] {
    [ "auto" "github" "never" ]
  }

  def "nu-complete offbench completions" [] {
    [ "bash" "zsh" "fish" "powershell" "elvish" "nushell" ]
  }

  # Measures how long commands take, how sure that is, and what they waited for
  export extern offbench [
    --warmup(-w): string      # Runs before measuring [default: 1]
    --min-runs(-m): string    # At least so many runs [default: 10]
    --max-runs(-M): string    # At most so many runs
    --runs(-r): string        # Exactly so many runs
    --min-time: string        # Measure for at least this long [default: 3 s]
    --precision: string       # Run until the median is known this well
    --max-time: string        # Begin no further run after this long
    --timeout: string         # End a run that takes longer
    --sleep: string           # Pause before each run
    --order: string@"nu-complete offbench order" # Order of the runs of several commands
    --seed: string            # Seed of everything random
    --cpu: string             # Run the commands on these CPUs
    --pin                     # Run the commands on our own CPU
    --shell: string           # Shell of the commands [default: auto]
    -N                        # No shell: all is literal (--shell=none)
    -S                        # Through sh (--shell=default)
    --argv                    # Words after -- are one command
    --command-name(-n): string # Name of a command in reports
    --parameter-scan(-P): string # Run for each number, as {VAR}
    --parameter-step-size(-D): string # Step of the scan
    --parameter-list(-L): string # Run for each value, as {VAR}
    --zip                     # Pair parameters instead of combining them
    --env: string             # Variables of commands and hooks
    --cwd: string             # Working directory
    --input: string           # Standard input [default: null]
    --output: string          # Standard output [default: null]
    --show-output             # Let commands print (--output=inherit)
    --ignore-failure(-i): string # Go on after failing runs
    --check-output            # All runs must write the same
    --setup(-s): string       # Once before the first run
    --prepare(-p): string     # Before each run, also warm-up
    --conclude(-C): string    # After each run, also a failed one
    --cleanup(-c): string     # Once after the last run
    --explain: string@"nu-complete offbench explain" # Name what is waited for
    --trace                   # Count every blocking call in an extra run
    --expect-wait             # Waiting is intended: no finding
    --wait-descendants        # Runs end with their last process
    --doctor: path            # Examine this machine
    --help-cause: string      # Explain the cause of a finding
    --reference: string       # Command to compare with, or fastest
    --reference-name: string  # Name of the reference in reports
    --baseline: path          # Compare with this saved session
    --save-baseline: path     # Save this session for later --baseline
    --max-regression: string  # Exit 3 if that much slower
    --equal-within: string    # Call commands equal when they surely differ by less than this [default: --max-regression]
    --compare: path           # Run nothing: analyse saved files
    --noise                   # Measure one command against itself: the smallest difference detectable here now
    --fail-if: string         # Exit 3 if true, as 'wall/cpu > 3'
    --fail-on: string@"nu-complete offbench fail_on" # Exit 3 if waiting is that loud
    --strict                  # Exit 4 if a gate cannot be decided
    --style: string@"nu-complete offbench style" # What the screen shows
    --color: string@"nu-complete offbench color" # When colours are used
    --ascii                   # Only ASCII characters
    --time-unit(-u): string   # Unit of times: ns us ms s min h
    --metrics: string         # default, time, all, or a list
    --sort: string@"nu-complete offbench sort" # Order of tables
    --annotate: string@"nu-complete offbench annotate" # Annotations for a build service
    --export-json: path       # Everything: readable as hyperfine 1 and 2, complete under the offbench keys; `-` is standard output
    --export-hyperfine-v1: path # JSON exactly as hyperfine 1 writes it; `-` is standard output
    --export-jsonl: path      # One JSON object a line: header, runs, summaries, gates; `-` is standard output
    --export-csv: path        # One row a command; the first columns are those of hyperfine; `-` is standard output
    --export-csv-runs: path   # One row a run; `-` is standard output
    --export-markdown: path   # Markdown table with verdicts; `-` is standard output
    --export-asciidoc: path   # AsciiDoc table with verdicts; `-` is standard output
    --export-orgmode: path    # Emacs org-mode table with verdicts; `-` is standard output
    --export-junit: path      # JUnit XML: a test case for each command and gate; `-` is standard output
    --export-openmetrics: path # OpenMetrics text for Prometheus and others; `-` is standard output
    --export-github-action-benchmark: path # JSON for github-action-benchmark, smaller is better; `-` is standard output
    --completions: string@"nu-complete offbench completions" # Print completions for a shell
    --help(-h)                # Print help (see more with '--help')
    --version(-V)             # Print version
    ...commands: string       # Commands to measure, each one argument
  ]

}

export use completions *
