//! The ground floor: what needs no path in progress. The prepared program, memory, the names of paths, why they end, and the configuration.

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
