//! Supports: which symbols a node depends on, as shared sorted sets.
//!
//! Equal sets have one id, and unions are remembered, so that a node costs 4 bytes and most unions are one comparison.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use crate::node::SymId;

/// A set of symbols. Id 0 is the empty one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct SetId(u32);

impl SetId {
    pub(crate) const EMPTY: SetId = SetId(0);
}

#[derive(Default)]
pub(crate) struct Supports {
    sets: Vec<Box<[SymId]>>,
    /// By hash of the content; a set whose key is taken by another has the next free one.
    ids: FxHashMap<u64, SetId>,
    unions: FxHashMap<(SetId, SetId), SetId>,
    symbols_kept: usize,
}

impl Supports {
    pub(crate) fn new() -> Supports {
        let mut supports = Supports::default();
        supports.intern(&[]);
        supports
    }

    /// The set of the given symbols, sorted and without repeats.
    pub(crate) fn intern(&mut self, symbols: &[SymId]) -> SetId {
        let mut key = hash(symbols);
        while let Some(&id) = self.ids.get(&key) {
            if self.get(id) == symbols {
                return id;
            }
            key = key.wrapping_add(1);
        }
        let id = SetId(self.sets.len() as u32);
        self.sets.push(symbols.into());
        self.ids.insert(key, id);
        self.symbols_kept += symbols.len();
        id
    }

    pub(crate) fn get(&self, id: SetId) -> &[SymId] {
        &self.sets[id.0 as usize]
    }

    #[inline]
    pub(crate) fn union(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b || b == SetId::EMPTY {
            return a;
        }
        if a == SetId::EMPTY {
            return b;
        }
        self.union_of_different(a.min(b), a.max(b))
    }

    fn union_of_different(&mut self, a: SetId, b: SetId) -> SetId {
        if let Some(&id) = self.unions.get(&(a, b)) {
            return id;
        }
        let merged = merge(self.get(a), self.get(b));
        let id = self.intern(&merged);
        self.unions.insert((a, b), id);
        id
    }

    pub(crate) fn bytes(&self) -> usize {
        self.symbols_kept * 4 + self.sets.len() * 48 + self.unions.len() * 16
    }
}

fn hash(symbols: &[SymId]) -> u64 {
    let mut hasher = FxHasher::default();
    symbols.hash(&mut hasher);
    hasher.finish()
}

/// The sorted union of two sorted lists.
fn merge(a: &[SymId], b: &[SymId]) -> Vec<SymId> {
    let mut out = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let next = a[i].min(b[j]);
        i += usize::from(a[i] == next);
        j += usize::from(b[j] == next);
        out.push(next);
    }
    out.extend_from_slice(&a[i..]);
    out.extend_from_slice(&b[j..]);
    out
}
