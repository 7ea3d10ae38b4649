//! The gate parser: never panics, explains every refusal, and reads its own text back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use offbench::gate::Expression;

fuzz_target!(|text: &str| {
    match Expression::parse(text) {
        Ok(gate) => {
            let again = Expression::parse(&gate.to_string()).expect("its own text");
            assert_eq!(gate, again);
            assert!(!gate.strict_limit().is_nan());
            let _ = gate.unit();
        }
        Err(error) => {
            let said = error.to_string();
            assert!(!said.chars().any(char::is_control), "{said:?}");
            let _ = error.help();
        }
    }
});
