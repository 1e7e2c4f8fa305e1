//! Random numbers by a fixed seed (xorshift), with a liking for the values at which arithmetic changes.

/// A generator.
pub struct Random(u64);

const EDGES: [u64; 14] =
    [0, 1, 2, u64::MAX, 1 << 63, i64::MAX as u64, 0x8000_0000, 0x7fff_ffff, 0xffff_ffff, 0x80, 0x7f, 63, 0x8000_8080_ff80_0080, 0xffff];

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    pub fn word(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    /// Below `n`, which is not 0.
    pub fn below(&mut self, n: u64) -> u64 {
        (self.word() >> 11) % n
    }
    /// 64 bits: an edge, a small number, floats, bytes with many equal, anything.
    pub fn value(&mut self) -> u64 {
        match self.below(8) {
            0 => EDGES[self.below(EDGES.len() as u64) as usize],
            1 => self.below(256),
            2 => self.double(),
            3 => u64::from(self.single()) | u64::from(self.single()) << 32,
            4 => self.word() & 0x8301_0101_0101_0101 & self.word(),
            5 => self.below(256).wrapping_neg(),
            _ => self.word(),
        }
    }
    /// A double: mostly small ones, sometimes special.
    pub fn double(&mut self) -> u64 {
        match self.below(10) {
            0 => [0, 1 << 63, f64::INFINITY.to_bits(), f64::NEG_INFINITY.to_bits(), 0x7ff8_0000_0000_0123][self.below(5) as usize],
            1 => [0xfff0_0000_0000_0456, 1, f64::MAX.to_bits(), 0x41e0_0000_0000_0000, 0x43e0_0000_0000_0000][self.below(5) as usize],
            2..=5 => (self.below(4000) as f64 / 16.0 - 125.0).to_bits(),
            6 => (self.word() as i64 as f64).to_bits(),
            7 => (self.word() as i32 as f64 + 0.5).to_bits(),
            _ => self.word() >> 2 | 0x3000_0000_0000_0000,
        }
    }
    /// A float.
    pub fn single(&mut self) -> u32 {
        match self.below(10) {
            0 => [0, 1 << 31, f32::INFINITY.to_bits(), f32::NEG_INFINITY.to_bits(), 0x7fc0_0123][self.below(5) as usize],
            1 => [0xff80_0456, 1, f32::MAX.to_bits(), 0x4f00_0000, 0x5f00_0000][self.below(5) as usize],
            2..=5 => (self.below(4000) as f32 / 16.0 - 125.0).to_bits(),
            6 => (self.word() as i64 as f32).to_bits(),
            _ => (self.word() >> 34) as u32 | 0x3000_0000,
        }
    }
    /// 64 bits of floats of a width.
    pub fn floats(&mut self, width: u32) -> u64 {
        match width {
            64 => self.double(),
            32 => u64::from(self.single()) | u64::from(self.single()) << 32,
            _ => self.word(),
        }
    }
    /// An x87 number, mostly normal.
    pub fn extended(&mut self) -> [u64; 2] {
        let sign = self.below(2) << 15;
        match self.below(12) {
            0 => [0, sign],
            1 => [1 << 63, sign | 0x7fff],
            2 => [0xc000_0000_0000_0123, sign | 0x7fff],
            3 => [self.word() >> 1, sign],
            4..=7 => [1 << 63 | self.word() << 44, sign | (16383 + self.below(20))],
            8 => [1 << 63 | self.word(), sign | (16383 + self.below(70))],
            9 => [1 << 63 | self.word(), sign | (1 + self.below(0x7ffe))],
            _ => [1 << 63 | self.word(), sign | (16383 - 8 + self.below(16))],
        }
    }
}
