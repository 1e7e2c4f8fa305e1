//! A page: concrete bytes, two bits per byte, and a sparse overlay of symbolic cells.
//!
//! The bit `live` says that the byte belongs to an object. The bit `concrete` (a subset of `live`) says that `data` holds its value. A
//! live byte that is not concrete is symbolic if a cell covers it, and uninitialised otherwise. So one test of the `concrete` bits
//! decides bounds, symbolism and initialisation at once: this is the fast path of every load. A concrete store leaves the cells below it
//! in place; a lookup ignores cells where bytes are concrete.

use wryneck_expr::{ExprId, Pool};

/// Bytes in a page.
pub const PAGE: u64 = 1024;
const BYTES: usize = PAGE as usize;
/// Bit-set bytes, padded so that 16 bits can be read at the last byte.
const BITS: usize = BYTES / 8 + 8;

/// A symbolic value of `len` bytes at `offset`; it does not cross the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub offset: u16,
    pub len: u16,
    /// `8 * len` bits, little-endian.
    pub expr: ExprId,
}

/// What a byte of a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Byte {
    /// Belongs to no object.
    Dead,
    Concrete(u8),
    /// Byte `index` (from the lowest) of the cell's expression.
    Symbolic {
        expr: ExprId,
        index: u16,
    },
    Uninitialised,
}

#[repr(C)]
pub struct Page {
    data: [u8; BYTES],
    concrete: [u8; BITS],
    live: [u8; BITS],
    /// Sorted by offset, not overlapping.
    cells: Vec<Cell>,
    writable: bool,
}

impl Clone for Page {
    /// Cells that are entirely overwritten are left behind.
    fn clone(&self) -> Page {
        let cells = self.cells.iter().filter(|c| !all_set(&self.concrete, c.offset.into(), c.len.into()));
        Page { data: self.data, concrete: self.concrete, live: self.live, cells: cells.copied().collect(), writable: self.writable }
    }
}

impl Default for Page {
    fn default() -> Page {
        Page { data: [0; BYTES], concrete: [0; BITS], live: [0; BITS], cells: Vec::new(), writable: true }
    }
}

/// 56 bits at least fit after any bit offset in one 64-bit word: (byte index, mask) for the `len <= 56` bits at `offset`.
#[inline(always)]
fn word(offset: usize, len: usize) -> (usize, u64) {
    (offset >> 3, ((1 << len) - 1) << (offset & 7))
}

#[inline(always)]
fn read_word(bits: &[u8; BITS], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&bits[at..at + 8]);
    u64::from_le_bytes(bytes)
}

/// Sets or clears `len <= 56` bits.
#[inline(always)]
fn set_word(bits: &mut [u8; BITS], offset: usize, len: usize, on: bool) {
    let (at, mask) = word(offset, len);
    let old = read_word(bits, at);
    let new = if on { old | mask } else { old & !mask };
    bits[at..at + 8].copy_from_slice(&new.to_le_bytes());
}

fn set_bits(bits: &mut [u8; BITS], offset: usize, len: usize, on: bool) {
    if len <= 56 {
        return set_word(bits, offset, len, on);
    }
    let end = offset + len;
    let (first, last) = (offset.next_multiple_of(8), end & !7);
    set_word(bits, offset, first - offset, on);
    bits[first / 8..last / 8].fill(if on { 0xff } else { 0 });
    set_word(bits, last, end - last, on);
}

fn all_set(bits: &[u8; BITS], mut offset: usize, mut len: usize) -> bool {
    while len > 0 {
        let n = len.min(56);
        let (at, mask) = word(offset, n);
        if read_word(bits, at) & mask != mask {
            return false;
        }
        offset += n;
        len -= n;
    }
    true
}

/// The bits of the `n <= 8` bytes at `offset`, as the low bits of the result.
#[inline(always)]
fn bits_at(bits: &[u8; BITS], offset: usize) -> u16 {
    let i = offset >> 3;
    u16::from_le_bytes([bits[i], bits[i + 1]]) >> (offset & 7)
}

