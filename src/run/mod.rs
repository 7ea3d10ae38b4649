//! Executes a plan, tells observers, returns recordings.

pub mod executor;
