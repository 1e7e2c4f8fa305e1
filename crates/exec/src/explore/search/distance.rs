//! Distance to uncovered: selects the flip whose block is the fewest blocks away from an uncovered block, by static control flow and
//! direct calls. Each item that was taken makes its block one block farther, since a way in the control flow may be none of the program.
//!
//! New coverage makes the distances stale. They are computed again at most once per 64 selections.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::graph::Graph;
use super::{Candidate, ItemId, Searcher, View};

pub struct Distance {
    graph: Graph,
    distance: Vec<u32>,
    stale: bool,
    selections: u32,
    /// The block that each item leads to.
    items: FxHashMap<ItemId, u32>,
    blocks: FxHashMap<u32, Leads>,
    /// Blocks that items lead to, by [`Distance::rank`]: of a corpus there are a million items.
    order: BTreeSet<(u32, u32, u32)>,
}

/// The items that lead to a block, and how many were taken.
#[derive(Default)]
struct Leads {
    items: BTreeSet<ItemId>,
    taken: u32,
}

const REFRESH: u32 = 64;

impl Default for Distance {
    fn default() -> Distance {
        Distance {
            graph: Graph::default(),
            distance: Vec::new(),
            stale: true,
            selections: REFRESH,
            items: FxHashMap::default(),
            blocks: FxHashMap::default(),
            order: BTreeSet::new(),
        }
    }
}

impl Distance {
    fn refresh(&mut self, view: &View<'_>) {
        view.grow(&mut self.graph);
        let uncovered = (0..view.coverage.len() as u32).filter(|b| view.coverage[*b as usize] == 0);
        self.distance = self.graph.distances(uncovered);
        let alive = self.blocks.iter().filter(|(_, leads)| !leads.items.is_empty());
        self.order = alive.map(|(block, leads)| self.rank(*block, leads.taken)).collect();
        (self.stale, self.selections) = (false, 0);
    }

    fn of(&self, block: u32) -> u32 {
        // Blocks lowered since the distances were computed are new.
        self.distance.get(block as usize).copied().unwrap_or(0)
    }

    /// Where a block stands: the nearest first, and of these the one of which the fewest items were taken.
    fn rank(&self, block: u32, taken: u32) -> (u32, u32, u32) {
        (self.of(block).saturating_add(taken), taken, block)
    }

    /// The nearest item, with its distance; `u32::MAX`: it leads to nothing uncovered that is known.
    pub(super) fn nearest(&mut self, view: &View<'_>) -> Option<(u32, ItemId)> {
        self.selections += 1;
        if self.stale && self.selections > REFRESH {
            self.refresh(view);
        }
        let (distance, taken, block) = *self.order.first()?;
        let items = &self.blocks.get(&block)?.items;
        // The oldest has the shortest way; the youngest may be the next round of a loop.
        let id = if taken % 2 == 0 { items.first() } else { items.last() };
        Some((distance, *id?))
    }
}

impl Searcher for Distance {
    fn add(&mut self, id: ItemId, item: &Candidate) {
        let block = item.block.unwrap_or(0);
        self.items.insert(id, block);
        let leads = self.blocks.entry(block).or_default();
        leads.items.insert(id);
        let taken = leads.taken;
        self.order.insert(self.rank(block, taken));
    }
    fn remove(&mut self, id: ItemId) {
        let Some(block) = self.items.remove(&id) else { return };
        let Some(leads) = self.blocks.get_mut(&block) else { return };
        leads.items.remove(&id);
        leads.taken += 1;
        let (taken, is_left) = (leads.taken, !leads.items.is_empty());
        self.order.remove(&self.rank(block, taken - 1));
        if is_left {
            self.order.insert(self.rank(block, taken));
        }
    }
    fn select(&mut self, view: &View<'_>) -> Option<ItemId> {
        self.nearest(view).map(|(_, id)| id)
    }
    fn covered(&mut self, _: u32) {
        self.stale = true;
    }
}
