//! Known bits and ranges: conditions decided by facts about all models, or about the values the path's byte domains leave.
//!
//! The facts that hold on every path are kept with each expression: two loads. Those of this path are interval arithmetic over the goal
//! (`ranges`). The base satisfies the path condition and not the goal, so only a refutation is left to find.
use wryneck_expr::{ExprId, Pool};

use crate::answer::Answer;
use crate::query::{Item, Query};
use crate::ranges;
use crate::solver::Solver;

pub(crate) fn run(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    if decided(pool, query.goal) == Some(false) {
        return Some(query.unsat(pool, []));
    }
    // One byte alone is the next stage's, which is exact.
    if solver.config.byte_domain && pool.support(query.goal).len() <= 1 {
        return None;
    }
    if ranges::decided(pool, query.pc, query.goal) != Some(false) {
        return None;
    }
    let used = alone(pool, query);
    Some(query.unsat(pool, used))
}

/// The constraints that the domains of the goal's symbols are made of.
pub(super) fn alone(pool: &Pool, query: &Query<'_>) -> Vec<Item> {
    let mut used = Vec::new();
    for &symbol in pool.support(query.goal) {
        let group = query.pc.group_of(symbol).into_iter().flat_map(|group| group.iter());
        let alone = group.filter(|&(_, constraint)| pool.support(constraint) == [symbol]);
        used.extend(alone.map(|(index, form)| Item { index, form }));
    }
    used
}

/// The truth value a 1-bit expression has under every model, if its facts say so.
#[inline]
pub(crate) fn decided(pool: &Pool, cond: ExprId) -> Option<bool> {
    match (pool.known_bits(cond), pool.interval(cond)) {
        ((_, 1), _) | (_, (1, _)) => Some(true),
        ((1, _), _) | (_, (_, 0)) => Some(false),
        _ => None,
    }
}
