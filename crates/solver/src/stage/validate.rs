//! Validation: every model is evaluated before it is answered, so that a wrong one is an answer of its own and never a wrong path.
//!
//! Always on the condition asked. In debug builds, and in release builds if asked for, on the whole path condition, too. A model that fails
//! is a bug of this crate, or the base model did not satisfy the path condition: the first such condition is kept
//! for the report ([`Solver::broken`]). Cost: one evaluation of the condition,
//! whose nodes a stage has mostly just evaluated; the evaluation of everything can be left out for its cost.
use wryneck_expr::Pool;
use wryneck_expr::print::human::human;

use crate::answer::{Answer, Why};
use crate::query::Query;
use crate::solver::Solver;

pub(crate) fn run(solver: &mut Solver, pool: &Pool, query: &Query<'_>, answer: Answer) -> Answer {
    let Answer::Sat(model) = &answer else { return answer };
    if cfg!(debug_assertions) || solver.config.validate {
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
    if solver.evaluator.holds(pool, query.cond, model) {
        return answer;
    }
    solver.broken.get_or_insert_with(|| human(pool, query.cond));
    Answer::Unknown(Why::BrokenModel)
}
