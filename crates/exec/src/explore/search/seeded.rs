//! After seeds: selects flips of the seeds' paths and of those that entered new code, nearest to uncovered code first, in turns with another
//! searcher.
//!
//! A flip that leads to an uncovered block is selected at once, if few others to that block were. A flip to a side of a branch that no path has taken comes
//! next, and then one to the next round of a loop that flips alone entered. Flips that are farther get every second selection. The other searcher gets the rest, so that it explores what the first flips found.

use super::distance::Distance;
use super::leads::Leads;
use super::{Candidate, ItemId, Searcher, View};

pub struct Seeded {
    /// Of all items those that lead on.
    near: Distance,
    sides: Leads,
    rounds: Leads,
    rest: Box<dyn Searcher>,
    turn: bool,
}

impl Seeded {
    pub fn new(rest: Box<dyn Searcher>) -> Seeded {
        Seeded { near: Distance::default(), sides: Leads::default(), rounds: Leads::default(), rest, turn: false }
    }
}

impl Searcher for Seeded {
    fn add(&mut self, id: ItemId, item: &Candidate) {
        if item.leads_on {
            self.near.add(id, item);
            item.side.into_iter().for_each(|side| self.sides.add(id, side));
            self.rounds.add_round(id, item);
        }
        self.rest.add(id, item);
    }
    fn remove(&mut self, id: ItemId) {
        self.near.remove(id);
        self.sides.remove(id);
        self.rounds.remove(id);
        self.rest.remove(id);
    }
    fn select(&mut self, view: &View<'_>) -> Option<ItemId> {
        self.turn = !self.turn;
        match self.near.nearest(view) {
            Some((0, id)) => Some(id),
            near => self.sides.select_side(view.sides).or_else(|| self.rounds.select_round()).or_else(|| match near {
                Some((_, id)) if self.turn => Some(id),
                Some(_) | None => self.rest.select(view),
            }),
        }
    }
    fn covered(&mut self, block: u32) {
        self.near.covered(block);
        self.rest.covered(block);
    }
}
