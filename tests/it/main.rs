//! The program from outside: real children, real signals, real files.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    unreachable_pub,
    missing_docs,
    reason = "a test that fails may panic, and it runs programs"
)]

mod basics;
#[path = "../common/mod.rs"]
mod common;
mod documents;
mod findings;
mod gates;
mod generated;
mod hostile;
mod options;
mod streams;
mod support;
#[cfg(target_os = "linux")]
mod targets;
mod terminal;
