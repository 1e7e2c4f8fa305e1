//! What can be asked beyond one condition: must it hold, and which values can an expression have at least and at most.
//!
//! Technique: binary search between a bound known from the expression's interval and the value under a model, each step one query, each
//! satisfiable answer moving the end to the value its model gives. An expression over one independent byte is
//! read off a table instead, the values of one over two bytes are searched once, and what is left of a hash by its bits alone is asked first.
//! The value under the model is often the only one, so whether there is a better one is asked before the values between are halved.
//! Bounds are exact, so they do not depend on models or caches. Each query halves the values between, so there are at most two per bit; a
//! model that does not satisfy what was asked ends the search as [`Why::BrokenModel`], and the caller's stop ends it between queries.
use wryneck_expr::{ExprId, Model, Pool};

use crate::answer::{Answer, Why};
use crate::budget::Budget;
use crate::path::PathCondition;
use crate::query::Query;
use crate::solver::Solver;
use crate::stage::{abstraction, independence, search};
use crate::tables::Tables;

/// Which end of the range.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Min,
    Max,
}

/// A binary search for one end of a number's range.
pub(crate) struct Halving {
    pub(crate) end: End,
    /// No value is beyond it.
    pub(crate) bound: u64,
    /// A value.
    pub(crate) best: u64,
}

impl Halving {
    pub(crate) fn is_done(&self) -> bool {
        self.bound == self.best
    }

    /// Is the number `e` as good as `probe`, or better?
    pub(crate) fn asks(&self, pool: &mut Pool, e: ExprId, probe: u64) -> ExprId {
        let limit = pool.bits(pool.width(e), probe);
        match self.end {
            End::Min => pool.ule(e, limit),
            End::Max => pool.ule(limit, e),
        }
    }

    /// `value` is as good as `probe`. False: it is not, or it is beyond the bound, so the model that gave it is broken.
    pub(crate) fn found(&mut self, value: u64, probe: u64) -> bool {
        self.best = value;
        match self.end {
            End::Min => self.bound <= value && value <= probe,
            End::Max => probe <= value && value <= self.bound,
        }
    }

    /// No value is as good as `probe`. False: `best` is, so its model is broken.
    pub(crate) fn refuted(&mut self, probe: u64) -> bool {
        if probe == self.best {
            return false;
        }
        self.bound = match self.end {
            End::Min => probe + 1,
            End::Max => probe - 1,
        };
        true
    }

    /// What to ask next: the value in the middle.
    pub(crate) fn middle(&self) -> u64 {
        match self.end {
            End::Min => self.bound + (self.best - self.bound) / 2,
            End::Max => self.bound - (self.bound - self.best) / 2,
        }
    }

    /// The value that is just better than the best one; while there is room for one.
    fn next(&self) -> u64 {
        match self.end {
            End::Min => self.best - 1,
            End::Max => self.best + 1,
        }
    }
}

impl Solver {
    /// Does `cond` (1 bit) hold under every model of the path condition?
    pub fn must_hold(&mut self, pool: &mut Pool, pc: &PathCondition, cond: ExprId, base: &Model, budget: &Budget) -> Result<bool, Why> {
        if let Some(value) = self.quick(pool, pc, cond) {
            return Ok(value);
        }
        let negation = pool.not(cond);
        match self.check(pool, pc, negation, base, budget) {
            Answer::Sat(_) => Ok(false),
            Answer::Unsat(_) => Ok(true),
            Answer::Unknown(why) => Err(why),
        }
    }

    /// The smallest unsigned value of `e` (at most 64 bits) on this path, and a model that gives it; the budget is for each query.
    pub fn min_value(
        &mut self,
        pool: &mut Pool,
        pc: &PathCondition,
        e: ExprId,
        base: &Model,
        budget: &Budget,
    ) -> Result<(u64, Model), Why> {
        self.end(pool, pc, e, base, budget, End::Min)
    }

    /// The largest unsigned value of `e`; as [`min_value`](Self::min_value).
    pub fn max_value(
        &mut self,
        pool: &mut Pool,
        pc: &PathCondition,
        e: ExprId,
        base: &Model,
        budget: &Budget,
    ) -> Result<(u64, Model), Why> {
        self.end(pool, pc, e, base, budget, End::Max)
    }

