//! Search: every combination of a few bytes, by sweeps.
//!
//! Hashes, products and floating point make circuits on which the SAT solver learns little, and so do tables and parsers' chains of cases; their bytes
//! often have few values each. The symbols get values one after the other, the one with the fewest values left first. A constraint of which one
//! symbol is left cuts that symbol's values by one sweep over all 256 (forward checking: Haralick and Elliott, "Increasing tree search
//! efficiency for constraint satisfaction problems", 1980), all constraints on one symbol in one sweep. Exact. The core is what cut a value.
//! Cost: bounded in vectors of 256 values ([`SHORT`], [`DEEP`]); a query that needs more is left to the next stage.
use wryneck_expr::{ExprId, Model, Pool, SymId};

use crate::answer::Answer;
use crate::domain::Domain;
use crate::query::Query;
use crate::solver::Solver;

/// Symbols that may get values.
const MOST_SYMBOLS: usize = 8;

/// What an answer adds to a search's credit, and its bound; a search without one takes 1.
const CREDIT: i32 = 4;
const MOST_CREDIT: i32 = 32;
/// Without credit, one query in so many is searched.
const SELDOM: u32 = 16;

/// How well searches of one kind did: of some programs' tables each search is in vain.
#[derive(Clone, Copy)]
pub(crate) struct Credit {
    left: i32,
    passed: u32,
}

impl Default for Credit {
    fn default() -> Credit {
        Credit { left: MOST_CREDIT, passed: 0 }
    }
}

impl Credit {
    fn is_due(&mut self) -> bool {
        self.passed = (self.passed + 1) % SELDOM;
        self.left > 0 || self.passed == 0
    }

    fn note(&mut self, answered: bool) {
        self.left = (self.left + if answered { CREDIT } else { -1 }).clamp(0, MOST_CREDIT);
    }
}

/// Symbols of a search for the best value, which meets all models.
const MOST_OF_BEST: usize = 2;
/// Vectors that a search may compute before the SAT solver is asked; one takes about a tenth of a microsecond.
const SHORT: usize = 15_000;
/// After the SAT solver had a short time for the query.
const DEEP: usize = 400_000;

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
    if !is_small(pool, query) || !solver.short_searches.is_due() {
        return None;
    }
    let answer = search(solver, pool, query, SHORT);
    solver.short_searches.note(answer.is_some());
    answer
}

/// After the SAT solver had a short time for it.
pub(crate) fn deep(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    if !is_small(pool, query) || !solver.deep_searches.is_due() {
        return None;
    }
    let answer = search(solver, pool, query, DEEP);
    solver.deep_searches.note(answer.is_some());
    answer
}

fn is_small(pool: &Pool, query: &Query<'_>) -> bool {
    query.symbols.len() <= MOST_SYMBOLS && query.symbols.iter().all(|symbol| pool.sym_info(*symbol).width <= 8)
}

/// The best value of `query.goal`, a number that the slice of the query constrains, and a model that gives it; `None`: it takes too much work.
pub(crate) fn best(solver: &mut Solver, pool: &Pool, query: &Query<'_>, better: fn(u64, u64) -> bool) -> Option<(u64, Model)> {
    if !is_small(pool, query) || query.symbols.len() > MOST_OF_BEST {
        return None;
    }
    let forms: Vec<(ExprId, Option<usize>)> = query.slice.iter().enumerate().map(|(at, item)| (item.form, Some(at))).collect();
    let (mut search, domains) = begin(solver, pool, query, forms, SHORT);
    let mut best = Best { number: query.goal, better, found: None };
    let open = ((1_u16 << query.symbols.len()) - 1) as u8;
    search.improve(solver, open, &domains, query.base, query, &mut best).ok()?;
    best.found
}

/// What is looked for among the models.
struct Best {
    number: ExprId,
    better: fn(u64, u64) -> bool,
    found: Option<(u64, Model)>,
}

fn search(solver: &mut Solver, pool: &Pool, query: &Query<'_>, most_work: usize) -> Option<Answer> {
    let forms = query.assertions().into_iter().enumerate().map(|(at, form)| (form, at.checked_sub(1))).collect();
    let (mut search, domains) = begin(solver, pool, query, forms, most_work);
    let open = ((1_u16 << query.symbols.len()) - 1) as u8;
    match search.descend(solver, open, &domains, query.base, query) {
        Ok(Some(model)) => Some(Answer::Sat(model)),
        Ok(None) => {
            let used: Vec<_> = query.slice.iter().zip(&search.used).filter(|(_, used)| **used).map(|(item, _)| *item).collect();
            Some(query.unsat(pool, used))
        }
        Err(Spent) => None,
    }
}

/// A search for these conditions, each with its place in the slice, and the values that those over one symbol leave.
fn begin<'a>(
    solver: &mut Solver,
    pool: &'a Pool,
    query: &'a Query<'_>,
    forms: Vec<(ExprId, Option<usize>)>,
    most_work: usize,
) -> (Search<'a>, Domains) {
    let mut domains = [Domain::EMPTY; MOST_SYMBOLS];
    for (domain, &symbol) in domains.iter_mut().zip(&query.symbols) {
        *domain = Domain::full(pool.sym_info(symbol).width);
    }
    let bit = |symbol: &SymId| query.symbols.binary_search(symbol).map_or(0, |at| 1_u8 << at);
    let links = |form: ExprId| pool.support(form).iter().map(bit).fold(0, |all, bit| all | bit);
    let mut search = Search { pool, symbols: &query.symbols, links: Vec::new(), used: vec![false; query.slice.len()], work: 0, most_work };
    for (form, item) in forms {
        let link = Link { form, item, symbols: links(form) };
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
    (search, domains)
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

    /// Looks at all models as [`descend`](Self::descend) does, for the best value of a number: all values of the last open symbol in one sweep.
    fn improve(
        &mut self,
        solver: &mut Solver,
        open: u8,
        domains: &Domains,
        model: &Model,
        query: &Query<'_>,
        best: &mut Best,
    ) -> Result<(), Spent> {
        let Some(at) = (0..MOST_SYMBOLS).filter(|at| open >> at & 1 == 1).min_by_key(|&at| domains[at].count()) else { return Ok(()) };
        let rest = open & !(1 << at);
        if rest == 0 {
            let (values, work) = solver.tables.values_beside(self.pool, best.number, self.symbols[at], model);
            self.spend(work)?;
            for byte in domains[at].iter() {
                let value = values[usize::from(byte)];
                if best.found.as_ref().is_none_or(|(before, _)| (best.better)(value, *before)) {
                    best.found = Some((value, model.with(&[(self.symbols[at], byte.into())])));
                }
            }
            return Ok(());
        }
        for value in domains[at].iter() {
            if query.budget.stop.asked() {
                return Err(Spent);
            }
            let model = model.with(&[(self.symbols[at], value.into())]);
            let mut left = *domains;
            if self.cut(solver, 1 << at, rest, &mut left, &model)? {
                self.improve(solver, rest, &left, &model, query, best)?;
            }
        }
        Ok(())
    }

    fn spend(&mut self, work: usize) -> Result<(), Spent> {
        self.work += work;
        if self.work > self.most_work { Err(Spent) } else { Ok(()) }
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
            self.spend(work)?;
            // What has cut values before comes first, so that the core stays small.
            for again in [true, false] {
                for (&item, &table) in items.iter().zip(&tables) {
                    if item.is_none_or(|item| self.used[item]) == again && !left[at].is_empty() {
                        let cut = left[at].and(table);
                        self.note(item, left[at], cut);
                        left[at] = cut;
                    }
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
