//! The floor of relevance: which flips are explored at all (docs/design/010).

pub(crate) mod audit;
pub mod classify;
pub mod pruner;
pub mod pruning;
pub mod subsume;
