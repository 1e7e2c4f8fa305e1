//! Landings: where a `longjmp` may continue on a path. They are made and used in [`crate::step::landing`].

use std::rc::Rc;

use crate::state::Frame;

/// The name of a landing, as it lies in a `jmp_buf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Names the landing on its path.
    pub(crate) landing: u32,
    /// Names the activation of the function.
    pub(crate) activation: u32,
}

/// Where a `longjmp` continues.
#[derive(Clone)]
pub struct Landing {
    pub(crate) token: Token,
    /// The address of the `jmp_buf`.
    pub(crate) buffer: u64,
    /// The index of the frame in the call stack.
    pub(crate) depth: u32,
    /// The stack pointer there.
    pub(crate) sp: u64,
    /// The frame at its call of `setjmp`.
    pub(crate) frame: Rc<Frame>,
}

impl Token {
    pub fn to_bits(self) -> u64 {
        u64::from(self.landing) << 32 | u64::from(self.activation)
    }

    pub fn from_bits(bits: u64) -> Token {
        Token { landing: (bits >> 32) as u32, activation: bits as u32 }
    }
}

impl Landing {
    /// What decides behaviour: the token, the place and the stack pointer. The frame is hashed as all frames are.
    pub(crate) fn key(&self) -> (u64, u64, u32, u64) {
        (self.token.to_bits(), self.buffer, self.depth, self.sp)
    }
}

impl Landing {
    pub(crate) fn is_active(&self, frames: &[Rc<Frame>]) -> bool {
        frames.get(self.depth as usize).is_some_and(|frame| frame.activation == self.token.activation)
    }
}

/// The landings of a path.
#[derive(Clone, Default)]
pub struct Landings {
    /// Landings made so far.
    pub(crate) made: u32,
    pub(crate) all: Vec<Landing>,
}
