//! Stores by pointers that are derived from a [`Root`]: at which distance, of how many bytes, and whether they store a pointer to new memory.

use super::pointers::Root;
use crate::slice::live::Live;

/// Bytes of a pointer.
const WORD: u64 = 8;

/// How far a pointer may be from what it is derived from: the low bits of the distance are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distance {
    /// Bytes.
    bytes: u64,
    /// So many bits are known; 64: all.
    bits: u32,
}

impl Distance {
    pub const NONE: Distance = Distance { bytes: 0, bits: 64 };
    pub const UNKNOWN: Distance = Distance { bytes: 0, bits: 0 };

    /// The low bits that are known.
    fn mask(self) -> u64 {
        u64::MAX.checked_shr(64 - self.bits).unwrap_or(0)
    }

    pub fn and(self, more: u64) -> Distance {
        Distance { bytes: self.bytes.wrapping_add(more) & self.mask(), bits: self.bits }
    }

    /// With a multiple of a power of two.
    pub fn and_multiple(self, log: u32) -> Distance {
        let less = Distance { bits: self.bits.min(log), ..self };
        Distance { bytes: less.bytes & less.mask(), ..less }
    }

    /// Whether an access of so many bytes may touch a byte, if what the pointer is derived from leads to `from`.
    fn meets(self, from: u64, len: u64, byte: u64) -> bool {
        byte.wrapping_sub(from).wrapping_sub(self.bytes) & self.mask() < len
    }
}

/// A store by a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Through {
    pub root: Root,
    pub distance: Distance,
    /// Bytes stored.
    pub len: u64,
    /// It stores a pointer to memory that the way allocates, or null.
    pub new: bool,
}

impl Through {
    /// By a pointer that is derived from this root, at an unknown distance.
    pub fn by(self, root: Root) -> Through {
        Through { root, distance: Distance::UNKNOWN, ..self }
    }

    /// Whether it may write something live in an object. The root leads to `from`, if that is known.
    pub fn touches(&self, live: &Live, from: Option<u64>, (address, len): (u64, u64)) -> bool {
        let Some(from) = from.filter(|_| self.distance.bits > 0) else { return live.is_live(address, len) };
        // A pointer to new memory may take the place of another one, but not of parts of two.
        let whole = self.new && self.distance.bits >= WORD.trailing_zeros() && from.wrapping_add(self.distance.bytes) % WORD == 0;
        let is_live = |address, len| if whole { live.has_value(address, len) } else { live.is_live(address, len) };
        is_live(address, len) && {
            let mut bytes = live.offsets(address, len).into_iter().map(|offset| address + offset);
            bytes.any(|byte| self.distance.meets(from, self.len, byte) && is_live(byte, 1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_tell_what_a_store_leaves_alone() {
        // The second field of some element of 16 bytes.
        let field = Distance::NONE.and_multiple(4).and(8);
        let hit = |distance: Distance, byte: u64| distance.meets(0x1000, 8, byte);
        assert!(hit(field, 0x1008) && hit(field, 0x103f) && !hit(field, 0x1007) && !hit(field, 0x1040));
        assert!(hit(Distance::NONE, 0x1007) && !hit(Distance::NONE, 0x1008) && hit(Distance::UNKNOWN, 0x1234));
        assert!(hit(Distance::NONE.and(u64::MAX), 0xfff), "a distance may be negative");
        assert!(hit(field.and_multiple(2), 0x1000) && hit(field.and_multiple(0).and(3), 0x1001), "the smaller power of two counts");
    }

    #[test]
    fn pointers_to_new_memory_replace_others_as_a_whole() {
        let mut live = Live::default();
        live.add_address(Default::default(), 0x1008);
        live.add(Default::default(), 0x1020, 8);
        let store = |bytes: u64, new: bool| {
            let distance = Distance::NONE.and(bytes);
            Through { root: Root::Variable(-8), distance, len: 8, new }
        };
        let touches = |store: Through, from| store.touches(&live, from, (0x1000, 64));
        assert!(touches(store(8, false), Some(0x1000)) && !touches(store(8, true), Some(0x1000)));
        assert!(touches(store(4, true), Some(0x1000)), "half of it");
        assert!(touches(store(32, true), Some(0x1000)), "a value");
        assert!(touches(store(8, true), None) && touches(Through { distance: Distance::UNKNOWN, ..store(8, true) }, Some(0x1000)));
        assert!(!touches(store(16, false), Some(0x1000)));
    }
}
