//! Sets of bytes of a space, as ranges: few, as what one block reads and writes is few registers.

use std::ops::Range;

/// A set of bytes: ranges by offset, none empty, none meeting another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(Vec<Range<u64>>);

impl Bytes {
    /// The ranges that have a byte in common with this one, or are next to it.
    fn near(&self, range: &Range<u64>) -> Range<usize> {
        let first = self.0.partition_point(|r| r.end < range.start);
        first..first + self.0[first..].iter().take_while(|r| r.start <= range.end).count()
    }

    pub fn add(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let near = self.near(&range);
        let (start, end) = match &self.0[near.clone()] {
            [] => (range.start, range.end),
            [first, .., last] => (range.start.min(first.start), range.end.max(last.end)),
            [one] => (range.start.min(one.start), range.end.max(one.end)),
        };
        self.0.splice(near, std::iter::once(start..end));
    }

    pub fn remove(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let near = self.near(&range);
        let rest: Vec<Range<u64>> = without(&self.0[near.clone()], &range);
        self.0.splice(near, rest);
    }

    /// Takes what of the range is in it out.
    pub fn take(&mut self, range: Range<u64>) -> Vec<Range<u64>> {
        let common = |r: &Range<u64>| r.start.max(range.start)..r.end.min(range.end);
        let taken: Vec<Range<u64>> = self.0.iter().map(common).filter(|r| !r.is_empty()).collect();
        self.remove(range);
        taken
    }

    /// Are all bytes of the range in it?
    pub fn covers(&self, range: Range<u64>) -> bool {
        range.is_empty() || self.0.iter().any(|r| r.start <= range.start && range.end <= r.end)
    }

    /// Is one of the range's bytes in it?
    pub fn touches(&self, range: Range<u64>) -> bool {
        self.0.iter().any(|r| r.start.max(range.start) < r.end.min(range.end))
    }

    /// Keeps what is in both.
    pub fn intersect(&mut self, other: &Bytes) {
        let common = |a: &Range<u64>, b: &Range<u64>| a.start.max(b.start)..a.end.min(b.end);
        let own = std::mem::take(&mut self.0);
        let both = own.iter().flat_map(|a| other.0.iter().map(move |b| common(a, b)));
        self.0 = both.filter(|r| !r.is_empty()).collect();
    }

    /// Keeps what is in the range.
    pub fn keep(&mut self, range: &Range<u64>) {
        self.intersect(&Bytes(vec![range.clone()]));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// What is in the ranges but not in this one.
fn without(ranges: &[Range<u64>], taken: &Range<u64>) -> Vec<Range<u64>> {
    let sides = |r: &Range<u64>| [r.start..r.end.min(taken.start), r.start.max(taken.end)..r.end];
    ranges.iter().flat_map(sides).filter(|r| !r.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Bytes;

    /// Beside sets of single bytes, by all that can be done to them, in an order that follows from a seed.
    #[test]
    fn ranges_are_sets_of_bytes() {
        let (mut ranges, mut bytes, mut seed) = (Bytes::default(), BTreeSet::new(), 1u64);
        let mut other = (Bytes::default(), BTreeSet::new());
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let start = seed >> 59;
            let range = start..start + (seed >> 50 & 7);
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
                    let taken: Vec<u64> = ranges.take(range.clone()).into_iter().flatten().collect();
                    assert!(taken.into_iter().eq(range.clone().filter(|b| bytes.contains(b))));
                    bytes.retain(|b| !range.contains(b));
                }
                11 => {
                    ranges.intersect(&other.0);
                    bytes.retain(|b| other.1.contains(b));
                }
                _ => {
                    assert_eq!(ranges.covers(range.clone()), range.clone().all(|b| bytes.contains(&b)));
                    assert_eq!(ranges.touches(range.clone()), range.clone().any(|b| bytes.contains(&b)));
                    std::mem::swap(&mut ranges, &mut other.0);
                    std::mem::swap(&mut bytes, &mut other.1);
                }
            }
            assert_eq!(ranges.is_empty(), bytes.is_empty());
            assert!(ranges.0.iter().flat_map(Clone::clone).eq(bytes.iter().copied()), "{ranges:?}, not {bytes:?}");
            assert!(ranges.0.windows(2).all(|w| w[0].end <= w[1].start), "{ranges:?}");
        }
    }
}
