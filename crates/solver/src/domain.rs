//! Domains: the set of values a symbol of at most 8 bits may have, as 256 bits.
//!
//! Every operation is a few word operations. A symbol of fewer than 8 bits uses the low `2^width` bits; truth tables repeat beyond them
//! and are cut by intersection with [`Domain::full`].

/// A set of byte values: value `v` is bit `v % 64` of word `v / 64`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Domain(pub [u64; 4]);

impl Domain {
    pub const EMPTY: Domain = Domain([0; 4]);

    /// All values of a symbol of `width` bits, 1 to 8.
    pub fn full(width: u32) -> Domain {
        match width {
            8.. => Domain([u64::MAX; 4]),
            7 => Domain([u64::MAX, u64::MAX, 0, 0]),
            6 => Domain([u64::MAX, 0, 0, 0]),
            _ => Domain([(1 << (1u64 << width)) - 1, 0, 0, 0]),
        }
    }

    #[inline]
    pub fn and(self, other: Domain) -> Domain {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Domain([a & e, b & f, c & g, d & h])
    }

    pub fn insert(&mut self, value: u8) {
        self.0[usize::from(value) / 64] |= 1 << (value % 64);
    }

    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == [0; 4]
    }

    /// Is every value of this set in `other`?
    #[inline]
    pub fn within(self, other: Domain) -> bool {
        self.and(other) == self
    }

    #[inline]
    pub fn contains(self, value: u8) -> bool {
        self.0[usize::from(value) / 64] >> (value % 64) & 1 == 1
    }

    pub fn count(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The smallest value.
    pub fn min(self) -> Option<u8> {
        let at = self.0.iter().position(|&word| word != 0)?;
        Some((at as u32 * 64 + self.0[at].trailing_zeros()) as u8)
    }

    /// The largest value.
    pub fn max(self) -> Option<u8> {
        let at = self.0.iter().rposition(|&word| word != 0)?;
        Some((at as u32 * 64 + self.0[at].ilog2()) as u8)
    }

    /// The value, if there is exactly one.
    #[inline]
    pub fn single(self) -> Option<u8> {
        (self.count() == 1).then(|| self.min()).flatten()
    }

    /// The values, ascending.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        let mut words = self.0;
        std::iter::from_fn(move || {
            let at = words.iter().position(|&word| word != 0)?;
            let bit = words[at].trailing_zeros();
            words[at] &= words[at] - 1;
            Some((at as u32 * 64 + bit) as u8)
        })
    }
}

impl std::fmt::Debug for Domain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_counts_are_those_of_the_values() {
        let mut seed = 1u64;
        for round in 0..2000u32 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
            let thin = if round % 2 == 0 { seed.rotate_left(17) & seed.rotate_left(31) & seed.rotate_left(43) } else { 0 };
            let domain = Domain(std::array::from_fn(|i| if round as usize / 2 % 4 == i { thin | 1 << (seed >> 58) } else { thin & seed }))
                .and(Domain::full(1 + round % 8));
            let values: Vec<u8> = (0..=255).filter(|&v| domain.contains(v)).collect();
            assert_eq!(domain.iter().collect::<Vec<_>>(), values);
            let mut same = Domain::EMPTY;
            values.iter().for_each(|value| same.insert(*value));
            assert_eq!(same, domain);
            assert_eq!(domain.count() as usize, values.len());
            assert_eq!((domain.min(), domain.max()), (values.first().copied(), values.last().copied()));
            assert_eq!(domain.single(), if values.len() == 1 { Some(values[0]) } else { None });
            assert!(values.iter().all(|&v| u32::from(v) < 1 << (1 + round % 8)));
        }
    }
}
