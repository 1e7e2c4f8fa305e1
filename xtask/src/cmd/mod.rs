//! The chores, one file each.

pub mod corpus;
pub mod setup;
pub mod tidy;
