//! offbench runs commands again and again, measures each run from outside, and says how long they
//! take, how sure that is, and whether the time was spent computing or waiting.

pub mod evidence;
pub mod explain;
pub mod plan;
pub mod probe;
pub mod run;
pub mod sample;
pub mod stats;
mod sys;
