//! The subcommands, one file each.

pub mod build;
pub mod cc;
pub mod deps;
pub mod extract;
pub mod guard;
pub mod ld;
pub mod manual;
pub mod probe;
pub mod replay;
pub mod report;
pub mod rules;
pub mod run;
pub mod rustc;
pub mod setup;
pub mod show;
pub mod verify;
