//! Sweeps: the value of an expression for all 256 values of one symbol, node by node over vectors of 256 values.
//!
//! One pass over the nodes replaces 256 evaluations; it decides a condition on one input byte without a solver.

use crate::eval::Evaluator;
use crate::model::Model;
use crate::node::{ExprId, SymId};
use crate::pool::Pool;

/// Working memory of sweeps.
#[derive(Default)]
pub struct Sweep {
    evaluator: Evaluator,
}

impl Sweep {
    pub fn new() -> Sweep {
        Sweep::default()
    }

    /// The truth table of a 1-bit expression over the values of `sym` (at most 8 bits; beyond its width the table repeats),
    /// bit `v % 64` of word `v / 64` for value `v`. Every other symbol is 0.
    pub fn sweep(&mut self, pool: &Pool, e: ExprId, sym: SymId) -> [u64; 4] {
        let mut table = [0; 4];
        for (v, value) in self.sweep_values(pool, e, sym).into_iter().enumerate() {
            table[v / 64] |= (value & 1) << (v % 64);
        }
        table
    }

    /// The values of an expression of at most 64 bits over the values of `sym`, as [`sweep`](Self::sweep).
    pub fn sweep_values(&mut self, pool: &Pool, e: ExprId, sym: SymId) -> [u64; 256] {
        std::array::from_fn(|v| self.evaluator.eval(pool, e, &Model::empty().with(&[(sym, v as u64)])))
    }

    pub fn clear(&mut self) {
        *self = Sweep::default();
    }
}
