//! Effects of machine code: events, ends of the path, and the registers and memory it may write.

use crate::flow::{BitSet, CellKind};
use crate::slice::explain::Why;
use crate::slice::live::Live;

/// The most parts of a frame, as distances from the return address, that are distinguished.
const PARTS: usize = 64;

#[derive(Clone, Debug, Default)]
pub struct Effects {
    pub event: bool,
    /// The path may end, or never reach the end of these blocks.
    pub leaves: bool,
    /// A standard descriptor may be closed or replaced.
    pub standard: bool,
    pub slots: BitSet,
    /// Anything in memory may be written.
    pub anywhere: bool,
    /// Addresses with lengths.
    pub fixed: Vec<(u64, u64)>,
    /// Ranges of the function's frame, as distances from its return address.
    pub frame: Vec<(i64, i64)>,
    pub errno: bool,
    pub cells: Vec<CellKind>,
}

impl Effects {
    /// Anything, in a function with so many slots.
    pub fn anything(slots: u32) -> Effects {
        Effects {
            event: true,
            leaves: true,
            standard: true,
            slots: (0..slots).collect(),
            anywhere: true,
            errno: true,
            cells: CellKind::all().collect(),
            ..Effects::default()
        }
    }

    /// Control goes where it is not followed: such a way is never left out.
    pub fn goes_elsewhere(&mut self) {
        self.event = true;
        self.leaves = true;
    }

    pub fn write_frame(&mut self, low: i64, high: i64) {
        let known = self.frame.iter().any(|(l, h)| *l <= low && high <= *h);
        if !known {
            self.frame.push((low, high));
            if self.frame.len() > PARTS {
                let hull = self.frame.iter().fold((i64::MAX, i64::MIN), |(l, h), part| (l.min(part.0), h.max(part.1)));
                self.frame = vec![hull];
            }
        }
    }

    pub fn write_fixed(&mut self, address: u64, len: u64) {
        if !self.fixed.contains(&(address, len)) {
            self.fixed.push((address, len));
        }
    }

    pub fn write_cell(&mut self, kind: CellKind) {
        if !self.cells.contains(&kind) {
            self.cells.push(kind);
        }
    }

    /// Adds effects of a path that never reaches its end. Its writes are left out, because nothing reads them.
    pub fn add_end(&mut self, other: &Effects) {
        self.event |= other.event;
        self.leaves |= other.leaves;
        self.standard |= other.standard;
    }

    /// Adds effects in the same function.
    pub fn add(&mut self, other: &Effects) {
        self.add_end(other);
        self.slots.union_with(&other.slots);
        self.add_memory(other);
        other.frame.iter().for_each(|(low, high)| self.write_frame(*low, *high));
    }

    /// Adds the writes that do not depend on a frame.
    pub fn add_memory(&mut self, other: &Effects) {
        self.anywhere |= other.anywhere;
        self.errno |= other.errno;
        other.fixed.iter().for_each(|(address, len)| self.write_fixed(*address, *len));
        other.cells.iter().for_each(|kind| self.write_cell(*kind));
    }

    /// Adds a call. After it pushed its return address, the stack pointer is at this distance from the caller's return address. `clobbered` are the slots
    /// that calls may change.
    pub fn add_call(&mut self, callee: &Effects, pushed: Option<i64>, clobbered: &BitSet) {
        self.add_end(callee);
        self.slots.union_with(clobbered);
        self.add_memory(callee);
        for (low, high) in callee.frame.iter().filter(|(_, high)| *high > 8) {
            // Its stack arguments belong to the caller's frame.
            match pushed {
                Some(pushed) => self.write_frame(pushed.saturating_add(*low), pushed.saturating_add(*high)),
                None => self.anywhere = true,
            }
        }
    }

    /// Whether this may change something live, and what: memory, slots of the function with its return address at `base`, or thread-local memory
    /// at `thread`.
    pub fn touches(&self, live: &Live, slots: &BitSet, base: u64, thread: Option<u64>) -> Option<Why> {
        if self.slots.meets(slots) {
            return Some(Why::Local);
        }
        if let Some(kind) = self.cells.iter().find(|kind| live.has_cell(**kind, None)) {
            return Some(Why::Cell(*kind));
        }
        let frame = |(low, high): &(i64, i64)| {
            base == 0 && live.has_bytes() || live.is_live(base.wrapping_add_signed(*low), high.wrapping_sub(*low) as u64)
        };
        let errno = || thread.map_or(live.has_bytes(), |thread| live.is_live(thread, THREAD));
        let memory = self.anywhere && live.has_bytes()
            || self.fixed.iter().any(|(address, len)| live.is_live(*address, *len))
            || self.frame.iter().any(frame)
            || self.errno && errno();
        memory.then_some(Why::Memory)
    }
}

/// The bytes of thread-local memory that include `errno`.
pub const THREAD: u64 = 256;
