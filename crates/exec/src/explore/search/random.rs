//! Random path: a walk from the root of the path tree that takes each living child with equal probability (KLEE, OSDI'08 §3.4). It
//! favours short prefixes, so a loop that forks cannot starve the rest.

use rustc_hash::FxHashMap;

use super::{Candidate, ItemId, Random, Searcher, View};

pub struct RandomPath {
    random: Random,
    by_node: FxHashMap<u32, ItemId>,
    nodes: FxHashMap<ItemId, u32>,
}

impl RandomPath {
    pub fn new(seed: u64) -> RandomPath {
        RandomPath { random: Random(seed), by_node: FxHashMap::default(), nodes: FxHashMap::default() }
    }
}

impl Searcher for RandomPath {
    fn add(&mut self, id: ItemId, item: &Candidate) {
        self.by_node.insert(item.node, id);
        self.nodes.insert(id, item.node);
    }
    fn remove(&mut self, id: ItemId) {
        let Some(node) = self.nodes.remove(&id) else { return };
        if self.by_node.get(&node) == Some(&id) {
            self.by_node.remove(&node);
        }
    }
    fn select(&mut self, view: &View<'_>) -> Option<ItemId> {
        if self.nodes.is_empty() {
            return None;
        }
        let (mut bits, mut left) = (0, 0);
        let leaf = view.tree.walk(|| {
            if left == 0 {
                (bits, left) = (self.random.next(), 64);
            }
            left -= 1;
            let bit = bits & 1 == 1;
            bits >>= 1;
            bit
        });
        self.by_node.get(&leaf).copied()
    }
}
