//! Walking expressions: the children of a node, and every node below some roots once, children first.
//!
//! No recursion: an expression may be as deep as its program ran long.

use rustc_hash::FxHashSet;

use crate::node::{ArrayId, ExprId, Kind, arithmetic, comparison};
use crate::pool::Pool;

impl Kind {
    /// The operands that are expressions, in order (of a Read: the index; the elements are the array's).
    #[inline]
    pub fn children(self) -> impl Iterator<Item = ExprId> {
        let three = match self {
            Kind::Const | Kind::Sym(_) => [None, None, None],
            Kind::Not(a) | Kind::Neg(a) | Kind::Extract(a, _) | Kind::Zext(a) | Kind::Sext(a) => [Some(a), None, None],
            Kind::Float(_, a, b) if a == b => [Some(a), None, None],
            Kind::Float(_, a, b) => [Some(a), Some(b), None],
            Kind::Read(_, a) | Kind::PtrAdd(_, a) => [Some(a), None, None],
            arithmetic!(a, b) | comparison!(a, b) | Kind::Concat(a, b) => [Some(a), Some(b), None],
            Kind::Ite(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        three.into_iter().flatten()
    }
}

/// The operands of a node; of a `Read` also the elements that are no constants.
pub fn operands(pool: &Pool, e: ExprId) -> impl Iterator<Item = ExprId> {
    let kind = pool.kind(e);
    let elems = if let Kind::Read(array, _) = kind { pool.array_open(array) } else { &[] };
    kind.children().chain(elems.iter().copied())
}

/// Calls `visit` on every node reachable from the roots, array elements included, once each, children before parents.
/// Cost: in the nodes reached alone.
pub fn post_order(pool: &Pool, roots: &[ExprId], visit: impl FnMut(ExprId)) {
    let mut stack = roots.to_vec();
    let mut reached: FxHashSet<ExprId> = FxHashSet::default();
    let mut arrays: FxHashSet<ArrayId> = FxHashSet::default();
    while let Some(e) = stack.pop() {
        if !reached.insert(e) {
            continue;
        }
        let kind = pool.kind(e);
        stack.extend(kind.children());
        if let Kind::Read(array, _) = kind
            && arrays.insert(array)
        {
            stack.extend(pool.array_elems(array));
        }
    }
    let mut order: Vec<ExprId> = reached.into_iter().collect();
    // Ids ascend from children to parents.
    order.sort_unstable();
    order.into_iter().for_each(visit);
}

/// Calls `below` on every symbolic node reachable from the roots, array elements included, once each, parents before their first child. Where it answers
/// `false`, the walk does not go on below. Whether there were at most `most` nodes; the walk ends at the first one beyond. Cost: as many.
pub fn top_down(pool: &Pool, roots: &[ExprId], most: usize, mut below: impl FnMut(ExprId) -> bool) -> bool {
    let mut stack = roots.to_vec();
    let mut reached: FxHashSet<ExprId> = FxHashSet::default();
    while let Some(e) = stack.pop() {
        if pool.support(e).is_empty() || !reached.insert(e) {
            continue;
        }
        if reached.len() > most {
            return false;
        }
        if !below(e) {
            continue;
        }
        stack.extend(operands(pool, e));
    }
    true
}

/// The set of nodes reachable from the many roots of a whole pool, as one bit per node.
pub(crate) struct Reached {
    bits: Vec<u64>,
    arrays: Vec<bool>,
    stack: Vec<ExprId>,
}

impl Reached {
    pub(crate) fn new(pool: &Pool) -> Reached {
        Reached { bits: vec![0; pool.len().div_ceil(64)], arrays: vec![false; pool.arrays.len()], stack: Vec::new() }
    }

    pub(crate) fn add(&mut self, pool: &Pool, root: ExprId) {
        self.push(root);
        while let Some(e) = self.stack.pop() {
            let kind = pool.kind(e);
            kind.children().for_each(|child| self.push(child));
            if let Kind::Read(array, _) = kind
                && !std::mem::replace(&mut self.arrays[array.index()], true)
            {
                pool.array_elems(array).iter().for_each(|&elem| self.push(elem));
            }
        }
    }

    fn push(&mut self, e: ExprId) {
        let (word, bit) = (e.index() / 64, 1 << (e.index() % 64));
        if self.bits[word] & bit == 0 {
            self.bits[word] |= bit;
            self.stack.push(e);
        }
    }

    /// The nodes, ascending; since ids ascend from children to parents, children come first.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = ExprId> {
        self.bits.iter().enumerate().flat_map(|(word, &bits)| {
            let mut rest = bits;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                rest &= rest.wrapping_sub(1);
                (bit < 64).then(|| ExprId::from_raw(word as u32 * 64 + bit))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn top_down_meets_each_symbolic_node_once_and_ends_at_its_bound() {
        let mut pool = Pool::new();
        let symbol = pool.symbol("x", 0, 8);
        let x = pool.sym(symbol);
        let five = pool.bits(8, 5);
        let product = pool.mul(x, five);
        let sum = pool.add(product, x);
        let root = pool.eq(sum, product);
        let met = |most: usize, stop: Option<ExprId>| {
            let mut met = Vec::new();
            let is_all = top_down(&pool, &[root], most, |e| {
                met.push(e);
                Some(e) != stop
            });
            (is_all, met)
        };
        let (is_all, all) = met(100, None);
        let distinct: FxHashSet<ExprId> = all.iter().copied().collect();
        assert!(is_all && distinct.len() == all.len() && all[0] == root && all.contains(&x) && !all.contains(&five));
        assert!(!met(all.len() - 1, None).0);
        assert_eq!(met(1, Some(root)), (true, vec![root]));
    }
}
