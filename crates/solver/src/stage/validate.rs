//! Validation: every model is evaluated on the whole path condition and the condition before it is answered.
//!
//! Always in debug builds, in release builds if asked for. A model that fails is a bug of this crate: the message names the query. Cost:
//! one evaluation of everything, which is why it can be left out.
use wryneck_expr::Pool;

use crate::answer::Answer;
use crate::query::Query;
use crate::solver::Solver;

pub(crate) fn run(solver: &mut Solver, pool: &Pool, query: &Query<'_>, answer: &Answer) {
    if !(cfg!(debug_assertions) || solver.config.validate) {
        return;
    }
    let Answer::Sat(model) = answer else { return };
    let everything = query.pc.constraints().into_iter().chain([query.cond]);
    for e in everything {
        assert!(
            solver.evaluator.holds(pool, e, model),
            "the model answered does not satisfy {e:?} of the query {:?} under {:?}",
            query.cond,
            query.pc
        );
    }
}
