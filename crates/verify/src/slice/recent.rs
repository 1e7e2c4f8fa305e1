//! Bounded memory of recent results, so that long runs do not fill the memory.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// What was found lately, by key. When it ages, what was new becomes old, and what was old is forgotten.
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

    /// What is known of a key: what is new, and (`true`) what is old.
    pub fn at(&self, key: &K) -> impl Iterator<Item = (&V, bool)> {
        let both = [(&self.new, false), (&self.old, true)].into_iter();
        both.filter_map(move |(known, is_old)| Some((known.get(key)?, is_old)))
    }
}
