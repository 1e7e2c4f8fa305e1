//! The live set of a backward walk: bytes of memory and environment cells.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::explain::Why;
use crate::flow::{CellKind, Changes, ObjectId, Writes};

/// Bytes per word of the bit map.
const LINE: u64 = 64;
/// Bytes of a pointer.
const WORD: u64 = 8;

/// An object of the static analysis, and its first address.
pub type Placed = (ObjectId, u64);

/// The stream of an environment cell, if it is known: its address, and the object there.
pub type Stream = (u64, ObjectId);

/// Live bytes by address, counted by object.
///
/// A live byte is live as a *value*, or only as an *address*: it belongs to a pointer that says where stores go which write nothing live.
/// Another pointer there changes nothing if it leads to nothing live either.
#[derive(Clone, Default)]
pub struct Live {
    lines: FxHashMap<u64, u64>,
    /// Of these, the bytes that are live only as addresses.
    addresses: FxHashMap<u64, u64>,
    objects: BTreeMap<Placed, u32>,
    cells: Vec<(CellKind, Option<Stream>)>,
}

/// The bits of a line that are in `address .. address + len`.
fn bits_in(line: u64, address: u64, len: u64) -> u64 {
    let first = line * LINE;
    let (low, high) = (first.max(address), first.saturating_add(LINE).min(address.saturating_add(len)));
    if low < high { u64::MAX >> (LINE - (high - low)) << (low % LINE) } else { 0 }
}

/// The parts of `address .. address + len` in each line: its number and the bits.
fn lines(address: u64, len: u64) -> impl Iterator<Item = (u64, u64)> {
    let behind = address.saturating_add(len).div_ceil(LINE);
    (address / LINE..behind).map(move |line| (line, bits_in(line, address, len)))
}

impl Live {
    /// Whether a range has more lines than are live.
    fn is_large(&self, len: u64) -> bool {
        len / LINE >= self.lines.len() as u64
    }

    pub fn is_live(&self, address: u64, len: u64) -> bool {
        if self.is_large(len) {
            return self.lines.iter().any(|(line, live)| live & bits_in(*line, address, len) != 0);
        }
        lines(address, len).any(|(line, bits)| self.lines.get(&line).is_some_and(|live| live & bits != 0))
    }

    /// How many bytes of an object are live.
    pub fn count(&self, object: Placed) -> u64 {
        self.objects.get(&object).copied().unwrap_or(0).into()
    }

    /// How many bytes of a range are live.
    pub fn count_in(&self, address: u64, len: u64) -> u64 {
        let live = |(line, bits): (u64, u64)| self.lines.get(&line).map_or(0, |live| (live & bits).count_ones());
        lines(address, len).map(live).map(u64::from).sum()
    }

    /// Bytes of an object become live as values.
    pub fn add(&mut self, object: Placed, address: u64, len: u64) {
        for (line, bits) in lines(address, len) {
            self.add_line(object, line, bits);
            let left = self.addresses.get(&line).map_or(0, |addresses| addresses & !bits);
            self.keep_addresses(line, left);
        }
    }

    /// The word at an address becomes live as an address, as far as it is not live as a value.
    pub fn add_address(&mut self, object: Placed, word: u64) {
        for (line, bits) in lines(word, WORD) {
            let new = bits & !self.lines.get(&line).copied().unwrap_or(0);
            self.add_line(object, line, bits);
            let all = self.addresses.get(&line).copied().unwrap_or(0) | new;
            self.keep_addresses(line, all);
        }
    }

    fn add_line(&mut self, object: Placed, line: u64, bits: u64) {
        let live = self.lines.entry(line).or_default();
        let new = (bits & !*live).count_ones();
        *live |= bits;
        if new > 0 {
            *self.objects.entry(object).or_default() += new;
        }
    }

    fn keep_addresses(&mut self, line: u64, bits: u64) {
        match bits {
            0 => drop(self.addresses.remove(&line)),
            bits => drop(self.addresses.insert(line, bits)),
        }
    }

    /// The bytes of a line that are live as values.
    fn values(&self, line: u64) -> u64 {
        let live = self.lines.get(&line).copied().unwrap_or(0);
        if self.addresses.is_empty() { live } else { live & !self.addresses.get(&line).copied().unwrap_or(0) }
    }

    /// Whether a byte of a range is live as a value.
    pub fn has_value(&self, address: u64, len: u64) -> bool {
        match self.is_large(len) {
            true => self.lines.keys().any(|line| self.values(*line) & bits_in(*line, address, len) != 0),
            false => lines(address, len).any(|(line, bits)| self.values(line) & bits != 0),
        }
    }

