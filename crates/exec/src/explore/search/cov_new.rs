//! Coverage-new: selects a flip whose block no path has entered, then one whose side of a branch no path has taken. If there is none, it selects a random program
//! location among those with flips, and one flip there. So locations that fork often do not crowd out the others.
//!
//! If a block was selected `IN_VAIN` times, only every second selection is one of its flips. A side is left to chance after a few.

use rustc_hash::FxHashMap;

use super::leads::Leads;
use super::{Candidate, ItemId, Random, Searcher, View};

pub struct CoverageNew {
    random: Random,
    blocks: Leads,
    sides: Leads,
    turn: bool,
    /// All pending items, by the number of the place they forked at.
    places: Vec<Vec<ItemId>>,
    place_numbers: FxHashMap<(u32, u32), usize>,
    /// Places with an item, and where each is in this list.
    alive: Vec<usize>,
    items: FxHashMap<ItemId, usize>,
}

/// Selections after which a block may be one that cannot be entered.
const IN_VAIN: u32 = 16;

impl CoverageNew {
    pub fn new(seed: u64) -> CoverageNew {
        CoverageNew {
            random: Random(seed ^ 0x5eed),
            blocks: Leads::default(),
            sides: Leads::default(),
            turn: false,
            places: Vec::new(),
            place_numbers: FxHashMap::default(),
            alive: Vec::new(),
            items: FxHashMap::default(),
        }
    }

    /// A flip that leads to an uncovered block, unless it is the others' turn.
    fn lead(&mut self, coverage: &[u8]) -> Option<ItemId> {
        if self.blocks.tried(coverage)? >= IN_VAIN {
            self.turn = !self.turn;
            if self.turn {
                return None;
            }
        }
        self.blocks.select()
    }
}

impl Searcher for CoverageNew {
    fn add(&mut self, id: ItemId, item: &Candidate) {
        item.block.into_iter().for_each(|block| self.blocks.add(id, block));
        item.side.into_iter().for_each(|side| self.sides.add(id, side));
        let next = self.places.len();
        let place = *self.place_numbers.entry((item.pos.func, item.pos.op)).or_insert(next);
        if place == next {
            self.places.push(Vec::new());
        }
        if self.places[place].is_empty() {
            self.alive.push(place);
        }
        self.places[place].push(id);
        self.items.insert(id, place);
    }
    fn remove(&mut self, id: ItemId) {
        let Some(place) = self.items.remove(&id) else { return };
        self.blocks.remove(id);
        self.sides.remove(id);
        // The most recent items are the likeliest to go.
        if let Some(i) = self.places[place].iter().rposition(|x| *x == id) {
            self.places[place].swap_remove(i);
        }
        if self.places[place].is_empty() {
            self.alive.retain(|p| *p != place);
        }
    }
    fn select(&mut self, view: &View<'_>) -> Option<ItemId> {
        if let Some(id) = self.lead(view.coverage).or_else(|| self.sides.select_side(view.sides)) {
            return Some(id);
        }
        let place = *self.alive.get(self.random.below(self.alive.len()))?;
        let ids = &self.places[place];
        ids.get(self.random.below(ids.len())).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flip(block: u32) -> Candidate {
        Candidate { block: Some(block), ..Candidate::default() }
    }

    #[test]
    fn a_block_that_cannot_be_entered_keeps_no_other_waiting() {
        let mut search = CoverageNew::new(1);
        (0..100).for_each(|id| search.add(id, &flip(0)));
        search.add(100, &flip(1));
        let mut selected = Vec::new();
        for _ in 0..60 {
            let lead = search.lead(&[0, 0]);
            lead.into_iter().for_each(|id| search.remove(id));
            selected.push(lead);
        }
        assert!(selected[..2].contains(&Some(100)), "{selected:?}");
        assert!(selected[..17].iter().all(Option::is_some), "{selected:?}");
        assert_eq!(selected[17..].iter().filter(|lead| lead.is_none()).count(), 22, "{selected:?}");
        assert_eq!(search.lead(&[1, 1]), None);
    }
}
