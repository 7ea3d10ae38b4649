//! The command splitter: never panics, and what it splits it can quote back.
#![no_main]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use libfuzzer_sys::fuzz_target;
use offbench::plan::command::{CommandLine, ShellChoice, parse_variable};
use offbench::plan::words::{join, split};

fuzz_target!(|bytes: &[u8]| {
    let text = OsStr::from_bytes(bytes);
    if let Ok(words) = split(text) {
        let again = split(&join(&words)).expect("quoted words can be split");
        assert_eq!(words, again, "quoting and splitting are inverse");
    }
    let _ = parse_variable(text);
    for choice in [ShellChoice::None, ShellChoice::Auto] {
        let parsed = CommandLine::parse(text, &choice, &|name| name.len() % 2 == 0);
        match parsed {
            Ok(line) => assert!(!line.display.chars().any(char::is_control)),
            Err(error) => drop((error.to_string(), error.help())),
        }
    }
    if let Ok(choice) = ShellChoice::parse(text) {
        let _ = CommandLine::parse(text, &choice, &|_| true);
    }
});
