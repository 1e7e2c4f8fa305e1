//! Dives: while there are paused paths, half of the work continues one of them to its end and then explores depth-first from there. Where the rest of the
//! search ends hardly any path, since each takes many batches, dives have three quarters.
//!
//! A search by coverage alone hardly ends paths of many batches, because it seldom selects one again among thousands of pending flips. But
//! only an ended path gives a test of what it covers, and the flips near its end cost little. How long a path takes is not known, and some
//! never end. So the lengths of dives follow Luby's sequence: 1, 1, 2, 1, 1, 2, 4, and so on. Its total is within a logarithm of the best
//! choice (M. Luby, A. Sinclair, D. Zuckerman: "Optimal speedup of Las Vegas algorithms", 1993). If a dive does not end its path, a longer
//! dive continues the path.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Candidate, ItemId, Searcher, View};

/// Selections and flips of the shortest dive.
const SHORTEST: u64 = 4096;

pub struct Dives {
    rest: Box<dyn Searcher>,
    /// Paused paths by how many lengths of dives have left them, the one that ran longest last.
    paused: Vec<BTreeSet<(u64, ItemId)>>,
    /// Where an item is in `paused`.
    places: FxHashMap<ItemId, (usize, u64)>,
    /// What the dive has left behind, the youngest last; some of it may be gone.
    stack: Vec<ItemId>,
    pending: FxHashSet<ItemId>,
    /// Dives so far.
    dives: u64,
    /// How long the dive may be: the exponent of [`SHORTEST`]'s multiple.
    level: usize,
    /// Selections and flips left for the dive.
    left: u64,
    turn: Turn,
    /// [`View::work`] when the last selection began, and what dives have used and may use.
    since: u64,
    used: [u64; 2],
    batches: Batches,
}

/// Work of the rest of the search: how much of it ran batches that did not end their path.
#[derive(Default)]
struct Batches {
    /// The running batch has paused its path.
    has_paused: bool,
    pausing: u64,
    all: u64,
}

impl Batches {
    /// Work that is looked back at, at least.
    const WINDOW: u64 = 100_000_000;

    fn note(&mut self, work: u64) {
        self.all += work;
        self.pausing += if std::mem::take(&mut self.has_paused) { work } else { 0 };
        if self.all > 2 * Batches::WINDOW {
            self.all /= 2;
            self.pausing /= 2;
        }
    }

    /// How much dives may use for each unit that the rest uses.
    fn dives(&self) -> u64 {
        let ends_hardly_any = self.all >= Batches::WINDOW && self.pausing >= self.all / 16 * 15;
        if ends_hardly_any { 3 } else { 1 }
    }
}

/// What runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Selected by the dive, and not yet taken.
    Selected(ItemId),
    Dive,
    Rest,
}

impl Dives {
    pub fn new(rest: Box<dyn Searcher>) -> Dives {
        Dives {
            rest,
            paused: Vec::new(),
            places: FxHashMap::default(),
            stack: Vec::new(),
            pending: FxHashSet::default(),
            dives: 0,
            level: 0,
            left: 0,
            turn: Turn::Rest,
            since: 0,
            used: [0; 2],
            batches: Batches::default(),
        }
    }

    /// Which element of Luby's sequence this is, as an exponent of 2; the first has number 1.
    fn luby(number: u64) -> usize {
        // After 2^k - 1 elements comes 2^(k - 1), and what is between are the first ones again.
        let bits = 64 - number.leading_zeros();
        match number + 1 == 1 << bits {
            true => bits as usize - 1,
            false => Dives::luby(number + 1 - (1 << (bits - 1))),
        }
    }

    fn put(&mut self, level: usize, ran: u64, id: ItemId) {
        if self.paused.len() <= level {
            self.paused.resize_with(level + 1, BTreeSet::new);
        }
        self.paused[level].insert((ran, id));
        self.places.insert(id, (level, ran));
    }

    fn begin(&mut self) {
        self.dives += 1;
        self.level = Dives::luby(self.dives);
        self.left = SHORTEST << self.level;
        let levels = self.paused.iter().take(self.level + 1).rev();
        let longest = levels.filter_map(|paths| paths.last()).next().or_else(|| self.paused.iter().find_map(|paths| paths.last()));
        self.stack.clear();
        self.stack.extend(longest.map(|(_, id)| *id));
        // A dive that had to wait for a path takes no more than its share now.
        let most = self.used[0].max(self.used[1]);
        self.used = [most; 2];
    }

    /// The dive's next item.
    fn next(&mut self) -> Option<ItemId> {
        if self.left == 0 {
            // What it leaves is for longer dives.
            if let Some(id) = self.top()
                && let Some((level, ran)) = self.places.get(&id).copied()
            {
                self.paused[level].remove(&(ran, id));
                self.put(self.level + 1, ran, id);
            }
            self.stack.clear();
        }
        if self.top().is_none() {
            self.begin();
        }
        self.left = self.left.saturating_sub(1);
        self.top()
    }

    fn top(&mut self) -> Option<ItemId> {
        while self.stack.pop_if(|id| !self.pending.contains(id)).is_some() {}
        self.stack.last().copied()
    }
}

impl Searcher for Dives {
    fn add(&mut self, id: ItemId, item: &Candidate) {
        self.rest.add(id, item);
        self.pending.insert(id);
        if item.paused {
            self.put(0, item.instructions, id);
            self.batches.has_paused |= self.turn == Turn::Rest;
        }
        if self.turn == Turn::Dive {
            self.stack.push(id);
            self.left = self.left.saturating_sub(1);
        }
    }
    fn remove(&mut self, id: ItemId) {
        self.rest.remove(id);
        self.pending.remove(&id);
        if let Some((level, ran)) = self.places.remove(&id) {
            self.paused[level].remove(&(ran, id));
        }
        self.turn = if self.turn == Turn::Selected(id) { Turn::Dive } else { Turn::Rest };
    }
    fn select(&mut self, view: &View<'_>) -> Option<ItemId> {
        let work = view.work.saturating_sub(self.since);
        self.since = view.work;
        match self.turn {
            Turn::Rest => {
                self.batches.note(work);
                self.used[1] += work * self.batches.dives();
            }
            Turn::Selected(_) | Turn::Dive => self.used[0] += work,
        }
        let under_way = self.left > 0 && self.top().is_some();
        if self.used[0] <= self.used[1]
            && (under_way || !self.places.is_empty())
            && let Some(id) = self.next()
        {
            self.turn = Turn::Selected(id);
            return Some(id);
        }
        self.turn = Turn::Rest;
        self.rest.select(view)
    }
    fn covered(&mut self, block: u32) {
        self.rest.covered(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_follow_lubys_sequence() {
        let lengths: Vec<u64> = (1..=15).map(|number| 1 << Dives::luby(number)).collect();
        assert_eq!(lengths, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }
}
