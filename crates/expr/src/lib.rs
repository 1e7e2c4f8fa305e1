//! Expressions: hash-consed bit-vector terms, their laws and their evaluator.
//!
//! The language is SMT-LIB's theory of fixed-size bit vectors (widths 1 to 65,536), byte arrays read at a symbolic index,
//! and two operators of our own: [`Op::PtrAdd`], which is addition that remembers the object a pointer came from, and [`Op::Float`].
//! A [`Pool`] owns the nodes; an [`ExprId`] is a number in it; structural equality is equality of ids.
//!
//! Reading order: [`node`] (operators, ids, the view [`Kind`]), [`pool`] (hash-consing), `build` (the constructors, the
//! only way to make a node), `simplify` (the laws), [`eval`] (what everything means), then the rest in any order.
//!
//! Invariants: children precede parents in a pool; a node of a simplifying pool is never changed by its own constructor;
//! simplification depends on structure alone, never on the order in which nodes were made. No engine is known here.
#![forbid(unsafe_code)]

mod build;
mod chosen;
mod compact;
mod derived;
pub mod eval;
mod facts;
pub mod float;
pub mod form;
pub mod model;
pub mod node;
pub mod pool;
pub mod print;
#[cfg(test)]
mod random;
#[cfg(test)]
mod random_float;
mod simplify;
pub mod subst;
mod support;
pub mod sweep;
#[cfg(test)]
mod tests;
pub mod visit;
pub mod wide;

pub use compact::{Remap, Roots};
pub use eval::Evaluator;
pub use float::FloatOp;
pub use model::Model;
pub use node::{ArrayId, ExprId, Kind, MAX_WIDTH, Op, Shape, SymId, Width};
pub use pool::{Pool, SymInfo};
pub use sweep::Sweep;
