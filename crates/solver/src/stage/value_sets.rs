//! Value sets: conditions that no values of the bytes' domains make true, tables included ([`crate::values`]).
//!
//! Only refutes: the sets ignore relations between bytes. The core is what the domains are made of.
use wryneck_expr::Pool;

use crate::answer::Answer;
use crate::query::Query;
use crate::solver::Solver;
use crate::stage::known_bits;
use crate::values;

pub(crate) fn run(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    // One byte alone has been decided by its domain.
    if solver.config.byte_domain && pool.support(query.goal).len() <= 1 || !solver.credits.value_sets.is_due() {
        return None;
    }
    let (is_refuted, work) = values::refuted(pool, query.pc, &mut solver.tables, query.goal);
    solver.credits.value_sets.note(is_refuted, work);
    if !is_refuted {
        return None;
    }
    let used = known_bits::alone(pool, query);
    Some(query.unsat(pool, used))
}
