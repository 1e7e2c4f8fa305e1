//! Operations that a path is on its way to, because they are goals or to be avoided ([`crate::step::goals`]).

use crate::state::State;

/// What it means to reach a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// The goal of this number is reached.
    Find(u32),
    /// The path ends.
    Avoid,
}

/// An operation that a path is on its way to, in one of its frames.
#[derive(Clone, Copy, Debug)]
pub struct Awaited {
    /// Frames of the path.
    pub(crate) depth: usize,
    pub(crate) func: u32,
    pub(crate) block: u32,
    /// The block's first operation, and the one behind its last.
    pub(crate) operations: (u32, u32),
    pub(crate) op: u32,
    pub(crate) aim: Aim,
}

impl Awaited {
    /// Whether the path still comes to it once a long jump goes to this operation of the frame of this number.
    pub(crate) fn survives(&self, frame: usize, op: u32) -> bool {
        self.depth <= frame || self.depth == frame + 1 && (self.operations.0..self.operations.1).contains(&op)
    }

    /// Whether the path is still in the block before the operation.
    pub(crate) fn is_ahead(&self, state: &State) -> bool {
        let Some(frame) = state.frames.get(self.depth - 1).filter(|frame| frame.func() == self.func) else { return false };
        // A caller's next operation is the one behind its call.
        let at = frame.op().saturating_sub(u32::from(self.depth < state.frames.len()));
        (self.operations.0..self.operations.1).contains(&at) && at < self.op
    }
}
