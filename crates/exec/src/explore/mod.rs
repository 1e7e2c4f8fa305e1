//! The floor of the exploration: in which order flips are explored, and running a path again.

pub mod again;
pub mod search;
