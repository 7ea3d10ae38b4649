//! Sources of evidence: parsers that turn kernel text about one run into readings.
//!
//! `sys` reads, these understand; they take bytes and are tested on every platform.

pub mod schedstat;
pub mod stat;
