//! Distance to uncovered: selects the flip whose block is the fewest blocks away from an uncovered block, by static control flow and
//! direct calls.
//!
//! New coverage makes the distances stale. They are computed again at most once per 64 selections.

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::FxHashMap;
use wryneck_ir::Op;
use wryneck_ir::link::Target;

use super::{Candidate, ItemId, Searcher, View};
use crate::image::Image;

pub struct Distance {
    /// For each block, the blocks control may come from: predecessors, and for an entry block the callers'.
    before: Vec<Vec<u32>>,
    distance: Vec<u32>,
    stale: bool,
    selections: u32,
    items: FxHashMap<ItemId, u32>,
    order: BTreeSet<(u32, ItemId)>,
}

const REFRESH: u32 = 64;

impl Distance {
    pub fn new(image: &Image) -> Distance {
        let before = predecessors(image);
        let distance = vec![0; before.len()];
        Distance { before, distance, stale: true, selections: REFRESH, items: FxHashMap::default(), order: BTreeSet::new() }
    }

    fn refresh(&mut self, coverage: &[u8]) {
        self.distance.fill(u32::MAX);
        let mut queue: VecDeque<u32> = (0..self.before.len() as u32).filter(|b| coverage[*b as usize] == 0).collect();
        for b in &queue {
            self.distance[*b as usize] = 0;
        }
        while let Some(b) = queue.pop_front() {
            let next = self.distance[b as usize] + 1;
            for &p in &self.before[b as usize] {
                if self.distance[p as usize] == u32::MAX {
                    self.distance[p as usize] = next;
                    queue.push_back(p);
                }
            }
        }
        self.order = self.items.iter().map(|(id, block)| (self.distance[*block as usize], *id)).collect();
        (self.stale, self.selections) = (false, 0);
    }
}

impl Searcher for Distance {
    fn add(&mut self, id: ItemId, item: &Candidate) {
        // Blocks lowered since the exploration began have no distance; they count as the entry.
        let block = item.block.filter(|b| (*b as usize) < self.distance.len()).unwrap_or(0);
        self.items.insert(id, block);
        self.order.insert((self.distance[block as usize], id));
    }
    fn remove(&mut self, id: ItemId) {
        if let Some(block) = self.items.remove(&id) {
            self.order.remove(&(self.distance[block as usize], id));
        }
    }
    fn select(&mut self, view: &View<'_>) -> Option<ItemId> {
        self.selections += 1;
        if self.stale && self.selections > REFRESH {
            self.refresh(view.coverage);
        }
        self.order.first().map(|(_, id)| *id)
    }
    fn covered(&mut self, _: u32) {
        self.stale = true;
    }
}

fn predecessors(image: &Image) -> Vec<Vec<u32>> {
    let mut before = vec![Vec::new(); image.blocks as usize];
    for (func, place) in (0u32..).zip(image.program.functions()) {
        let (module, function) = image.function(func);
        let first = image.first_block_of(func);
        let edges = module.edges.range(function.edges);
        for (i, block) in (first..).zip(module.blocks.range(function.blocks)) {
            let mut lead = |edge: u32| before[(first + edges[edge as usize].block) as usize].push(i);
            for inst in module.insts.range(block.insts) {
                match inst.operator() {
                    Some(Op::Br) => lead(inst.a),
                    Some(Op::CondBr) => [inst.b, inst.c].into_iter().for_each(&mut lead),
                    Some(Op::Switch) => {
                        let s = &module.switches.range(function.switches)[inst.b as usize];
                        lead(s.default);
                        module.cases.range(s.cases).iter().for_each(|c| lead(c.edge));
                    }
                    _ => {}
                }
            }
            for inst in module.insts.range(block.insts).iter().filter(|i| i.operator() == Some(Op::Call)) {
                if let Target::Func(f) = image.program.target(place.unit, inst.a) {
                    before[image.first_block_of(f.0) as usize].push(i);
                }
            }
        }
    }
    before
}
