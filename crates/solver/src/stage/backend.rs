//! Backend: what no stage decided goes to a decision procedure (`backend/`), by default bit-blasting and CaDiCaL.
use wryneck_expr::{Pool, SymId};

use crate::answer::{Answer, Why};
use crate::backend::Verdict;
use crate::budget::Budget;
use crate::query::Query;
use crate::solver::Solver;

/// Conflicts after which a query over few bytes is searched first.
const SHORT: u64 = 100;

pub(crate) fn run(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    if query.too_large {
        // Its gates would be made again to find the same.
        return Some(Answer::Unknown(Why::Cone));
    }
    Some(ask(solver, pool, query, query.budget))
}

/// A short search: what it does not decide is left to the next stage.
pub(crate) fn short(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    let short = Budget { conflicts: query.budget.conflicts.min(SHORT), ..query.budget.clone() };
    match ask(solver, pool, query, &short) {
        Answer::Unknown(why @ (Why::Conflicts | Why::Cone)) => {
            query.too_large = why == Why::Cone;
            None
        }
        answer => Some(answer),
    }
}

fn ask(solver: &mut Solver, pool: &Pool, query: &Query<'_>, budget: &Budget) -> Answer {
    let verdict = solver.backend.check(pool, &query.assertions(), budget);
    let effort = solver.backend.effort();
    solver.stats.solver_calls = effort.calls;
    solver.stats.conflicts = effort.conflicts;
    solver.stats.gates = effort.gates;
    solver.stats.clauses = effort.clauses;
    solver.stats.propagations = effort.propagations;
    solver.stats.restarts = effort.restarts;
    match verdict {
        Verdict::Sat(values) => {
            let relevant = |&(symbol, _): &(SymId, u64)| query.symbols.binary_search(&symbol).is_ok();
            let values: Vec<_> = values.into_iter().filter(relevant).collect();
            query.sat(&values)
        }
        // Assertion 0 is the goal; the slice follows.
        Verdict::Unsat(used) => query.unsat(pool, used.into_iter().filter_map(|at| query.slice.get(at.checked_sub(1)?).copied())),
        Verdict::Unknown(why) => Answer::Unknown(why),
    }
}
