//! The first path follows a given input: a state starts with that model (docs/design/001), and what the path concretises gets the input's value.
//!
//! A concretisation takes the smallest value otherwise. With a seed it first decides whether the value is the seed's, so the path of
//! the seed is run first and the other values are its flip. The seed never changes for a symbol that it has, so decisions stay replayable.

use std::rc::Rc;

use wryneck_expr::{ExprId, Pool, SymId};

use crate::core::{Core, Ended};
use crate::cx::Cx;
use crate::plugin::Stop;

fn values(pool: &mut Pool, name: &str, bytes: &[u8]) -> Vec<(SymId, u64)> {
    (0..).zip(bytes).map(|(i, byte)| (pool.symbol(name, i, 8), u64::from(*byte))).collect()
}

impl Core {
    /// The seed's bytes of an input.
    pub(crate) fn add_seed(&mut self, name: &str, bytes: &[u8]) {
        let values = values(&mut self.pool, name, bytes);
        self.seed = self.seed.as_ref().map(|seed| seed.with(&values));
    }

    /// Whether a path that ended is the seed's. Asks no solver.
    pub fn follows_seed(&mut self, ended: &Ended) -> bool {
        let Some(seed) = self.seed.clone() else { return false };
        ended.path.constraints().into_iter().all(|cond| self.eval.holds(&self.pool, cond, &seed))
    }
}

impl Cx<'_> {
    /// The seed's value of an expression, if there is a seed and the path takes that value, which is decided here.
    pub(crate) fn seeded(&mut self, e: ExprId) -> Result<Option<u64>, Stop> {
        let Some(seed) = self.core.seed.clone() else { return Ok(None) };
        let value = self.core.eval.eval(&self.core.pool, e, &seed);
        let known = self.core.pool.bits(self.core.pool.width(e), value);
        let is = self.core.pool.eq(e, known);
        Ok(self.decide(is)?.then_some(value))
    }

    /// As [`Cx::seeded`], of a string: its bytes up to the first zero.
    pub fn seeded_string(&mut self, bytes: &[ExprId]) -> Result<Option<Vec<u8>>, Stop> {
        let Some(seed) = self.core.seed.clone() else { return Ok(None) };
        let (mut name, mut same) = (Vec::new(), ExprId::TRUE);
        for &byte in bytes {
            let value = self.core.eval.eval(&self.core.pool, byte, &seed);
            let known = self.core.pool.bits(8, value);
            let is = self.core.pool.eq(byte, known);
            same = self.core.pool.and(same, is);
            if value == 0 {
                break;
            }
            name.push(value as u8);
        }
        Ok(self.decide(same)?.then_some(name))
    }

    /// New symbolic input whose bytes the seed has. A path that decides for itself takes them; one that is run again has its model.
    pub fn seeded_input(&mut self, name: &str, bytes: &[u8]) -> Vec<ExprId> {
        let symbols = self.new_input(name, bytes.len() as u64);
        let Some(name) = self.state.inputs.iter().last().map(|input| Rc::clone(&input.name)) else { return symbols };
        self.core.add_seed(&name, bytes);
        if self.state.script.is_empty() {
            let values = values(&mut self.core.pool, &name, bytes);
            self.state.model = self.state.model.with(&values);
        }
        symbols
    }
}
