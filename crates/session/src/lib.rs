//! From a request to a report (docs/design/013).
//!
//! Reading order: [`plan`] (what is asked for), [`target`] (from a target to a linked program), [`results`] and [`folder`] (what is found, and where it is kept).

pub mod allocator;
pub mod beneath;
pub mod budget;
pub mod build;
pub mod cache;
pub mod carried;
pub mod child;
pub mod compile;
pub mod concrete;
pub mod coverage;
pub mod data;
pub mod export;
pub mod facts;
pub mod folder;
pub mod goals;
pub mod heap;
pub mod host;
pub mod kept;
pub mod known;
pub mod left;
pub mod machine;
pub mod notice;
pub mod objects;
pub mod options;
pub mod path_tree;
pub mod plan;
pub mod problem;
pub mod program;
pub mod results;
pub mod rules;
pub mod scope;
pub mod scratch;
pub mod seal;
pub mod seeds;
pub mod several;
pub mod signal;
pub mod source;
pub mod sym_file;
pub mod symbolic;
pub mod target;
pub mod timed;
pub mod usage;
pub mod way;

pub use plan::{Emit, Plan};
