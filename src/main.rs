//! The offbench program: calls the library's command line, nothing else.

fn main() -> std::process::ExitCode {
    offbench::cli::main()
}