    /// Smallest and largest unsigned value of `e`; not every value between need be possible.
    pub fn range(&mut self, pool: &mut Pool, pc: &PathCondition, e: ExprId, base: &Model, budget: &Budget) -> Result<(u64, u64), Why> {
        let (min, _) = self.min_value(pool, pc, e, base, budget)?;
        let (max, _) = self.max_value(pool, pc, e, base, budget)?;
        Ok((min, max))
    }

    fn end(
        &mut self,
        pool: &mut Pool,
        pc: &PathCondition,
        e: ExprId,
        base: &Model,
        budget: &Budget,
        end: End,
    ) -> Result<(u64, Model), Why> {
        if pool.width(e) > 64 {
            return Err(Why::TooWide);
        }
        if self.config.byte_domain
            && let Some(found) = self.end_by_table(pool, pc, e, base, end)
        {
            return Ok(found);
        }
        let width = pool.width(e);
        let (lo, hi) = pool.interval(e);
        let best = self.evaluator.eval(pool, e, base);
        let mut model = base.clone();
        if !(lo..=hi).contains(&best) {
            return Err(Why::BrokenModel);
        }
        let bound = if end == End::Min { lo } else { hi };
        let mut halving = Halving { end, bound, best };
        let number = if self.config.substitution { self.replaced.form(pool, pc, e) } else { e };
        let is_searched = self.config.search && search::may_have_best(pool, number);
        if self.config.abstraction && !is_searched && !budget.again {
            self.abstract_hashes(pool, Query::new(pc, number, base, budget), &mut halving);
        }
        // The bound itself is tried first: it is the answer more often than anything between.
        let mut probe = halving.bound;
        for step in 0..=2 * width + 2 {
            if halving.is_done() {
                return Ok((halving.best, model));
            }
            if step == 1
                && is_searched
                && let Some(found) = self.end_by_search(pool, Query::new(pc, number, &model, budget), end)
            {
                return Ok(found);
            }
            if budget.stop.asked() {
                return Err(Why::Stopped);
            }
            let cond = halving.asks(pool, e, probe);
            let kept = match self.check(pool, pc, cond, &model, budget) {
                Answer::Sat(found) => {
                    let value = self.evaluator.eval(pool, e, &found);
                    model = found;
                    halving.found(value, probe)
                }
                Answer::Unsat(_) => halving.refuted(probe),
                Answer::Unknown(why) => return Err(why),
            };
            if !kept {
                return Err(Why::BrokenModel);
            }
            probe = if step == 0 && !halving.is_done() { halving.next() } else { halving.middle() };
        }
        Err(Why::BrokenModel)
    }

    /// For a number made of hashes: moves the bound to what is left whatever the hashes are.
    fn abstract_hashes(&mut self, pool: &mut Pool, mut query: Query<'_>, halving: &mut Halving) {
        if query.costly(pool).hash {
            independence::run(self, pool, &mut query);
            abstraction::bound(self, pool, &query, halving);
        }
    }

    /// For a number over few bytes: the best of its values under all models of what constrains them.
    fn end_by_search(&mut self, pool: &mut Pool, mut query: Query<'_>, end: End) -> Option<(u64, Model)> {
        independence::run(self, pool, &mut query);
        let better = match end {
            End::Min => |a, b| a < b,
            End::Max => |a, b| a > b,
        };
        search::best(self, pool, &query, better)
    }

    /// For an expression over one byte that no constraint links to other symbols: the best of its values over the byte's domain.
    fn end_by_table(&mut self, pool: &Pool, pc: &PathCondition, e: ExprId, base: &Model, end: End) -> Option<(u64, Model)> {
        let symbol = Tables::byte_symbol(pool, e)?;
        if pc.group_of(symbol).is_some_and(|group| group.symbols.len() > 1) {
            return None;
        }
        let domain = pc.domain(symbol).unwrap_or(crate::domain::Domain::full(pool.sym_info(symbol).width));
        let values = self.tables.values(pool, e, symbol);
        let value_of = |&at: &u8| values[usize::from(at)];
        let at = match end {
            End::Min => domain.iter().min_by_key(value_of),
            End::Max => domain.iter().max_by_key(value_of),
        }?;
        Some((value_of(&at), base.with(&[(symbol, u64::from(at))])))
    }
}
