//! Neighbours: other values of one byte, where the goal is costly for the SAT solver.
//!
//! The base model satisfies all but the goal. Of a sum, a checksum or a remainder another value of a single byte often satisfies that, too, and one
//! sweep per byte tells for all its values. Only costly goals ([`Query::costly`]) are worth that: their circuits have thousands of gates,
//! others are answered by the SAT solver in the time of a few sweeps. Goals whose sweeps are costly, too, are left out. Never says that there is no model. Cost: at most [`MOST_SYMBOLS`] sweeps of
//! the goal, and of what constrains a byte that helps.
use wryneck_expr::Pool;

use crate::answer::Answer;
use crate::domain::Domain;
use crate::query::Query;
use crate::solver::Solver;

/// Bytes whose values are tried.
const MOST_SYMBOLS: usize = 16;

pub(crate) fn run(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    let costly = query.costly(pool);
    if !costly.hash || costly.sweep || !solver.credits.neighbours.is_due() {
        return None;
    }
    let answer = satisfying(solver, pool, query);
    solver.credits.neighbours.note(answer.is_some(), 1);
    answer
}

fn satisfying(solver: &mut Solver, pool: &Pool, query: &Query<'_>) -> Option<Answer> {
    let bytes = |symbol: &&_| pool.sym_info(**symbol).width <= 8;
    let symbols: Vec<_> = pool.support(query.goal).iter().filter(bytes).take(MOST_SYMBOLS).copied().collect();
    let assertions = query.assertions();
    symbols.into_iter().find_map(|symbol| {
        let touching = assertions.iter().filter(|&&form| pool.support(form).contains(&symbol));
        let mut left = Domain::full(pool.sym_info(symbol).width);
        for &form in touching {
            if left.is_empty() {
                return None;
            }
            left = left.and(solver.tables.beside(pool, form, symbol, query.base));
        }
        left.min().map(|value| query.sat(&[(symbol, value.into())]))
    })
}
