//! The blocks that paths have entered, one byte for every block of the program. The number of bytes never shrinks. The unsafe code of the
//! inner loop ([`crate::step::run`]) relies on both.

use std::ops::{Deref, DerefMut};

/// A byte per block of the program, 1 once a path entered it.
pub struct Coverage(Vec<u8>);

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
