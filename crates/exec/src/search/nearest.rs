//! Near the first path: the flips of a path before those of its flips, and of these the latest decision first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{Candidate, ItemId, Searcher, View};

/// Fewest flips away from the first path; of these, most decisions.
#[derive(Default)]
pub struct Nearest {
    order: BTreeSet<(u32, Reverse<u32>, ItemId)>,
    known: BTreeMap<ItemId, (u32, Reverse<u32>)>,
    /// How many flips away is what is found next.
    distance: u32,
}

impl Searcher for Nearest {
    fn add(&mut self, id: ItemId, item: &Candidate) {
        let place = (self.distance, Reverse(item.depth));
        self.known.insert(id, place);
        self.order.insert((place.0, place.1, id));
    }
    fn remove(&mut self, id: ItemId) {
        if let Some((distance, depth)) = self.known.remove(&id) {
            self.order.remove(&(distance, depth, id));
        }
    }
    fn select(&mut self, _: &View<'_>) -> Option<ItemId> {
        let (distance, _, id) = *self.order.first()?;
        self.distance = distance.saturating_add(1);
        Some(id)
    }
}
