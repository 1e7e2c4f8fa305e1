//! Value sets: which values an expression can have at most, where they are few.
//!
//! What depends on one byte has the values that the byte's domain gives it, by one sweep. Above that, a node through which all that is symbolic below
//! an expression reaches it (an immediate dominator in the graph of expressions) is evaluated value by value: an entry of a table of 16 bits, which
//! is read as two bytes at one index, is one of the table's numbers. What two such nodes make has at most the values of all pairs. So the states of a
//! scanner's or parser's table stay the states that the table has, and "the index is within the table" is decided without a solver.
//! Sound, not complete: relations between bytes are ignored. Cost: at most [`MOST_WORK`] operations.
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;

use wryneck_expr::visit::operands;
use wryneck_expr::{ExprId, Kind, Pool, eval};

use crate::domain::Domain;
use crate::path::PathCondition;
use crate::tables::Tables;

/// Operations for one question.
const MOST_WORK: usize = 400_000;
/// Values that a set may have.
const MOST_VALUES: usize = 4096;
/// Pairs of values that one operator may be computed for.
const MOST_PAIRS: usize = 100_000;
/// What a node costs beside its values.
const NODE: usize = 16;
/// The same two limits of a question that loads of a path ask: two whole bytes are too many pairs, so checksums cost little.
const LESS_WORK: usize = 40_000;
const FEWER_PAIRS: usize = 16_384;
/// Nodes between an expression and its dominator.
const MOST_BETWEEN: usize = 64;
/// Sets that are made of each other.
const MOST_LEVELS: u32 = 64;

/// The values, ascending.
type Values = Rc<[u64]>;

/// Is the 1-bit condition false whatever values the domains leave? `false`: not known. And how many operations it took.
pub(crate) fn refuted(pool: &Pool, pc: &PathCondition, tables: &mut Tables, cond: ExprId) -> (bool, usize) {
    // Two values are one too many.
    let mut sets =
        Sets { pool, pc, tables, known: FxHashMap::default(), work: 0, most_work: MOST_WORK, most_pairs: MOST_PAIRS, goal: (cond, 1) };
    let is_refuted = sets.of(cond, MOST_LEVELS).is_some_and(|values| values[..] == [0]);
    (is_refuted, sets.done())
}

/// A superset of the values under the path condition, ascending; `None`: more than `most`, or too costly to know. It does not depend on a model.
pub(crate) fn of(pool: &Pool, pc: &PathCondition, tables: &mut Tables, e: ExprId, most: usize) -> Option<Values> {
    let known = FxHashMap::default();
    let mut sets = Sets { pool, pc, tables, known, work: 0, most_work: LESS_WORK, most_pairs: FEWER_PAIRS, goal: (e, most) };
    let values = sets.of(e, MOST_LEVELS).filter(|values| values.len() <= most);
    sets.done();
    values
}

/// Operations that take about as long as a vector of a sweep.
const VECTOR: usize = 4;

struct Sets<'a> {
    pool: &'a Pool,
    pc: &'a PathCondition,
    tables: &'a mut Tables,
    known: FxHashMap<ExprId, Option<Values>>,
    work: usize,
    most_work: usize,
    most_pairs: usize,
    /// What is asked for, and how many values it may have.
    goal: (ExprId, usize),
}

