//! Counts words: a program of Rust for musl, with threads' storage, formatting and the allocator.

use std::collections::BTreeMap;

fn main() {
    let mut counts = BTreeMap::new();
    for word in "the quick brown fox the end".split(' ') {
        *counts.entry(word).or_insert(0) += 1;
    }
    println!("{counts:?} {}", std::env::args().count());
}
