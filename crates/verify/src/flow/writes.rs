//! Effects as sets that only grow: objects that may be written, in part or anywhere; slots, environment cells, events, and ends of the
//! program.

use std::collections::{BTreeMap, BTreeSet};

use super::ObjectId;
use super::bits::BitSet;
use super::summary::{CellKind, Cells};

/// Bytes `low .. high` of an object; `u64::MAX`: unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub low: u64,
    pub high: u64,
}

/// What may be written.
#[derive(Clone, Debug, Default)]
pub struct Writes {
    pub everything: bool,
    /// Objects that may be written anywhere, by number.
    pub whole: BitSet,
    /// Objects that may be written in part.
    pub parts: BTreeMap<ObjectId, Extent>,
}

impl Writes {
    /// Whether byte `offset` of the object may be written.
    pub fn touches(&self, object: ObjectId, offset: u64) -> bool {
        self.everything
            || self.whole.contains(object.0)
            || self.parts.get(&object).is_some_and(|e| e.low <= offset && (offset < e.high || e.high == u64::MAX))
    }

    pub(super) fn add_part(&mut self, object: ObjectId, extent: Extent) {
        let part = self.parts.entry(object).or_insert(extent);
        *part = Extent { low: part.low.min(extent.low), high: part.high.max(extent.high) };
    }

    fn add(&mut self, other: &Writes) {
        self.everything |= other.everything;
        self.whole.union_with(&other.whole);
        other.parts.iter().for_each(|(object, extent)| self.add_part(*object, *extent));
    }

    pub(super) fn remove(&mut self, object: ObjectId) {
        self.whole.remove(object.0);
        self.parts.remove(&object);
    }
}

/// Cells of the environment that may be written.
#[derive(Clone, Debug, Default)]
pub struct CellWrites {
    /// Those of any stream.
    any: Cells,
    /// Those of streams that lie in this object.
    of: BTreeSet<(CellKind, ObjectId)>,
}

impl CellWrites {
    /// Whether the cell may be written of the stream in `object`, of any if that is unknown.
    pub fn touches(&self, kind: CellKind, object: Option<ObjectId>) -> bool {
        self.any.contains(kind)
            || match object {
                Some(object) => self.of.contains(&(kind, object)),
                None => self.of.iter().any(|(of, _)| *of == kind),
            }
    }

    pub(super) fn add_any(&mut self, kind: CellKind) {
        self.any.insert(kind);
    }

    pub(super) fn add_of(&mut self, kind: CellKind, object: ObjectId) {
        self.of.insert((kind, object));
    }
}

/// What may be written of what a function's callers know.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    pub writes: Writes,
    pub cells: CellWrites,
}

/// A set of what may be written, which only grows.
pub trait Grows: Clone + Default {
    fn add(&mut self, other: &Self);
}

impl Grows for Changes {
    fn add(&mut self, other: &Changes) {
        self.writes.add(&other.writes);
        self.cells.any = self.cells.any.union(other.cells.any);
        self.cells.of.extend(&other.cells.of);
    }
}

impl Changes {
    fn anything() -> Changes {
        let writes = Writes { everything: true, ..Writes::default() };
        Changes { writes, cells: CellWrites { any: Cells::ALL, ..CellWrites::default() } }
    }
}

/// What may happen on a way. `C` is what may be written: objects of bitcode, addresses of machine code.
#[derive(Clone, Debug, Default)]
pub struct Effects<C = Changes> {
    /// An event of the rules before `exit` is called, or what cannot be followed and may lead to one.
    pub event: bool,
    /// `exit` may be called.
    pub exits: bool,
    /// The program may end otherwise, or never come back to the way's end.
    pub leaves: bool,
    /// A standard descriptor may be closed or replaced.
    pub standard: bool,
    /// Slots of the function that may be written.
    pub slots: BitSet,
    /// What may be written on the way to its end.
    pub changes: C,
    /// What may be written on the way to a call of `exit`.
    pub at_exit: C,
}

impl<C: Grows> Effects<C> {
    /// Control goes where it is not followed: such a way is never left out.
    pub fn goes_elsewhere(&mut self) {
        self.event = true;
        self.leaves = true;
    }

    pub fn add(&mut self, other: &Effects<C>) {
        self.slots.union_with(&other.slots);
        self.add_call(other);
    }

    /// As [`Effects::add`], without the slots, which are another function's.
    pub fn add_call(&mut self, other: &Effects<C>) {
        self.changes.add(&other.changes);
        self.add_end(other);
    }

    /// What happens on a way that never gets to its end: what is written there nobody reads, unless at `exit`.
    pub fn add_end(&mut self, other: &Effects<C>) {
        self.event |= other.event;
        self.exits |= other.exits;
        self.leaves |= other.leaves;
        self.standard |= other.standard;
        self.at_exit.add(&other.at_exit);
    }

    /// Once all of a way is known: what is written anywhere on it may be written before it gets to a call of `exit` on it.
    pub fn close(&mut self, written: &C) {
        if self.exits {
            self.at_exit.add(written);
        }
    }

    /// Anything, in a function with so many slots, where `changes` are all there are.
    pub fn with_all(slots: u32, changes: C) -> Effects<C> {
        Effects { event: true, exits: true, leaves: true, standard: true, slots: (0..slots).collect(), at_exit: changes.clone(), changes }
    }
}

impl Effects {
    /// Objects that are gone where the way ends, but not where `exit` is called.
    pub(super) fn forget(&mut self, objects: impl Iterator<Item = ObjectId>) {
        objects.for_each(|object| self.changes.writes.remove(object));
    }

    /// Anything, in a function with so many slots.
    pub(super) fn anything(slots: u32) -> Effects {
        Effects::with_all(slots, Changes::anything())
    }
}
