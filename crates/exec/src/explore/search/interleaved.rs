//! Several searchers that take turns over the same items.

use super::{Candidate, ItemId, Searcher, View, cov_new::CoverageNew, dives::Dives, order::Dfs, random::RandomPath};

pub struct Interleaved {
    parts: Vec<Box<dyn Searcher>>,
    turn: usize,
}

/// What runs unless something else is asked for.
pub fn standard(seed: u64) -> Box<dyn Searcher> {
    let turns: [Box<dyn Searcher>; 2] = [Box::new(RandomPath::new(seed)), Box::new(CoverageNew::new(seed))];
    Box::new(Dives::new(Box::new(Interleaved::new(turns.into()))))
}

/// Completes subtrees early, so that later flips can be compared with them. Every fourth selection is somewhere else.
pub fn subtrees(seed: u64) -> Box<dyn Searcher> {
    let dfs = || Box::new(Dfs::default());
    Box::new(Interleaved::new(vec![dfs(), dfs(), dfs(), standard(seed)]))
}

impl Interleaved {
    /// `parts` is not empty.
    pub fn new(parts: Vec<Box<dyn Searcher>>) -> Interleaved {
        Interleaved { parts, turn: 0 }
    }
}

impl Searcher for Interleaved {
    fn add(&mut self, id: ItemId, item: &Candidate) {
        for p in &mut self.parts {
            p.add(id, item);
        }
    }
    fn remove(&mut self, id: ItemId) {
        for p in &mut self.parts {
            p.remove(id);
        }
    }
    fn select(&mut self, view: &View<'_>) -> Option<ItemId> {
        self.turn = (self.turn + 1) % self.parts.len();
        self.parts[self.turn].select(view)
    }
    fn covered(&mut self, block: u32) {
        for p in &mut self.parts {
            p.covered(block);
        }
    }
}

/// One searcher twice of three times, another one the third time.
pub struct Towards {
    parts: [Box<dyn Searcher>; 2],
    turn: u32,
}

impl Towards {
    pub fn new(often: Box<dyn Searcher>, rest: Box<dyn Searcher>) -> Towards {
        Towards { parts: [often, rest], turn: 0 }
    }
}

impl Searcher for Towards {
    fn add(&mut self, id: ItemId, item: &Candidate) {
        self.parts.iter_mut().for_each(|part| part.add(id, item));
    }
    fn remove(&mut self, id: ItemId) {
        self.parts.iter_mut().for_each(|part| part.remove(id));
    }
    fn select(&mut self, view: &View<'_>) -> Option<ItemId> {
        self.turn = (self.turn + 1) % 3;
        self.parts[usize::from(self.turn == 0)].select(view)
    }
    fn covered(&mut self, block: u32) {
        self.parts.iter_mut().for_each(|part| part.covered(block));
    }
}
