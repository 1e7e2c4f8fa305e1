//! Models: one value per symbol.
//!
//! A model is shared by counting and never changes; each distinct one has a serial number of its own, which is what
//! evaluation memos are keyed by.

use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::node::SymId;

/// A value for every symbol; symbols never mentioned are 0. Cloning bumps a count.
#[derive(Clone, Debug)]
pub struct Model(Rc<Values>);

#[derive(Debug)]
struct Values {
    serial: u64,
    by_symbol: Vec<u64>,
}

/// Serial of the model in which everything is 0.
const EMPTY: u64 = 1;

/// Serials only tell models apart; no result depends on their order, so sharing the counter between threads is harmless.
static NEXT: AtomicU64 = AtomicU64::new(EMPTY + 1);

impl Model {
    /// Every symbol is 0.
    pub fn empty() -> Model {
        Model(Rc::new(Values { serial: EMPTY, by_symbol: Vec::new() }))
    }

    /// The value of a symbol.
    #[inline]
    pub fn get(&self, symbol: SymId) -> u64 {
        self.0.by_symbol.get(symbol.index()).copied().unwrap_or(0)
    }

    /// A number no other model with other values has; never 0.
    #[inline]
    pub fn serial(&self) -> u64 {
        self.0.serial
    }

    /// This model with some values replaced (zero-extended to 64 bits; the later of two for one symbol counts).
    pub fn with(&self, changes: &[(SymId, u64)]) -> Model {
        if changes.iter().all(|&(symbol, value)| self.get(symbol) == value) {
            return self.clone();
        }
        let len = changes.iter().map(|(symbol, _)| symbol.index() + 1).max().unwrap_or(0);
        let mut by_symbol = self.0.by_symbol.clone();
        by_symbol.resize(by_symbol.len().max(len), 0);
        for &(symbol, value) in changes {
            by_symbol[symbol.index()] = value;
        }
        Model(Rc::new(Values { serial: NEXT.fetch_add(1, Ordering::Relaxed), by_symbol }))
    }

    /// Values by symbol number; symbols beyond the end are 0.
    pub fn values(&self) -> &[u64] {
        &self.0.by_symbol
    }
}

impl Default for Model {
    fn default() -> Model {
        Model::empty()
    }
}
