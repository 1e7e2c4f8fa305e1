//! Values that input chooses, apart from values that are made of input: an entry of a table of constants, at an index that is input, is chosen.

use rustc_hash::FxHashSet;

use crate::node::{ExprId, Kind};
use crate::pool::Pool;

impl Pool {
    /// Whether a value is put together of constants alone, which conditions and indices choose. Cost: a visit of each node below, once.
    pub fn is_chosen(&self, e: ExprId) -> bool {
        let (mut todo, mut seen) = (vec![e], FxHashSet::default());
        while let Some(e) = todo.pop() {
            if self.width(e) == 1 || !seen.insert(e) {
                continue;
            }
            match self.kind(e) {
                Kind::Sym(_) => return false,
                Kind::Ite(_, a, b) => todo.extend([a, b]),
                Kind::Read(array, _) => todo.extend(self.array_open(array)),
                other => todo.extend(other.children()),
            }
        }
        true
    }

    /// A choice of two constants of at most 64 bits that was written as bits, since they differ in one run of bits: its condition, and the constants
    /// where that holds and where it does not.
    pub fn as_choice_of_constants(&mut self, e: ExprId) -> Option<(ExprId, ExprId, ExprId)> {
        let width = self.width(e);
        if width > 64 || !matches!(self.kind(e), Kind::Concat(..) | Kind::Zext(..) | Kind::Sext(..)) {
            return None;
        }
        let (zeros, ones) = self.known_bits(e);
        let run = !(zeros | ones) & u64::MAX >> (64 - width);
        let at = run.trailing_zeros();
        if run == 0 || (run >> at).trailing_ones() != run.count_ones() {
            return None;
        }
        let bit = self.extract(e, at, 1);
        let is_same = (at + 1..at + run.count_ones()).rev().all(|at| self.extract(e, at, 1) == bit);
        is_same.then(|| (bit, self.bits(width, ones | run), self.bits(width, ones)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_tables_are_chosen_and_numbers_made_of_input_are_not() {
        let mut pool = Pool::new();
        let input = pool.symbol("in", 0, 64);
        let input = pool.sym(input);
        let (one, two) = (pool.bits(64, 0x1000), pool.bits(64, 0x2000));
        let zero = pool.zero(64);
        let is_zero = pool.eq(input, zero);
        let either = pool.ite(is_zero, one, two);
        let next = pool.add(either, two);
        assert!(pool.is_chosen(one) && pool.is_chosen(either) && pool.is_chosen(next));
        let moved = pool.add(input, one);
        assert!(!pool.is_chosen(input) && !pool.is_chosen(moved));
    }

    #[test]
    fn a_choice_of_constants_is_seen_in_its_bits() {
        let mut pool = Pool::new();
        let input = pool.symbol("in", 0, 64);
        let input = pool.sym(input);
        let zero = pool.zero(64);
        let is_zero = pool.eq(input, zero);
        for (a, b) in [(0x1_1000, 0x1_3000), (0x1_3010, 0x1_0010), (0, 1 << 63), (1, 0), (u64::MAX, 0), (0x7fff_ffff_ffff_f000, 0)] {
            let (a, b) = (pool.bits(64, a), pool.bits(64, b));
            let choice = pool.ite(is_zero, a, b);
            assert!(!matches!(pool.kind(choice), Kind::Ite(..)));
            let (cond, x, y) = pool.as_choice_of_constants(choice).expect("it is one");
            let not = pool.not(is_zero);
            assert!((cond, x, y) == (is_zero, a, b) || (cond, x, y) == (not, b, a));
        }
        let (a, b) = (pool.bits(64, 5), pool.bits(64, 10));
        let (other, byte) = (pool.ite(is_zero, a, b), pool.extract(input, 0, 8));
        let part = pool.zext(byte, 64);
        assert!([input, part, a, other].into_iter().all(|e| pool.as_choice_of_constants(e).is_none()));
    }
}
