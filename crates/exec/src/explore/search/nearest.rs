//! Near the first path: selects a flip that is the fewest flips away from the first path. Of these, flips on input that `Config::urgent`
//! names come first, then later decisions. The flips on an urgent flip's path count as no farther away than the urgent flip.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{Candidate, ItemId, Searcher, View};

/// Flips away from the first path, whether it can wait, decisions.
type Place = (u32, bool, Reverse<u32>);

/// Fewest flips away from the first path; of these, the urgent ones, and most decisions.
#[derive(Default)]
pub struct Nearest {
    order: BTreeSet<(Place, ItemId)>,
    known: BTreeMap<ItemId, Place>,
    /// How many flips away is what is found next.
    distance: u32,
}

impl Searcher for Nearest {
    fn add(&mut self, id: ItemId, item: &Candidate) {
        let place = (self.distance, !item.urgent, Reverse(item.depth));
        self.known.insert(id, place);
        self.order.insert((place, id));
    }
    fn remove(&mut self, id: ItemId) {
        if let Some(place) = self.known.remove(&id) {
            self.order.remove(&(place, id));
        }
    }
    fn select(&mut self, _: &View<'_>) -> Option<ItemId> {
        let ((distance, waits, _), id) = *self.order.first()?;
        self.distance = distance.saturating_add(waits.into());
        Some(id)
    }
}
