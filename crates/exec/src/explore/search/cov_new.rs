//! Coverage-new: selects a flip whose block no path has entered. If there is none, it selects a random program location among those with
//! flips, and one flip there. So locations that fork often do not crowd out the others.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::{Candidate, ItemId, Random, Searcher, View};

pub struct CoverageNew {
    random: Random,
    /// Pending flips by the uncovered block they lead to.
    leads: BTreeMap<u32, BTreeSet<ItemId>>,
    /// All pending items, by the number of the place they forked at.
    places: Vec<Vec<ItemId>>,
    place_numbers: FxHashMap<(u32, u32), usize>,
    /// Places with an item, and where each is in this list.
    alive: Vec<usize>,
    items: FxHashMap<ItemId, (Option<u32>, usize)>,
}

impl CoverageNew {
    pub fn new(seed: u64) -> CoverageNew {
        CoverageNew {
            random: Random(seed ^ 0x5eed),
            leads: BTreeMap::new(),
            places: Vec::new(),
            place_numbers: FxHashMap::default(),
            alive: Vec::new(),
            items: FxHashMap::default(),
        }
    }
}

impl Searcher for CoverageNew {
    fn add(&mut self, id: ItemId, item: &Candidate) {
        if let Some(block) = item.block {
            self.leads.entry(block).or_default().insert(id);
        }
        let next = self.places.len();
        let place = *self.place_numbers.entry((item.pos.func, item.pos.op)).or_insert(next);
        if place == next {
            self.places.push(Vec::new());
        }
        if self.places[place].is_empty() {
            self.alive.push(place);
        }
        self.places[place].push(id);
        self.items.insert(id, (item.block, place));
    }
    fn remove(&mut self, id: ItemId) {
        let Some((block, place)) = self.items.remove(&id) else { return };
        if let Some(ids) = block.and_then(|b| self.leads.get_mut(&b)) {
            ids.remove(&id);
        }
        // The most recent items are the likeliest to go.
        if let Some(i) = self.places[place].iter().rposition(|x| *x == id) {
            self.places[place].swap_remove(i);
        }
        if self.places[place].is_empty() {
            self.alive.retain(|p| *p != place);
        }
    }
    fn select(&mut self, view: &View<'_>) -> Option<ItemId> {
        self.leads.retain(|block, ids| !ids.is_empty() && view.coverage[*block as usize] == 0);
        if let Some(ids) = self.leads.values().next() {
            return ids.first().copied();
        }
        let place = *self.alive.get(self.random.below(self.alive.len()))?;
        let ids = &self.places[place];
        ids.get(self.random.below(ids.len())).copied()
    }
}
