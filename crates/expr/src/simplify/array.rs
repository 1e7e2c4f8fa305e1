//! Laws of reads.

use super::law;
use crate::node::{ArrayId, ExprId, Kind};
use crate::pool::Pool;

impl Pool {
    pub(super) fn simplify_read(&mut self, array: ArrayId, index: ExprId) -> Option<ExprId> {
        let len = self.array_elems(array).len() as u64;
        let (lo, hi) = self.interval(index);
        if lo >= len {
            return law!("a[i] => 0, i out of range", self.bits(8, 0));
        }
        if lo == hi {
            return law!("a[k] => the element", self.array_elems(array)[lo as usize]);
        }
        if let Kind::Ite(c, x, y) = self.kind(index)
            && self.is_const(x)
            && self.is_const(y)
        {
            return law!("a[c ? k1 : k2] => c ? a[k1] : a[k2]", {
                let (x, y) = (self.read(array, x), self.read(array, y));
                self.ite(c, x, y)
            });
        }
        if hi < len - 1 {
            return law!("a[i] => a[..=k][i], i at most k", {
                let reachable = self.array_elems(array)[..=hi as usize].to_vec();
                let reachable = self.array(&reachable);
                self.read(reachable, index)
            });
        }
        let elems = self.array_elems(array);
        let first = elems[0];
        if elems.iter().any(|&elem| elem != first) {
            return None;
        }
        if hi < len {
            return law!("a[i] => x, every element in range being x", first);
        }
        law!("a[i] => i < n ? x : 0, all n elements being x", {
            let (limit, zero) = (self.bits(64, len), self.bits(8, 0));
            let in_range = self.ult(index, limit);
            self.ite(in_range, first, zero)
        })
    }
}
