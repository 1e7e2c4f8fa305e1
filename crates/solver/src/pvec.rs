//! A persistent vector: a clone is one reference count, a write copies one chunk of 64 elements.

use std::rc::Rc;

use rustc_hash::FxHashMap;

const CHUNK: usize = 64;

type Chunk<T> = Rc<Vec<T>>;

#[derive(Clone)]
pub struct PVec<T> {
    /// All of [`CHUNK`] elements but the last.
    chunks: Rc<Vec<Chunk<T>>>,
    len: usize,
}

impl<T> Default for PVec<T> {
    fn default() -> Self {
        PVec { chunks: Rc::default(), len: 0 }
    }
}

impl<T: Clone> PVec<T> {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn get(&self, i: usize) -> Option<&T> {
        self.chunks.get(i / CHUNK)?.get(i % CHUNK)
    }

    pub fn get_mut(&mut self, i: usize) -> Option<&mut T> {
        if i >= self.len {
            return None;
        }
        Rc::make_mut(&mut Rc::make_mut(&mut self.chunks)[i / CHUNK]).get_mut(i % CHUNK)
    }

    pub fn push(&mut self, value: T) {
        let chunks = Rc::make_mut(&mut self.chunks);
        if self.len.is_multiple_of(CHUNK) {
            chunks.push(Rc::new(Vec::with_capacity(CHUNK)));
        }
        let last = chunks.last_mut().expect("a chunk was pushed when the last one was full");
        match Rc::get_mut(last) {
            Some(own) => own.push(value),
            None => {
                let mut copy = Vec::with_capacity(last.len() + 1);
                copy.extend_from_slice(last);
                copy.push(value);
                *last = Rc::new(copy);
            }
        }
        self.len += 1;
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flat_map(|c| c.iter())
    }

    /// Replaces every element; chunks shared between vectors that are given the same `memo` stay shared.
    pub(crate) fn map(&mut self, memo: &mut PVecMemo<T>, mut f: impl FnMut(&T) -> T) {
        let mut replaced = |chunk: &Chunk<T>| {
            let entry = memo.0.entry(Rc::as_ptr(chunk));
            let [_, new] = entry.or_insert_with(|| [chunk.clone(), Rc::new(chunk.iter().map(&mut f).collect())]);
            new.clone()
        };
        self.chunks = Rc::new(self.chunks.iter().map(&mut replaced).collect());
    }
}

impl<T> FromIterator<T> for PVec<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> PVec<T> {
        let (mut all, mut chunks, mut len) = (all.into_iter(), Vec::new(), 0);
        loop {
            let chunk: Vec<T> = all.by_ref().take(CHUNK).collect();
            if chunk.is_empty() {
                return PVec { chunks: Rc::new(chunks), len };
            }
            len += chunk.len();
            chunks.push(Rc::new(chunk));
        }
    }
}

/// Chunks replaced so far, by address, with the chunk before and after. The old one is kept so that its address is not used again.
pub(crate) struct PVecMemo<T>(FxHashMap<*const Vec<T>, [Chunk<T>; 2]>);

impl<T> Default for PVecMemo<T> {
    fn default() -> PVecMemo<T> {
        PVecMemo(FxHashMap::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_are_independent() {
        let mut a = PVec::default();
        for i in 0..200 {
            a.push(i);
        }
        let mut b = a.clone();
        *b.get_mut(130).expect("in range") = -1;
        b.push(7);
        assert_eq!((a.get(130), b.get(130), a.len(), b.len()), (Some(&130), Some(&-1), 200, 201));
        assert_eq!(a.get(200), None);
        assert!(a.iter().copied().eq(0..200));
    }

    #[test]
    fn replaced_vectors_share_what_they_shared() {
        for len in [0, 1, 63, 64, 65, 200] {
            let mut a: PVec<u64> = (0..len).collect();
            let mut b = a.clone();
            b.push(len);
            let mut memo = PVecMemo::default();
            a.map(&mut memo, |n| n + 1);
            b.map(&mut memo, |n| n + 1);
            assert!(a.iter().copied().eq(1..=len) && b.iter().copied().eq(1..=len + 1), "{len}");
            assert_eq!((a.len(), b.len()), (len as usize, len as usize + 1));
            let full = len as usize / CHUNK;
            assert!((0..full).all(|i| Rc::ptr_eq(&a.chunks[i], &b.chunks[i])), "{len}");
            a.push(0);
            assert_eq!(a.get(len as usize), Some(&0));
        }
    }
}
