//! The chores, one file each.

pub mod corpus;
pub mod gate;
pub mod setup;
pub mod tidy;
