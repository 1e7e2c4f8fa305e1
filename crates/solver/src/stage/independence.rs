//! Independence: only the constraints that share symbols with the goal, transitively, can contradict it.
//!
//! The path condition keeps its groups; here they are cut further where a symbol they share is fixed (it was replaced by its value and
//! links nothing). Never answers by itself, except that a goal over unconstrained symbols has an empty slice, which later stages
//! like. Cost: linear in the groups touched, times the rounds to reach a fixed point if symbols in them are fixed.
use rustc_hash::FxHashSet;
use wryneck_expr::{ExprId, Pool, SymId};

use crate::answer::Answer;
use crate::path::Group;
use crate::query::{Item, Query};
use crate::solver::Solver;

pub(crate) fn run(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    if !solver.config.independence {
        let all = query.pc.constraints();
        query.slice = (0u32..).zip(all).map(|(index, form)| Item { index, form }).collect();
        collect_symbols(pool, query);
        return None;
    }
    let mut done: FxHashSet<SymId> = FxHashSet::default();
    for symbol in pool.support(query.goal).to_vec() {
        let Some(group) = query.pc.group_of(symbol).filter(|_| !done.contains(&symbol)) else { continue };
        let fixed = solver.config.substitution && group.symbols.iter().any(|&symbol| query.pc.fixed(symbol).is_some());
        if fixed {
            slice_around_fixed(solver, pool, query, group);
        } else {
            query.slice.extend(group.iter().map(|(index, form)| Item { index, form }));
        }
        done.extend(&*group.symbols);
    }
    collect_symbols(pool, query);
    None
}

/// Adds the constraints of a group that the goal's symbols reach without passing through fixed ones.
fn slice_around_fixed(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>, group: &Group) {
    let mut reached: FxHashSet<SymId> = pool.support(query.goal).iter().copied().collect();
    let mut rest: Vec<Item> =
        group.iter().map(|(index, whole)| Item { index, form: solver.replaced.form(pool, query.pc, whole) }).collect();
    rest.retain(|item| item.form != ExprId::TRUE);
    loop {
        let before = rest.len();
        rest.retain(|item| {
            let support = pool.support(item.form);
            let touched = support.iter().any(|symbol| reached.contains(symbol));
            if touched {
                reached.extend(support);
                query.slice.push(*item);
            }
            !touched
        });
        if rest.len() == before {
            return;
        }
    }
}

fn collect_symbols(pool: &Pool, query: &mut Query<'_>) {
    let forms = std::iter::once(query.goal).chain(query.slice.iter().map(|item| item.form));
    let mut symbols: Vec<SymId> = forms.flat_map(|form| pool.support(form).iter().copied()).collect();
    symbols.sort_unstable();
    symbols.dedup();
    query.symbols = symbols;
}
