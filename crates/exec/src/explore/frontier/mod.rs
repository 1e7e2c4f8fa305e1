//! The frontier: all pending items, and the choice of the next one.
//!
//! It owns the pending items, the searcher, and what overrides the searcher: seeds ([`seeds`]), goals ([`toward`]), memory pressure
//! ([`pressure`]) and flips whose queries are hard ([`hard`]).

mod hard;
mod inputs;
mod pressure;
mod seeds;
mod toward;

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use wryneck_expr::{ExprId, Remap};

use crate::explore::search::{Candidate, ItemId, Searcher};
use crate::ground::image::CodePos;
use crate::ground::job::Job;
use crate::ground::prefix::{Made, Prefix, PrefixId};
use crate::ground::sharing::Visited;
use crate::state::State;
use crate::state::rebuilt::{Rebuilt, remap_shared};
use crate::step::core::{Core, Flip};
use crate::step::sides::Way;

pub use seeds::SeedEnd;

/// Something that can be run next.
pub(crate) enum Item {
    Flip(Flip),
    /// A path that used up its batch.
    Paused(Box<State>),
    /// A feasible flip that has waited.
    Held(Box<Held>),
    /// What another explorer left.
    Job(Box<Adopted>),
}

/// A feasible flip, ready to be run.
pub(crate) struct Held {
    pub flip: Flip,
    pub state: Box<State>,
    /// The state before the flip's operation.
    pub snapshot: Rc<State>,
    /// `snapshot` is the state right at the operation that decides.
    pub exact: bool,
}

/// A job that waits, at its leaf in the tree of paths.
pub(crate) struct Adopted {
    pub job: Job,
    pub id: PrefixId,
    pub node: u32,
    /// Where every path begins.
    pub pos: CodePos,
}

/// What is pending.
pub struct Frontier {
    search: Box<dyn Searcher>,
    items: BTreeMap<ItemId, Item>,
    /// Items by their leaves in the tree of paths, if given inputs are looked for there.
    at_leaf: FxHashMap<u32, ItemId>,
    next_id: ItemId,
    pressure: pressure::Pressure,
    seeds: seeds::Seeds,
    toward: toward::Toward,
    hard: hard::Hard,
    /// Of the path that ran last ([`Candidate::leads_on`]).
    leads_on: bool,
    /// Where the path which ran last began, if it began as a flip of a branch. A flip that it leaves to the same block is the next round of a loop, such as one
    /// that compares a string.
    began_at: Option<Way>,
}

impl Held {
    pub(crate) fn for_each_expr(&self, visited: &mut Visited, keep: &mut dyn FnMut(ExprId)) {
        self.flip.for_each_expr(visited, keep);
        self.state.for_each_expr(visited, keep);
        self.snapshot.for_each_expr(visited, keep);
    }

    pub(crate) fn remap(&mut self, map: &Remap, rebuilt: &mut Rebuilt) {
        self.flip.remap(map, rebuilt);
        self.state.remap(map, rebuilt);
        remap_shared(&mut self.snapshot, map, rebuilt);
    }
}

impl Item {
    /// Its leaf in the tree of paths.
    fn node(&self) -> u32 {
        match self {
            Item::Flip(flip) => flip.node,
            Item::Paused(state) => state.node,
            Item::Held(held) => held.flip.node,
            Item::Job(job) => job.node,
        }
    }

    /// Its decisions, unless it is a job.
    fn prefix(&self) -> Option<&Prefix> {
        match self {
            Item::Flip(flip) => Some(&flip.prefix),
            Item::Paused(state) => Some(&state.prefix),
            Item::Held(held) => Some(&held.flip.prefix),
            Item::Job(_) => None,
        }
    }

    /// What a searcher is shown of it, but for what depends on the whole exploration.
    fn candidate(&self) -> Candidate {
        let plain =
            |pos: CodePos, depth: u32, node: u32, instructions: u64| Candidate { pos, depth, node, instructions, ..Candidate::default() };
        let of = |f: &Flip| Candidate {
            block: f.way.map(|way| way.block),
            side: f.way.and_then(|way| way.side),
            round: f.way.map_or(0, |way| way.round),
            context: f.way.and_then(|way| way.context),
            ..plain(f.pos, f.prefix.len(), f.node, f.instructions)
        };
        match self {
            Item::Flip(flip) => of(flip),
            Item::Held(held) => of(&held.flip),
            Item::Paused(s) => {
                let pos = s.call_stack().first().copied().unwrap_or_default();
                // Where nothing is decided, there is nothing else to run.
                Candidate { paused: !s.prefix.is_empty(), ..plain(pos, s.prefix.len(), s.node, s.instructions) }
            }
            Item::Job(job) => plain(job.pos, job.job.prefix.len() as u32, job.node, 0),
        }
    }

    fn flip(&self) -> Option<&Flip> {
        match self {
            Item::Flip(flip) => Some(flip),
            Item::Held(held) => Some(&held.flip),
            Item::Paused(_) | Item::Job(_) => None,
        }
    }
}

impl Frontier {
    pub fn new(search: Box<dyn Searcher>) -> Frontier {
        Frontier {
            search,
            items: BTreeMap::new(),
            at_leaf: FxHashMap::default(),
            next_id: hard::FIRST,
            pressure: pressure::Pressure::default(),
            seeds: seeds::Seeds::default(),
            toward: toward::Toward::default(),
            hard: hard::Hard::default(),
            leads_on: false,
            began_at: None,
        }
    }

    /// Searches in another order; while nothing is pending.
    pub(crate) fn search_by(&mut self, search: Box<dyn Searcher>) {
        debug_assert!(self.items.is_empty(), "what is pending is known to the former searcher alone");
        self.search = search;
    }

