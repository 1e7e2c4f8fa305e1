//! Rules: what a program must do beyond correct memory accesses, as automata over its calls (paper 1, sections 4 and 6).
//!
//! A rule is a [`Checker`]. Most rules are automata ([`automaton`]) read from files ([`rule_file`]; [`rule`] and [`terms`] define their
//! words). The files in `rules/` are built in ([`builtin`]). [`monitor`] runs any number of rules along each path. [`flow`] is the static
//! analysis that pruning uses. The crate has no library function by name in its code: names come from rules and summaries.

pub mod automaton;
pub mod builtin;
pub mod checker;
mod explain;
pub mod flow;
mod looked_at;
mod machine_code;
pub mod monitor;
pub mod names;
mod operand;
pub mod rule;
pub mod rule_file;
pub mod sequence;
pub mod slice;
mod terms;
pub mod unchecked;

pub use checker::Checker;
pub use machine_code::MachineSlicer;
pub use monitor::{AtExit, Automata, Observed, Policy, Violation};
pub use rule::Rule;
pub use rule_file::Mistake;
pub use sequence::Sequence;
pub use slice::Slicer;
