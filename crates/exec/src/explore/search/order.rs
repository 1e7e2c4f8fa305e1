//! Depth first and breadth first.

use std::collections::{BTreeMap, BTreeSet};

use super::{Candidate, ItemId, Searcher, View};

/// The youngest item.
#[derive(Default)]
pub struct Dfs {
    items: BTreeSet<ItemId>,
}

impl Searcher for Dfs {
    fn add(&mut self, id: ItemId, _: &Candidate) {
        self.items.insert(id);
    }
    fn remove(&mut self, id: ItemId) {
        self.items.remove(&id);
    }
    fn select(&mut self, _: &View<'_>) -> Option<ItemId> {
        self.items.last().copied()
    }
}

/// The item with the fewest decisions; the oldest of those.
#[derive(Default)]
pub struct Bfs {
    order: BTreeSet<(u32, ItemId)>,
    depth: BTreeMap<ItemId, u32>,
}

impl Searcher for Bfs {
    fn add(&mut self, id: ItemId, item: &Candidate) {
        self.order.insert((item.depth, id));
        self.depth.insert(id, item.depth);
    }
    fn remove(&mut self, id: ItemId) {
        if let Some(depth) = self.depth.remove(&id) {
            self.order.remove(&(depth, id));
        }
    }
    fn select(&mut self, _: &View<'_>) -> Option<ItemId> {
        self.order.first().map(|(_, id)| *id)
    }
}
