//! Systems rules: what a program must do beyond using memory rightly, as automata over its calls (paper 1, sections 4 and 6).
//!
//! A rule is a [`Checker`]. Most are automata ([`automaton`]) read from files ([`rule_file`], whose words are in [`rule`] and [`terms`]); those in `rules/`
//! are built in ([`builtin`]). [`monitor`] runs any number of rules along every path. [`flow`] says what a program may do beside a path, which
//! is what prunes the others. Knows no libc function by itself: names are the rules'.

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
