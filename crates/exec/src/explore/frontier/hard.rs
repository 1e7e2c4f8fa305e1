//! Hard flips: their queries took more than a short budget.
//!
//! The searcher does not know them. While other items are pending, they have a part of the work ([`SHARE`]); those that were given up least often
//! come first, and among those the oldest. Work is counted, so the order is the same on every machine.

use std::collections::BTreeSet;

use super::{Frontier, Item};
use crate::explore::search::ItemId;
use crate::step::core::Core;

/// One part in so many of the work is done on hard flips.
const SHARE: u64 = 4;

#[derive(Default)]
pub(super) struct Hard {
    /// By how often they were given up.
    waiting: BTreeSet<(u8, ItemId)>,
    /// What was done for hard flips, as [`Core::work`] counts.
    work: u64,
}

/// How often the query of an item was given up, if it is a hard flip.
fn given_up(item: &Item) -> Option<u8> {
    match item {
        Item::Flip(flip) if flip.given_up > 0 => Some(flip.given_up),
        Item::Flip(_) | Item::Paused(_) | Item::Held(_) | Item::Job(_) => None,
    }
}

impl Hard {
    /// Takes an item in if it is a hard flip.
    pub(super) fn add(&mut self, id: ItemId, item: &Item) -> bool {
        given_up(item).is_some_and(|given_up| self.waiting.insert((given_up, id)))
    }

    /// Whether this item was here.
    pub(super) fn remove(&mut self, id: ItemId, item: &Item) -> bool {
        given_up(item).is_some_and(|given_up| self.waiting.remove(&(given_up, id)))
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

    /// The newest item that is no hard flip.
    pub(super) fn newest(&self) -> Option<ItemId> {
        self.items.iter().rev().find(|(_, item)| given_up(item).is_none()).map(|(id, _)| *id)
    }
}
