//! Abstraction: hashes become symbols of their own, where the goal is costly for the SAT solver.
//!
//! Most queries about hashed tables ask two things of one hash: its low bits are 5, and they are at least 8. Whatever the hash computes, both cannot be.
//! So the topmost sums and exclusive ors of two symbolic numbers are replaced by symbols (Kroening and Strichman, "Decision
//! Procedures", 2nd edition, section 6.3, abstracts the costly operators of bit-vector formulas likewise). What is unsatisfiable then is so with the
//! hash itself; otherwise the next stage goes on. Never says that there is a model. Cost: the conditions above the hashes, and a small SAT instance.
//! Bounds of numbers are read off likewise: a value that no hash gives is none.
use rustc_hash::FxHashMap;
use wryneck_expr::subst::Substitution;
use wryneck_expr::visit::top_down;
use wryneck_expr::{ExprId, Model, Pool};

use crate::answer::Answer;
use crate::backend::bitblast::Bitblast;
use crate::backend::{Backend, Verdict};
use crate::bounds::Halving;
use crate::budget::Budget;
use crate::config::Config;
use crate::query::{Item, Query};
use crate::solver::Solver;
use crate::stage::costly::{cheap, is_mixed};

/// Conflicts that such a query may cost.
const MOST_CONFLICTS: u64 = 100;
/// What the names of the symbols begin with; no input of a program does.
const NAME: &str = "hash: ";
/// Nodes above the hashes, each of which is built anew. Texts that are printed at positions which depend on input have tens of thousands.
const MOST_ABOVE: usize = 3_000;
/// Gates of the instance.
const MOST_GATES: usize = 100_000;

/// Bytes of answers that are kept, about; above, all are forgotten.
const MOST_OF_ANSWERS: usize = 16 << 20;

/// The instance for conditions about hashes, and what it has answered: paths ask most questions about hashes again.
pub(crate) struct Abstraction {
    backend: Box<dyn Backend>,
    /// By the expressions that were asked for together.
    answers: FxHashMap<Box<[ExprId]>, Verdict>,
    /// Of the answers.
    bytes: usize,
}

/// What decides conditions about hashes, whatever decides the others.
pub(crate) fn backend(config: &Config) -> Box<dyn Backend> {
    Box::new(Bitblast::new(&Config { graph_nodes: MOST_GATES, ..config.clone() }))
}

impl Abstraction {
    pub(crate) fn new(backend: Box<dyn Backend>) -> Abstraction {
        Abstraction { backend, answers: FxHashMap::default(), bytes: 0 }
    }

    pub(crate) fn clear(&mut self) {
        self.backend.forget();
        self.forget_answers();
    }

    fn forget_answers(&mut self) {
        self.answers.clear();
        self.bytes = 0;
    }

    /// Bytes held, about.
    pub(crate) fn memory(&self) -> usize {
        self.backend.memory() + self.bytes
    }

    /// What the instance says of these, 1 bit each, together.
    fn check(&mut self, pool: &Pool, forms: Vec<ExprId>, budget: &Budget) -> Verdict {
        if let Some(known) = self.answers.get(&forms[..]) {
            return known.clone();
        }
        let verdict = self.backend.check(pool, &forms, budget);
        let values = match &verdict {
            Verdict::Sat(values) => size_of_val(&values[..]),
            Verdict::Unsat(core) => size_of_val(&core[..]),
            // Another budget may do.
            Verdict::Unknown(_) => return verdict,
        };
        if self.bytes > MOST_OF_ANSWERS {
            self.forget_answers();
        }
        self.bytes += size_of::<(Box<[ExprId]>, Verdict)>() + size_of_val(&forms[..]) + values;
        self.answers.insert(forms.into(), verdict.clone());
        verdict
    }
}

/// A goal, and what the slice says about its hashes, with symbols for hashes.
struct Abstract {
    goal: ExprId,
    /// Without products: those would be as costly as in the SAT solver's own instance.
    told: Vec<ExprId>,
    /// What each of them is in the slice.
    items: Vec<Item>,
    budget: Budget,
}

