//! Towards a goal: selects the flip with the shortest distance to it, by static control flow and the call graph.
//!
//! Distances are measured from the flip's block, and from the calls in progress around it with a price for each return; the least one
//! counts. This is the shortest-distance search over matched calls and returns of Ma et al., "Directed symbolic execution", SAS'11. Flips
//! of one program location and distance form a group. Each selection counts as one more block of distance for its group, so that a loop
//! that forks cannot starve the rest. Every second selection in a group takes the newest item, whose path came farthest. Every fourth takes
//! the oldest item. Every fourth takes the item with the fewest decisions never flipped: a goal behind a count of matches needs one
//! decision after the other flipped.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::graph::Graph;
use super::{Candidate, ItemId, Searcher, View};
use crate::ground::image::CodePos;

/// Blocks that a return counts as.
const RETURN: u32 = 8;
/// Selections between two looks at whether code was lowered.
const REFRESH: u32 = 32;

/// What the way is computed from: the block that a flip leads to, then those of the calls around it, innermost first.
type Way = Vec<u32>;

/// What is known of an item.
#[derive(Clone)]
struct Known {
    pos: CodePos,
    way: Way,
    flipped: Flipped,
}

#[derive(Default)]
struct Group {
    distance: u32,
    picks: u32,
    items: BTreeSet<ItemId>,
    /// Fewest decisions that were not flipped first, then most flips.
    flipped: BTreeSet<Flipped>,
}

/// Decisions that were not flipped, flips away from the first path.
type Flipped = (u32, Reverse<u32>, ItemId);

impl Group {
    fn priority(&self) -> u64 {
        u64::from(self.distance) + u64::from(self.picks)
    }
}

#[derive(Default)]
pub struct Goal {
    graph: Graph,
    distance: Vec<u32>,
    targets: usize,
    selections: u32,
    ways: BTreeMap<ItemId, Known>,
    /// How many flips away is what is found next.
    flips: u32,
    groups: FxHashMap<(CodePos, u32), Group>,
    order: BTreeSet<(u64, (CodePos, u32))>,
}

impl Goal {
    fn distance_of(&self, way: &[u32]) -> u32 {
        let from = |(returns, block): (u32, &u32)| {
            self.distance.get(*block as usize).copied().unwrap_or(u32::MAX).saturating_add(returns.saturating_mul(RETURN))
        };
        (0..).zip(way).map(from).min().unwrap_or(u32::MAX)
    }

    fn put(&mut self, id: ItemId, known: &Known) {
        let distance = self.distance_of(&known.way);
        let key = (known.pos, distance);
        let group = self.groups.entry(key).or_default();
        group.distance = distance;
        if group.items.is_empty() {
            self.order.insert((group.priority(), key));
        }
        group.items.insert(id);
        group.flipped.insert(known.flipped);
    }

    fn refresh(&mut self, view: &View<'_>) {
        let grown = view.grow(&mut self.graph);
        if !grown && view.goals.len() == self.targets {
            return;
        }
        self.targets = view.goals.len();
        self.distance = self.graph.distances(view.goals.iter().copied());
        (self.groups, self.order) = Default::default();
        let ways = std::mem::take(&mut self.ways);
        ways.iter().for_each(|(id, known)| self.put(*id, known));
        self.ways = ways;
    }
}

impl Searcher for Goal {
    fn add(&mut self, id: ItemId, item: &Candidate) {
        let way: Way = item.block.into_iter().chain(item.calls.iter().copied()).collect();
        let known = Known { pos: item.pos, way, flipped: (item.depth.saturating_sub(self.flips), Reverse(self.flips), id) };
        self.put(id, &known);
        self.ways.insert(id, known);
    }
    fn remove(&mut self, id: ItemId) {
        let Some(known) = self.ways.remove(&id) else { return };
        self.flips = known.flipped.1.0.saturating_add(1);
        let key = (known.pos, self.distance_of(&known.way));
        let Some(group) = self.groups.get_mut(&key) else { return };
        group.items.remove(&id);
        group.flipped.remove(&known.flipped);
        if group.items.is_empty() {
            self.order.remove(&(group.priority(), key));
        }
    }
    fn select(&mut self, view: &View<'_>) -> Option<ItemId> {
        if self.selections.is_multiple_of(REFRESH) {
            self.refresh(view);
        }
        self.selections = self.selections.wrapping_add(1);
        let (priority, key) = *self.order.first()?;
        let group = self.groups.get_mut(&key)?;
        group.picks += 1;
        let id = match group.picks % 4 {
            0 => *group.items.first()?,
            2 => group.flipped.first()?.2,
            _ => *group.items.last()?,
        };
        let next = group.priority();
        self.order.remove(&(priority, key));
        self.order.insert((next, key));
        Some(id)
    }
}
