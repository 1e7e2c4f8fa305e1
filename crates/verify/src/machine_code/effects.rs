//! What machine code may write, as [`crate::flow::Effects`] count it: addresses, parts of frames, environment cells.

use std::rc::Rc;

use super::pointers::Root;
use super::stores::Through;
use crate::flow::fitting::Dangers;
use crate::flow::{BitSet, CellKind, Grows, ObjectId};
use crate::slice::explain::Why;
use crate::slice::live::Live;

/// The C library's tables of what is called at exit; all other memory, whose objects are not distinguished.
pub const TABLES: ObjectId = ObjectId(1);
/// Variables that only instructions with their address access.
pub const NAMED: ObjectId = ObjectId(2);
pub const ANY: ObjectId = ObjectId(0);

/// The most parts of a frame, as distances from the return address, that are distinguished.
const PARTS: usize = 64;

/// The effects of an alternative in machine code.
pub type Effects = crate::flow::Effects<Memory>;

/// What may be written.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Anything in memory may be written that pointers lead to: not the tables and variables below, and not [`super::private`] variables.
    pub anywhere: bool,
    /// Anything in the function's own frame may be written, by unknown instructions of the function itself.
    pub own: bool,
    /// The C library's tables of what is called at exit may be written through pointers.
    pub tables: bool,
    /// Variables may be written by unknown instructions that name them.
    pub named: bool,
    /// The objects that these pointers lead to may be written.
    pub through: Vec<Through>,
    /// What these texts say as formats.
    pub formats: Vec<Root>,
    /// Addresses with lengths.
    pub fixed: Vec<(u64, u64)>,
    /// Ranges of the function's frame, as distances from its return address.
    pub frame: Vec<(i64, i64)>,
    /// The same, of writes by addresses that are passed to calls: not [`super::private`] variables. The lowest distance; they end at the return
    /// address.
    pub lent: Option<i64>,
    pub errno: bool,
    /// Cells of the stream at an address, or of any.
    pub cells: Vec<(CellKind, Option<u64>)>,
}

impl Grows for Memory {
    fn add(&mut self, other: &Memory) {
        self.anywhere |= other.anywhere;
        self.own |= other.own;
        self.tables |= other.tables;
        self.named |= other.named;
        self.errno |= other.errno;
        self.write_through(other.through.iter().copied());
        self.say(&other.formats);
        other.fixed.iter().for_each(|(address, len)| self.write_fixed(*address, *len));
        other.cells.iter().for_each(|(kind, stream)| self.write_cell(*kind, *stream));
        other.frame.iter().for_each(|(low, high)| self.write_frame(*low, *high));
        other.lent.into_iter().for_each(|low| self.lend(low));
    }
}

impl Memory {
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

    /// Stores by pointers. New memory is not live, and how far a pointer moved does not matter: it stays in its object.
    pub fn write_through(&mut self, stores: impl IntoIterator<Item = Through>) {
        for store in stores.into_iter().filter(|store| !matches!(store.root, Root::New | Root::Moved)) {
            if !self.through.contains(&store) {
                self.through.push(store);
            }
        }
        if self.through.len() > PARTS {
            self.go_anywhere();
        }
    }

    pub fn go_anywhere(&mut self) {
        self.anywhere = true;
        self.through.clear();
    }

    /// A call with one of these formats.
    pub fn say(&mut self, formats: &[Root]) {
        for root in formats {
            if !self.formats.contains(root) {
                self.formats.push(*root);
            }
        }
    }

    /// All formats are ones with these dangers.
    pub fn take_formats(&mut self, dangers: &Dangers) {
        self.formats.clear();
        self.anywhere |= dangers.writes;
        self.errno |= dangers.fails;
    }

