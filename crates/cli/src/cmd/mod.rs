//! The subcommands, one file each.

pub mod replay;
pub mod run;
