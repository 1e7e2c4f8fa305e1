//! Dense bit sets, for the slots of a function and for objects.

/// A set of numbers, a bit each. Sets that differ in trailing zero words are equal.
#[derive(Clone, Debug, Default)]
pub struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    pub fn contains(&self, n: u32) -> bool {
        self.words.get(n as usize / 64).is_some_and(|w| w >> (n % 64) & 1 != 0)
    }

    /// Whether the number is new.
    pub fn insert(&mut self, n: u32) -> bool {
        let at = n as usize / 64;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        let bit = 1 << (n % 64);
        let new = self.words[at] & bit == 0;
        self.words[at] |= bit;
        new
    }

    pub fn remove(&mut self, n: u32) {
        if let Some(word) = self.words.get_mut(n as usize / 64) {
            *word &= !(1 << (n % 64));
        }
    }

    /// Adds what is in `other`; whether anything is new.
    pub fn union_with(&mut self, other: &BitSet) -> bool {
        if other.words.len() > self.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        let mut new = false;
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            new |= *theirs & !*mine != 0;
            *mine |= *theirs;
        }
        new
    }

    /// Whether a number is in both.
    pub fn meets(&self, other: &BitSet) -> bool {
        self.words.iter().zip(&other.words).any(|(mine, theirs)| mine & theirs != 0)
    }

    /// Whether all numbers are in `other`.
    pub fn is_within(&self, other: &BitSet) -> bool {
        let others = other.words.iter().chain(std::iter::repeat(&0));
        self.words.iter().zip(others).all(|(mine, theirs)| mine & !theirs == 0)
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|w| *w == 0)
    }

    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(i, word)| Ones(*word).map(move |bit| i as u32 * 64 + bit))
    }
}

impl FromIterator<u32> for BitSet {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> BitSet {
        let mut set = BitSet::default();
        numbers.into_iter().for_each(|n| {
            set.insert(n);
        });
        set
    }
}

impl Extend<u32> for BitSet {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, numbers: I) {
        numbers.into_iter().for_each(|n| {
            self.insert(n);
        });
    }
}

/// The bits of a word, ascending.
pub(super) struct Ones(pub u64);

impl Iterator for Ones {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        let bit = (self.0 != 0).then(|| self.0.trailing_zeros())?;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}
