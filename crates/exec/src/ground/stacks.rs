//! Call stacks as small numbers: heap objects store their allocating call stack in four bytes.
//!
//! The numbers depend on the order of exploration, so no path may depend on them. Interning costs one hash of the stack per allocation.

use rustc_hash::FxHashMap;

use crate::ground::image::CodePos;

/// An interned call stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StackId(u32);

/// All call stacks met, innermost position first. Never shrinks: a program has few places that allocate.
#[derive(Default)]
pub struct Stacks {
    ids: FxHashMap<Box<[CodePos]>, StackId>,
    all: Vec<Box<[CodePos]>>,
}

impl Stacks {
    pub fn intern(&mut self, stack: &[CodePos]) -> StackId {
        if let Some(id) = self.ids.get(stack) {
            return *id;
        }
        let id = StackId(self.all.len() as u32);
        self.all.push(stack.into());
        self.ids.insert(stack.into(), id);
        id
    }

    /// The positions of an interned stack, innermost first.
    pub fn get(&self, id: StackId) -> &[CodePos] {
        &self.all[id.0 as usize]
    }
}
