//! The store of verified paths (paper 4, Bipath): which inputs of a program take a path whose end is known.
//!
//! Path conditions share prefixes, so the store is a decision tree: a [`Tree`] in memory, where it grows, and a [`View`] of a mapped file,
//! where it is looked up by concrete evaluation ([`lookup`]). A step of the tree is a condition on input bytes
//! ([`wryneck_expr::form`]) or a fact: a question about the world and the answer that the path was verified with. This crate knows neither engine nor
//! questions: who looks up gives a [`World`] that answers.
//!
//! Reading order: [`tree`], [`file`], [`lookup`], [`store`].
//!
//! Invariant: a verdict is given only where every step from the root to it holds. What cannot be evaluated or answered does not hold.

pub mod file;
pub mod lookup;
mod map;
pub mod store;
pub mod tree;

pub use file::{Damaged, View};
pub use lookup::{Answer, Given, Order, World, find, obstacle};
pub use store::{Loaded, Store, StoreError};
pub use tree::{Step, Tree, Verdict};
