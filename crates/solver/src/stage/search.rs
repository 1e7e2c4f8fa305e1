//! Search: every combination of a few bytes, by sweeps.
//!
//! Hashes, products and floating point make circuits on which the SAT solver learns little, and so do tables and parsers' chains of cases; their bytes
//! often have few values each. The symbols get values one after the other, the one with the fewest values left first. A constraint of which one
//! symbol is left cuts that symbol's values by one sweep over all 256 (forward checking: Haralick and Elliott, "Increasing tree search
//! efficiency for constraint satisfaction problems", 1980), all constraints on one symbol in one sweep. A search that does not end soon begins again
//! with one value of each class that the constraints tell apart ([`classes`]). Exact. The core is what cut a value.
//! Cost: bounded in vectors of 256 values ([`SHORT`], [`DEEP`]); a query that needs more is left to the next stage.
use wryneck_expr::{ExprId, Model, Pool, SymId};

use crate::answer::Answer;
use crate::domain::Domain;
use crate::query::Query;
use crate::solver::Solver;
use crate::stage::classes;
use crate::stage::credit::{Credit, Credits};

/// Symbols that may get values.
const MOST_SYMBOLS: usize = 8;

/// Symbols whose combinations are searched at once, and whatever became of earlier searches: there are at most 65,536.
const FEW: usize = 2;
/// Symbols of a search for the best value, which meets all models.
const MOST_OF_BEST: usize = 2;
/// Vectors that a search may compute before the SAT solver is asked; one takes about a tenth of a microsecond.
const SHORT: usize = 15_000;
/// The same of a search over three symbols: on the states of scanners and parsers (`bc`) the SAT solver takes as long.
const OF_THREE: usize = 100_000;
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
    query: &'a Query<'a>,
    links: Vec<Link>,
    /// By place in the slice: has it cut a value?
    used: Vec<bool>,
    work: usize,
    most_work: usize,
}

/// What a search looks for, and has found.
enum Wanted {
    /// Any model.
    Any(Option<Model>),
    /// The best value of a number, and a model that gives it.
    Best { number: ExprId, better: fn(u64, u64) -> bool, found: Option<(u64, Model)> },
}

/// The values that each symbol has left.
type Domains = [Domain; MOST_SYMBOLS];

/// The work is spent.
struct Spent;

/// Before the SAT solver is asked.
pub(crate) fn run(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    search(solver, pool, query, SHORT, |credits| &mut credits.short_search)
}

/// After the SAT solver had a short time for it.
pub(crate) fn deep(solver: &mut Solver, pool: &mut Pool, query: &mut Query<'_>) -> Option<Answer> {
    // The first search has done as much.
    if query.symbols.len() <= FEW {
        return None;
    }
    search(solver, pool, query, DEEP, |credits| &mut credits.deep_search)
}

fn search(
    solver: &mut Solver,
    pool: &Pool,
    query: &Query<'_>,
    most_work: usize,
    credit: fn(&mut Credits) -> &mut Credit,
) -> Option<Answer> {
    let few = query.symbols.len() <= FEW;
    if !is_small(pool, query) || !few && !credit(&mut solver.credits).is_due() {
        return None;
    }
    let most_work = match query.symbols.len() {
        ..=FEW => DEEP,
        3 => most_work.max(OF_THREE),
        _ => most_work,
    };
    let forms = query.assertions().into_iter().enumerate().map(|(at, form)| (form, at.checked_sub(1)));
    let (mut search, domains) = Search::new(solver, pool, query, forms);
    let mut wanted = Wanted::Any(None);
    let ended = search.run(solver, domains, most_work, &mut wanted);
    if !few {
        credit(&mut solver.credits).note(ended.is_ok(), 1);
    }
    match (ended, wanted) {
        (Err(Spent), _) => None,
        (Ok(()), Wanted::Any(Some(model))) => Some(Answer::Sat(model)),
        (Ok(()), _) => {
            let used: Vec<_> = query.slice.iter().zip(&search.used).filter(|(_, used)| **used).map(|(item, _)| *item).collect();
            Some(query.unsat(pool, used))
        }
    }
}

/// May [`best`] search for the values of this number?
pub(crate) fn may_have_best(pool: &Pool, number: ExprId) -> bool {
    pool.support(number).len() <= MOST_OF_BEST
}

/// The best value of `query.goal`, a number that the slice of the query constrains, and a model that gives it; `None`: it takes too much work.
pub(crate) fn best(solver: &mut Solver, pool: &Pool, query: &Query<'_>, better: fn(u64, u64) -> bool) -> Option<(u64, Model)> {
    if !is_small(pool, query) || query.symbols.len() > MOST_OF_BEST {
        return None;
    }
    let forms = query.slice.iter().enumerate().map(|(at, item)| (item.form, Some(at)));
    let (mut search, domains) = Search::new(solver, pool, query, forms);
    let mut wanted = Wanted::Best { number: query.goal, better, found: None };
    let ended = search.run(solver, domains, SHORT, &mut wanted);
    match (ended, wanted) {
        (Ok(()), Wanted::Best { found, .. }) => found,
        _ => None,
    }
}

fn is_small(pool: &Pool, query: &Query<'_>) -> bool {
    query.symbols.len() <= MOST_SYMBOLS && query.symbols.iter().all(|symbol| pool.sym_info(*symbol).width <= 8)
}

/// The numbers of the symbols whose bits are set.
fn numbers(symbols: u8) -> impl Iterator<Item = usize> {
    (0..MOST_SYMBOLS).filter(move |at| symbols >> at & 1 == 1)
}

