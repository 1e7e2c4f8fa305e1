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
        self.iter().next()
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