    /// Whether all bytes of the word at an address are live only as an address.
    pub fn is_address(&self, word: u64) -> bool {
        !self.addresses.is_empty() && lines(word, WORD).all(|(line, bits)| self.addresses.get(&line).is_some_and(|all| all & bits == bits))
    }

    /// Bytes are defined here and are no longer live. Returns whether one of them was live.
    pub fn kill(&mut self, object: impl FnOnce() -> Placed, address: u64, len: u64) -> bool {
        let mut gone = 0;
        let mut leaves = |live: &mut u64, bits: u64| {
            gone += (*live & bits).count_ones();
            *live &= !bits;
            *live != 0
        };
        if self.is_large(len) {
            self.lines.retain(|line, live| leaves(live, bits_in(*line, address, len)));
        } else {
            for (line, bits) in lines(address, len) {
                if self.lines.get_mut(&line).is_some_and(|live| !leaves(live, bits)) {
                    self.lines.remove(&line);
                }
            }
        }
        if !self.addresses.is_empty() {
            self.addresses.retain(|line, all| {
                *all &= !bits_in(*line, address, len);
                *all != 0
            });
        }
        if gone > 0 {
            let object = object();
            let left = self.objects.get(&object).map_or(0, |count| count.saturating_sub(gone));
            match left {
                0 => drop(self.objects.remove(&object)),
                left => drop(self.objects.insert(object, left)),
            }
        }
        gone > 0
    }

    /// The live bytes of a range, as offsets into it.
    pub fn offsets(&self, address: u64, len: u64) -> Vec<u64> {
        let bits = lines(address, len).flat_map(|(line, bits)| {
            let live = self.lines.get(&line).map_or(0, |live| live & bits);
            (0..LINE).filter(move |bit| live >> bit & 1 != 0).map(move |bit| line * LINE + bit - address)
        });
        bits.collect()
    }

    pub fn add_cell(&mut self, kind: CellKind, of: Option<Stream>) {
        if !self.cells.contains(&(kind, of)) {
            self.cells.push((kind, of));
        }
    }

    /// Whether the cell is live, of the stream at an address or of any.
    pub fn has_cell(&self, kind: CellKind, address: Option<u64>) -> bool {
        self.cells.iter().any(|(k, of)| *k == kind && of.is_none_or(|(live, _)| address.is_none_or(|address| address == live)))
    }

    /// Whether these effects may change something live, in memory or in the environment, and what.
    pub fn touched_by(&self, changes: &Changes) -> Option<Why> {
        let cell = self.cells.iter().find(|(kind, of)| changes.cells.touches(*kind, of.map(|(_, object)| object)));
        cell.map(|(kind, _)| Why::Cell(*kind)).or_else(|| self.written_by(&changes.writes).map(Why::Object))
    }

    /// As [`Live::touched_by`], of memory alone.
    pub fn written_by(&self, writes: &Writes) -> Option<ObjectId> {
        let written = self.objects.keys().find(|(object, base)| {
            writes.everything
                || writes.whole.contains(object.0)
                || writes.parts.get(object).is_some_and(|part| {
                    let len = part.high.saturating_sub(part.low);
                    len > 1 << 16 || self.is_live(base.wrapping_add(part.low), len)
                })
        });
        written.map(|(object, _)| *object)
    }

    /// Everything live in `other` becomes live. Memory is added as bytes without objects, until it is [placed](Live::placed).
    pub fn add_all(&mut self, other: &Live) {
        for (line, bits) in &other.lines {
            let values = self.values(*line) | other.values(*line);
            let live = self.lines.entry(*line).or_default();
            *live |= bits;
            let addresses = *live & !values;
            self.keep_addresses(*line, addresses);
        }
        other.cells.iter().for_each(|(kind, of)| self.add_cell(*kind, *of));
    }

    /// The same live set, with the objects of its bytes as given by `placed`.
    pub fn placed(&self, placed: impl Fn(u64) -> Placed) -> Live {
        let mut live = Live { cells: self.cells.clone(), ..Live::default() };
        for (address, len) in self.bytes() {
            (address..address + len).for_each(|byte| live.add(placed(byte), byte, 1));
        }
        live.addresses.clone_from(&self.addresses);
        live
    }

    /// The live bytes as addresses and lengths, ascending.
    pub fn bytes(&self) -> Vec<(u64, u64)> {
        let mut lines: Vec<_> = self.lines.iter().map(|(line, bits)| (*line, *bits)).collect();
        lines.sort_unstable();
        let mut all: Vec<(u64, u64)> = Vec::new();
        for (line, mut bits) in lines {
            while bits != 0 {
                let (first, len) = (bits.trailing_zeros(), (bits >> bits.trailing_zeros()).trailing_ones());
                bits &= !(u64::MAX >> (64 - len) << first);
                let address = line * LINE + u64::from(first);
                match all.last_mut().filter(|(begin, len)| begin + len == address) {
                    Some(last) => last.1 += u64::from(len),
                    None => all.push((address, len.into())),
                }
            }
        }
        all
    }

