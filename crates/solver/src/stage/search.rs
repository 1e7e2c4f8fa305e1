//! Search: every combination of a few bytes, where the constraints are costly for the SAT solver.
//!
//! Hashes, products and floating point make circuits on which the SAT solver learns little; their bytes often have few values each. The
//! symbols get values one after the other. A constraint cuts the values of the last of its symbols by one sweep over all 256, so the last
//! symbol costs one sweep, not a loop (chronological backtracking). Exact. The core is what cut a value: the goal, and the constraints
//! that cut what was left.
//! Cost: at most [`MOST_WORK`] vectors of 256 values; a query that needs more is left to the next stage.
use wryneck_expr::{ExprId, Model, Pool, SymId};

use crate::answer::Answer;
use crate::domain::Domain;
use crate::query::Query;
use crate::solver::Solver;
use crate::stage::costly::{self, Costly};

/// Symbols that may get values.
const MOST_SYMBOLS: usize = 8;
/// Vectors that may be computed; one takes about a tenth of a microsecond.
const MOST_WORK: usize = 40_000;
/// As many for the goal alone, if every combination came as far as it.
const MOST_HOPED: usize = 200_000;

/// A constraint that decides at the last of its symbols.
struct Check {
    form: ExprId,
    /// Its place in the slice; `None`: the goal.
    item: Option<usize>,
    work: usize,
}

struct Search<'a> {
    pool: &'a Pool,
    /// The symbols in the order in which they get values, each with the constraints that are decided then.
    levels: Vec<(SymId, Vec<Check>)>,
    /// By place in the slice: has it cut a value?
    used: Vec<bool>,
    work: usize,
}

/// The work is spent.
struct Spent;

pub(crate) fn run(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    let is_byte = |symbol: &SymId| pool.sym_info(*symbol).width <= 8;
    if query.symbols.len() > MOST_SYMBOLS || !query.symbols.iter().all(is_byte) {
        return None;
    }
    let assertions = query.assertions();
    let costly = Costly::of(pool, &assertions);
    if !costly.hash && !costly.float {
        return None;
    }
    let levels = levels(solver, pool, query, &assertions)?;
    let mut search = Search { pool, levels, used: vec![false; query.slice.len()], work: 0 };
    match search.descend(solver, 0, query.base) {
        Ok(Some(model)) => Some(Answer::Sat(model)),
        Ok(None) => {
            let used: Vec<_> = query.slice.iter().zip(&search.used).filter(|(_, used)| **used).map(|(item, _)| *item).collect();
            Some(query.unsat(pool, used))
        }
        Err(Spent) => None,
    }
}

/// The symbols by the number of values that constraints on them alone leave, fewest first: the last one is swept as a whole.
/// `None`: it looks like far too much work.
fn levels(solver: &mut Solver, pool: &Pool, query: &Query<'_>, assertions: &[ExprId]) -> Option<Vec<(SymId, Vec<Check>)>> {
    let mut order: Vec<(u32, SymId)> = Vec::new();
    for &symbol in &query.symbols {
        let alone = assertions.iter().filter(|&&form| pool.support(form) == [symbol]);
        let full = Domain::full(pool.sym_info(symbol).width);
        let left = alone.fold(full, |left, &form| left.and(solver.tables.get(pool, form, symbol)));
        order.push((left.count(), symbol));
    }
    order.sort_unstable();
    let prefixes = order.iter().rev().skip(1).try_fold(1_usize, |product, &(count, _)| product.checked_mul(count as usize))?;
    if prefixes.checked_mul(costly::work(pool, assertions[0]))? > MOST_HOPED {
        return None;
    }
    let mut levels: Vec<(SymId, Vec<Check>)> = order.into_iter().map(|(_, symbol)| (symbol, Vec::new())).collect();
    for (at, &form) in assertions.iter().enumerate() {
        let support = pool.support(form);
        if let Some(level) = levels.iter_mut().rev().find(|(symbol, _)| support.binary_search(symbol).is_ok()) {
            level.1.push(Check { form, item: at.checked_sub(1), work: costly::work(pool, form) });
        }
    }
    Some(levels)
}

impl Search<'_> {
    /// A model in which the symbols before `level` have the values of `model`. `None`: there is none.
    fn descend(&mut self, solver: &mut Solver, level: usize, model: &Model) -> Result<Option<Model>, Spent> {
        let Some((symbol, _)) = self.levels.get(level) else { return Ok(Some(model.clone())) };
        let symbol = *symbol;
        let left = self.values(solver, level, model)?;
        if level + 1 == self.levels.len() {
            return Ok(left.min().map(|value| model.with(&[(symbol, value.into())])));
        }
        for value in left.iter() {
            let found = self.descend(solver, level + 1, &model.with(&[(symbol, value.into())]))?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The values of a level's symbol that its constraints leave. What has cut values before comes first, so that the core stays small.
    fn values(&mut self, solver: &mut Solver, level: usize, model: &Model) -> Result<Domain, Spent> {
        let Search { pool, levels, used, work } = self;
        let (symbol, checks) = &levels[level];
        let mut left = Domain::full(pool.sym_info(*symbol).width);
        for again in [true, false] {
            for check in checks {
                let known = check.item.is_none_or(|item| used[item]);
                if left.is_empty() || known != again {
                    continue;
                }
                let table = if pool.support(check.form) == [*symbol] {
                    solver.tables.get(pool, check.form, *symbol)
                } else {
                    *work += check.work;
                    if *work > MOST_WORK {
                        return Err(Spent);
                    }
                    solver.tables.beside(pool, check.form, *symbol, model)
                };
                let cut = left.and(table);
                if let Some(item) = check.item {
                    used[item] |= cut != left;
                }
                left = cut;
            }
        }
        Ok(left)
    }
}
