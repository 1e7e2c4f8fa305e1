//! Substitution: symbols that the path fixes to one value are replaced by it, in the query only.
//!
//! A byte whose domain has one value left, or a wider symbol equated with a constant, is a constant to the query: conditions over it fold,
//! and it no longer links the constraints it occurs in. The path condition keeps its own form, since slicing must see every branch on
//! input-derived data. Replaced expressions are remembered per expression and values. Cost: one look-up per symbol when nothing is fixed.
use rustc_hash::FxHashMap;
use wryneck_expr::subst::Substitution;
use wryneck_expr::{ExprId, Pool, SymId};

use crate::answer::Answer;
use crate::path::PathCondition;
use crate::query::Query;
use crate::solver::Solver;

/// Replaced expressions, by the expression and the values put in.
#[derive(Default)]
pub(crate) struct Replaced {
    forms: FxHashMap<ExprId, FxHashMap<Fixed, ExprId>>,
    count: usize,
}

/// The fixed symbols of an expression and their values, ascending.
type Fixed = Box<[(SymId, u64)]>;

/// Results kept before starting afresh.
const MOST_FORMS: usize = 200_000;

pub(crate) fn run(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    query.goal = solver.replaced.form(pool, query.pc, query.cond);
    if !pool.support(query.goal).is_empty() {
        return None;
    }
    // A constant, whether or not a law folded it.
    Some(match solver.evaluator.holds(pool, query.goal, query.base) {
        true => Answer::Sat(query.base.clone()),
        false => query.unsat(pool, []),
    })
}

impl Replaced {
    /// The expression with the symbols that the path fixes replaced.
    pub(crate) fn form(&mut self, pool: &mut Pool, pc: &PathCondition, e: ExprId) -> ExprId {
        let fixed: Vec<(SymId, u64)> = pool.support(e).iter().filter_map(|&symbol| Some((symbol, pc.fixed(symbol)?))).collect();
        if fixed.is_empty() {
            return e;
        }
        if let Some(&form) = self.forms.get(&e).and_then(|forms| forms.get(&*fixed)) {
            return form;
        }
        if self.count == MOST_FORMS {
            self.clear();
        }
        let mut substitution = Substitution::new();
        for &(symbol, value) in &fixed {
            let (from, width) = (pool.sym(symbol), pool.sym_info(symbol).width);
            let to = pool.bits(width, value);
            substitution.replace(from, to);
        }
        let form = substitution.apply(pool, e);
        self.forms.entry(e).or_default().insert(fixed.into(), form);
        self.count += 1;
        form
    }

    pub(crate) fn clear(&mut self) {
        *self = Replaced::default();
    }

    /// Bytes held, about.
    pub(crate) fn memory(&self) -> usize {
        self.count * 120
    }
}
