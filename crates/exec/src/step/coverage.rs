//! The blocks that paths have entered, one byte for every block of the program. The number of bytes never shrinks. The unsafe code of the
//! inner loop ([`crate::step::run`]) relies on both.

use std::mem;
use std::ops::{Deref, DerefMut};

use crate::ground::code::Code;
use crate::state::State;
use crate::step::core::Core;
use crate::step::sides::Sides;

/// A byte per block of the program, 1 once a path entered it.
#[derive(Default)]
pub struct Coverage(Vec<u8>);

/// What a run can enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    Block(u32),
    /// A side of a branch.
    Side(u32),
}

impl Entry {
    /// Blocks and sides, each by a number of its own.
    pub fn index(self) -> usize {
        match self {
            Entry::Block(number) => 2 * number as usize,
            Entry::Side(number) => 2 * number as usize + 1,
        }
    }
}

/// Two strings that a run compared, and that differ.
pub type Compared = [Box<[u8]>; 2];

/// Most comparisons of a run that are remembered, and most bytes of a string.
const MOST_COMPARED: usize = 64;
pub const LONGEST_COMPARED: usize = 32;

/// How often a run entered each block and took each side, to 255.
#[derive(Default)]
pub struct Hits {
    counts: Vec<u8>,
    entered: Vec<Entry>,
    compared: Vec<Compared>,
    /// In place of the exploration's while the run lasts; no byte of them is ever set, so each entry is seen.
    blank: Coverage,
    blank_sides: Sides,
}

impl Core {
    /// Entries are counted, and what paths have covered stays as it is, until [`Core::end_counting`].
    pub(crate) fn begin_counting(&mut self, hits: &mut Hits) {
        debug_assert!(hits.entered.is_empty(), "what an earlier run entered is not this one's");
        let mut blank = mem::take(&mut hits.blank);
        blank.grow(self.image.blocks);
        let covered = mem::replace(&mut self.coverage, blank);
        mem::swap(&mut self.sides, &mut hits.blank_sides);
        self.counting = Some(Hits { blank: covered, ..mem::take(hits) });
    }

    pub(crate) fn end_counting(&mut self, hits: &mut Hits) {
        let Some(mut counted) = self.counting.take() else { return };
        // Code may have been lowered on the way.
        counted.blank.grow(self.image.blocks);
        mem::swap(&mut self.coverage, &mut counted.blank);
        mem::swap(&mut self.sides, &mut counted.blank_sides);
        *hits = counted;
    }

    /// What the run entered so far, if it is counted.
    pub fn counted(&mut self) -> Option<&mut Hits> {
        self.counting.as_mut()
    }

    /// A path enters a block by an edge of the operation `op`: one of them for the first time, or while entries are counted.
    #[cold]
    pub(crate) fn enter_by(&mut self, state: &mut State, code: &Code, op: u32, edge: u32) {
        self.take_side(state, code, op, edge);
        self.cover(state, code.edges[edge as usize].block);
    }
}

impl Hits {
    /// One more entry.
    pub(crate) fn count(&mut self, entry: Entry) {
        if self.counts.len() <= entry.index() {
            self.counts.resize(entry.index() + 1, 0);
        }
        let count = &mut self.counts[entry.index()];
        if *count == 0 {
            self.entered.push(entry);
        }
        *count = count.saturating_add(1);
    }

    /// Two strings of at most [`LONGEST_COMPARED`] bytes were compared, and differ.
    pub fn note_compared(&mut self, one: Vec<u8>, other: Vec<u8>) {
        if self.compared.len() < MOST_COMPARED {
            self.compared.push([one.into(), other.into()]);
        }
    }

    /// Takes out the strings that were compared.
    pub(crate) fn take_compared(&mut self) -> Vec<Compared> {
        mem::take(&mut self.compared)
    }

    /// Takes out what was entered, and how often. To be read to its end.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (Entry, u8)> {
        let Hits { counts, entered, .. } = self;
        entered.drain(..).map(|entry| (entry, mem::take(&mut counts[entry.index()])))
    }
}

impl Coverage {
    pub(crate) fn of(blocks: u32) -> Coverage {
        Coverage(vec![0; blocks as usize])
    }

    /// The program has so many blocks by now.
    pub(crate) fn grow(&mut self, blocks: u32) {
        self.0.resize(self.0.len().max(blocks as usize), 0);
    }
}

impl Deref for Coverage {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

// As a slice its bytes can be changed, its length cannot.
impl DerefMut for Coverage {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}
