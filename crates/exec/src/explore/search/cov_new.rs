//! Coverage-new: selects a flip whose block no path has entered. If there is none, it selects a random program location among those with
//! flips, and one flip there. So locations that fork often do not crowd out the others.
//!
//! Some blocks cannot be entered, and thousands of flips may lead to one, each refuted by a query of its own. So the block with the fewest
//! selections comes first. If that block was selected `IN_VAIN` times, only every second selection is one of its flips.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::{Candidate, ItemId, Random, Searcher, View};

pub struct CoverageNew {
    random: Random,
    /// Pending flips by the uncovered block they lead to.
    leads: BTreeMap<u32, Leads>,
    /// Blocks with such flips, by how often one of them was selected.
    order: BTreeSet<(u32, u32)>,
    turn: bool,
    /// All pending items, by the number of the place they forked at.
    places: Vec<Vec<ItemId>>,
    place_numbers: FxHashMap<(u32, u32), usize>,
    /// Places with an item, and where each is in this list.
    alive: Vec<usize>,
    items: FxHashMap<ItemId, (Option<u32>, usize)>,
}

/// The flips that lead to a block, and how often one was selected.
#[derive(Default)]
struct Leads {
    items: BTreeSet<ItemId>,
    tried: u32,
}

/// Selections after which a block may be one that cannot be entered.
const IN_VAIN: u32 = 16;

impl CoverageNew {
    pub fn new(seed: u64) -> CoverageNew {
        CoverageNew {
            random: Random(seed ^ 0x5eed),
            leads: BTreeMap::new(),
            order: BTreeSet::new(),
            turn: false,
            places: Vec::new(),
            place_numbers: FxHashMap::default(),
            alive: Vec::new(),
            items: FxHashMap::default(),
        }
    }

    /// A flip that leads to an uncovered block, unless it is the others' turn.
    fn lead(&mut self, coverage: &[u8]) -> Option<ItemId> {
        while let Some(&(tried, block)) = self.order.first() {
            let covered = coverage[block as usize] != 0;
            let Some(leads) = self.leads.get_mut(&block).filter(|leads| !covered && !leads.items.is_empty()) else {
                self.order.remove(&(tried, block));
                if covered {
                    self.leads.remove(&block);
                }
                continue;
            };
            if tried >= IN_VAIN {
                self.turn = !self.turn;
                if self.turn {
                    return None;
                }
            }
            self.order.remove(&(tried, block));
            leads.tried = tried.saturating_add(1);
            self.order.insert((leads.tried, block));
            // The oldest has the shortest way; if that was in vain, the youngest may have another one.
            return if tried % 2 == 0 { leads.items.first() } else { leads.items.last() }.copied();
        }
        None
    }
}

impl Searcher for CoverageNew {
    fn add(&mut self, id: ItemId, item: &Candidate) {
        if let Some(block) = item.block {
            let leads = self.leads.entry(block).or_default();
            leads.items.insert(id);
            self.order.insert((leads.tried, block));
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
        if let Some(leads) = block.and_then(|b| self.leads.get_mut(&b)) {
            leads.items.remove(&id);
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
        if let Some(id) = self.lead(view.coverage) {
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
    use crate::ground::image::CodePos;

    fn flip(block: u32) -> Candidate {
        let (pos, calls) = (CodePos::default(), std::rc::Rc::default());
        Candidate { block: Some(block), pos, depth: 0, node: 0, instructions: 0, leads_on: false, paused: false, urgent: false, calls }
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
