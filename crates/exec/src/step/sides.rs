//! Sides of the program's symbolic branches, where the block that a side leads to can be entered otherwise, too. Of libraries' branches blocks are enough.
//!
//! Optimised code has one block where its source has several: the ways to `goto fail` meet, and a function that returns one of three constants has a block that
//! merges them. There the blocks entered tell nothing of the source's lines, but the sides taken do. Only decisions on input note their side, so one that was
//! taken by constants may count as new later: that costs a test too many.

use rustc_hash::FxHashMap;

use crate::ground::code::Code;
use crate::ground::image::{CodePos, Image};
use crate::ground::places;
use crate::state::State;
use crate::step::core::Core;

/// Where a side of a branch leads.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub block: u32,
    /// Its number among sides, if other edges lead to the block, too.
    pub side: Option<u32>,
}

/// The sides met so far.
#[derive(Default)]
pub struct Sides {
    /// By function and edge.
    numbers: FxHashMap<(u32, u32), u32>,
    /// By number: the branch, and the block that the side leads to.
    places: Vec<(CodePos, u32)>,
    /// A byte per side, 1 once a path took it.
    taken: Vec<u8>,
    /// Blocks alone tell what is new.
    ignored: bool,
}

impl Sides {
    /// A byte per side, 0 if no path has taken it.
    pub fn taken(&self) -> &[u8] {
        &self.taken
    }

    /// Of a corpus only a few seeds have paths, and which sides the others take is not known: then the search would look for those.
    pub(crate) fn ignore(&mut self) {
        self.ignored = true;
    }

    /// The branch of a side, and the block that it leads to.
    pub fn place(&self, side: u32) -> (CodePos, u32) {
        self.places[side as usize]
    }

    /// Where an edge of a function leads from the branch at this operation.
    pub(super) fn way(&mut self, image: &Image, code: &Code, op: u32, edge: u32) -> Way {
        let pos = CodePos { func: code.func, op };
        let to = &code.edges[edge as usize];
        let side = (to.joins && !self.ignored && !places::in_library(image, pos)).then(|| {
            let next = self.taken.len() as u32;
            let number = *self.numbers.entry((code.func, edge)).or_insert(next);
            if number == next {
                self.taken.push(0);
                self.places.push((pos, to.block));
            }
            number
        });
        Way { block: to.block, side }
    }
}

impl Core {
    /// A path takes this way, by a decision.
    pub(super) fn take_side(&mut self, state: &mut State, way: Way) {
        if let Some(side) = way.side
            && std::mem::replace(&mut self.sides.taken[side as usize], 1) == 0
        {
            state.covers_new = true;
        }
    }
}
