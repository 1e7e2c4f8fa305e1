//! Assertions whose gates were too many for a query, so that a query with them is not translated again to find that out.

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHasher};
use wryneck_expr::ExprId;

/// By assertions, the largest number of gates that they have more of.
#[derive(Default)]
pub(super) struct Large {
    alone: FxHashMap<ExprId, u64>,
    /// By a hash of assertions in the order of a query's slice. Two sets with one hash make a query be given up that has a bound; nothing else.
    together: FxHashMap<u64, u64>,
}

impl Large {
    /// Whether these, the goal first, are known to have more than so many gates. Paths ask many questions over one slice, which grows.
    pub(super) fn knows(&self, assertions: &[ExprId], most: u64) -> bool {
        if most == u64::MAX || self.alone.is_empty() && self.together.is_empty() {
            return false;
        }
        let beyond = |known: Option<&u64>| known.is_some_and(|known| *known >= most);
        let mut hash = FxHasher::default();
        assertions.iter().any(|assertion| beyond(self.alone.get(assertion)))
            || assertions.iter().skip(1).any(|assertion| {
                hash.write_u32(assertion.raw());
                beyond(self.together.get(&hash.finish()))
            })
    }

    /// This one has more than so many gates.
    pub(super) fn note(&mut self, assertion: ExprId, most: u64) {
        raise(self.alone.entry(assertion).or_default(), most);
    }

    /// These, a slice's first, have more than so many gates together.
    pub(super) fn note_together(&mut self, first: &[ExprId], most: u64) {
        let mut hash = FxHasher::default();
        first.iter().for_each(|assertion| hash.write_u32(assertion.raw()));
        raise(self.together.entry(hash.finish()).or_default(), most);
    }

    /// Bytes held, about.
    pub(super) fn memory(&self) -> usize {
        (self.alone.capacity() + self.together.capacity()) * (size_of::<(u64, u64)>() + 1)
    }
}

fn raise(known: &mut u64, most: u64) {
    *known = most.max(*known);
}
