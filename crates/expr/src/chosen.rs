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
}
