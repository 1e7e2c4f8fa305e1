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
        let mut bound = match end {
            End::Min => lo,
            End::Max => hi,
        };
        let mut best = self.evaluator.eval(pool, e, base);
        let mut model = base.clone();
        if !(lo..=hi).contains(&best) {
            return Err(Why::BrokenModel);
        }
        let given = bound;
        if best != bound && self.config.abstraction && !budget.again {
            bound = self.bound_by_abstraction(pool, Query::new(pc, e, base, budget), bound, best, end);
        }
        // Whether the bound of an interval is a value is told cheaply; a bound without the hashes is not refuted cheaply.
        let search_at = u32::from(bound == given);
        // The bound itself is tried first: it is the answer more often than anything between.
        let mut probe = bound;
        for step in 0..=2 * width + 2 {
            if best == bound {
                return Ok((best, model));
            }
            if step == search_at
                && self.config.search
                && let Some(found) = self.end_by_search(pool, Query::new(pc, e, &model, budget), end)
            {
                return Ok(found);
            }
            if budget.stop.asked() {
                return Err(Why::Stopped);
            }
            let limit = pool.bits(width, probe);
            let cond = match end {
                End::Min => pool.ule(e, limit),
                End::Max => pool.ule(limit, e),
            };
            match self.check(pool, pc, cond, &model, budget) {
                Answer::Sat(found) => {
                    best = self.evaluator.eval(pool, e, &found);
                    model = found;
                    let kept = match end {
                        End::Min => bound <= best && best <= probe,
                        End::Max => probe <= best && best <= bound,
                    };
                    if !kept {
                        return Err(Why::BrokenModel);
                    }
                }
                // The model given satisfies the path condition, but its value is out of bounds: it does not.
                Answer::Unsat(_) if probe == best => return Err(Why::BrokenModel),
                Answer::Unsat(_) => {
                    bound = match end {
                        End::Min => probe + 1,
                        End::Max => probe - 1,
                    }
                }
                Answer::Unknown(why) => return Err(why),
            }
            probe = match end {
                _ if bound == best => best,
                End::Min if step == 0 => best - 1,
                End::Max if step == 0 => best + 1,
                End::Min => bound + (best - bound) / 2,
                End::Max => bound - (bound - best) / 2,
            };
        }
        Err(Why::BrokenModel)
    }

    /// For a number made of hashes: what is left of its range, which ends at `best`, whatever the hashes are; or `bound` itself.
    fn bound_by_abstraction(&mut self, pool: &mut Pool, mut query: Query<'_>, bound: u64, best: u64, end: End) -> u64 {
        if self.config.substitution {
            query.goal = self.replaced.form(pool, query.pc, query.goal);
        }
        independence::run(self, pool, &mut query);
        abstraction::bound(self, pool, &query, bound, best, end).unwrap_or(bound)
    }

    /// For a query whose goal is a number over few bytes: the best of its values under all models of what constrains them.
    fn end_by_search(&mut self, pool: &mut Pool, mut query: Query<'_>, end: End) -> Option<(u64, Model)> {
        if self.config.substitution {
            query.goal = self.replaced.form(pool, query.pc, query.goal);
        }
        if !search::may_have_best(pool, query.goal) {
            return None;
        }
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
