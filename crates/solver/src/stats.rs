//! What a solver has done. Time is not measured here: the caller owns the clock.

use crate::chain::CHAIN;

/// Counts since the solver was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Calls of `quick`, and how many it decided.
    pub quick: u64,
    pub quick_decided: u64,
    /// Calls of `check`, those made by the helpers included.
    pub queries: u64,
    pub sat: u64,
    pub unsat: u64,
    pub unknown: u64,
    /// Queries answered, by position in the chain.
    pub answered: Vec<u64>,
    /// Calls of the backend's solver, its conflicts, and the gates made for it.
    pub solver_calls: u64,
    pub conflicts: u64,
    pub gates: u64,
    /// Gates that were given clauses, once for each instance of the SAT solver.
    pub clauses: u64,
    /// Literals that the SAT solver propagated: what its time goes into.
    pub propagations: u64,
    /// How often the and-inverter graph started afresh.
    pub restarts: u64,
}

impl Default for Stats {
    fn default() -> Stats {
        Stats {
            quick: 0,
            quick_decided: 0,
            queries: 0,
            sat: 0,
            unsat: 0,
            unknown: 0,
            answered: vec![0; CHAIN.len()],
            solver_calls: 0,
            conflicts: 0,
            gates: 0,
            clauses: 0,
            propagations: 0,
            restarts: 0,
        }
    }
}

impl Stats {
    /// Stages and how many queries each answered, in the order they are asked.
    pub fn by_stage(&self) -> impl Iterator<Item = (&'static str, u64)> {
        CHAIN.iter().map(|stage| stage.name).zip(self.answered.iter().copied())
    }
}