    pub(crate) fn add(&mut self, core: &mut Core, mut item: Item) {
        if let Item::Flip(Flip { given_up: given_up @ 1.., .. }) = item {
            let id = self.hard.add(given_up);
            self.insert(core, id, item);
            return;
        }
        if let Item::Flip(Flip { way: Some(way), .. }) = &mut item
            && let Some(began_at) = self.began_at.filter(|began_at| began_at.block == way.block)
        {
            way.round = began_at.round + 1;
        }
        let mut candidate = item.candidate();
        if let Some(flip) = item.flip() {
            candidate.leads_on = self.leads_on || candidate.round > 0;
            candidate.urgent = is_urgent(core, flip);
        }
        candidate.calls = toward::calls_around(core, &item);
        let id = self.next_id;
        self.next_id += 1;
        self.search.add(id, &candidate);
        self.insert(core, id, item);
    }

    fn insert(&mut self, core: &Core, id: ItemId, item: Item) {
        if core.tree.remembers() {
            self.at_leaf.insert(item.node(), id);
        }
        self.items.insert(id, item);
    }

    /// Takes an item out.
    pub(crate) fn take(&mut self, id: ItemId) -> Option<Item> {
        let item = self.items.remove(&id)?;
        self.at_leaf.remove(&item.node());
        match item {
            Item::Flip(Flip { given_up: given_up @ 1.., .. }) => self.hard.remove(given_up, id),
            _ => self.search.remove(id),
        }
        Some(item)
    }

    /// Takes out the paused paths that cover new code.
    pub(crate) fn take_new(&mut self) -> Vec<State> {
        let is_new = |item: &Item| matches!(item, Item::Paused(state) if state.covers_new);
        let ids: Vec<ItemId> = self.items.iter().filter(|(_, item)| is_new(item)).map(|(id, _)| *id).collect();
        let states = ids.into_iter().filter_map(|id| self.take(id));
        states.filter_map(|item| if let Item::Paused(state) = item { Some(*state) } else { None }).collect()
    }

    /// Takes out so many flips and jobs at most, those after the fewest decisions.
    pub(crate) fn take_shallowest(&mut self, most: usize) -> Vec<Item> {
        let depth = |item: &Item| match item {
            Item::Flip(flip) => Some(flip.prefix.len()),
            Item::Job(adopted) => Some(adopted.job.prefix.len() as u32),
            Item::Paused(_) | Item::Held(_) => None,
        };
        let mut chosen: Vec<(u32, ItemId)> = self.items.iter().filter_map(|(id, item)| Some((depth(item)?, *id))).collect();
        chosen.sort_unstable();
        chosen.into_iter().take(most).filter_map(|(_, id)| self.take(id)).collect()
    }

    /// Takes all items out.
    pub(crate) fn clear(&mut self) {
        let all: Vec<ItemId> = self.items.keys().copied().collect();
        for id in all {
            self.take(id);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn items(&self) -> impl Iterator<Item = &Item> {
        self.items.values()
    }

    /// A path has run; what it leaves comes next.
    pub(crate) fn note_run(&mut self, state: &State) {
        self.leads_on = self.seeds.is_running() || state.covers_new;
    }

    /// A block was entered for the first time.
    pub(crate) fn covered(&mut self, block: u32) {
        self.search.covered(block);
    }

    /// What to run next: a path that has reached a goal, a seed's, a hard flip that is due, or what is selected. `root` is where all paths begin.
    pub(crate) fn next(&mut self, core: &mut Core, root: &mut State) -> Option<ItemId> {
        let first = self.next_reached(core).or_else(|| self.next_of_seed(core)).or_else(|| self.next_hard_due(core));
        let next = first.or_else(|| self.select(core, root)).or_else(|| self.next_hard());
        self.began_at = next.and_then(|id| self.items.get(&id)?.flip()?.way);
        next
    }

    /// Drops every item on an alternative of this decision.
    pub(crate) fn drop_other_sides(&mut self, core: &mut Core, made: &Made) {
        let other = |prefix: &Prefix| {
            let mut there = prefix.backwards().skip_while(|m| m.index > made.index);
            there.next().is_some_and(|m| m.index == made.index && m.before == made.before && m.decision != made.decision)
        };
        let dropped = self.items.iter().filter(|(_, item)| item.prefix().is_some_and(other));
        let dropped: Vec<ItemId> = dropped.map(|(id, _)| *id).collect();
        for id in dropped {
            if let Some(Item::Flip(Flip { node, .. })) = self.take(id) {
                core.tree.finish(node);
            }
        }
    }

    pub(crate) fn for_each_expr(&self, visited: &mut Visited, keep: &mut dyn FnMut(ExprId)) {
        for item in self.items.values() {
            match item {
                Item::Flip(flip) => flip.for_each_expr(visited, keep),
                Item::Paused(s) => s.for_each_expr(visited, keep),
                Item::Held(held) => held.for_each_expr(visited, keep),
                Item::Job(_) => {}
            }
        }
    }

    pub(crate) fn remap(&mut self, map: &Remap, rebuilt: &mut Rebuilt) {
        for item in self.items.values_mut() {
            match item {
                Item::Flip(flip) => flip.remap(map, rebuilt),
                Item::Paused(s) => s.remap(map, rebuilt),
                Item::Held(held) => held.remap(map, rebuilt),
                Item::Job(_) => {}
            }
        }
    }
}

fn is_urgent(core: &Core, flip: &Flip) -> bool {
    let names = core.config.urgent;
    !names.is_empty() && core.pool.support(flip.cond).iter().any(|symbol| core.pool.sym_info(*symbol).name.starts_with(names))
}
