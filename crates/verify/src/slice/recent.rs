//! Bounded memory of recent results, so that long runs do not fill the memory.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// A map with two generations. Ageing makes the new generation the old one, and forgets the old one.
pub struct Recent<K, V> {
    pub new: FxHashMap<K, V>,
    old: FxHashMap<K, V>,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Recent<K, V> {
        Recent { new: FxHashMap::default(), old: FxHashMap::default() }
    }
}

impl<K: Eq + Hash, V> Recent<K, V> {
    pub fn age(&mut self) {
        self.old = std::mem::take(&mut self.new);
    }

    /// The values of a key: of the new generation, and (`true`) of the old one.
    pub fn at(&self, key: &K) -> impl Iterator<Item = (&V, bool)> {
        let both = [(&self.new, false), (&self.old, true)].into_iter();
        both.filter_map(move |(known, is_old)| Some((known.get(key)?, is_old)))
    }
}
