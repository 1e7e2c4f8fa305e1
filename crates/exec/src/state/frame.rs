//! A call in progress. The invariants that the inner loop ([`crate::step::run`]) relies on are private to this file.

use wryneck_expr::ExprId;
use wryneck_ir::NONE;

use crate::ground::code::Code;

/// A slot's contents with its tag: a non-zero tag says that the contents are an `ExprId`.
pub type Tagged = (u64, u8);

/// One call in progress.
///
/// Invariants, on which the unsafe code of the inner loop rests: there are as many tags as slots, and never fewer slots than the function had when
/// the frame was last entered or widened; no slot is symbolic if `symbolic` is false.
#[derive(Clone)]
pub struct Frame {
    func: u32,
    /// Next operation to run; for a caller, the one after its call.
    op: u32,
    slots: Vec<u64>,
    tags: Vec<u8>,
    symbolic: bool,
    /// A monitor wants to see its return.
    pub watched: bool,
    /// Names this activation of the function, if it has called `setjmp` (step/landing.rs); else 0.
    pub activation: u32,
    /// Where the caller wants the result: its first slot, or NONE.
    pub dst: u32,
    /// Width in bits of the result the caller expects.
    pub ret_width: u32,
    /// Lowest address of the static allocas.
    pub base: u64,
    /// The stack pointer when the call began; the frame's own memory lies below.
    pub top: u64,
    /// Dynamic allocas: (address, size), lowest address last.
    pub dynamic: Vec<(u64, u64)>,
}

impl Frame {
    /// A frame of no function, to [begin](Frame::begin) with one.
    pub(crate) fn spare() -> Frame {
        Frame {
            func: 0,
            op: 0,
            slots: Vec::new(),
            tags: Vec::new(),
            symbolic: false,
            watched: false,
            activation: 0,
            dst: NONE,
            ret_width: 0,
            base: 0,
            top: 0,
            dynamic: Vec::new(),
        }
    }

    /// Makes it a frame at the entry of a function, whose parameters are 0.
    pub(crate) fn begin(&mut self, code: &Code) {
        self.func = code.func;
        self.op = code.entry.target;
        self.slots.clear();
        self.slots.extend_from_slice(&code.consts);
        self.slots.resize(code.slots as usize, 0);
        self.tags.clear();
        self.tags.resize(code.slots as usize, 0);
        self.symbolic = false;
        self.watched = false;
        self.activation = 0;
        self.dynamic.clear();
    }

    /// Gives it the slots that its function has gained since.
    #[cold]
    pub(crate) fn widen(&mut self, slots: usize) {
        let slots = slots.max(self.slots.len());
        self.slots.resize(slots, 0);
        self.tags.resize(slots, 0);
    }

    /// What the inner loop works on: the first slot, the first tag, and the operation to begin with. There are at least as many slots and tags as
    /// `code`, which is the frame's function, has slots.
    #[inline(always)]
    pub(crate) fn raw(&mut self, code: &Code) -> (*mut u64, *mut u8, u32) {
        if self.slots.len() < code.slots as usize {
            self.widen(code.slots as usize);
        }
        debug_assert!(self.func == code.func && self.slots.len() == self.tags.len());
        (self.slots.as_mut_ptr(), self.tags.as_mut_ptr(), self.op)
    }

    pub fn func(&self) -> u32 {
        self.func
    }

    /// Next operation to run; for a caller, the one after its call.
    pub fn op(&self) -> u32 {
        self.op
    }

    /// No slot is symbolic if this is `false`.
    pub fn is_symbolic(&self) -> bool {
        self.symbolic
    }

    /// The number of slots.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// A slot that the function has.
    #[inline]
    pub fn get(&self, slot: usize) -> Tagged {
        (self.slots[slot], self.tags[slot])
    }

    /// A slot, if the frame has it.
    pub fn slot(&self, slot: usize) -> Option<Tagged> {
        Some((*self.slots.get(slot)?, self.tags[slot]))
    }

    /// The contents of a slot, if there is one and it is concrete.
    pub fn concrete(&self, slot: usize) -> Option<u64> {
        self.slots.get(slot).copied().filter(|_| self.tags[slot] == 0)
    }

    /// All slots, and their tags.
    pub fn slots(&self) -> (&[u64], &[u8]) {
        (&self.slots, &self.tags)
    }

    /// The expressions in slots.
    pub fn exprs(&self) -> impl Iterator<Item = ExprId> {
        self.slots.iter().zip(&self.tags).filter(|(_, tag)| **tag != 0).map(|(slot, _)| ExprId::from_raw(*slot as u32))
    }

    /// Replaces each expression.
    pub(crate) fn renumber(&mut self, new: impl Fn(ExprId) -> ExprId) {
        for (slot, tag) in self.slots.iter_mut().zip(&self.tags) {
            if *tag != 0 {
                *slot = u64::from(new(ExprId::from_raw(*slot as u32)).raw());
            }
        }
    }

    #[inline]
    pub(crate) fn put(&mut self, slot: usize, (contents, tag): Tagged) {
        self.slots[slot] = contents;
        self.tags[slot] = tag;
        self.symbolic |= tag != 0;
    }

    #[inline]
    pub(crate) fn copy(&mut self, to: usize, from: usize) {
        self.slots[to] = self.slots[from];
        self.tags[to] = self.tags[from];
    }

    /// Goes on at an operation of its function.
    #[inline]
    pub(crate) fn go_to(&mut self, op: u32) {
        self.op = op;
    }

    /// Goes on behind the operation that it is at, which does not end a block.
    #[inline]
    pub(crate) fn go_on(&mut self) {
        self.op += 1;
    }
}
