//! After seeds: selects flips of the seeds' paths and of those that entered new code, nearest to uncovered code first, in turns with another
//! searcher.
//!
//! A flip that leads to an uncovered block is selected at once, if few others to that block were. A flip to a side of a branch that no path has taken comes
//! next, and then one to the next round of a loop that flips alone entered. Every second selection is then a flip of any path to a
//! [context](crate::step::contexts) that no path has entered, if there is one. Flips of seeds that are farther get every fourth selection. The other searcher gets the
//! rest, so that it explores what the first flips found.

use super::distance::Distance;
use super::leads::Leads;
use super::new_contexts::NewContexts;
use super::{Candidate, ItemId, Searcher, View};

pub struct Seeded {
    /// Of all items those that lead on.
    near: Distance,
    sides: Leads,
    rounds: Leads,
    /// Of all items.
    contexts: NewContexts,
    rest: Box<dyn Searcher>,
    turn: u32,
}

impl Seeded {
    pub fn new(rest: Box<dyn Searcher>) -> Seeded {
        Seeded {
            near: Distance::default(),
            sides: Leads::default(),
            rounds: Leads::default(),
            contexts: NewContexts::default(),
            rest,
            turn: 0,
        }
    }
}

impl Searcher for Seeded {
    fn add(&mut self, id: ItemId, item: &Candidate) {
        if item.leads_on {
            self.near.add(id, item);
            item.side.into_iter().for_each(|side| self.sides.add(id, side));
            self.rounds.add_round(id, item);
        }
        item.context.into_iter().for_each(|context| self.contexts.add(id, context));
        self.rest.add(id, item);
    }
    fn remove(&mut self, id: ItemId) {
        self.near.remove(id);
        self.sides.remove(id);
        self.rounds.remove(id);
        self.contexts.remove(id);
        self.rest.remove(id);
    }
    fn select(&mut self, view: &View<'_>) -> Option<ItemId> {
        self.turn += 1;
        let near = self.near.nearest(view);
        if let Some((0, id)) = near {
            return Some(id);
        }
        let next = self.sides.select_side(view.sides).or_else(|| self.rounds.select_round());
        let next = next.or_else(|| if self.turn.is_multiple_of(2) { self.contexts.select(view.contexts) } else { None });
        next.or_else(|| match near {
            Some((_, id)) if self.turn % 4 == 1 => Some(id),
            Some(_) | None => self.rest.select(view),
        })
    }
    fn covered(&mut self, block: u32) {
        self.near.covered(block);
        self.rest.covered(block);
    }
}
