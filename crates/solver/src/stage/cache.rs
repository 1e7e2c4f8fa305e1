//! Cache: answers to earlier queries that decide this one exactly, as a subset, or as a superset.
//!
//! Technique: KLEE's counterexample cache (OSDI 2008, section 3.3): a set with an unsatisfiable subset is unsatisfiable; a set with a satisfiable
//! superset is satisfiable. A path condition is satisfiable, so whatever part of a query is unsatisfiable contains its goal, and superset
//! queries mostly ask the same goal: both are indexed by goal instead of by a trie of sets. Cores found under another goal are found
//! too, since each is indexed by all of its members. Cost: one hash look-up and a few sorted merges.
use std::rc::Rc;

use rustc_hash::FxHashMap;
use wryneck_expr::{ExprId, Pool, Remap, SymId};

use crate::answer::Answer;
use crate::query::{Item, Query};
use crate::solver::Solver;

/// Satisfiable sets looked at per goal, the newest first.
const TRIED: usize = 8;
/// Cores longer than this are remembered under their goal only.
const INDEXED: usize = 16;

#[derive(Default)]
pub(crate) struct Cache {
    /// Sorted sets that are satisfiable, by the goal they were asked with.
    sat: FxHashMap<ExprId, Vec<Rc<Satisfied>>>,
    /// Sorted unsatisfiable sets, by each member.
    unsat: FxHashMap<ExprId, Vec<Rc<[ExprId]>>>,
    entries: usize,
}

struct Satisfied {
    set: Box<[ExprId]>,
    values: Box<[(SymId, u64)]>,
}

pub(crate) fn run(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    let set = sorted_set(query);
    if let Some(cores) = solver.cache.unsat.get(&query.goal)
        && let Some(core) = cores.iter().find(|core| is_subset(core, &set))
    {
        let used: Vec<Item> = query.slice.iter().filter(|item| core.binary_search(&item.form).is_ok()).copied().collect();
        return Some(query.unsat(pool, used));
    }
    let known = solver.cache.sat.get(&query.goal)?;
    let superset = known.iter().rev().take(TRIED).find(|known| is_subset(&set, &known.set))?;
    let ours = |(symbol, _): &(SymId, u64)| query.symbols.binary_search(symbol).is_ok();
    let values: Vec<_> = superset.values.iter().copied().filter(ours).collect();
    Some(query.sat(&values))
}

pub(crate) fn remember(solver: &mut Solver, query: &Query<'_>, answer: &Answer) {
    if !solver.config.cache {
        return;
    }
    let cache = &mut solver.cache;
    if cache.entries >= solver.config.cached {
        cache.clear();
    }
    match answer {
        Answer::Sat(model) => {
            let values = query.symbols.iter().map(|&symbol| (symbol, model.get(symbol))).collect();
            let known = cache.sat.entry(query.goal).or_default();
            if known.len() >= 2 * TRIED {
                known.drain(..TRIED);
                cache.entries -= TRIED;
            }
            known.push(Rc::new(Satisfied { set: sorted_set(query).into(), values }));
            cache.entries += 1;
        }
        Answer::Unsat(core) => {
            let used = query.slice.iter().filter(|item| core.0.binary_search(&item.index).is_ok());
            let mut set: Vec<ExprId> = used.map(|item| item.form).chain([query.goal]).collect();
            set.sort_unstable();
            set.dedup();
            cache.add_core(query.goal, set.into());
        }
        Answer::Unknown(_) => {}
    }
}

impl Cache {
    fn add_core(&mut self, goal: ExprId, core: Rc<[ExprId]>) {
        for &member in core.iter().filter(|&&member| core.len() <= INDEXED || member == goal) {
            self.unsat.entry(member).or_default().push(core.clone());
            self.entries += 1;
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Cache::default();
    }

    /// Keeps the answers whose expressions all survived a compaction.
    pub(crate) fn remap(&mut self, remap: &Remap) {
        let old = std::mem::take(self);
        let translate = |set: &[ExprId]| -> Option<Vec<ExprId>> {
            let mut set: Vec<ExprId> = set.iter().map(|&e| remap.get(e)).collect::<Option<_>>()?;
            set.sort_unstable();
            Some(set)
        };
        for (goal, known) in old.sat {
            let Some(goal) = remap.get(goal) else { continue };
            let kept: Vec<_> = known
                .iter()
                .filter_map(|s| Some(Rc::new(Satisfied { set: translate(&s.set)?.into(), values: s.values.clone() })))
                .collect();
            self.entries += kept.len();
            self.sat.insert(goal, kept);
        }
        for (member, cores) in old.unsat {
            let Some(member) = remap.get(member) else { continue };
            let kept: Vec<_> = cores.iter().filter_map(|core| Some(translate(core)?.into())).collect();
            self.entries += kept.len();
            self.unsat.insert(member, kept);
        }
    }

    /// Bytes held, about.
    pub(crate) fn memory(&self) -> usize {
        let sat: usize = self.sat.values().flatten().map(|s| s.set.len() * 4 + s.values.len() * 16 + 64).sum();
        let unsat: usize = self.unsat.values().flatten().map(|core| core.len() * 4 + 40).sum();
        sat + unsat
    }
}

/// Goal and slice as a sorted set.
fn sorted_set(query: &Query<'_>) -> Vec<ExprId> {
    let mut set = query.assertions();
    set.sort_unstable();
    set.dedup();
    set
}

/// Is the sorted `small` within the sorted `large`?
fn is_subset(small: &[ExprId], large: &[ExprId]) -> bool {
    let mut rest = large.iter();
    small.len() <= large.len() && small.iter().all(|e| rest.by_ref().any(|other| other == e))
}
