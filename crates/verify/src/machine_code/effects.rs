//! Effects of machine code: events, ends of the path, and the registers and memory it may write.

use crate::flow::{BitSet, CellKind};
use crate::slice::explain::Why;
use crate::slice::live::Live;

/// Parts of a frame, as distances from the return address, that are kept apart at most.
const PARTS: usize = 64;

#[derive(Clone, Debug, Default)]
pub struct Effects {
    pub event: bool,
    /// The path may end, or never come to the way's end.
    pub leaves: bool,
    pub slots: BitSet,
    /// What nobody knows: anything in memory.
    pub anywhere: bool,
    /// Addresses, and how many bytes there.
    pub fixed: Vec<(u64, u64)>,
    /// Of the function's frame: from, and behind, as distances from its return address.
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
            slots: (0..slots).collect(),
            anywhere: true,
            errno: true,
            cells: CellKind::all().collect(),
            ..Effects::default()
        }
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

    /// What happens on a way that never gets to its end: what is written there nobody reads.
    pub fn add_end(&mut self, other: &Effects) {
        self.event |= other.event;
        self.leaves |= other.leaves;
    }

    /// What happens on a way in the same function.
    pub fn add(&mut self, other: &Effects) {
        self.add_end(other);
        self.slots.union_with(&other.slots);
        self.add_memory(other);
        other.frame.iter().for_each(|(low, high)| self.write_frame(*low, *high));
    }

    /// Writes that are the same for all frames.
    pub fn add_memory(&mut self, other: &Effects) {
        self.anywhere |= other.anywhere;
        self.errno |= other.errno;
        other.fixed.iter().for_each(|(address, len)| self.write_fixed(*address, *len));
        other.cells.iter().for_each(|kind| self.write_cell(*kind));
    }

    /// A call, made with the stack pointer so far from the caller's return address once it had pushed its own; `clobbered` are the slots
    /// that calls may change.
    pub fn add_call(&mut self, callee: &Effects, pushed: Option<i64>, clobbered: &BitSet) {
        self.add_end(callee);
        self.slots.union_with(clobbered);
        self.add_memory(callee);
        for (low, high) in callee.frame.iter().filter(|(_, high)| *high > 8) {
            // Its arguments on the stack, which are the caller's.
            match pushed {
                Some(pushed) => self.write_frame(pushed.saturating_add(*low), pushed.saturating_add(*high)),
                None => self.anywhere = true,
            }
        }
    }

    /// What of what is live this may change, if anything: memory that is live, slots of the function, whose return address is at `base`, and the
    /// thread's own memory at `thread`.
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

/// Bytes of a thread's own memory among which `errno` is.
pub const THREAD: u64 = 256;
