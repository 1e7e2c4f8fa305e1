//! Decides path conditions: stages, caches, bit-blasting, backends.
//!
//! The query is always "a path condition, satisfied by this model, and one new condition: satisfiable, by which model, or unsatisfiable,
//! because of which constraints?". Queries are many, small and nested, so the work is kept around them rather than in the SAT solver: a
//! path condition keeps its independent groups and byte domains as it grows ([`path`]), and a query passes cheap stages before
//! the expensive ones ([`chain`] has them on one screen).
//!
//! Reading order: [`path`], [`solver`], `chain`, the files of `stage/`, then [`backend`]. No clock, no randomness: an answer depends on the
//! queries asked before it, satisfiability on the query alone.
#![forbid(unsafe_code)]

pub mod answer;
pub mod backend;
pub mod bounds;
pub mod budget;
pub mod chain;
pub mod config;
pub mod domain;
pub mod path;
mod pvec;
mod query;
pub mod ranges;
pub mod solver;
mod stage;
pub mod stats;
pub mod tables;
mod trie;
mod values;

pub use answer::{Answer, Core, Why};
pub use budget::{Budget, Stop};
pub use config::Config;
pub use domain::Domain;
pub use path::{PathCondition, RemapMemo, Seen};
pub use pvec::PVec;
pub use solver::Solver;
pub use stats::Stats;
pub use tables::Tables;
