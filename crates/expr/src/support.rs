//! Supports: which symbols a node depends on, as shared sorted sets.
//!
//! Equal sets have one id, and unions are remembered, so that a node costs 4 bytes and most unions are one comparison. A union with a much
//! smaller set costs a copy of the larger one, and nothing if it is a part of it.

use rustc_hash::FxHashMap;

use crate::node::SymId;

/// A set of symbols. Id 0 is the empty one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct SetId(u32);

impl SetId {
    pub(crate) const EMPTY: SetId = SetId(0);
}

/// A set and its hash: the sum of its symbols' hashes, so that a union's hash follows from what it adds.
struct Set {
    symbols: Box<[SymId]>,
    hash: u64,
}

/// A set that is so many times smaller than another is merged into it symbol by symbol.
const SMALLER: usize = 16;

#[derive(Default)]
pub(crate) struct Supports {
    sets: Vec<Set>,
    /// By hash of the content; a set whose key is taken by another has the next free one.
    ids: FxHashMap<u64, SetId>,
    unions: FxHashMap<(SetId, SetId), SetId>,
    symbols_kept: usize,
    /// Symbols that unions have copied so far.
    copied: u64,
}

impl Supports {
    pub(crate) fn new() -> Supports {
        let mut supports = Supports::default();
        supports.intern(&[]);
        supports
    }

    /// The set of the given symbols, sorted and without repeats.
    pub(crate) fn intern(&mut self, symbols: &[SymId]) -> SetId {
        let hash = symbols.iter().fold(0, |sum: u64, s| sum.wrapping_add(hash(*s)));
        self.intern_hashed(symbols.to_vec(), hash)
    }

    fn intern_hashed(&mut self, symbols: Vec<SymId>, hash: u64) -> SetId {
        let mut key = hash;
        while let Some(&id) = self.ids.get(&key) {
            if *self.get(id) == *symbols {
                return id;
            }
            key = key.wrapping_add(1);
        }
        let id = SetId(self.sets.len() as u32);
        self.symbols_kept += symbols.len();
        self.sets.push(Set { symbols: symbols.into(), hash });
        self.ids.insert(key, id);
        id
    }

    pub(crate) fn get(&self, id: SetId) -> &[SymId] {
        &self.sets[id.0 as usize].symbols
    }

    /// Symbols that unions have copied so far: the part of their cost that grows with the sets.
    pub(crate) fn copied(&self) -> u64 {
        self.copied
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
        let (large, small) = if self.get(a).len() >= self.get(b).len() { (a, b) } else { (b, a) };
        let (all, few) = (&self.sets[large.0 as usize], self.get(small));
        let added: Vec<SymId> = match few.len() * SMALLER <= all.symbols.len() {
            true => few.iter().copied().filter(|s| all.symbols.binary_search(s).is_err()).collect(),
            false => difference(few, &all.symbols),
        };
        let id = match added.is_empty() {
            true => large,
            false => {
                let hash = added.iter().fold(all.hash, |sum, s| sum.wrapping_add(hash(*s)));
                let merged = merge(&all.symbols, &added);
                self.copied += merged.len() as u64;
                self.intern_hashed(merged, hash)
            }
        };
        self.unions.insert((a, b), id);
        id
    }

    pub(crate) fn bytes(&self) -> usize {
        self.symbols_kept * 4 + self.sets.len() * 48 + self.unions.len() * 16
    }
}

/// A symbol's hash, spread over all bits: sums of such hashes differ for different sets (the finaliser of `splitmix64`).
fn hash(symbol: SymId) -> u64 {
    let mut h = (u64::from(symbol.0) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    h = (h ^ h >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h = (h ^ h >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    h ^ h >> 31
}

/// What the first of two sorted lists has and the second has not.
fn difference(of: &[SymId], without: &[SymId]) -> Vec<SymId> {
    let mut rest = without;
    let mut out = Vec::new();
    for s in of {
        rest = &rest[rest.iter().take_while(|other| *other < s).count()..];
        if rest.first() != Some(s) {
            out.push(*s);
        }
    }
    out
}

/// The sorted union of two sorted lists that share nothing.
fn merge(large: &[SymId], added: &[SymId]) -> Vec<SymId> {
    let mut out = Vec::with_capacity(large.len() + added.len());
    let mut rest = large;
    for s in added {
        // The last symbols are often the newest.
        let before = if rest.last() < Some(s) { rest.len() } else { rest.partition_point(|other| other < s) };
        out.extend_from_slice(&rest[..before]);
        out.push(*s);
        rest = &rest[before..];
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_are_those_of_sets() {
        let mut supports = Supports::new();
        let mut state = 7u32;
        let mut random = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        for n in 0..2000 {
            let mut make = |most: u32| -> std::collections::BTreeSet<SymId> { (0..random(most)).map(|_| SymId(random(60))).collect() };
            let (a, b) = (make(40), make([3, 40][n % 2]));
            let ids = [&a, &b].map(|set| supports.intern(&set.iter().copied().collect::<Vec<_>>()));
            let both: Vec<SymId> = a.union(&b).copied().collect();
            let union = supports.union(ids[0], ids[1]);
            assert_eq!(supports.get(union), both);
            assert_eq!(union, supports.intern(&both), "equal sets have one id");
        }
    }
}
