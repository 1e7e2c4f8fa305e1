//! A persistent vector: a clone is one reference count, a write copies one chunk of 64 elements.

use std::rc::Rc;

const CHUNK: usize = 64;

#[derive(Clone)]
pub struct PVec<T> {
    chunks: Rc<Vec<Rc<Vec<T>>>>,
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
        Rc::make_mut(last).push(value);
        self.len += 1;
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flat_map(|c| c.iter())
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
}
