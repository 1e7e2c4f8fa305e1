//! Backend: what no stage decided goes to a decision procedure (`backend/`), by default bit-blasting and CaDiCaL.
use wryneck_expr::{Pool, SymId};

use crate::answer::Answer;
use crate::backend::Verdict;
use crate::query::Query;
use crate::solver::Solver;

pub(crate) fn run(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    let verdict = solver.backend.check(pool, &query.assertions(), query.budget);
    let effort = solver.backend.effort();
    solver.stats.solver_calls = effort.calls;
    solver.stats.conflicts = effort.conflicts;
    solver.stats.gates = effort.gates;
    solver.stats.restarts = effort.restarts;
    Some(match verdict {
        Verdict::Sat(values) => {
            let relevant = |&(symbol, _): &(SymId, u64)| query.symbols.binary_search(&symbol).is_ok();
            let values: Vec<_> = values.into_iter().filter(relevant).collect();
            query.sat(&values)
        }
        // Assertion 0 is the goal; the slice follows.
        Verdict::Unsat(used) => query.unsat(pool, used.into_iter().filter_map(|at| query.slice.get(at.checked_sub(1)?).copied())),
        Verdict::Unknown(why) => Answer::Unknown(why),
    })
}
