//! The mapping of a store's file: the crate's only unsafe code.

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// Maps a file that is replaced as a whole and never changed in place.
pub fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: writers of stores write another file and rename it (store.rs), in a folder that only this user can write to. Every read is checked
    // against the length at the time of mapping, and no reference is kept across a change of the bytes that anything relies on.
    unsafe { Mmap::map(file) }
}
