//! Contexts: where a side of a branch leads, with the calls in progress there.
//!
//! A parser calls one function for the next token wherever it is. Each side of that function's branches is soon taken, so sides alone do not tell that a token
//! is new in a place of the grammar; the calls in progress do (Chen and Chen, "Angora", IEEE S&P 2018, section 3.2). Of machine code, whose calls would have to
//! be searched for, a context is no more than the side.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::{FxHashSet, FxHasher};

use crate::state::{Frame, positions};

/// The contexts that paths have entered, by number.
#[derive(Default)]
pub struct Contexts {
    entered: FxHashSet<u32>,
}

impl Contexts {
    pub(crate) fn enter(&mut self, context: u32) {
        self.entered.insert(context);
    }

    pub fn is_entered(&self, context: u32) -> bool {
        self.entered.contains(&context)
    }
}

/// The number of a block with the calls around the top frame. Two contexts may have one number: then one of them is found later.
pub(crate) fn number(frames: &[Rc<Frame>], block: u32) -> u32 {
    let mut hasher = FxHasher::default();
    block.hash(&mut hasher);
    for pos in positions(frames).skip(1) {
        (pos.func, pos.op).hash(&mut hasher);
    }
    (hasher.finish() >> 32) as u32
}
