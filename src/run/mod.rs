//! Executes a plan, tells observers, returns recordings.

pub mod clock;
pub mod executor;
pub mod session;

pub use clock::{Clock, SystemClock};
