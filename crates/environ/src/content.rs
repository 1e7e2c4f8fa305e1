//! The bytes of a file: concrete or symbolic, in chunks that forks share, over a captured file that all paths share.
//!
//! A chunk exists only where the path has written. A read or write costs one lookup per chunk, a fork one reference count per written
//! chunk.

use std::collections::BTreeMap;
use std::hash::Hasher;
use std::rc::Rc;
use std::sync::Arc;

use wryneck_expr::{ExprId, Remap};

const CHUNK: u64 = 1024;

/// A byte of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Byte {
    Concrete(u8),
    /// An 8-bit expression.
    Symbolic(ExprId),
}

#[derive(Clone)]
struct Chunk {
    data: [u8; CHUNK as usize],
    /// Sorted by offset in the chunk.
    symbolic: Vec<(u16, ExprId)>,
}

impl Chunk {
    fn write(&mut self, at: u16, bytes: &[Byte]) {
        let end = at + bytes.len() as u16;
        self.symbolic.retain(|(o, _)| !(at..end).contains(o));
        let mut insert = self.symbolic.partition_point(|(o, _)| *o < at);
        for (offset, byte) in (at..).zip(bytes) {
            match *byte {
                Byte::Concrete(b) => self.data[usize::from(offset)] = b,
                Byte::Symbolic(e) => {
                    self.symbolic.insert(insert, (offset, e));
                    insert += 1;
                }
            }
        }
    }
}

/// The bytes of a file.
#[derive(Clone, Default)]
pub struct Content {
    len: u64,
    base: Arc<Vec<u8>>,
    /// Bytes of `base` that are still there; truncation lowers it for good.
    base_len: u64,
    chunks: BTreeMap<u64, Rc<Chunk>>,
}

impl Content {
    /// A captured file.
    pub fn captured(base: Arc<Vec<u8>>) -> Content {
        let len = base.len() as u64;
        Content { len, base_len: len, base, chunks: BTreeMap::new() }
    }

    /// Bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes `at .. at + n`, as many of them as the file has.
    pub fn read(&self, at: u64, n: u64) -> Vec<Byte> {
        let end = at.saturating_add(n).min(self.len);
        let mut out = Vec::with_capacity(end.saturating_sub(at) as usize);
        let mut i = at;
        while i < end {
            let (number, stop) = (i / CHUNK, end.min((i / CHUNK + 1) * CHUNK));
            match self.chunks.get(&number) {
                Some(chunk) => {
                    let first = out.len();
                    let (from, to) = ((i % CHUNK) as usize, (stop - number * CHUNK) as usize);
                    out.extend(chunk.data[from..to].iter().map(|b| Byte::Concrete(*b)));
                    for (offset, e) in chunk.symbolic.iter().filter(|(o, _)| (from..to).contains(&usize::from(*o))) {
                        out[first + usize::from(*offset) - from] = Byte::Symbolic(*e);
                    }
                }
                None => out.extend((i..stop).map(|i| Byte::Concrete(self.base_byte(i)))),
            }
            i = stop;
        }
        out
    }

    /// As [`Content::read`], if no byte is symbolic: many at once.
    pub fn concrete(&self, at: u64, n: u64) -> Option<Vec<u8>> {
        let end = at.saturating_add(n).min(self.len);
        let Some(len) = end.checked_sub(at) else { return Some(Vec::new()) };
        let mut out = vec![0; len as usize];
        let kept = end.min(self.base_len);
        if at < kept {
            out[..(kept - at) as usize].copy_from_slice(&self.base[at as usize..kept as usize]);
        }
        for (number, chunk) in self.chunks.range(at / CHUNK..end.div_ceil(CHUNK)) {
            let (from, to) = (at.max(number * CHUNK), end.min((number + 1) * CHUNK));
            let within = (from % CHUNK) as usize..(to - number * CHUNK) as usize;
            if chunk.symbolic.iter().any(|(offset, _)| within.contains(&usize::from(*offset))) {
                return None;
            }
            out[(from - at) as usize..(to - at) as usize].copy_from_slice(&chunk.data[within]);
        }
        Some(out)
    }

    fn base_byte(&self, i: u64) -> u8 {
        if i < self.base_len { self.base[i as usize] } else { 0 }
    }

