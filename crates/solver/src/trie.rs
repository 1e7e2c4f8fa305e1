//! A persistent map from small numbers to values: a radix trie of 16-way nodes shared by counting.
//!
//! Technique: path copying (Bagwell, "Ideal Hash Trees", 2001, without the hashing: keys are dense). Cloning bumps one count. A read or
//! write costs one step per hexadecimal digit of the largest key; a write copies the nodes on its path that are shared, no others.
//! Iteration is in ascending key order.
use std::rc::Rc;

use rustc_hash::FxHashMap;

const BITS: u32 = 4;
const FAN_OUT: usize = 1 << BITS;

#[derive(Clone)]
enum Node<T> {
    Leaf([Option<T>; FAN_OUT]),
    Inner([Option<Rc<Node<T>>>; FAN_OUT]),
}

pub(crate) struct Trie<T> {
    root: Option<Rc<Node<T>>>,
    /// Inner levels above the leaves.
    height: u32,
}

impl<T> Clone for Trie<T> {
    fn clone(&self) -> Trie<T> {
        Trie { root: self.root.clone(), height: self.height }
    }
}

impl<T> Default for Trie<T> {
    fn default() -> Trie<T> {
        Trie { root: None, height: 0 }
    }
}

fn digit(key: u32, level: u32) -> usize {
    (key >> (BITS * level)) as usize % FAN_OUT
}

impl<T> Trie<T> {
    #[inline]
    pub(crate) fn get(&self, key: u32) -> Option<&T> {
        if u64::from(key) >> (BITS * (self.height + 1)) != 0 {
            return None;
        }
        let mut node = self.root.as_deref()?;
        let mut level = self.height;
        loop {
            match node {
                Node::Leaf(values) => return values[digit(key, 0)].as_ref(),
                Node::Inner(children) => node = children[digit(key, level)].as_deref()?,
            }
            level -= 1;
        }
    }

    /// Calls `f` with every key and value, ascending. Stops at shared nodes for which `enter` says no.
    fn walk(node: &Rc<Node<T>>, key: u32, enter: &mut dyn FnMut(*const ()) -> bool, f: &mut dyn FnMut(u32, &T)) {
        if !enter(Rc::as_ptr(node).cast()) {
            return;
        }
        match &**node {
            Node::Leaf(values) => {
                for (i, value) in values.iter().enumerate() {
                    if let Some(value) = value {
                        f(key * FAN_OUT as u32 + i as u32, value);
                    }
                }
            }
            Node::Inner(children) => {
                for (i, child) in children.iter().enumerate() {
                    if let Some(child) = child {
                        Self::walk(child, key * FAN_OUT as u32 + i as u32, enter, f);
                    }
                }
            }
        }
    }

    pub(crate) fn for_each(&self, f: &mut dyn FnMut(u32, &T)) {
        self.for_each_unseen(&mut |_| true, f);
    }

    /// As [`for_each`](Self::for_each), but passes over nodes for whose address `enter` says no.
    pub(crate) fn for_each_unseen(&self, enter: &mut dyn FnMut(*const ()) -> bool, f: &mut dyn FnMut(u32, &T)) {
        if let Some(root) = &self.root {
            Self::walk(root, 0, enter, f);
        }
    }
}

impl<T: Clone> Trie<T> {
    pub(crate) fn set(&mut self, key: u32, value: T) {
        *self.slot(key) = Some(value);
    }

    /// The place of a key, its path made and made unshared.
    pub(crate) fn slot(&mut self, key: u32) -> &mut Option<T> {
        while u64::from(key) >> (BITS * (self.height + 1)) != 0 {
            if let Some(root) = self.root.take() {
                let mut children: [Option<Rc<Node<T>>>; FAN_OUT] = Default::default();
                children[0] = Some(root);
                self.root = Some(Rc::new(Node::Inner(children)));
            }
            self.height += 1;
        }
        let mut level = self.height;
        let mut place = &mut self.root;
        loop {
            let node = place.get_or_insert_with(|| {
                Rc::new(match level {
                    0 => Node::Leaf(Default::default()),
                    _ => Node::Inner(Default::default()),
                })
            });
            match Rc::make_mut(node) {
                Node::Leaf(values) => return &mut values[digit(key, 0)],
                Node::Inner(children) => place = &mut children[digit(key, level)],
            }
            level = level.wrapping_sub(1);
        }
    }

    /// Replaces every value; nodes shared between tries that are given the same `memo` stay shared.
    pub(crate) fn map(&mut self, memo: &mut TrieMemo<T>, f: &mut dyn FnMut(&T) -> T) {
        if let Some(root) = &self.root {
            self.root = Some(memo.map(root, f));
        }
    }
}

/// Nodes replaced so far, by address, with the node before and after. The old one is kept so that its address is not used again.
pub(crate) struct TrieMemo<T>(FxHashMap<*const Node<T>, [Rc<Node<T>>; 2]>);

impl<T> Default for TrieMemo<T> {
    fn default() -> TrieMemo<T> {
        TrieMemo(FxHashMap::default())
    }
}

impl<T: Clone> TrieMemo<T> {
    fn map(&mut self, node: &Rc<Node<T>>, f: &mut dyn FnMut(&T) -> T) -> Rc<Node<T>> {
        if let Some([_, new]) = self.0.get(&Rc::as_ptr(node)) {
            return new.clone();
        }
        let new = Rc::new(match &**node {
            Node::Leaf(values) => Node::Leaf(std::array::from_fn(|i| values[i].as_ref().map(&mut *f))),
            Node::Inner(children) => Node::Inner(std::array::from_fn(|i| children[i].as_ref().map(|child| self.map(child, f)))),
        });
        self.0.insert(Rc::as_ptr(node), [node.clone(), new.clone()]);
        new
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn versions_are_independent_and_agree_with_a_map() {
        let mut seed = 7u64;
        let mut next = move || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as u32
        };
        let mut versions: Vec<(Trie<u32>, BTreeMap<u32, u32>)> = vec![Default::default()];
        for _ in 0..2000 {
            let from = next() as usize % versions.len();
            let (mut trie, mut map) = versions[from].clone();
            let key = match next() % 4 {
                0 => next(),
                _ => next() % 300,
            };
            if next() % 5 == 0 {
                *trie.slot(key) = None;
                map.remove(&key);
            } else {
                trie.set(key, key ^ 5);
                map.insert(key, key ^ 5);
            }
            versions.push((trie, map));
        }
        let mut memo = TrieMemo::default();
        for (trie, map) in &mut versions {
            trie.map(&mut memo, &mut |value| value + 1);
            let mut seen = Vec::new();
            trie.for_each(&mut |key, &value| seen.push((key, value)));
            assert_eq!(seen, map.iter().map(|(&k, &v)| (k, v + 1)).collect::<Vec<_>>());
            for key in (0..310).chain([u32::MAX]) {
                assert_eq!(trie.get(key).copied(), map.get(&key).map(|v| v + 1));
            }
        }
    }
}
