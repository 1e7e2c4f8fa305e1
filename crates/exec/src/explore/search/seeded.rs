//! After seeds: their flips first, nearest to uncovered code first; then another searcher.
//!
//! A flip whose own side is uncovered comes at once. Of the others, which only lead towards something new, every second selection is one: what the
//! first flips found is then explored beside them.

use super::distance::Distance;
use super::{Candidate, ItemId, Searcher, View};

pub struct Seeded {
    /// Flips of the seeds' paths alone.
    near: Distance,
    rest: Box<dyn Searcher>,
    turn: bool,
}

impl Seeded {
    pub fn new(rest: Box<dyn Searcher>) -> Seeded {
        Seeded { near: Distance::default(), rest, turn: false }
    }
}

impl Searcher for Seeded {
    fn add(&mut self, id: ItemId, item: &Candidate) {
        if item.of_seed {
            self.near.add(id, item);
        }
        self.rest.add(id, item);
    }
    fn remove(&mut self, id: ItemId) {
        self.near.remove(id);
        self.rest.remove(id);
    }
    fn select(&mut self, view: &View<'_>) -> Option<ItemId> {
        self.turn = !self.turn;
        match self.near.nearest(view) {
            Some((0, id)) => Some(id),
            Some((_, id)) if self.turn => Some(id),
            Some(_) | None => self.rest.select(view),
        }
    }
    fn covered(&mut self, block: u32) {
        self.near.covered(block);
        self.rest.covered(block);
    }
}