impl Sets<'_> {
    /// A superset of the values under the path condition; `None`: too many, or too costly to know.
    fn of(&mut self, e: ExprId, levels: u32) -> Option<Values> {
        if let Some(known) = self.known.get(&e) {
            return known.clone();
        }
        let is_allowed = self.pool.width(e) <= 64 && levels > 0 && self.spend(NODE).is_some();
        let values = if is_allowed { self.derive(e, levels - 1) } else { None };
        self.known.insert(e, values.clone());
        values
    }

    fn derive(&mut self, e: ExprId, levels: u32) -> Option<Values> {
        match self.pool.support(e) {
            [] => return Some([self.pool.as_u64(e)?].into()),
            &[symbol] => {
                if self.pool.sym_info(symbol).width > 8 {
                    return None;
                }
                let domain = self.pc.domain(symbol).unwrap_or_else(|| Domain::full(self.pool.sym_info(symbol).width));
                self.spend(256)?;
                let values = self.tables.values(self.pool, e, symbol);
                return collected(domain.iter().map(|v| values[usize::from(v)]));
            }
            _ => {}
        }
        if let Some((below, between)) = self.dominator(e) {
            let inputs = self.of(below, levels)?;
            self.spend(inputs.len() * between.len())?;
            return self.mapped(below, &between, &inputs);
        }
        match self.pool.kind(e) {
            Kind::Ite(c, a, b) => match self.of(c, levels).as_deref() {
                Some([0]) => self.of(b, levels),
                Some([1]) => self.of(a, levels),
                _ => {
                    let (a, b) = (self.of(a, levels)?, self.of(b, levels)?);
                    collected(a.iter().chain(b.iter()).copied())
                }
            },
            Kind::Read(array, index) => {
                let index = self.of(index, levels)?;
                let elems = self.pool.array_elems(array);
                let mut all = BTreeSet::new();
                for &i in index.iter() {
                    match elems.get(i as usize) {
                        Some(&elem) => all.extend(self.of(elem, levels)?.iter()),
                        None => _ = all.insert(0),
                    }
                    self.spend(1)?;
                }
                collected(all)
            }
            kind => {
                let mut operands = kind.children();
                let (a, b) = (operands.next()?, operands.next()?);
                if operands.next().is_some() {
                    return None;
                }
                let (x, y) = (self.of(a, levels)?, self.of(b, levels)?);
                if x.len() * y.len() > self.most_pairs {
                    return None;
                }
                self.spend(x.len() * y.len())?;
                let pool = self.pool;
                if !is_computable(pool, e) {
                    return None;
                }
                let most = if self.goal.0 == e { self.goal.1 } else { MOST_VALUES };
                let mut all = FxHashSet::default();
                for &x in x.iter() {
                    for &y in y.iter() {
                        let of = |operand: ExprId| Ok::<u64, ()>(if operand == a { x } else { y });
                        all.insert(eval::of_operands(pool, e, kind, of).ok()?);
                        if all.len() > most {
                            return None;
                        }
                    }
                }
                collected(all)
            }
        }
    }

    /// The nearest node below `e` through which all that is symbolic reaches it, and what is between, operands first, `e` last.
    fn dominator(&self, e: ExprId) -> Option<(ExprId, Vec<ExprId>)> {
        // Ids ascend from operands to what is made of them: where one node is left, everything comes through it.
        let mut open = BTreeSet::from([e]);
        let mut between = Vec::new();
        while let Some(top) = open.pop_last() {
            if top != e && open.is_empty() {
                between.reverse();
                return Some((top, between));
            }
            if between.len() == MOST_BETWEEN || self.pool.width(top) > 64 {
                return None;
            }
            if matches!(self.pool.kind(top), Kind::Sym(_)) {
                return None;
            }
            let symbolic = |operand: &ExprId| !self.pool.support(*operand).is_empty();
            open.extend(operands(self.pool, top).filter(symbolic));
            between.push(top);
        }
        None
    }

    /// The values of the last of `between` for each value of `below`.
    fn mapped(&self, below: ExprId, between: &[ExprId], inputs: &[u64]) -> Option<Values> {
        let pool = self.pool;
        if !between.iter().all(|e| is_computable(pool, *e)) {
            return None;
        }
        let mut all = Vec::with_capacity(inputs.len());
        let mut values: Vec<u64> = Vec::with_capacity(between.len());
        for &input in inputs {
            values.clear();
            for &e in between {
                let of = |operand: ExprId| match pool.as_u64(operand) {
                    Some(value) => Ok(value),
                    None if operand == below => Ok(input),
                    None => between[..values.len()].binary_search(&operand).map(|at| values[at]).map_err(|_| ()),
                };
                values.push(eval::of_operands(pool, e, pool.kind(e), of).ok()?);
            }
            all.push(*values.last()?);
        }
        collected(all)
    }

    /// How many operations it took; they count among what the solver did.
    fn done(self) -> usize {
        self.tables.vectors += (self.work / VECTOR) as u64;
        self.work
    }

    fn spend(&mut self, work: usize) -> Option<()> {
        self.work += work;
        (self.work <= self.most_work).then_some(())
    }
}

fn collected(values: impl IntoIterator<Item = u64>) -> Option<Values> {
    let mut values: Vec<u64> = values.into_iter().collect();
    values.sort_unstable();
    values.dedup();
    (1..=MOST_VALUES).contains(&values.len()).then(|| values.into())
}

/// Whether the value of a node follows from those of its operands, of at most 64 bits each.
fn is_computable(pool: &Pool, e: ExprId) -> bool {
    let kind = pool.kind(e);
    !matches!(kind, Kind::Sym(_) | Kind::Float(..)) && kind.children().all(|operand| pool.width(operand) <= 64)
}
