//! Searchers: which pending flip runs next. They see candidates, never states, and never ask the solver.

mod cov_new;
mod distance;
mod dives;
mod goal;
mod graph;
mod interleaved;
mod leads;
mod nearest;
mod new_contexts;
mod order;
mod random;
mod seeded;

use std::rc::Rc;

use wryneck_ir::ControlFlow;

use crate::ground::image::{CodePos, Image};
use crate::ground::tree::Tree;
use crate::step::contexts::Contexts;

/// Number of a pending item; larger is younger.
pub type ItemId = u64;

/// What a searcher knows of a pending item.
#[derive(Clone, Debug, Default)]
pub struct Candidate {
    /// The block its first branch leads to, if it is a flip of a branch.
    pub block: Option<u32>,
    /// The number of its side, if that tells more than the block.
    pub side: Option<u32>,
    /// Of a loop that was entered by flips alone ([`Way`](crate::step::sides::Way)).
    pub round: u32,
    /// The number of its [context](crate::step::contexts), if there are seeds.
    pub context: Option<u32>,
    pub pos: CodePos,
    /// Decisions.
    pub depth: u32,
    /// Its leaf in the tree of paths.
    pub node: u32,
    pub instructions: u64,
    /// Left by the path of a seed, or by one that entered new code; or by one that began at the same block.
    pub leads_on: bool,
    /// A path that used up its batch.
    pub paused: bool,
    /// Its condition reads input that [`Config::urgent`](crate::Config) names.
    pub urgent: bool,
    /// Where there is a goal: the blocks of the path's place and of the calls around it, innermost first.
    pub calls: Rc<[u32]>,
}

/// What a searcher may look at when it selects.
pub struct View<'a> {
    /// A byte per block, 0 if no path has entered it.
    pub coverage: &'a [u8],
    /// A byte per side of branches, 0 if no path has taken it.
    pub sides: &'a [u8],
    /// Those that paths have entered.
    pub contexts: &'a Contexts,
    pub tree: &'a Tree,
    pub image: &'a Image,
    /// Of machine code.
    pub flow: Option<&'a dyn ControlFlow>,
    /// Blocks to be reached.
    pub goals: &'a [u32],
    /// Instructions and decisions so far, weighed as in a batch.
    pub work: u64,
}

impl View<'_> {
    fn grow(&self, graph: &mut graph::Graph) -> bool {
        graph.grow(self.image, self.flow)
    }
}

/// Picks the next item. It never loses one: an item added and not removed can still be selected.
pub trait Searcher {
    fn add(&mut self, id: ItemId, item: &Candidate);
    fn remove(&mut self, id: ItemId);
    /// An item added and not removed; `None` only if there is none.
    fn select(&mut self, view: &View<'_>) -> Option<ItemId>;
    /// A block was entered for the first time.
    fn covered(&mut self, _block: u32) {}
}

/// A row of the table of searchers.
pub struct Row {
    pub name: &'static str,
    pub help: &'static str,
    pub new: fn(seed: u64) -> Box<dyn Searcher>,
}

// One more searcher: a file with its `Searcher`, and a row here (sorted by name); `tests/exploration.rs` then runs it through
// the contract all of them keep.
pub static SEARCHERS: &[Row] = &[
    Row { name: "bfs", help: "the flip with the fewest decisions, oldest first", new: |_| Box::new(order::Bfs::default()) },
    Row {
        name: "coverage-new",
        help: "a flip that leads to a block no path has entered, or takes a side of a branch no path has taken",
        new: |seed| Box::new(cov_new::CoverageNew::new(seed)),
    },
    Row {
        name: "default",
        help: "random-path and coverage-new in turns; while paths are paused, half of the work goes to dives, which end one and go depth-first from there",
        new: |seed| interleaved::standard(seed),
    },
    Row { name: "dfs", help: "the youngest flip: least memory", new: |_| Box::new(order::Dfs::default()) },
    Row { name: "distance-to-uncovered", help: "a flip near code no path has entered", new: |_| Box::new(distance::Distance::default()) },
    Row {
        name: "nearest",
        help: "the fewest flips away from the first path, latest decision first",
        new: |_| Box::new(nearest::Nearest::default()),
    },
    Row {
        name: "random-path",
        help: "a random walk from the root of the tree of paths",
        new: |seed| Box::new(random::RandomPath::new(seed)),
    },
    Row {
        name: "subtrees",
        help: "dfs, and default every fourth time: what is behind one flip soon ends",
        new: |seed| interleaved::subtrees(seed),
    },
];

/// The flips of seeds first, as far as they lead to something new; then as `rest` says.
pub fn after_seeds(rest: Box<dyn Searcher>) -> Box<dyn Searcher> {
    Box::new(seeded::Seeded::new(rest))
}

/// Towards the goals twice of three times; else as `rest` says.
pub fn to_goals(rest: Box<dyn Searcher>) -> Box<dyn Searcher> {
    Box::new(interleaved::Towards::new(Box::new(goal::Goal::default()), rest))
}

/// The searchers of these names, taking turns; the first unknown name is the error.
pub fn by_names(names: &[String], seed: u64) -> Result<Box<dyn Searcher>, String> {
    let mut parts = Vec::new();
    for name in names {
        let row = SEARCHERS.iter().find(|r| r.name == name).ok_or_else(|| name.clone())?;
        parts.push((row.new)(seed));
    }
    match parts.len() {
        0 => Err(String::new()),
        1 => Ok(parts.remove(0)),
        _ => Ok(Box::new(interleaved::Interleaved::new(parts))),
    }
}

/// A small deterministic generator (splitmix64).
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}
