//! Constant: conditions that are a constant, that the base model satisfies as it is, or whose negation is a constraint.
//!
//! Cost: one evaluation, usually of nodes the caller has just evaluated under the same model.
use wryneck_expr::{ExprId, Pool};

use crate::answer::{Answer, Core};
use crate::query::Query;
use crate::solver::Solver;

pub(crate) fn run(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    if query.cond == ExprId::FALSE {
        return Some(Answer::Unsat(Core::default()));
    }
    if solver.evaluator.holds(pool, query.cond, query.base) {
        return Some(Answer::Sat(query.base.clone()));
    }
    if pool.support(query.cond).is_empty() {
        return Some(Answer::Unsat(Core::default())); // A constant that no law folded.
    }
    let negation = pool.not(query.cond);
    let index = query.pc.index_of(pool, negation)?;
    Some(Answer::Unsat(Core(vec![index])))
}