    /// Writes bytes at an offset; a gap before it reads as zeros.
    pub fn write(&mut self, at: u64, bytes: &[Byte]) {
        let mut i = at;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (part, after) = rest.split_at(rest.len().min((CHUNK - i % CHUNK) as usize));
            self.chunk_mut(i / CHUNK).write((i % CHUNK) as u16, part);
            i += part.len() as u64;
            rest = after;
        }
        self.len = self.len.max(at.saturating_add(bytes.len() as u64));
    }

    fn chunk_mut(&mut self, number: u64) -> &mut Chunk {
        let (base, base_len) = (&self.base, self.base_len);
        let chunk = self.chunks.entry(number).or_insert_with(|| {
            let mut data = [0; CHUNK as usize];
            let start = (number * CHUNK).min(base_len);
            let end = (start + CHUNK).min(base_len);
            data[..(end - start) as usize].copy_from_slice(&base[start as usize..end as usize]);
            Rc::new(Chunk { data, symbolic: Vec::new() })
        });
        Rc::make_mut(chunk)
    }

    /// Makes the file exactly `len` bytes long; new bytes are zero.
    pub fn truncate(&mut self, len: u64) {
        if len < self.len {
            self.base_len = self.base_len.min(len);
            self.chunks.retain(|number, _| number * CHUNK < len);
            if !len.is_multiple_of(CHUNK) && self.chunks.contains_key(&(len / CHUNK)) {
                let keep = (len % CHUNK) as usize;
                let chunk = self.chunk_mut(len / CHUNK);
                chunk.data[keep..].fill(0);
                chunk.symbolic.retain(|(o, _)| usize::from(*o) < keep);
            }
        }
        self.len = len;
    }

    /// Makes the bytes `at .. end` zero, as far as the file reaches.
    pub fn clear(&mut self, at: u64, end: u64) {
        let end = end.min(self.len);
        if at >= end {
            return;
        }
        let (first, last) = (at / CHUNK, end.div_ceil(CHUNK));
        let mut numbers: Vec<u64> = (first..last.min(self.base_len.div_ceil(CHUNK))).collect();
        numbers.extend(self.chunks.range(first..last).map(|(number, _)| *number));
        for number in numbers {
            let (from, to) = (at.max(number * CHUNK), end.min((number + 1) * CHUNK));
            let zeros = vec![Byte::Concrete(0); (to - from) as usize];
            self.chunk_mut(number).write((from % CHUNK) as u16, &zeros);
        }
    }

    /// Calls `f` with every symbolic byte.
    pub fn for_each_expr(&self, f: &mut dyn FnMut(ExprId)) {
        self.chunks.values().flat_map(|c| &c.symbolic).for_each(|(_, e)| f(*e));
    }

    pub fn remap(&mut self, map: &Remap) {
        for chunk in self.chunks.values_mut().filter(|c| !c.symbolic.is_empty()) {
            for (_, e) in &mut Rc::make_mut(chunk).symbolic {
                *e = map.get(*e).expect("every expression of path data is a root of a compaction");
            }
        }
    }

    pub fn hash_into(&self, h: &mut dyn Hasher, hash_expr: &mut dyn FnMut(ExprId) -> u64) {
        h.write_u64(self.len);
        for (number, chunk) in &self.chunks {
            h.write_u64(*number);
            h.write(&chunk.data);
            for (offset, e) in &chunk.symbolic {
                h.write_u16(*offset);
                h.write_u64(hash_expr(*e));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(c: &Content) -> Vec<u8> {
        let byte = |b: Byte| match b {
            Byte::Concrete(b) => b,
            Byte::Symbolic(_) => b'?',
        };
        c.read(0, u64::MAX).into_iter().map(byte).collect()
    }

    /// Against a plain vector: random writes, truncations and forks.
    #[test]
    fn behaves_as_a_vector() {
        let base: Vec<u8> = (0..3000u32).map(|i| i as u8).collect();
        let mut content = Content::captured(Arc::new(base.clone()));
        let mut model = base;
        let mut seed = 1u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..2000 {
            let fork = content.clone();
            let (at, n) = (next(5000) as usize, next(1500) as usize);
            if next(4) == 0 {
                content.truncate(at as u64);
                model.resize(at, 0);
            } else if next(4) == 0 {
                content.clear(at as u64, (at + n) as u64);
                let len = model.len();
                model[at.min(len)..(at + n).min(len)].fill(0);
            } else {
                let b = next(256) as u8;
                content.write(at as u64, &vec![Byte::Concrete(b); n]);
                model.resize(model.len().max(at + n), 0);
                model[at..at + n].fill(b);
            }
            assert_eq!(bytes(&content), model);
            let part = (at.min(model.len()), (at + n).min(model.len()));
            assert_eq!(content.concrete(at as u64, n as u64).as_deref(), Some(&model[part.0..part.1]));
            let before = bytes(&fork);
            drop(content);
            assert_eq!(bytes(&fork), before);
            content = fork;
            model = before;
            content.write(at as u64, &[Byte::Symbolic(ExprId::TRUE)]);
            assert_eq!(content.concrete(at as u64, 1), None);
            assert!(content.concrete(0, at as u64).is_some() && content.concrete(at as u64 + 1, u64::MAX).is_some());
            content.write(at as u64, &[Byte::Concrete(7)]);
            model.resize(model.len().max(at + 1), 0);
            model[at] = 7;
        }
    }
}
