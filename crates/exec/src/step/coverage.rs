//! The blocks that paths have entered, one byte for every block of the program. The number of bytes never shrinks. The unsafe code of the
//! inner loop ([`crate::step::run`]) relies on both.

use std::mem;
use std::ops::{Deref, DerefMut};

use crate::step::core::Core;

/// A byte per block of the program, 1 once a path entered it.
#[derive(Default)]
pub struct Coverage(Vec<u8>);

/// How often a run entered each block, to 255.
#[derive(Default)]
pub struct Hits {
    counts: Vec<u8>,
    entered: Vec<u32>,
    /// In place of the exploration's while the run lasts; no byte of it is ever set, so each entry is seen.
    blank: Coverage,
}

impl Core {
    /// Entries of blocks are counted, and what paths have covered stays as it is, until [`Core::end_counting`].
    pub(crate) fn begin_counting(&mut self, hits: &mut Hits) {
        debug_assert!(hits.entered.is_empty(), "what an earlier run entered is not this one's");
        let mut blank = mem::take(&mut hits.blank);
        blank.grow(self.image.blocks);
        let covered = mem::replace(&mut self.coverage, blank);
        self.counting = Some(Hits { blank: covered, ..mem::take(hits) });
    }

    pub(crate) fn end_counting(&mut self, hits: &mut Hits) {
        let Some(mut counted) = self.counting.take() else { return };
        // Code may have been lowered on the way.
        counted.blank.grow(self.image.blocks);
        mem::swap(&mut self.coverage, &mut counted.blank);
        *hits = counted;
    }
}

impl Hits {
    /// One more entry.
    pub(crate) fn count(&mut self, block: u32) {
        if self.counts.len() <= block as usize {
            self.counts.resize(block as usize + 1, 0);
        }
        let count = &mut self.counts[block as usize];
        if *count == 0 {
            self.entered.push(block);
        }
        *count = count.saturating_add(1);
    }

    /// Takes out the blocks that were entered, and how often. To be read to its end.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (u32, u8)> {
        let Hits { counts, entered, .. } = self;
        entered.drain(..).map(|block| (block, mem::take(&mut counts[block as usize])))
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
