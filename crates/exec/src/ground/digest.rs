//! Hashes of 128 bits. They decide which states and constraints count as equal, so verdicts rest on them. Two hashes of 64 bits run side by
//! side, each with a multiplier and a rotation of its own.

use std::hash::Hasher;

/// A hasher of 128 bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Digest {
    low: u64,
    high: u64,
}

impl Digest {
    /// Adds a number of 128 bits.
    pub fn add(&mut self, value: u128) {
        self.write_u64(value as u64);
        self.write_u64((value >> 64) as u64);
    }

    /// All of the hash; [`Hasher::finish`] gives its low half.
    pub fn digest(&self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }
}

impl Hasher for Digest {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
        self.write_u64(bytes.len() as u64);
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(value.into());
    }
    fn write_u16(&mut self, value: u16) {
        self.write_u64(value.into());
    }
    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        let low = (self.low.rotate_left(23) ^ value).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let high = (self.high.rotate_left(41) ^ value).wrapping_add(3).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (self.low, self.high) = (low ^ low >> 29, high ^ high >> 32);
    }

    fn finish(&self) -> u64 {
        self.low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_differ_and_no_small_input_collides() {
        let mut seen = std::collections::BTreeSet::new();
        for a in 0..200u64 {
            for b in 0..200u64 {
                let mut h = Digest::default();
                h.write_u64(a);
                h.write_u64(b);
                assert_ne!(h.low, h.high);
                assert!(seen.insert(h.low) && seen.insert(h.high), "{a} {b}");
            }
        }
        let of = |bytes: &[u8]| {
            let mut h = Digest::default();
            h.write(bytes);
            h.digest()
        };
        assert_ne!(of(b"a"), of(b"a\0"));
    }
}
