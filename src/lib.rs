//! offbench runs commands again and again, measures each run from outside, and says how long they
//! take, how sure that is, and whether the time was spent computing or waiting.

pub mod analysis;
#[cfg(feature = "cli")]
pub mod cli;
pub mod diagnose;
#[cfg(feature = "cli")]
pub mod doctor;
pub mod evidence;
pub mod explain;
pub mod gate;
pub mod metric;
pub mod plan;
pub mod probe;
#[cfg(feature = "cli")]
pub mod progress;
pub mod report;
pub mod run;
pub mod sample;
pub mod stats;
mod sys;
pub mod unit;
