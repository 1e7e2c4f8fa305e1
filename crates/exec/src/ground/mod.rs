//! The lowest floor: the parts that need no path in progress. These are the prepared program, memory, prefixes, path ends and the
//! configuration.

pub mod chain;
pub mod code;
pub mod config;
pub mod digest;
mod exposed;
pub mod globals;
pub mod image;
pub mod job;
pub mod memory;
pub mod path_end;
pub mod places;
pub mod prefix;
pub mod sharing;
pub mod stacks;
pub mod thread_locals;
pub mod tree;
