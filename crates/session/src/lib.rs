//! From a request to a report (docs/design/013).
//!
//! ```text
//! Plan ─► Worker 1: pool, solver, image, explorer ──┐ path reports, left-over jobs
//!      └► Worker 2 …  ◄── jobs ─────────────────────┴─► Collector: duplicates, numbers, run folder, limits ─► Run
//! ```
//!
//! A [`Plan`] is what is asked for, as serialisable data. A [`worker::Worker`] is built from it inside its own thread, explores jobs, and gives back plain
//! data ([`report`]). The [`collector::Collector`] numbers what is new, writes the run folder, and decides when to stop. [`explore`] does all of it:
//!
//! ```no_run
//! use wryneck_session::{Options, Plan, explore};
//! let run = explore(&Plan::of("program.c", &["--sym-arg", "3"]), Options::default())?;
//! println!("{} paths, {} findings", run.totals.paths, run.findings.len());
//! # anyhow::Ok(())
//! ```
//!
//! Reading order: [`plan`], [`worker`] and [`recorder`], [`report`], [`collector`], [`workers`] (one or several, and jobs), [`target`] (from a target to a
//! linked program), [`results`] and [`folder`] (what is found, and where it is kept). The library prints nothing; it reads clocks for the limits of a run and
//! the environment for the tools it starts.

pub mod allocator;
pub mod beneath;
pub mod budget;
pub mod build;
pub mod cache;
pub mod carried;
pub mod child;
pub mod collector;
pub mod compile;
pub mod concrete;
pub mod coverage;
pub mod data;
pub mod decided;
pub mod disk;
pub mod export;
pub mod facts;
pub mod folder;
pub mod goals;
pub mod halt;
pub mod heap;
pub mod host;
pub mod kept;
pub mod known;
pub mod left;
pub mod machine;
pub mod names;
pub mod notice;
pub mod objects;
pub mod options;
pub mod overflow;
pub mod path_tree;
pub mod plan;
pub mod problem;
pub mod program;
pub mod recorder;
pub mod report;
pub mod results;
pub mod rules;
pub mod rust;
pub mod scope;
pub mod scratch;
pub mod seal;
pub mod seeds;
pub mod several;
pub mod signal;
pub mod source;
pub mod sym_calls;
pub mod sym_file;
pub mod symbolic;
pub mod target;
pub mod timed;
pub mod usage;
pub mod way;
pub mod worker;
pub mod workers;

mod session;

pub use overflow::Overflow;
pub use plan::{Emit, Plan};
pub use session::{Options, explore};
