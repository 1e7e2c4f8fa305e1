//! What may happen on a way, as sets that grow: objects that may be written, in part or anywhere, slots, cells, events and ends.

use std::collections::BTreeMap;

use super::ObjectId;
use super::bits::BitSet;
use super::summary::Cells;

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

/// What may happen on a way.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// An event of the rules.
    pub event: bool,
    /// The program may end, or never come back to the way's end.
    pub leaves: bool,
    /// Slots of the function that may be written.
    pub slots: BitSet,
    pub writes: Writes,
    /// Cells of the environment that may be written.
    pub cells: Cells,
}

impl Effects {
    pub(super) fn add(&mut self, other: &Effects) {
        self.slots.union_with(&other.slots);
        self.add_call(other);
    }

    /// As [`Effects::add`], without the slots, which are another function's.
    pub(super) fn add_call(&mut self, other: &Effects) {
        self.event |= other.event;
        self.leaves |= other.leaves;
        self.writes.add(&other.writes);
        self.cells = self.cells.union(other.cells);
    }

    /// Anything, in a function with so many slots.
    pub(super) fn anything(slots: u32) -> Effects {
        let writes = Writes { everything: true, ..Writes::default() };
        Effects { event: true, leaves: true, slots: (0..slots).collect(), writes, cells: Cells::ALL }
    }
}