    /// The arguments by which something is written, or which are formats.
    pub fn arguments(&self) -> impl Iterator<Item = Root> + '_ {
        let all = self.through.iter().map(|store| store.root).chain(self.formats.iter().copied());
        all.filter(|root| matches!(root, Root::Argument(_) | Root::ByArgument(_)))
    }

    /// A callee gets the address of a variable in the frame, which ends before the saved registers.
    pub fn lend(&mut self, low: i64) {
        self.lent = Some(self.lent.map_or(low, |lent| lent.min(low)));
    }

    pub fn write_fixed(&mut self, address: u64, len: u64) {
        if !self.fixed.contains(&(address, len)) {
            self.fixed.push((address, len));
        }
    }

    pub fn write_cell(&mut self, kind: CellKind, stream: Option<u64>) {
        if !self.cells.contains(&(kind, stream)) && !self.cells.contains(&(kind, None)) {
            self.cells.push((kind, stream));
        }
    }

    /// These writes, as the caller sees them. `pushed`: the distance of the stack pointer from the caller's return address, after the call
    /// pushed its own.
    fn outside(&self, pushed: Option<i64>) -> Memory {
        let mut seen = Memory { frame: Vec::new(), lent: None, own: false, ..self.clone() };
        for (low, high) in self.frame.iter().filter(|(_, high)| *high > 8) {
            // Its stack arguments belong to the caller's frame.
            match pushed {
                Some(pushed) => seen.write_frame(pushed.saturating_add(*low), pushed.saturating_add(*high)),
                None => seen.anywhere = true,
            }
        }
        seen
    }

    /// Whether this may change something live in memory or in the environment, and what.
    pub fn touches(&self, live: &Live, at: &Around<'_>) -> Option<Why> {
        let cell = self.cells.iter().find(|(kind, stream)| live.has_cell(*kind, *stream));
        cell.map(|(kind, _)| Why::Cell(*kind)).or_else(|| self.touches_memory(live, at))
    }

    /// As [`Memory::touches`], of memory alone.
    pub fn touches_memory(&self, live: &Live, at: &Around<'_>) -> Option<Why> {
        let &Around { base, thread, private, errno, pointed, format } = at;
        let dangers = self.formats.iter().fold(Dangers::default(), |all, root| all.or(format(*root)));
        let through = |store: &Through| match pointed(store.root) {
            Some(all) => all.iter().any(|led| store.touches(live, led.to, led.object)),
            None => true,
        };
        let frame = |(low, high): &(i64, i64)| {
            base == 0 && live.has_bytes_of(ANY) || live.is_live(base.wrapping_add_signed(*low), high.wrapping_sub(*low) as u64)
        };
        let is_errno_live = || thread.map_or(live.has_bytes_of(ANY), |thread| live.is_live(thread.wrapping_add_signed(errno.0), errno.1));
        let lent = |low: &i64| match base {
            0 => live.has_bytes_of(ANY),
            _ => {
                let low = base.wrapping_add_signed(*low);
                let inside = |(address, len): &(u64, u64)| {
                    let (from, to) = ((*address).max(low), (address + len).min(base));
                    if from < to { live.count_in(from, to - from) } else { 0 }
                };
                live.count_in(low, base.wrapping_sub(low)) > private().iter().map(inside).sum()
            }
        };
        let memory = (self.anywhere || dangers.writes) && reached(live, private)
            || self.own && live.has_bytes_of(ANY)
            || self.tables && live.has_bytes_of(TABLES)
            || self.named && live.has_bytes_of(NAMED)
            || self.fixed.iter().any(|(address, len)| live.is_live(*address, *len))
            || self.frame.iter().any(frame)
            || self.lent.iter().any(lent)
            || (self.errno || dangers.fails) && is_errno_live()
            || !self.through.is_empty() && reached(live, private) && self.through.iter().any(through);
        memory.then_some(Why::Memory)
    }
}

