//! After seeds: selects flips on the seeds' paths first, nearest to uncovered code first. Then it uses another searcher.
//!
//! A flip that leads to an uncovered block is selected at once. Flips that are farther from uncovered code get every second selection. The
//! other searcher gets the rest, so that it explores what the first flips found.

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
