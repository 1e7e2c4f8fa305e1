//! Hard flips: their queries took more than a short budget.
//!
//! The searcher does not know them. While other items are pending, they have a part of the work ([`SHARE`]); those that were given up least often
//! come first, and among those the oldest. Where a fuzzer looks for new code, too, the part is smaller while they find none ([`IN_VAIN`]): of jq's 986 hard flips in
//! a minute none was feasible, and they took a fifth of the time. Work is counted, so the order is the same on every machine.

use std::collections::BTreeSet;

use super::Frontier;
use crate::explore::search::ItemId;
use crate::step::core::{Core, NEXT};

/// One part in so many of the work is done on hard flips.
const SHARE: u64 = 4;
/// After so many in a row that found no new code, their part is half as large; at least one in [`LEAST`].
const IN_VAIN: u32 = 16;
const LEAST: u64 = 64;
/// The number of the first item that the searcher knows. Hard flips have those below: so the newest item is no hard flip while there is another.
pub(super) const FIRST: ItemId = 1 << 63;

#[derive(Default)]
pub(super) struct Hard {
    /// By how often they were given up.
    waiting: BTreeSet<(u8, ItemId)>,
    next_id: ItemId,
    /// What was done for hard flips, as [`Core::work`] counts.
    work: u64,
    /// By how often they were given up before: the most that was done for one.
    most: Vec<u64>,
    /// How many have found no new code since one did.
    in_vain: u32,
}

impl Hard {
    /// The number of a flip that was given up so often, and now waits here.
    pub(super) fn add(&mut self, given_up: u8) -> ItemId {
        let id = self.next_id;
        self.next_id += 1;
        self.waiting.insert((given_up, id));
        id
    }

    pub(super) fn remove(&mut self, given_up: u8, id: ItemId) {
        self.waiting.remove(&(given_up, id));
    }

    /// The part of the work that they have is one in so many.
    fn share(&self, has_fuzzer: bool) -> u64 {
        let halved = if has_fuzzer { self.in_vain / IN_VAIN } else { 0 };
        SHARE.saturating_mul(2u64.saturating_pow(halved)).min(LEAST)
    }

    /// What may be done for a flip that was given up so often, at least once: as much as for another one, or what the next larger budget may take.
    fn expected(&self, given_up: u8) -> u64 {
        let most = |given_up: usize| self.most.get(given_up).copied().unwrap_or(0);
        match (most(given_up.into()), most(usize::from(given_up) - 1)) {
            (0, before) => before.saturating_mul(NEXT * NEXT),
            (now, _) => now,
        }
    }

    fn note(&mut self, given_up: u8, work: u64, finds: bool) {
        self.work += work;
        self.most.resize(self.most.len().max(usize::from(given_up) + 1), 0);
        let most = &mut self.most[usize::from(given_up)];
        *most = work.max(*most);
        self.in_vain = if finds { 0 } else { self.in_vain.saturating_add(1) };
    }
}

impl Frontier {
    /// The next hard flip, if they have had less than their part of the work, and would with what it may take.
    pub(super) fn next_hard_due(&self, core: &Core) -> Option<ItemId> {
        let (given_up, id) = *self.hard.waiting.first()?;
        let work = self.hard.work.saturating_add(self.hard.expected(given_up));
        (work.saturating_mul(self.hard.share(core.optimistic.wanted)) <= core.work()).then_some(id)
    }

    pub(super) fn next_hard(&self) -> Option<ItemId> {
        self.hard.waiting.first().map(|(_, id)| *id)
    }

    /// So much was done to decide a hard flip that was given up so often before, and its path enters new code or not.
    pub(crate) fn note_hard(&mut self, given_up: u8, work: u64, finds: bool) {
        self.hard.note(given_up, work, finds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beside_a_fuzzer_hard_flips_that_find_nothing_have_less_of_the_work() {
        let mut hard = Hard::default();
        let mut after = |tries: u32, finds| {
            (0..tries).for_each(|_| hard.note(1, 1, finds));
            (hard.share(true), hard.share(false))
        };
        assert_eq!(after(15, false), (4, 4));
        assert_eq!(after(1, false), (8, 4));
        assert_eq!(after(1000, false), (64, 4));
        assert_eq!(after(1, true), (4, 4));
    }

    #[test]
    fn a_larger_budget_may_take_more_of_the_work() {
        let mut hard = Hard::default();
        assert_eq!(hard.expected(1), 0);
        hard.note(1, 7, false);
        hard.note(1, 5, false);
        assert_eq!((hard.expected(1), hard.expected(2)), (7, 700));
        hard.note(2, 9, false);
        assert_eq!(hard.expected(2), 9);
    }
}