/// The program point at which an alternative begins.
pub struct Around<'a> {
    /// The address of its function's return address; 0: not known.
    pub base: u64,
    /// The address of thread-local memory, if known.
    pub thread: Option<u64>,
    /// Memory that no pointer leads to: addresses and lengths, ascending and apart.
    pub private: &'a dyn Fn() -> Rc<[(u64, u64)]>,
    /// Where `errno` lies in thread-local memory: a distance from its address, and bytes.
    pub errno: (i64, u64),
    /// Where a pointer leads; `None`: anywhere.
    pub pointed: &'a dyn Fn(Root) -> Option<Vec<Led>>,
    /// What a format may do.
    pub format: &'a dyn Fn(Root) -> Dangers,
}

/// Where a pointer leads.
pub struct Led {
    /// What it is derived from leads here, if that is known.
    pub to: Option<u64>,
    /// The object's address and length.
    pub object: (u64, u64),
}

/// Whether something live may be written through pointers.
pub fn reached(live: &Live, private: &dyn Fn() -> Rc<[(u64, u64)]>) -> bool {
    let count = live.count((ANY, 0));
    count > 0 && count > private().iter().map(|(address, len)| live.count_in(*address, *len)).sum()
}

/// Anything that a function may do which is called, by a function with so many slots.
pub fn any_call(slots: u32) -> Effects {
    let mut all = anything(slots);
    (all.changes.own, all.at_exit.own) = (false, false);
    all
}

/// Anything, in a function with so many slots.
pub fn anything(slots: u32) -> Effects {
    Effects::with_all(
        slots,
        Memory {
            anywhere: true,
            own: true,
            tables: true,
            named: true,
            errno: true,
            cells: CellKind::all().map(|kind| (kind, None)).collect(),
            ..Memory::default()
        },
    )
}

/// What a call does, as the caller sees it. `clobbered`: the slots that calls may change.
pub fn called(callee: &Effects, pushed: Option<i64>, clobbered: &BitSet) -> Effects {
    Effects {
        slots: clobbered.clone(),
        changes: callee.changes.outside(pushed),
        at_exit: callee.at_exit.outside(pushed),
        event: callee.event,
        exits: callee.exits,
        leaves: callee.leaves,
        standard: callee.standard,
    }
}

/// Bytes of `errno`.
pub const ERRNO: u64 = 4;
/// Thread-local memory that includes `errno`, where it is not known more exactly: glibc's lies below its address, musl's above.
pub const THREAD: (i64, u64) = (-4096, 4096 + 256);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_reach_what_is_not_private() {
        let mut live = Live::default();
        live.add((ANY, 0), 0x1000, 8);
        live.add((NAMED, 0), 0x2000, 4);
        let around = |private: &'static [(u64, u64)]| move || Rc::from(private);
        let touches = |changes: &Memory, private: &dyn Fn() -> Rc<[(u64, u64)]>| {
            changes
                .touches_memory(
                    &live,
                    &Around {
                        base: 0x1010,
                        thread: Some(0x9000),
                        private,
                        errno: THREAD,
                        pointed: &|_| None,
                        format: &|_| Dangers::default(),
                    },
                )
                .is_some()
        };
        let pointer = Memory { anywhere: true, ..Memory::default() };
        assert!(
            touches(&pointer, &around(&[])) && touches(&pointer, &around(&[(0x1000, 4)])) && touches(&pointer, &around(&[(0x2000, 4)]))
        );
        assert!(!touches(&pointer, &around(&[(0x0ff8, 16)])) && !touches(&pointer, &around(&[(0x1000, 4), (0x1004, 4)])));
        // The function itself.
        let frame = |low, high| Memory { frame: vec![(low, high)], ..Memory::default() };
        assert!(touches(&frame(-12, -8), &around(&[(0x1000, 8)])) && !touches(&frame(-8, -4), &around(&[(0x1000, 8)])));
        let all = anything(4);
        assert!(touches(&all.changes, &around(&[(0x1000, 8)])) && touches(&all.changes.outside(Some(0)), &around(&[])));
        let call = Memory { named: false, ..any_call(4).changes };
        assert!(!touches(&call, &around(&[(0x1000, 8)])) && touches(&call, &around(&[])));
    }
}
