//! The memory of a path: bytes, heap bookkeeping, and the object that an address belongs to.

pub mod heap;
pub mod page;
pub mod space;
pub mod touch;

use std::rc::Rc;

pub use heap::{Heap, HeapObject, Life};
pub use page::{Byte, PAGE, Page};
pub use space::Space;

/// Addresses below this belong to nothing: a pointer there counts as null.
pub const NULL_PAGE: u64 = 4096;
/// Functions' addresses, 16 bytes apart: room for four million, above what executables have at the addresses they were linked to.
pub const FUNC_BASE: u64 = GLOBAL_BASE - (1 << 26);
/// Globals.
pub const GLOBAL_BASE: u64 = 1 << 30;
/// The stack grows down from here.
pub const STACK_TOP: u64 = 0x7f00_0000_0000;
/// Nothing lies from here on, above the stacks of threads: what programs take for return addresses.
pub const CALLS_BASE: u64 = 0x7fc0_0000_0000;

/// An object at a fixed address: a global, or a segment of an executable.
#[derive(Clone, Debug)]
pub struct Static {
    pub base: u64,
    pub size: u64,
    pub name: Rc<str>,
    pub writable: bool,
}

/// The memory of one path.
#[derive(Default)]
pub struct Memory {
    pub space: Space,
    pub heap: Heap,
    /// Sorted by base; the same for all paths of a program, but for the stacks of machine code's threads.
    pub statics: Rc<Vec<Static>>,
}

impl Memory {
    pub fn fork(&mut self) -> Memory {
        Memory { space: self.space.fork(), heap: self.heap.clone(), statics: self.statics.clone() }
    }

    pub fn fork_idle(&self) -> Memory {
        Memory { space: self.space.fork_idle(), heap: self.heap.clone(), statics: self.statics.clone() }
    }

    /// The static object containing the address, or within `slack` bytes of it (the nearest before it first).
    pub fn static_near(&self, addr: u64, slack: u64) -> Option<&Static> {
        let i = self.statics.partition_point(|s| s.base <= addr);
        let before = i.checked_sub(1).and_then(|i| self.statics.get(i)).filter(|s| addr - s.base < s.size + slack);
        before.or_else(|| self.statics.get(i).filter(|s| s.base - addr <= slack))
    }
}