    /// Whether all that is live is live in `other`.
    pub fn is_within(&self, other: &Live) -> bool {
        let within = |line: &u64, bits: &u64| {
            other.lines.get(line).is_some_and(|live| bits & !live == 0) && self.values(*line) & !other.values(*line) == 0
        };
        let lines = self.lines.iter().all(|(line, bits)| within(line, bits));
        lines && self.cells.iter().all(|cell| other.cells.contains(cell))
    }

    /// Whether any byte of this object is live, wherever the object is.
    pub fn has_bytes_of(&self, object: ObjectId) -> bool {
        self.objects.range((object, 0)..=(object, u64::MAX)).next().is_some()
    }

    /// Whether nothing is live.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.cells.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::Extent;

    #[test]
    fn ranges_of_any_size_meet_the_same_bytes() {
        let a = (ObjectId(1), 0);
        for start in [0, 1, 63, 64, 70, 127, 128, 200] {
            for len in [0, 1, 2, 57, 58, 64, 65, 128, 1000, u64::MAX] {
                // One live line, so that the range has more lines than are live; and many live lines.
                for lines in [1, 100] {
                    let mut live = Live::default();
                    live.add(a, 64, 6);
                    live.add(a, 100, 28);
                    (1..lines).for_each(|line| live.add(a, (1 << 40) + line * LINE, 1));
                    let inside = |byte: u64| byte >= start && byte - start < len;
                    let bytes = (64..70).chain(100..128);
                    let hit = bytes.clone().any(inside) || lines > 1 && len == u64::MAX;
                    assert_eq!(live.is_live(start, len), hit, "{start} {len}");
                    assert_eq!(live.kill(|| a, start, len), hit);
                    bytes.for_each(|byte| assert_eq!(live.is_live(byte, 1), !inside(byte), "byte {byte} of {start} {len}"));
                }
            }
        }
    }

    #[test]
    fn addresses_are_live_until_they_are_values() {
        let a = (ObjectId(1), 0);
        let mut live = Live::default();
        live.add(a, 64, 4);
        live.add_address(a, 64);
        live.add_address(a, 96);
        assert!(live.is_live(64, 8) && live.count(a) == 16);
        assert!(live.is_address(96) && !live.is_address(64) && !live.is_address(88), "four bytes are values, and eight are not live");
        assert!(live.has_value(0, 128) && live.has_value(67, 1) && !live.has_value(68, 60));
        let mut more = Live::default();
        more.add(a, 96, 8);
        assert!(!more.is_within(&live) && !live.is_within(&more), "a value is more than an address");
        more.add_all(&live);
        assert!(live.is_within(&more) && !more.is_address(96) && more.has_value(96, 8) && !more.has_value(68, 4));
        let mut addresses = Live::default();
        addresses.add_address(a, 96);
        addresses.add_all(&addresses.clone());
        assert!(addresses.is_address(96) && addresses.is_within(&more) && addresses.placed(|_| a).is_address(96));
        assert!(live.kill(|| a, 100, 4) && !live.is_address(96) && live.is_live(96, 4) && !live.has_value(96, 8));
        live.add(a, 96, 8);
        assert!(live.has_value(96, 1) && live.kill(|| a, 0, 128) && live.is_empty());
    }

    #[test]
    fn bytes_are_counted_by_object() {
        let (a, b) = ((ObjectId(1), 100), (ObjectId(2), 1000));
        let mut live = Live::default();
        live.add(a, 100, 40);
        live.add(b, 1020, 130);
        assert!(live.is_live(139, 1) && !live.is_live(140, 860) && live.is_live(0, 2000));
        assert_eq!(live.offsets(130, 20), (0..10).collect::<Vec<_>>());
        let part = |low, high| Changes {
            writes: Writes { parts: [(b.0, Extent { low, high })].into(), ..Writes::default() },
            ..Changes::default()
        };
        assert_eq!(live.touched_by(&part(0, 21)), Some(Why::Object(b.0)));
        assert_eq!(live.touched_by(&part(0, 20)), None);
        assert!(live.touched_by(&part(0, u64::MAX)).is_some());
        assert!(live.kill(|| b, 1000, 200) && !live.kill(|| b, 1000, 200));
        assert_eq!(live.touched_by(&part(0, u64::MAX)), None);
        assert!(live.kill(|| a, 100, 40) && live.is_empty());
    }
}
