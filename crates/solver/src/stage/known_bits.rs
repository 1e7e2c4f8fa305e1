//! Known bits and intervals: conditions that these facts, kept with every expression, decide under all models.
//!
//! Cost: two loads; the facts were computed when the expression was made.
use wryneck_expr::{ExprId, Pool};

use crate::answer::Answer;
use crate::query::Query;
use crate::solver::Solver;

pub(crate) fn run(_: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    match decided(pool, query.goal)? {
        true => Some(Answer::Sat(query.base.clone())),
        false => Some(query.unsat(pool, [])),
    }
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
