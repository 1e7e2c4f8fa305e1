//! Hard flips: their queries took more than a short budget.
//!
//! The searcher does not know them. While other items are pending, they have a part of the work ([`SHARE`]); those that were given up least often
//! come first, and among those the oldest. Work is counted, so the order is the same on every machine.

use std::collections::BTreeSet;

use super::Frontier;
use crate::explore::search::ItemId;
use crate::step::core::Core;

/// One part in so many of the work is done on hard flips.
const SHARE: u64 = 4;
/// The number of the first item that the searcher knows. Hard flips have those below: so the newest item is no hard flip while there is another.
pub(super) const FIRST: ItemId = 1 << 63;

#[derive(Default)]
pub(super) struct Hard {
    /// By how often they were given up.
    waiting: BTreeSet<(u8, ItemId)>,
    next_id: ItemId,
    /// What was done for hard flips, as [`Core::work`] counts.
    work: u64,
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
}

impl Frontier {
    /// The next hard flip, if they have had less than their part of the work.
    pub(super) fn next_hard_due(&self, core: &Core) -> Option<ItemId> {
        if self.hard.work.saturating_mul(SHARE) > core.work() { None } else { self.next_hard() }
    }

    pub(super) fn next_hard(&self) -> Option<ItemId> {
        self.hard.waiting.first().map(|(_, id)| *id)
    }

    /// So much was done to decide a hard flip.
    pub(crate) fn note_hard(&mut self, work: u64) {
        self.hard.work += work;
    }
}
