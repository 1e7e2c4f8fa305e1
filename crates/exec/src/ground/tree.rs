//! The tree of paths: leaves are running paths and pending flips, inner nodes are forks. The searcher random-path walks it.

use wryneck_expr::{ExprId, Remap};

const ROOT: u32 = 0;
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Node {
    parent: u32,
    /// Two for a fork, none for a leaf; a side that is finished is NONE.
    children: [u32; 2],
    /// A leaf that is parked, or a fork of which all leaves are, is not walked to.
    parked: bool,
    /// Of a fork: what holds below its second side and not below its first; kept if the tree [remembers](Tree::remember).
    cond: ExprId,
}

/// The tree. Finished parts are removed, so its size is that of what is alive.
pub struct Tree {
    nodes: Vec<Node>,
    free: Vec<u32>,
    remembers: bool,
}

impl Default for Tree {
    fn default() -> Tree {
        Tree {
            nodes: vec![Node { parent: NONE, children: [NONE; 2], parked: false, cond: ExprId::TRUE }],
            free: Vec::new(),
            remembers: false,
        }
    }
}

impl Tree {
    pub const ROOT: u32 = ROOT;

    /// Splits a leaf in two: (the path that goes on, its flip, on which `cond` holds).
    pub fn fork(&mut self, leaf: u32, cond: ExprId) -> (u32, u32) {
        let (a, b) = (self.leaf(leaf), self.leaf(leaf));
        self.nodes[leaf as usize].children = [a, b];
        if self.remembers {
            self.nodes[leaf as usize].cond = cond;
        }
        (a, b)
    }

    /// Splits a leaf into `count` leaves of nearly the same depth, in their order. Not for a tree that remembers.
    pub fn spread(&mut self, leaf: u32, count: usize) -> Vec<u32> {
        match count {
            0 => Vec::new(),
            1 => vec![leaf],
            _ => {
                let (first, second) = self.fork(leaf, ExprId::TRUE);
                let mut leaves = self.spread(first, count - count / 2);
                leaves.extend(self.spread(second, count / 2));
                leaves
            }
        }
    }

    /// Has forks remember their conditions from now on, for [`Tree::find`].
    pub fn remember(&mut self) {
        self.remembers = true;
    }

    /// Whether forks remember their conditions.
    pub fn remembers(&self) -> bool {
        self.remembers
    }

    /// A path ended beside this one, where `cond` holds, without having been a flip. If the tree remembers, the leaf that goes on; else nothing changes.
    pub fn ended_beside(&mut self, leaf: u32, cond: ExprId) -> u32 {
        if !self.remembers {
            return leaf;
        }
        let (stays, ended) = self.fork(leaf, cond);
        self.finish(ended);
        stays
    }

    /// The leaf where an input belongs, for which conditions hold as `holds` says; `None`: that part is finished. Every fork was made while the
    /// tree [remembered](Tree::remember).
    pub fn find(&self, mut holds: impl FnMut(ExprId) -> bool) -> Option<u32> {
        let mut at = ROOT;
        loop {
            let Node { children, cond, .. } = self.nodes[at as usize];
            if children == [NONE; 2] {
                return Some(at);
            }
            at = children[usize::from(holds(cond))];
            if at == NONE {
                return None;
            }
        }
    }

    pub(crate) fn for_each_expr(&self, keep: &mut dyn FnMut(ExprId)) {
        if self.remembers {
            self.alive(|node| keep(self.nodes[node as usize].cond));
        }
    }

    pub(crate) fn remap(&mut self, map: &Remap) {
        if self.remembers {
            let mut alive = Vec::new();
            self.alive(|node| alive.push(node));
            for node in alive {
                let cond = &mut self.nodes[node as usize].cond;
                *cond = map.get(*cond).expect("conditions of forks are roots");
            }
        }
    }

    fn alive(&self, mut see: impl FnMut(u32)) {
        let mut work = vec![ROOT];
        while let Some(node) = work.pop() {
            see(node);
            work.extend(self.nodes[node as usize].children.iter().filter(|child| **child != NONE));
        }
    }

    fn leaf(&mut self, parent: u32) -> u32 {
        let node = Node { parent, children: [NONE; 2], parked: false, cond: ExprId::TRUE };
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
        let (a, b) = t.fork(Tree::ROOT, ExprId::TRUE);
        let (c, d) = t.fork(a, ExprId::TRUE);
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
        let (e, f) = t.fork(c, ExprId::TRUE);
        t.park(f);
        assert_eq!(t.walk(|| false), e);
    }

    #[test]
    fn finished_parts_are_never_walked_to() {
        let mut t = Tree::default();
        let (a, b) = t.fork(Tree::ROOT, ExprId::TRUE);
        let (c, d) = t.fork(a, ExprId::TRUE);
        t.finish(c);
        assert_eq!(t.walk(|| true), d);
        assert_eq!(t.walk(|| false), b);
        t.finish(d);
        assert_eq!(t.walk(|| true), b);
        let (e, f) = t.fork(b, ExprId::TRUE);
        t.finish(f);
        assert_eq!(t.walk(|| false), e);
        assert!(t.nodes.len() <= 6);
    }

    #[test]
    fn an_input_is_found_where_it_belongs() {
        let mut t = Tree::default();
        t.remember();
        let [p, q] = [ExprId::from_raw(7), ExprId::from_raw(8)];
        let (a, b) = t.fork(Tree::ROOT, p);
        let (c, d) = t.fork(a, q);
        assert_eq!(t.find(|cond| cond == p), Some(b));
        assert_eq!(t.find(|cond| cond == q), Some(d));
        assert_eq!(t.find(|_| false), Some(c));
        t.finish(c);
        assert_eq!(t.find(|_| false), None);
        t.finish(d);
        assert_eq!(t.find(|cond| cond == q), None, "the whole side is finished");
        assert_eq!(t.find(|_| true), Some(b));
    }
}
