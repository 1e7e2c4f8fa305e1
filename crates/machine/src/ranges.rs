//! Sets of bytes of an address space, as words of 64 bits, stored only where not empty. A block reads and writes few registers.

use std::ops::Range;

use smallvec::SmallVec;

/// A set of bytes: by the offset of their first one, divided by 64, words that are not 0; ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(SmallVec<[(u64, u64); 6]>);

/// The words that a range has bytes in, and which.
fn words(range: Range<u64>) -> impl Iterator<Item = (u64, u64)> {
    let last = range.end.wrapping_sub(1);
    let all = if range.is_empty() { 1..1 } else { range.start / 64..last / 64 + 1 };
    let (first, end) = (all.start, all.end.wrapping_sub(1));
    all.map(move |word| {
        let low = if word == first { u64::MAX << (range.start % 64) } else { u64::MAX };
        let high = if word == end { u64::MAX >> (63 - last % 64) } else { u64::MAX };
        (word, low & high)
    })
}

impl Bytes {
    /// Where a word is, or would be.
    fn find(&self, word: u64) -> Result<usize, usize> {
        let at = self.0.iter().position(|(known, _)| *known >= word).unwrap_or(self.0.len());
        if self.0.get(at).is_some_and(|(known, _)| *known == word) { Ok(at) } else { Err(at) }
    }

    fn word(&self, word: u64) -> u64 {
        self.find(word).map_or(0, |at| self.0[at].1)
    }

    fn add_to(&mut self, word: u64, bits: u64) {
        match self.find(word) {
            Ok(at) => self.0[at].1 |= bits,
            Err(at) => self.0.insert(at, (word, bits)),
        }
    }

    /// Takes bits out of a word; those that were there.
    fn take_from(&mut self, word: u64, bits: u64) -> u64 {
        let Ok(at) = self.find(word) else { return 0 };
        let was = self.0[at].1;
        self.0[at].1 &= !bits;
        if was & !bits == 0 {
            self.0.remove(at);
        }
        was & bits
    }

    pub fn add(&mut self, range: Range<u64>) {
        words(range).for_each(|(word, bits)| self.add_to(word, bits));
    }

    pub fn remove(&mut self, range: Range<u64>) {
        words(range).for_each(|(word, bits)| _ = self.take_from(word, bits));
    }

    /// Takes what of the range is in it out, and adds it to another one.
    pub fn give(&mut self, range: Range<u64>, to: &mut Bytes) {
        for (word, bits) in words(range) {
            let taken = self.take_from(word, bits);
            if taken != 0 {
                to.add_to(word, taken);
            }
        }
    }

    /// Are all bytes of the range in it?
    pub fn covers(&self, range: Range<u64>) -> bool {
        words(range).all(|(word, bits)| self.word(word) & bits == bits)
    }

    /// Is one of the range's bytes in it?
    pub fn touches(&self, range: Range<u64>) -> bool {
        words(range).any(|(word, bits)| self.word(word) & bits != 0)
    }

    /// Keeps what is in both.
    pub fn intersect(&mut self, other: &Bytes) {
        self.0.retain(|(word, bits)| {
            *bits &= other.word(*word);
            *bits != 0
        });
    }

    /// Keeps what is in the range.
    pub fn keep(&mut self, range: &Range<u64>) {
        let mut kept = Bytes::default();
        self.give(range.clone(), &mut kept);
        *self = kept;
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Bytes;

    fn all(bytes: &Bytes) -> impl Iterator<Item = u64> {
        bytes.0.iter().flat_map(|(word, bits)| (0..64).filter(move |b| bits >> b & 1 == 1).map(move |b| 64 * word + b))
    }

    /// Beside sets of single bytes, by all that can be done to them, in an order that follows from a seed.
    #[test]
    fn ranges_are_sets_of_bytes() {
        let (mut ranges, mut bytes, mut seed) = (Bytes::default(), BTreeSet::new(), 1u64);
        let mut other = (Bytes::default(), BTreeSet::new());
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let start = 32 + (seed >> 58);
            let range = start..start + (seed >> 50 & 7) * if seed >> 48 & 3 == 0 { 20 } else { 1 };
            match seed >> 40 & 15 {
                0..5 => {
                    ranges.add(range.clone());
                    bytes.extend(range);
                }
                5..9 => {
                    ranges.remove(range.clone());
                    bytes.retain(|b| !range.contains(b));
                }
                9..11 => {
                    let mut taken = Bytes::default();
                    ranges.give(range.clone(), &mut taken);
                    assert!(all(&taken).eq(range.clone().filter(|b| bytes.contains(b))));
                    bytes.retain(|b| !range.contains(b));
                }
                11 => {
                    ranges.intersect(&other.0);
                    bytes.retain(|b| other.1.contains(b));
                }
                12 if !range.is_empty() => {
                    let wide = start.saturating_sub(40)..range.end + 60;
                    ranges.keep(&wide);
                    bytes.retain(|b| wide.contains(b));
                }
                _ => {
                    assert_eq!(ranges.covers(range.clone()), range.clone().all(|b| bytes.contains(&b)));
                    assert_eq!(ranges.touches(range.clone()), range.clone().any(|b| bytes.contains(&b)));
                    std::mem::swap(&mut ranges, &mut other.0);
                    std::mem::swap(&mut bytes, &mut other.1);
                }
            }
            assert_eq!(ranges.is_empty(), bytes.is_empty());
            assert!(all(&ranges).eq(bytes.iter().copied()), "{ranges:?}, not {bytes:?}");
            assert!(ranges.0.is_sorted_by(|a, b| a.0 < b.0) && ranges.0.iter().all(|(_, bits)| *bits != 0), "{ranges:?}");
        }
    }
}
