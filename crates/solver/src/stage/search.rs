//! Search: every combination of a few bytes, by sweeps.
//!
//! Hashes, products and floating point make circuits on which the SAT solver learns little, and so do tables and parsers' chains of cases; their bytes
//! often have few values each. The symbols get values one after the other, the one with the fewest values left first. A constraint of which one
//! symbol is left cuts that symbol's values by one sweep over all 256 (forward checking: Haralick and Elliott, "Increasing tree search
//! efficiency for constraint satisfaction problems", 1980), all constraints on one symbol in one sweep. Exact. The core is what cut a value.
//! Cost: bounded in vectors of 256 values ([`Bounds`]); a query that needs more is left to the next stage.
use wryneck_expr::{ExprId, Model, Pool, SymId};

use crate::answer::Answer;
use crate::domain::Domain;
use crate::query::Query;
use crate::solver::Solver;
use crate::stage::costly::{self, Costly};

/// Symbols that may get values.
const MOST_SYMBOLS: usize = 8;

/// What a search may cost.
struct Bounds {
    /// Vectors that may be computed; one takes about a tenth of a microsecond.
    work: usize,
    /// Vectors of the goal alone, if every combination came as far as it: above, there is no search.
    hoped: usize,
}

/// The SAT solver takes as long for the simplest query.
const CHEAP: Bounds = Bounds { work: 15_000, hoped: usize::MAX };
/// What is costly for it.
const COSTLY: Bounds = Bounds { work: 40_000, hoped: 200_000 };
/// What it did not decide at once.
const DEEP: Bounds = Bounds { work: 400_000, hoped: usize::MAX };

/// A condition that links several symbols: the goal, or one of the slice.
struct Link {
    form: ExprId,
    /// Its place in the slice; `None`: the goal.
    item: Option<usize>,
    /// Which of the symbols it is over, a bit each.
    symbols: u8,
}

struct Search<'a> {
    pool: &'a Pool,
    symbols: &'a [SymId],
    links: Vec<Link>,
    /// By place in the slice: has it cut a value?
    used: Vec<bool>,
    work: usize,
    most_work: usize,
}

/// The values that each symbol has left.
type Domains = [Domain; MOST_SYMBOLS];

/// The work is spent.
struct Spent;

/// Before the SAT solver is asked.
pub(crate) fn run(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    if !is_small(pool, query) {
        return None;
    }
    let costly = Costly::of(pool, &query.assertions());
    search(solver, pool, query, if costly.hash || costly.float { &COSTLY } else { &CHEAP })
}

/// After the SAT solver had a short time for it.
pub(crate) fn deep(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    if is_small(pool, query) { search(solver, pool, query, &DEEP) } else { None }
}

fn is_small(pool: &Pool, query: &Query<'_>) -> bool {
    query.symbols.len() <= MOST_SYMBOLS && query.symbols.iter().all(|symbol| pool.sym_info(*symbol).width <= 8)
}

fn search(solver: &mut Solver, pool: &Pool, query: &Query<'_>, bounds: &Bounds) -> Option<Answer> {
    let mut domains = [Domain::EMPTY; MOST_SYMBOLS];
    for (domain, &symbol) in domains.iter_mut().zip(&query.symbols) {
        *domain = Domain::full(pool.sym_info(symbol).width);
    }
    let bit = |symbol: &SymId| query.symbols.binary_search(symbol).map_or(0, |at| 1_u8 << at);
    let links = |form: ExprId| pool.support(form).iter().map(bit).fold(0, |all, bit| all | bit);
    let mut search =
        Search { pool, symbols: &query.symbols, links: Vec::new(), used: vec![false; query.slice.len()], work: 0, most_work: bounds.work };
    for (at, form) in query.assertions().into_iter().enumerate() {
        let link = Link { form, item: at.checked_sub(1), symbols: links(form) };
        match pool.support(form) {
            &[symbol] => {
                let table = solver.tables.get(pool, form, symbol);
                let domain = &mut domains[link.symbols.trailing_zeros() as usize];
                let cut = domain.and(table);
                search.note(link.item, *domain, cut);
                *domain = cut;
            }
            _ => search.links.push(link),
        }
    }
    let mut counts: Vec<usize> = domains[..query.symbols.len()].iter().map(|domain| domain.count() as usize).collect();
    counts.sort_unstable();
    counts.pop();
    let prefixes = counts.into_iter().try_fold(1_usize, usize::checked_mul).unwrap_or(usize::MAX);
    if bounds.hoped != usize::MAX && prefixes.saturating_mul(costly::work(pool, query.goal)) > bounds.hoped {
        return None;
    }
    let open = (1_u16 << query.symbols.len()) - 1;
    match search.descend(solver, open as u8, &domains, query.base, query) {
        Ok(Some(model)) => Some(Answer::Sat(model)),
        Ok(None) => {
            let used: Vec<_> = query.slice.iter().zip(&search.used).filter(|(_, used)| **used).map(|(item, _)| *item).collect();
            Some(query.unsat(pool, used))
        }
        Err(Spent) => None,
    }
}

impl Search<'_> {
    /// A model in which the symbols that are not `open` have the values of `model`, and no link over one open symbol is left. `None`: there is none.
    fn descend(
        &mut self,
        solver: &mut Solver,
        open: u8,
        domains: &Domains,
        model: &Model,
        query: &Query<'_>,
    ) -> Result<Option<Model>, Spent> {
        let Some(at) = (0..MOST_SYMBOLS).filter(|at| open >> at & 1 == 1).min_by_key(|&at| domains[at].count()) else {
            return Ok(Some(model.clone()));
        };
        let rest = open & !(1 << at);
        for value in domains[at].iter() {
            if query.budget.stop.asked() {
                return Err(Spent);
            }
            let model = model.with(&[(self.symbols[at], value.into())]);
            let mut left = *domains;
            if self.cut(solver, 1 << at, rest, &mut left, &model)? {
                let found = self.descend(solver, rest, &left, &model, query)?;
                if found.is_some() {
                    return Ok(found);
                }
            }
        }
        Ok(None)
    }

    /// Cuts the open symbols' values by the links that have one of them left since `chosen` has a value. Whether each has a value left.
    fn cut(&mut self, solver: &mut Solver, chosen: u8, open: u8, left: &mut Domains, model: &Model) -> Result<bool, Spent> {
        for at in (0..MOST_SYMBOLS).filter(|at| open >> at & 1 == 1) {
            let due = |link: &&Link| link.symbols & chosen != 0 && link.symbols & open == 1 << at;
            let (forms, items): (Vec<ExprId>, Vec<Option<usize>>) =
                self.links.iter().filter(due).map(|link| (link.form, link.item)).unzip();
            if forms.is_empty() {
                continue;
            }
            let (tables, work) = solver.tables.beside_all(self.pool, &forms, self.symbols[at], model);
            self.work += work;
            if self.work > self.most_work {
                return Err(Spent);
            }
            // What has cut values before comes first, so that the core stays small.
            for again in [true, false] {
                for (&item, &table) in items.iter().zip(&tables) {
                    if item.is_none_or(|item| self.used[item]) != again || left[at].is_empty() {
                        continue;
                    }
                    let cut = left[at].and(table);
                    self.note(item, left[at], cut);
                    left[at] = cut;
                }
            }
            if left[at].is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Notes that a condition of the slice has cut a domain, if it has.
    fn note(&mut self, item: Option<usize>, before: Domain, after: Domain) {
        if let Some(item) = item {
            self.used[item] |= before != after;
        }
    }
}
