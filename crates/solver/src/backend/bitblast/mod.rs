//! Bit-blasting: expressions become gates of an and-inverter graph, the gates a query needs become clauses, CaDiCaL decides.
//!
//! The graph is kept between queries, so an expression is translated once and equal functions share their gates; when it outgrows its bound it
//! starts afresh. See `aig`, `circuit`, `divide` for the gates, `blast` for the translation, `sat` for clauses and search.
use wryneck_expr::{ExprId, Pool, SymId};

use self::aig::{Aig, Lit};
use self::blast::Blaster;
use self::large::Large;
use self::meter::Meter;
use self::sat::{Outcome, Sat};
use super::{Backend, Effort, Verdict};
use crate::answer::Why;
use crate::budget::Budget;
use crate::config::Config;

mod aig;
mod blast;
mod circuit;
mod divide;
mod float;
mod float_number;
mod float_round;
#[cfg(test)]
mod float_tests;
mod large;
mod meter;
mod sat;

/// A query that makes so many times the gates that its cone may have is taken to have more.
const GATES_OF_CONE: u64 = 3;

pub(crate) struct Bitblast {
    aig: Aig,
    blaster: Blaster,
    sat: Sat,
    most_nodes: usize,
    large: Large,
    effort: Effort,
}

impl Bitblast {
    pub(crate) fn new(config: &Config) -> Bitblast {
        Bitblast {
            aig: Aig::new(),
            blaster: Blaster::default(),
            sat: Sat::new(),
            most_nodes: config.graph_nodes,
            large: Large::default(),
            effort: Effort::default(),
        }
    }

    /// The literals of assertions, the goal first, unless making them gives the verdict.
    fn build(&mut self, pool: &Pool, assertions: &[ExprId], budget: &Budget) -> Result<Vec<Lit>, Verdict> {
        // A query that alone outgrows the graph would not fit the memory that the graph's bound stands for.
        let nodes = budget.nodes.min(self.most_nodes as u64);
        let of_cone = budget.cone.saturating_mul(GATES_OF_CONE);
        let meter = Meter::new(&self.aig, nodes.min(of_cone), &budget.stop);
        let mut lits = Vec::with_capacity(assertions.len());
        for (at, &assertion) in assertions.iter().enumerate() {
            // A goal that is false as a gate is so, however many gates the slice has.
            if at == 1 && self.large.knows(assertions, budget.cone) {
                return Err(Verdict::Unknown(Why::Cone));
            }
            match self.blaster.bit(pool, &mut self.aig, assertion, &meter) {
                Ok(Lit::FALSE) => return Err(Verdict::Unsat(vec![at])),
                Ok(lit) => lits.push(lit),
                // What was built is kept, so another query may get further.
                Err(Why::Nodes) if of_cone < nodes => return Err(Verdict::Unknown(Why::Cone)),
                Err(why) => return Err(Verdict::Unknown(why)),
            }
        }
        Ok(lits)
    }

    fn values(&self, pool: &Pool, assertions: &[ExprId]) -> Vec<(SymId, u64)> {
        let mut symbols: Vec<SymId> = assertions.iter().flat_map(|&e| pool.support(e)).copied().collect();
        symbols.sort_unstable();
        symbols.dedup();
        let value = |bits: &[Lit]| {
            let set = |(i, bit): (usize, &Lit)| u64::from(self.sat.input_value(bit.node())) << i;
            bits.iter().enumerate().map(set).fold(0, |value, bit| value | bit)
        };
        symbols.into_iter().filter_map(|symbol| Some((symbol, value(self.blaster.symbol_bits(symbol)?)))).collect()
    }
}

impl Backend for Bitblast {
    fn check(&mut self, pool: &Pool, assertions: &[ExprId], budget: &Budget) -> Verdict {
        if self.aig.len() > self.most_nodes {
            self.forget();
            self.effort.restarts += 1;
        }
        let before = self.aig.len();
        let built = self.build(pool, assertions, budget);
        self.effort.gates += (self.aig.len() - before) as u64;
        let lits = match built {
            Ok(lits) => lits,
            Err(verdict) => return verdict,
        };
        // The slice, and the goal behind it.
        let (goal, slice) = lits.split_first().map_or((None, &[][..]), |(goal, slice)| (Some(*goal), slice));
        if let Some(at) = self.sat.first_beyond(&self.aig, slice.iter().copied().chain(goal), budget.cone) {
            match slice.get(at) {
                Some(&lit) if self.sat.first_beyond(&self.aig, [lit], budget.cone).is_none() => {
                    self.large.note_together(&assertions[1..at + 2], budget.cone);
                }
                Some(_) => self.large.note(assertions[at + 1], budget.cone),
                // The goal is another one in nearly every query.
                None => {}
            }
            return Verdict::Unknown(Why::Cone);
        }
        self.effort.calls += 1;
        match self.sat.solve(&self.aig, &lits, budget, &mut self.effort) {
            Outcome::Sat => Verdict::Sat(self.values(pool, assertions)),
            Outcome::Unsat(failed) => Verdict::Unsat((0..lits.len()).filter(|&at| failed.contains(&lits[at])).collect()),
            Outcome::Unknown(why) => Verdict::Unknown(why),
        }
    }

    fn forget(&mut self) {
        self.aig.clear();
        self.blaster = Blaster::default();
        self.sat = Sat::new();
        self.large = Large::default();
    }

    fn effort(&self) -> Effort {
        self.effort
    }

    fn memory(&self) -> usize {
        self.aig.memory() + self.blaster.memory() + self.sat.memory() + self.large.memory()
    }
}
