//! Truth tables of single-byte conditions, made once per expression.
//!
//! A condition over one symbol of at most 8 bits *is* its table of 256 truth values (one sweep of its nodes); every question about it and
//! others over the same symbol is then a few word operations.
use rustc_hash::FxHashMap;
use wryneck_expr::{ExprId, Kind, Model, Pool, Remap, Sweep, SymId};

use crate::domain::Domain;

/// What a vector of floating-point operations costs, in vectors of others: 32 of them for 256 values.
const FLOAT_WORK: usize = 32;

/// What the vector of a node costs, in vectors.
pub(crate) fn work_of(pool: &Pool, e: ExprId) -> usize {
    if matches!(pool.kind(e), Kind::Float(..)) { FLOAT_WORK } else { 1 }
}

/// Tables by expression. Keep one per pool; see [`Tables::remap`].
#[derive(Default)]
pub struct Tables {
    tables: FxHashMap<ExprId, Domain>,
    sweep: Sweep,
    /// Vectors that all sweeps computed, and what took as long.
    pub(crate) vectors: u64,
}

impl Tables {
    pub fn new() -> Tables {
        Tables::default()
    }

    /// The symbol of a condition that depends on exactly one, of at most 8 bits.
    #[inline]
    pub fn byte_symbol(pool: &Pool, cond: ExprId) -> Option<SymId> {
        match pool.support(cond) {
            &[symbol] if pool.sym_info(symbol).width <= 8 => Some(symbol),
            _ => None,
        }
    }

    /// The values of `symbol` under which `cond` holds; `symbol` is the only one `cond` depends on and has at most 8 bits.
    #[inline]
    pub fn get(&mut self, pool: &Pool, cond: ExprId, symbol: SymId) -> Domain {
        match self.tables.get(&cond) {
            Some(&table) => table,
            None => self.make(pool, cond, symbol),
        }
    }

    #[cold]
    fn make(&mut self, pool: &Pool, cond: ExprId, symbol: SymId) -> Domain {
        let width = pool.sym_info(symbol).width;
        let table = Domain(self.sweep.sweep(pool, cond, symbol)).and(Domain::full(width));
        self.work(256);
        self.tables.insert(cond, table);
        table
    }

    /// The values of an expression of at most 64 bits that depends on `symbol` alone, by the symbol's value.
    pub fn values(&mut self, pool: &Pool, e: ExprId, symbol: SymId) -> [u64; 256] {
        let values = self.sweep.sweep_values(pool, e, symbol);
        self.work(256);
        values
    }

    /// The values of `symbol` under which `cond` holds where every other symbol has its value in a model; `symbol` has at most 8 bits. Not kept.
    pub(crate) fn beside(&mut self, pool: &Pool, cond: ExprId, symbol: SymId, model: &Model) -> Domain {
        let table = self.sweep.sweep_in(pool, cond, symbol, model);
        self.work(256);
        Domain(table).and(Domain::full(pool.sym_info(symbol).width))
    }

    /// The values of an expression of at most 64 bits by the symbol's value, where every other symbol has its value in a model; and how many vectors
    /// it took.
    pub(crate) fn values_beside(&mut self, pool: &Pool, e: ExprId, symbol: SymId, model: &Model) -> ([u64; 256], usize) {
        let values = self.sweep.sweep_values_in(pool, e, symbol, model);
        (values, self.work(256))
    }

    /// [`beside`](Self::beside) of several conditions among some values of the symbol, and how many vectors it took; a floating-point operation on
    /// all values counts as [`FLOAT_WORK`].
    pub(crate) fn beside_all(
        &mut self,
        pool: &Pool,
        conds: &[ExprId],
        symbol: SymId,
        model: &Model,
        among: Domain,
    ) -> (Vec<Domain>, usize) {
        let tables = self.sweep.sweep_all(pool, conds, symbol, model, among.0);
        let tables = tables.into_iter().map(|table| Domain(table).and(among)).collect();
        (tables, self.work(among.count()))
    }

    /// What the last sweep over so many values cost, in vectors.
    fn work(&mut self, values: u32) -> usize {
        let (vectors, floats) = self.sweep.vectors();
        let work = vectors - floats + floats * (FLOAT_WORK * values as usize).div_ceil(256).max(1);
        self.vectors += work as u64;
        work
    }

    /// Keeps the tables of the expressions that survived a compaction.
    pub fn remap(&mut self, remap: &Remap) {
        self.sweep.clear();
        let old = std::mem::take(&mut self.tables);
        self.tables = old.into_iter().filter_map(|(e, table)| Some((remap.get(e)?, table))).collect();
    }

    pub fn clear(&mut self) {
        self.tables.clear();
        self.sweep.clear();
    }

    /// Bytes held, about.
    pub fn memory(&self) -> usize {
        self.tables.capacity() * (size_of::<(ExprId, Domain)>() + 1) + self.sweep.memory()
    }
}