impl Page {
    /// The `n` (1, 2, 4 or 8) bytes at `offset`, if all are concrete; the caller keeps `offset + n` inside the page.
    #[inline(always)]
    pub fn load(&self, offset: usize, n: usize) -> Option<u64> {
        let want = ((1u32 << n) - 1) as u16;
        if bits_at(&self.concrete, offset) & want != want {
            return None;
        }
        let bytes = &self.data[offset..offset + n];
        Some(match n {
            1 => u64::from(bytes[0]),
            2 => u64::from(u16::from_le_bytes([bytes[0], bytes[1]])),
            4 => u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
            8 => u64::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]]),
            _ => return None,
        })
    }

    /// Writes the `n` (1, 2, 4 or 8) low bytes of `value` at `offset`, if all are live; the caller keeps them inside the page
    /// and has the page for writing.
    #[inline(always)]
    pub fn store(&mut self, offset: usize, n: usize, value: u64) -> bool {
        let want = ((1u32 << n) - 1) as u16;
        if bits_at(&self.concrete, offset) & want != want {
            if bits_at(&self.live, offset) & want != want {
                return false;
            }
            set_bits(&mut self.concrete, offset, n, true);
        }
        let bytes = &mut self.data[offset..offset + n];
        match n {
            1 => bytes[0] = value as u8,
            2 => bytes.copy_from_slice(&(value as u16).to_le_bytes()),
            4 => bytes.copy_from_slice(&(value as u32).to_le_bytes()),
            8 => bytes.copy_from_slice(&value.to_le_bytes()),
            _ => return false,
        }
        true
    }

    pub fn is_writable(&self) -> bool {
        self.writable
    }

    pub fn set_writable(&mut self, writable: bool) {
        self.writable = writable;
    }

    /// Whether all `len` bytes at `offset` are live.
    pub fn all_live(&self, offset: usize, len: usize) -> bool {
        all_set(&self.live, offset, len)
    }

    pub fn is_live(&self, offset: usize) -> bool {
        self.live[offset / 8] >> (offset % 8) & 1 == 1
    }

    /// All `len` bytes at `offset`, if every one is concrete.
    pub fn concrete_slice(&self, offset: usize, len: usize) -> Option<&[u8]> {
        all_set(&self.concrete, offset, len).then(|| &self.data[offset..offset + len])
    }

    /// Writes bytes that are all live; `false`, and nothing written, if one is not.
    pub fn write_slice(&mut self, offset: usize, bytes: &[u8]) -> bool {
        if !all_set(&self.live, offset, bytes.len()) {
            return false;
        }
        self.data[offset..offset + bytes.len()].copy_from_slice(bytes);
        set_bits(&mut self.concrete, offset, bytes.len(), true);
        true
    }

    pub fn byte(&self, offset: usize) -> Byte {
        if self.concrete[offset / 8] >> (offset % 8) & 1 == 1 {
            return Byte::Concrete(self.data[offset]);
        }
        if !self.is_live(offset) {
            return Byte::Dead;
        }
        match self.cell_at(offset) {
            Some(c) => Byte::Symbolic { expr: c.expr, index: (offset - usize::from(c.offset)) as u16 },
            None => Byte::Uninitialised,
        }
    }

    fn cell_at(&self, offset: usize) -> Option<Cell> {
        let i = self.cells.partition_point(|c| usize::from(c.offset) + usize::from(c.len) <= offset);
        self.cells.get(i).copied().filter(|c| usize::from(c.offset) <= offset)
    }

    /// The expression stored at exactly these bytes, if none was overwritten since.
    pub fn whole_cell(&self, offset: usize, len: usize) -> Option<ExprId> {
        let c = self.cell_at(offset)?;
        let untouched = (offset..offset + len).all(|i| self.concrete[i / 8] >> (i % 8) & 1 == 0);
        (usize::from(c.offset) == offset && usize::from(c.len) == len && untouched).then_some(c.expr)
    }

    /// Takes the bytes out of every cell: cells inside go, the rest of a cell that sticks out stays as single bytes.
    fn cut_cells(&mut self, offset: usize, len: usize, pool: &mut Pool) {
        let end = offset + len;
        let first = self.cells.partition_point(|c| usize::from(c.offset) + usize::from(c.len) <= offset);
        let last = self.cells.partition_point(|c| usize::from(c.offset) < end);
        if first >= last {
            return;
        }
        let mut rest = Vec::new();
        for c in &self.cells[first..last] {
            let start = usize::from(c.offset);
            for i in (start..start + usize::from(c.len)).filter(|i| *i < offset || *i >= end) {
                if self.concrete[i / 8] >> (i % 8) & 1 == 0 {
                    let expr = pool.extract(c.expr, (i - start) as u32 * 8, 8);
                    rest.push(Cell { offset: i as u16, len: 1, expr });
                }
            }
        }
        self.cells.splice(first..last, rest);
    }

    /// Stores a symbolic value of `len` bytes over live bytes; `false`, and nothing written, if one is not live.
    pub fn store_cell(&mut self, offset: usize, len: usize, expr: ExprId, pool: &mut Pool) -> bool {
        if !all_set(&self.live, offset, len) {
            return false;
        }
        self.cut_cells(offset, len, pool);
        set_bits(&mut self.concrete, offset, len, false);
        let at = self.cells.partition_point(|c| usize::from(c.offset) < offset);
        self.cells.insert(at, Cell { offset: offset as u16, len: len as u16, expr });
        true
    }

    /// Makes bytes live: zero and concrete, or uninitialised.
    pub fn make_live(&mut self, offset: usize, len: usize, zero: bool, pool: &mut Pool) {
        self.forget(offset, len, pool);
        set_bits(&mut self.live, offset, len, true);
        if zero {
            self.data[offset..offset + len].fill(0);
            set_bits(&mut self.concrete, offset, len, true);
        }
    }

    /// Makes bytes belong to no object.
    pub fn make_dead(&mut self, offset: usize, len: usize, pool: &mut Pool) {
        self.forget(offset, len, pool);
        set_bits(&mut self.live, offset, len, false);
    }

    /// Live bytes lose their value.
    fn forget(&mut self, offset: usize, len: usize, pool: &mut Pool) {
        if !self.cells.is_empty() {
            self.cut_cells(offset, len, pool);
        }
        set_bits(&mut self.concrete, offset, len, false);
    }

    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The cells, for renumbering at a compaction.
    pub fn cells_mut(&mut self) -> &mut Vec<Cell> {
        &mut self.cells
    }

    /// The bits and bytes that decide behaviour, for structural hashing.
    pub fn hash_into(&self, h: &mut impl std::hash::Hasher) {
        h.write(&self.live[..BYTES / 8]);
        h.write(&self.concrete[..BYTES / 8]);
        for i in 0..BYTES {
            if self.concrete[i / 8] >> (i % 8) & 1 == 1 {
                h.write_u8(self.data[i]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbolic_value_comes_back_whole_and_in_parts() {
        let mut pool = Pool::new();
        let s = pool.symbol("x", 0, 32);
        let x = pool.sym(s);
        let mut p = Page::default();
        p.make_live(10, 20, true, &mut pool);
        assert!(p.store_cell(12, 4, x, &mut pool));
        assert_eq!(p.whole_cell(12, 4), Some(x));
        assert_eq!(p.load(12, 4), None);
        assert!(p.store(13, 1, 7));
        assert_eq!(p.whole_cell(12, 4), None);
        assert_eq!(p.byte(13), Byte::Concrete(7));
        assert_eq!(p.byte(14), Byte::Symbolic { expr: x, index: 2 });
        let y = pool.extract(x, 0, 16);
        assert!(p.store_cell(14, 2, y, &mut pool));
        assert_eq!(p.whole_cell(14, 2), Some(y));
        assert!(matches!(p.byte(12), Byte::Symbolic { .. }));
        assert!(!p.store_cell(28, 4, x, &mut pool), "bytes 30 and 31 belong to no object");
        p.make_dead(12, 4, &mut pool);
        assert_eq!(p.byte(12), Byte::Dead);
        p.make_live(12, 4, false, &mut pool);
        assert_eq!(p.byte(12), Byte::Uninitialised);
    }

    #[test]
    fn ranges_of_bits_are_set_and_cleared_wherever_they_begin_and_end() {
        for (offset, len) in (0..24).flat_map(|offset| (0..200).map(move |len| (offset, len))).chain([(0, BYTES), (1000, 24)]) {
            for on in [true, false] {
                let mut bits = [if on { 0 } else { 0xff }; BITS];
                set_bits(&mut bits, offset, len, on);
                let is_set = |i: usize| bits[i / 8] >> (i % 8) & 1 == 1;
                assert!((0..BYTES).all(|i| is_set(i) == ((offset..offset + len).contains(&i) == on)), "{offset} {len} {on}");
                assert_eq!(all_set(&bits, offset, len), on || len == 0);
            }
        }
    }

    #[test]
    fn loads_and_stores_respect_what_is_live() {
        let mut pool = Pool::new();
        let mut p = Page::default();
        p.make_live(1000, 24, false, &mut pool);
        assert_eq!(p.load(1016, 8), None);
        assert!(p.store(1016, 8, 0x0807060504030201));
        assert_eq!(p.load(1020, 4), Some(0x08070605));
        assert!(!p.store(996, 8, 0));
    }
}
