//! offbench.
pub mod stats;
