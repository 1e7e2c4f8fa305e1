//! Enumeration: when one or two small symbols are left, with few values each, try every combination.
//!
//! Exact. The base model's neighbours come first only by value order, so the answer depends on the query alone. Cost: at most
//! [`most_combinations`](crate::Config::most_combinations) evaluations, of [`MOST_WORK`] nodes in all: for more, a search by sweeps is faster.
use wryneck_expr::{Pool, SymId};

use crate::answer::Answer;
use crate::domain::Domain;
use crate::query::Query;
use crate::solver::Solver;
use crate::stage::costly;

/// Nodes evaluated.
const MOST_WORK: usize = 4_000_000;

pub(crate) fn run(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    let (first, second) = match query.symbols[..] {
        [only] => (only, None),
        [first, second] => (first, Some(second)),
        _ => return None,
    };
    let firsts = values_left(solver, pool, query, first)?;
    let seconds = match second {
        Some(second) => values_left(solver, pool, query, second)?,
        None => Domain::full(1),
    };
    let combinations = firsts.count().saturating_mul(seconds.count());
    if combinations > solver.config.most_combinations {
        return None;
    }
    let linking: Vec<_> = query.assertions().into_iter().filter(|&form| second.is_some() && pool.support(form).len() > 1).collect();
    if solver.config.search && costly::work(pool, &linking).saturating_mul(combinations as usize) > MOST_WORK {
        return None;
    }
    for a in firsts.iter() {
        for b in seconds.iter() {
            let mut values = vec![(first, u64::from(a))];
            values.extend(second.map(|second| (second, u64::from(b))));
            let model = query.base.with(&values);
            if linking.iter().all(|&form| solver.evaluator.holds(pool, form, &model)) {
                return Some(Answer::Sat(model));
            }
        }
    }
    let all = query.slice.clone();
    Some(query.unsat(pool, all))
}

/// The values that the goal and the slice leave a symbol, each read alone; `None` if it has more than 8 bits.
fn values_left(solver: &mut Solver, pool: &Pool, query: &Query<'_>, symbol: SymId) -> Option<Domain> {
    let width = pool.sym_info(symbol).width;
    if width > 8 {
        return None;
    }
    let alone = query.assertions().into_iter().filter(|&form| pool.support(form) == [symbol]);
    Some(alone.fold(Domain::full(width), |left, form| left.and(solver.tables.get(pool, form, symbol))))
}
