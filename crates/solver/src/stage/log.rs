//! Log: every query as an SMT-LIB 2 script, if a writer is given. Never answers.
//!
//! What cannot be written is dropped with the writer: a full disk must not end the exploration.
use wryneck_expr::Pool;
use wryneck_expr::print::smtlib;

use crate::answer::Answer;
use crate::query::Query;
use crate::solver::Solver;

pub(crate) fn run(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    let log = solver.log.as_mut()?;
    let mut assertions = query.pc.constraints();
    assertions.push(query.cond);
    let text = format!("; query {}\n{}(reset)\n", solver.stats.queries, smtlib::query(pool, &assertions));
    if log.write_all(text.as_bytes()).is_err() {
        solver.log = None;
    }
    None
}
