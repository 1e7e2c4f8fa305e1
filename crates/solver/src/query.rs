//! A query on its way through the stages: what was asked, and what the stages have found relevant to it.
use std::cell::OnceCell;

use wryneck_expr::{ExprId, Model, Pool, SymId};

use crate::answer::{Answer, Core};
use crate::budget::Budget;
use crate::path::PathCondition;
use crate::stage::costly::Costly;

pub(crate) struct Query<'a> {
    pub(crate) pc: &'a PathCondition,
    /// Satisfies the path condition.
    pub(crate) base: &'a Model,
    pub(crate) budget: &'a Budget,
    /// What was asked.
    pub(crate) cond: ExprId,
    /// `cond` with the symbols the path fixes replaced by their values; the same under every model of the path condition.
    pub(crate) goal: ExprId,
    /// The constraints that share symbols with the goal, transitively.
    pub(crate) slice: Vec<Item>,
    /// The symbols of the goal and the slice, ascending; an answer's model differs from the base in these only.
    pub(crate) symbols: Vec<SymId>,
    /// The short search has found more gates than the budget allows.
    pub(crate) too_large: bool,
    costly: OnceCell<Costly>,
}

/// A constraint of the slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) index: u32,
    /// The constraint with fixed symbols replaced.
    pub(crate) form: ExprId,
}

impl<'a> Query<'a> {
    pub(crate) fn new(pc: &'a PathCondition, cond: ExprId, base: &'a Model, budget: &'a Budget) -> Query<'a> {
        Query { pc, base, budget, cond, goal: cond, slice: Vec::new(), symbols: Vec::new(), too_large: false, costly: OnceCell::new() }
    }

    /// Is the goal costly for the SAT solver? Asked once its fixed symbols are replaced.
    pub(crate) fn costly(&self, pool: &Pool) -> &Costly {
        self.costly.get_or_init(|| Costly::of(pool, self.goal))
    }

    /// Goal and slice: what has to hold together, the goal first.
    pub(crate) fn assertions(&self) -> Vec<ExprId> {
        std::iter::once(self.goal).chain(self.slice.iter().map(|item| item.form)).collect()
    }

    /// The base model with these values.
    pub(crate) fn sat(&self, values: &[(SymId, u64)]) -> Answer {
        Answer::Sat(self.base.with(values))
    }

    /// The goal contradicts these constraints. What replaced symbols in it or in them belongs to the core.
    pub(crate) fn unsat(&self, pool: &Pool, used: impl IntoIterator<Item = Item>) -> Answer {
        let mut indices = Vec::new();
        if self.goal != self.cond {
            self.add_reasons(pool, self.cond, &mut indices);
        }
        for item in used {
            indices.push(item.index);
            match self.pc.constraint(item.index) {
                Some(whole) if whole != item.form => self.add_reasons(pool, whole, &mut indices),
                _ => {}
            }
        }
        indices.sort_unstable();
        indices.dedup();
        Answer::Unsat(Core(indices))
    }

    /// Adds the constraints that fix the fixed symbols of `e`.
    fn add_reasons(&self, pool: &Pool, e: ExprId, indices: &mut Vec<u32>) {
        for &symbol in pool.support(e) {
            if self.pc.fixed(symbol).is_some()
                && let Some(group) = self.pc.group_of(symbol)
            {
                let alone = group.iter().filter(|&(_, constraint)| pool.support(constraint) == [symbol]);
                indices.extend(alone.map(|(index, _)| index));
            }
        }
    }
}