impl<'a> Search<'a> {
    /// A search for these conditions, each with its place in the slice, and the values that those over one symbol leave.
    fn new(
        solver: &mut Solver,
        pool: &'a Pool,
        query: &'a Query<'a>,
        forms: impl Iterator<Item = (ExprId, Option<usize>)>,
    ) -> (Search<'a>, Domains) {
        let mut domains = [Domain::EMPTY; MOST_SYMBOLS];
        for (domain, &symbol) in domains.iter_mut().zip(&query.symbols) {
            *domain = Domain::full(pool.sym_info(symbol).width);
        }
        let bit = |symbol: &SymId| query.symbols.binary_search(symbol).map_or(0, |at| 1_u8 << at);
        let mut search = Search {
            pool,
            query,
            links: Vec::new(),
            used: vec![false; query.slice.len()],
            work: 0,
            most_work: solver.config.classes_after,
        };
        for (form, item) in forms {
            let link = Link { form, item, symbols: pool.support(form).iter().map(bit).fold(0, |all, bit| all | bit) };
            match pool.support(form) {
                &[symbol] => {
                    let table = solver.tables.get(pool, form, symbol);
                    search.keep(item, &mut domains[link.symbols.trailing_zeros() as usize], table);
                }
                _ => search.links.push(link),
            }
        }
        (search, domains)
    }

    /// Looks at all models that the domains leave, or until one is found if any will do.
    fn run(&mut self, solver: &mut Solver, mut domains: Domains, most_work: usize, wanted: &mut Wanted) -> Result<(), Spent> {
        // All symbols, a bit each.
        let all = ((1_u16 << self.query.symbols.len()) - 1) as u8;
        if self.descend(solver, all, &domains, self.query.base, wanted).is_ok() {
            return Ok(());
        }
        if self.query.budget.stop.asked() {
            return Err(Spent);
        }
        self.most_work = most_work;
        self.tell_apart(solver, &mut domains, wanted);
        self.descend(solver, all, &domains, self.query.base, wanted)
    }

    /// Leaves one value of each class.
    fn tell_apart(&mut self, solver: &mut Solver, domains: &mut Domains, wanted: &Wanted) {
        let number = if let Wanted::Best { number, .. } = wanted { Some(*number) } else { None };
        let views = classes::views(self.pool, self.links.iter().map(|link| link.form).chain(number));
        for (&symbol, domain) in self.query.symbols.iter().zip(domains) {
            let of_symbol: Vec<ExprId> = views.iter().filter(|(of, _)| *of == symbol).map(|(_, view)| *view).collect();
            let work;
            (*domain, work) = classes::representatives(self.pool, &mut solver.tables, &of_symbol, symbol, *domain);
            self.work += work;
        }
    }

    /// Looks at the models in which the symbols that are not `open` have the values of `model`; no link has one open symbol left. Ends at the first
    /// model if any will do.
    fn descend(&mut self, solver: &mut Solver, open: u8, domains: &Domains, model: &Model, wanted: &mut Wanted) -> Result<(), Spent> {
        let Some(at) = numbers(open).min_by_key(|&at| domains[at].count()) else {
            if let Wanted::Any(found) = wanted {
                *found = Some(model.clone());
            }
            return Ok(());
        };
        let (symbol, rest) = (self.query.symbols[at], open & !(1 << at));
        if let (0, Wanted::Best { number, better, found }) = (rest, &mut *wanted) {
            // All values of the last symbol in one sweep.
            let (values, work) = solver.tables.values_beside(self.pool, *number, symbol, model);
            self.spend(work)?;
            for byte in domains[at].iter() {
                let value = values[usize::from(byte)];
                if found.as_ref().is_none_or(|(before, _)| better(value, *before)) {
                    *found = Some((value, model.with(&[(symbol, byte.into())])));
                }
            }
            return Ok(());
        }
        for value in domains[at].iter() {
            if self.query.budget.stop.asked() {
                return Err(Spent);
            }
            let model = model.with(&[(symbol, value.into())]);
            let mut left = *domains;
            if self.cut(solver, 1 << at, rest, &mut left, &model)? {
                self.descend(solver, rest, &left, &model, wanted)?;
                if let Wanted::Any(Some(_)) = wanted {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Is it the goal, or has it cut values?
    fn is_telling(&self, link: &Link) -> bool {
        link.item.is_none_or(|item| self.used[item])
    }

    fn spend(&mut self, work: usize) -> Result<(), Spent> {
        self.work += work;
        if self.work > self.most_work { Err(Spent) } else { Ok(()) }
    }

    /// Cuts the open symbols' values by the links that have one of them left since `chosen` has a value. Whether each has a value left.
    fn cut(&mut self, solver: &mut Solver, chosen: u8, open: u8, left: &mut Domains, model: &Model) -> Result<bool, Spent> {
        for at in numbers(open) {
            // The goal and what has cut values before come first: they often are enough, and the core stays small.
            for again in [true, false] {
                let due = |link: &&Link| link.symbols & chosen != 0 && link.symbols & open == 1 << at && self.is_telling(link) == again;
                let (forms, items): (Vec<ExprId>, Vec<Option<usize>>) =
                    self.links.iter().filter(due).map(|link| (link.form, link.item)).unzip();
                if forms.is_empty() {
                    continue;
                }
                let (tables, work) = solver.tables.beside_all(self.pool, &forms, self.query.symbols[at], model, left[at]);
                self.spend(work)?;
                for (&item, &table) in items.iter().zip(&tables) {
                    self.keep(item, &mut left[at], table);
                    if left[at].is_empty() {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Keeps the values that a condition allows, and notes whether one of the slice has cut some.
    fn keep(&mut self, item: Option<usize>, domain: &mut Domain, table: Domain) {
        let cut = domain.and(table);
        if let Some(item) = item {
            self.used[item] |= cut != *domain;
        }
        *domain = cut;
    }
}
