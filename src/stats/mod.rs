//! stats
pub mod random;
