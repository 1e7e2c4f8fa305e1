//! Items by what they lead to that no path has covered: a block, or a side of a branch.
//!
//! Some of it cannot be reached, and thousands of flips may lead there, each refuted by a query of its own. So what has the fewest selections comes first.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::{Candidate, ItemId};

/// Selections of a side of a branch.
const MOST_OF_SIDE: u32 = 4;
/// As [`MOST_OF_SIDE`], of a round of a loop.
const MOST_OF_ROUND: u32 = 2;
/// Rounds of a loop that are told apart.
const ROUNDS: u32 = 16;

#[derive(Default)]
pub(super) struct Leads {
    to: BTreeMap<u32, Lead>,
    /// What has items, by how often one of them was selected.
    order: BTreeSet<(u32, u32)>,
    items: FxHashMap<ItemId, u32>,
}

/// The items that lead to one thing, and how often one was selected.
#[derive(Default)]
struct Lead {
    items: BTreeSet<ItemId>,
    tried: u32,
}

impl Leads {
    pub(super) fn add(&mut self, id: ItemId, to: u32) {
        let lead = self.to.entry(to).or_default();
        lead.items.insert(id);
        self.order.insert((lead.tried, to));
        self.items.insert(id, to);
    }

    pub(super) fn remove(&mut self, id: ItemId) {
        if let Some(lead) = self.items.remove(&id).and_then(|to| self.to.get_mut(&to)) {
            lead.items.remove(&id);
        }
    }

    /// How often an item was selected of what comes next, of which no byte of `covered` is set; `None`: there is nothing.
    pub(super) fn tried(&mut self, covered: &[u8]) -> Option<u32> {
        while let Some(&(tried, to)) = self.order.first() {
            let is_covered = covered.get(to as usize).is_some_and(|byte| *byte != 0);
            if !is_covered && self.to.get(&to).is_some_and(|lead| !lead.items.is_empty()) {
                return Some(tried);
            }
            self.order.remove(&(tried, to));
            if is_covered {
                self.to.remove(&to);
            }
        }
        None
    }

    /// An item that takes a side of which no byte of `taken` is set; each side has a few.
    pub(super) fn select_side(&mut self, taken: &[u8]) -> Option<ItemId> {
        (self.tried(taken)? < MOST_OF_SIDE).then(|| self.select())?
    }

    /// As [`Leads::add`], of a flip to a round of a loop behind its first one.
    pub(super) fn add_round(&mut self, id: ItemId, item: &Candidate) {
        if let Some(block) = item.block.filter(|_| (1..ROUNDS).contains(&item.round)) {
            self.add(id, block * ROUNDS + item.round);
        }
    }

    /// An item that leads to a round of a loop, after [`Leads::add_round`]; each round has a few.
    pub(super) fn select_round(&mut self) -> Option<ItemId> {
        (self.tried(&[])? < MOST_OF_ROUND).then(|| self.select())?
    }

    /// The next item, after [`Leads::tried`].
    pub(super) fn select(&mut self) -> Option<ItemId> {
        let (tried, to) = self.order.pop_first()?;
        let lead = self.to.get_mut(&to)?;
        lead.tried = tried.saturating_add(1);
        self.order.insert((lead.tried, to));
        // The oldest has the shortest way; if that was in vain, the youngest may have another one.
        if tried % 2 == 0 { lead.items.first() } else { lead.items.last() }.copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_of_a_loop_is_selected_a_few_times() {
        let mut rounds = Leads::default();
        for id in 0..100 {
            // Some flips enter the loop, and some are of its last rounds, which are not told apart.
            let round = [0, 1, 1, 1, 2, ROUNDS][id as usize % 6];
            rounds.add_round(id, &Candidate { block: Some(3), round, ..Candidate::default() });
        }
        let mut selected = Vec::new();
        while let Some(id) = rounds.select_round() {
            rounds.remove(id);
            selected.push([0, 1, 1, 1, 2, ROUNDS][id as usize % 6]);
        }
        selected.sort_unstable();
        assert_eq!(selected, [1, 1, 2, 2]);
    }
}
