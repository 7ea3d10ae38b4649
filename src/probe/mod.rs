//! Evidence sources: each turns what the kernel tells about one run into evidence, or, in a
//! diagnostic run, into records for `explain`.

pub mod descriptor;
pub mod explain;
mod reader;
mod sampler;
pub mod switches;
pub mod task;
pub mod trace;
