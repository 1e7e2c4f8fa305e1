//! The engine: explores the paths of a program (docs/design/001 to 006).
//!
//! Suggested reading order: [`state`] (a path in progress), [`prefix`] (its decisions), [`cx`] (deciding: the only place that forks),
//! [`step`] (running operations), [`engine`] (the exploration), [`search`], [`memory`], [`image`] and [`code`] (the prepared program),
//! [`plugin`] (the traits of plug-ins). The crate has no rule, library function or file format, and reads no clock.

pub mod again;
mod audit;
pub mod chain;
pub mod classify;
pub mod code;
pub mod config;
pub mod core;
pub mod cx;
pub mod digest;
pub mod engine;
mod exposed;
pub mod goals;
pub mod heap_calls;
pub mod image;
pub mod job;
mod lazy;
pub mod leaks;
pub mod memory;
pub mod path_end;
pub mod plugin;
pub mod prefix;
pub mod pruning;
pub mod recorder;
mod scratch;
pub mod search;
mod seed;
pub mod sharing;
pub mod stacks;
pub mod state;
pub mod step;
pub mod subsume;
pub mod survived;
pub mod tree;
mod unwritten;
pub mod variables;

pub use again::Decided;
pub use config::{Audit, Config};
pub use core::{Core, Ended, Ledger, LedgerKind, Stats};
pub use cx::Cx;
pub use engine::{Control, Explorer, Left, Outcome, Rest, SeedEnd};
pub use image::{CodePos, Does, Image, SourcePos};
pub use job::{Deferral, Deferred, Job};
pub use leaks::Leak;
pub use path_end::{Fault, FaultKind, Limit, PathEnd};
pub use plugin::{Begun, Call, Continuations, Environment, Premises, Pruner, Reply, Stop, Subsumer, Traced, Value, Wanted};
pub use pruning::Pruning;
pub use recorder::{Step, Trace, TracedCall};
pub use state::{AnyData, Input, PathData, State};
pub use step::landing::Token;
