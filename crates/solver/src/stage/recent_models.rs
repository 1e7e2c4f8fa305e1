//! Recent models: models of earlier answers often satisfy a query they were not made for.
//!
//! Technique: KLEE's counterexample cache tries cached solutions before it solves (OSDI 2008, section 3.3). Only the slice is evaluated, and only
//! the slice's symbols are taken over. Cost: up to [`recent`](crate::Config::recent) evaluations; the goal comes first, since it fails most.
use std::collections::VecDeque;

use wryneck_expr::{Model, Pool, SymId};

use crate::answer::Answer;
use crate::query::Query;
use crate::solver::Solver;

/// The newest last.
#[derive(Default)]
pub(crate) struct RecentModels(VecDeque<Model>);

impl RecentModels {
    /// Bytes held, about.
    pub(crate) fn memory(&self) -> usize {
        self.0.iter().map(|model| model.values().len() * 8 + 40).sum()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

pub(crate) fn run(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    let assertions = query.assertions();
    let fits = |model: &&Model| assertions.iter().all(|&form| solver.evaluator.holds(pool, form, model));
    let model = solver.recent.0.iter().rev().find(fits)?;
    let values: Vec<(SymId, u64)> = query.symbols.iter().map(|&symbol| (symbol, model.get(symbol))).collect();
    Some(query.sat(&values))
}

pub(crate) fn remember(solver: &mut Solver, answer: &Answer) {
    let Answer::Sat(model) = answer else { return };
    if solver.config.recent_models {
        solver.recent.0.push_back(model.clone());
        if solver.recent.0.len() > solver.config.recent {
            solver.recent.0.pop_front();
        }
    }
}
