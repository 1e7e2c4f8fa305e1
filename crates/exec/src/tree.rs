//! The tree of paths: leaves are running paths and pending flips, inner nodes are forks. The searcher random-path walks it.

const ROOT: u32 = 0;
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Node {
    parent: u32,
    /// Two for a fork, none for a leaf; a side that is finished is NONE.
    children: [u32; 2],
    /// A leaf that is parked, or a fork of which all leaves are, is not walked to.
    parked: bool,
}

/// The tree. Finished parts are removed, so its size is that of what is alive.
pub struct Tree {
    nodes: Vec<Node>,
    free: Vec<u32>,
}

impl Default for Tree {
    fn default() -> Tree {
        Tree { nodes: vec![Node { parent: NONE, children: [NONE; 2], parked: false }], free: Vec::new() }
    }
}

impl Tree {
    pub const ROOT: u32 = ROOT;

    /// Splits a leaf in two: (the path that goes on, its flip).
    pub fn fork(&mut self, leaf: u32) -> (u32, u32) {
        let (a, b) = (self.leaf(leaf), self.leaf(leaf));
        self.nodes[leaf as usize].children = [a, b];
        (a, b)
    }

    fn leaf(&mut self, parent: u32) -> u32 {
        let node = Node { parent, children: [NONE; 2], parked: false };
        match self.free.pop() {
            Some(i) => {
                self.nodes[i as usize] = node;
                i
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        }
    }

    /// A leaf is finished: it goes, and so does every fork without a living side.
    pub fn finish(&mut self, leaf: u32) {
        let mut at = leaf;
        while at != ROOT {
            let parent = self.nodes[at as usize].parent;
            self.free.push(at);
            let children = &mut self.nodes[parent as usize].children;
            for c in children.iter_mut().filter(|c| **c == at) {
                *c = NONE;
            }
            if children.iter().any(|c| *c != NONE) {
                return self.park_fork(parent);
            }
            at = parent;
        }
    }

    /// A leaf waits: walks do not lead to it until it is [unparked](Tree::unpark).
    pub fn park(&mut self, leaf: u32) {
        self.nodes[leaf as usize].parked = true;
        self.park_fork(self.nodes[leaf as usize].parent);
    }

    pub fn unpark(&mut self, leaf: u32) {
        let mut at = leaf;
        while at != NONE && self.nodes[at as usize].parked {
            self.nodes[at as usize].parked = false;
            at = self.nodes[at as usize].parent;
        }
    }

    /// Parks a fork, and those above it, if there is nothing to walk to below.
    fn park_fork(&mut self, fork: u32) {
        let mut at = fork;
        while at != NONE && self.walkable(at) == [NONE; 2] {
            self.nodes[at as usize].parked = true;
            at = self.nodes[at as usize].parent;
        }
    }

    fn walkable(&self, fork: u32) -> [u32; 2] {
        self.nodes[fork as usize].children.map(|child| match child {
            NONE => NONE,
            child if self.nodes[child as usize].parked => NONE,
            child => child,
        })
    }

    /// A leaf, taking each living side of a fork with equal chance; `random` gives a bit.
    pub fn walk(&self, mut random: impl FnMut() -> bool) -> u32 {
        let mut at = ROOT;
        loop {
            at = match self.walkable(at) {
                [NONE, NONE] => return at,
                [a, NONE] => a,
                [NONE, b] => b,
                [a, b] => {
                    if random() {
                        a
                    } else {
                        b
                    }
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parked_leaves_are_not_walked_to_until_they_are_unparked() {
        let mut t = Tree::default();
        let (a, b) = t.fork(Tree::ROOT);
        let (c, d) = t.fork(a);
        t.park(d);
        t.park(c);
        assert_eq!(t.walk(|| true), b);
        t.unpark(d);
        assert_eq!(t.walk(|| true), d);
        t.finish(d);
        assert_eq!(t.walk(|| true), b);
        t.finish(b);
        t.unpark(c);
        assert_eq!(t.walk(|| true), c);
        let (e, f) = t.fork(c);
        t.park(f);
        assert_eq!(t.walk(|| false), e);
    }

    #[test]
    fn finished_parts_are_never_walked_to() {
        let mut t = Tree::default();
        let (a, b) = t.fork(Tree::ROOT);
        let (c, d) = t.fork(a);
        t.finish(c);
        assert_eq!(t.walk(|| true), d);
        assert_eq!(t.walk(|| false), b);
        t.finish(d);
        assert_eq!(t.walk(|| true), b);
        let (e, f) = t.fork(b);
        t.finish(f);
        assert_eq!(t.walk(|| false), e);
        assert!(t.nodes.len() <= 6);
    }
}