impl Abstract {
    /// `None`: the goal has no hash, or is costly without it, too.
    fn of(pool: &mut Pool, query: &Query<'_>) -> Option<Abstract> {
        if !query.costly(pool).hash {
            return None;
        }
        let mut substitution = Substitution::new();
        for cut in hashes(pool, &query.assertions())? {
            let symbol = pool.symbol(NAME, cut.index() as u32, pool.width(cut));
            let to = pool.sym(symbol);
            substitution.replace(cut, to);
        }
        let goal = substitution.apply(pool, query.goal);
        if !cheap(pool, &[goal]).contains(&goal) {
            return None;
        }
        let of_goal: Vec<_> = pool.support(goal).iter().filter(|symbol| pool.sym_info(**symbol).name.starts_with(NAME)).copied().collect();
        let of_slice: Vec<_> = query.slice.iter().map(|item| (*item, substitution.apply(pool, item.form))).collect();
        let is_told = |form: ExprId| pool.support(form).iter().any(|symbol| of_goal.binary_search(symbol).is_ok());
        let told: Vec<_> = of_slice.into_iter().filter(|(_, form)| is_told(*form)).collect();
        let cheap = cheap(pool, &told.iter().map(|(_, form)| *form).collect::<Vec<_>>());
        let (items, told) = told.into_iter().filter(|(_, form)| cheap.contains(form)).unzip();
        let budget = Budget { conflicts: query.budget.conflicts.min(MOST_CONFLICTS), ..query.budget.clone() };
        Some(Abstract { goal, told, items, budget })
    }

    /// Asks for this together with what is told.
    fn check(&self, solver: &mut Solver, pool: &Pool, cond: ExprId) -> Verdict {
        solver.abstraction.check(pool, std::iter::once(cond).chain(self.told.iter().copied()).collect(), &self.budget)
    }
}

pub(crate) fn run(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    let all = Abstract::of(pool, query)?;
    match all.check(solver, pool, all.goal) {
        Verdict::Unsat(used) => Some(query.unsat(pool, used.into_iter().filter_map(|at| all.items.get(at.checked_sub(1)?).copied()))),
        Verdict::Sat(_) | Verdict::Unknown(_) => None,
    }
}

/// Moves the bound of `query.goal`, a number that the slice of the query constrains, to its best value whatever the hashes are; nothing where there is no
/// hash. A free slot of a hashed table is found so in a few small instances, not in as many queries.
pub(crate) fn bound(solver: &mut Solver, pool: &mut Pool, query: &Query<'_>, halving: &mut Halving) {
    let Some(all) = Abstract::of(pool, query) else { return };
    // `best` moves to values that the abstraction has; the number may not have them.
    let mut inner = Halving { ..*halving };
    let mut probe = inner.bound;
    while !inner.is_done() {
        let cond = inner.asks(pool, all.goal, probe);
        let kept = match all.check(solver, pool, cond) {
            Verdict::Sat(values) => inner.found(solver.evaluator.eval(pool, all.goal, &Model::empty().with(&values)), probe),
            Verdict::Unsat(_) => inner.refuted(probe),
            Verdict::Unknown(_) => false,
        };
        if !kept {
            break;
        }
        probe = inner.middle();
    }
    // What is refuted stays so, whatever ended the search.
    halving.bound = inner.bound;
}

/// The topmost sums and exclusive ors of two symbolic numbers below these. `None`: there are too many nodes above them.
fn hashes(pool: &Pool, roots: &[ExprId]) -> Option<Vec<ExprId>> {
    let mut found = Vec::new();
    let is_all = top_down(pool, roots, MOST_ABOVE, |e| {
        let is_hash = is_mixed(pool, e) && pool.width(e) <= 64;
        found.extend(is_hash.then_some(e));
        !is_hash
    });
    is_all.then_some(found)
}
