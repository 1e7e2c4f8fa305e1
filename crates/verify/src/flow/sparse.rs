//! Sparse sets of small numbers, for points-to sets: the non-zero words, in order.

use serde::{Deserialize, Serialize};

use super::bits::Ones;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sparse {
    words: Vec<(u32, u64)>,
}

impl Sparse {
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn insert(&mut self, n: u32) -> bool {
        let (key, bit) = (n / 64, 1u64 << (n % 64));
        match self.words.binary_search_by_key(&key, |w| w.0) {
            Ok(at) => {
                let new = self.words[at].1 & bit == 0;
                self.words[at].1 |= bit;
                new
            }
            Err(at) => {
                self.words.insert(at, (key, bit));
                true
            }
        }
    }

    /// Adds what is in `other`; whether anything is new.
    pub fn union_with(&mut self, other: &Sparse) -> bool {
        if self.has_all(other) {
            return false;
        }
        let mut merged = Vec::with_capacity(self.words.len() + other.words.len());
        let (mut a, mut b) = (self.words.iter().copied().peekable(), other.words.iter().copied().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.0 == y.0 => {
                    let word = (x.0, x.1 | y.1);
                    a.next();
                    b.next();
                    Some(word)
                }
                (Some(x), Some(y)) if x.0 < y.0 => a.next(),
                (Some(_), None) => a.next(),
                (_, Some(_)) => b.next(),
                (None, None) => break,
            };
            merged.extend(next);
        }
        self.words = merged;
        true
    }

    /// Whether all numbers of `other` are here. Few are looked up, many are gone through.
    fn has_all(&self, other: &Sparse) -> bool {
        const FEW: usize = 16;
        if other.words.len() * FEW < self.words.len() {
            return other.words.iter().all(|(key, bits)| self.word(*key) & bits == *bits);
        }
        let mut mine = self.words.iter();
        other.words.iter().all(|(key, bits)| mine.find(|w| w.0 >= *key).is_some_and(|w| w.0 == *key && w.1 & bits == *bits))
    }

    fn word(&self, key: u32) -> u64 {
        self.words.binary_search_by_key(&key, |w| w.0).map_or(0, |at| self.words[at].1)
    }

    /// What is here and not in `other`.
    pub fn without(&self, other: &Sparse) -> Sparse {
        let mut theirs = other.words.iter().peekable();
        let mut words = Vec::new();
        for (key, bits) in &self.words {
            while theirs.next_if(|w| w.0 < *key).is_some() {}
            let left = bits & !theirs.peek().filter(|w| w.0 == *key).map_or(0, |w| w.1);
            if left != 0 {
                words.push((*key, left));
            }
        }
        Sparse { words }
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().flat_map(|(key, bits)| Ones(*bits).map(move |bit| key * 64 + bit))
    }

    /// Whether all numbers are below this one.
    pub fn is_below(&self, end: u64) -> bool {
        self.words.iter().all(|(key, bits)| u64::from(*key) * 64 + 64 - u64::from(bits.leading_zeros()) <= end)
    }

    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.1.count_ones() as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn they_are_sets() {
        let mut seed = 7u64;
        let mut random = |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        let mut within = [0, 0];
        for _ in 0..600 {
            let mut sets = [(Sparse::default(), BTreeSet::new()), (Sparse::default(), BTreeSet::new())];
            for which in 0..2 {
                // The second has mostly what the first has, too.
                for _ in 0..random([60, 6][which]) {
                    let known = sets[0].1.iter().nth(random(40) as usize).copied().filter(|_| random(8) > 0);
                    let n = known.filter(|_| which == 1).unwrap_or(random(4000) as u32);
                    let (sparse, tree) = &mut sets[which];
                    assert_eq!(sparse.insert(n), tree.insert(n));
                }
            }
            let [(mut a, mut x), (b, y)] = sets;
            assert_eq!(a.without(&b).iter().collect::<BTreeSet<_>>(), &x - &y);
            within[usize::from(y.is_subset(&x))] += 1;
            assert_eq!(a.union_with(&b), !y.is_subset(&x));
            assert!(a.is_below(4000) && a.is_below(x.union(&y).max().map_or(0, |n| u64::from(*n) + 1)));
            assert!(x.union(&y).max().is_none_or(|n| !a.is_below(u64::from(*n))));
            x.extend(y);
            assert_eq!(a.iter().collect::<Vec<_>>(), x.iter().copied().collect::<Vec<_>>());
            assert_eq!(a.len(), x.len());
        }
        assert!(within.iter().all(|count| *count > 100), "{within:?}");
    }
}
