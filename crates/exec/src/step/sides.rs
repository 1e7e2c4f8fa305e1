//! Sides of the program's branches, where the block that a side leads to can be entered otherwise, too. Of libraries' branches blocks are enough.
//!
//! Optimised code has one block where its source has several: the ways to `goto fail` meet, and a function that returns one of three constants has a block that
//! merges them. There the blocks entered tell nothing of the source's lines, but the sides taken do. Of machine code, whose blocks gain edges as it is lowered, a side
//! may count as new although a path had taken it: that costs a test too many.

use crate::ground::code::Code;
use crate::ground::image::CodePos;
use crate::state::State;
use crate::step::core::Core;
use crate::step::coverage::Entry;

/// Where a side of a branch leads.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub block: u32,
    /// Its number among sides, if other edges lead to the block, too.
    pub side: Option<u32>,
    /// How many flips in a row led to this block, each left by the path of the one before: rounds of a loop.
    pub round: u32,
    /// The number of its [context](super::contexts), if the exploration has seeds.
    pub context: Option<u32>,
}

impl Way {
    /// The block that it leads to if no path has entered that, else its side if no path has taken that.
    pub(crate) fn new_entry(self, core: &Core) -> Option<Entry> {
        match self.side {
            _ if core.coverage[self.block as usize] == 0 => Some(Entry::Block(self.block)),
            Some(side) if !core.sides.is_taken(side) => Some(Entry::Side(side)),
            Some(_) | None => None,
        }
    }
}

/// The sides that were taken. A side's number is that of its edge over the program.
#[derive(Default)]
pub struct Sides {
    /// A byte per side, 1 once a path, or a seed without a path, took it.
    taken: Vec<u8>,
    /// Those that paths took first, in their order: the branch, and the block that the side leads to.
    by_paths: Vec<(CodePos, u32)>,
}

impl Sides {
    /// A byte per side, 0 if nothing has taken it. A side that it has no byte for was not taken.
    pub fn taken(&self) -> &[u8] {
        &self.taken
    }

    /// At least so many bytes of [`Sides::taken`]: the first.
    pub fn taken_mut(&mut self, count: usize) -> &mut [u8] {
        self.taken.resize(self.taken.len().max(count), 0);
        &mut self.taken[..count]
    }

    /// Those that paths took first, in their order: the branch, and the block that the side leads to.
    pub fn by_paths(&self) -> &[(CodePos, u32)] {
        &self.by_paths
    }

    #[inline]
    pub(crate) fn is_taken(&self, side: u32) -> bool {
        self.taken.get(side as usize).is_some_and(|taken| *taken != 0)
    }

    /// Whether nothing had taken it.
    pub(crate) fn take(&mut self, side: u32) -> bool {
        let up_to_it = self.taken_mut(side as usize + 1);
        std::mem::replace(&mut up_to_it[side as usize], 1) == 0
    }
}

impl Way {
    /// Where an edge of a function leads.
    pub(super) fn of(code: &Code, edge: u32) -> Way {
        Way { block: code.edges[edge as usize].block, side: code.side(edge), round: 0, context: None }
    }
}

impl Core {
    /// A path takes an edge of the branch at the operation `op`.
    pub(super) fn take_side(&mut self, state: &mut State, code: &Code, op: u32, edge: u32) {
        let Some(side) = code.side(edge) else { return };
        if let Some(hits) = &mut self.counting {
            return hits.count(Entry::Side(side));
        }
        if self.sides.take(side) {
            // A comparison that is one operation with its branch comes before it.
            let is_fused = code.ops[op as usize].kind.is_fused();
            let pos = CodePos { func: code.func, op: op + u32::from(is_fused) };
            self.sides.by_paths.push((pos, code.edges[edge as usize].block));
            state.covers_new = true;
        }
    }
}
