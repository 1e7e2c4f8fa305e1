//! Systems rules: what a program must do beyond using memory rightly, as automata over its calls (paper 1, sections 4 and 6).
//!
//! A rule ([`rule`]) is read from a file ([`rule_file`]); those in `rules/` are built in ([`builtin`]). [`monitor`] runs the automata of any number of
//! rules along every path. [`flow`] says what a program may do beside a path, which is what prunes the others. Knows no libc function by itself: names are the rules'.

pub mod builtin;
pub mod flow;
pub mod monitor;
pub mod rule;
pub mod rule_file;
pub mod sequence;
pub mod slice;

pub use monitor::{Automata, Observed, Violation};
pub use rule::Rule;
pub use rule_file::Mistake;
pub use sequence::Sequence;
pub use slice::Slicer;
