//! Memory pressure: which snapshots go, and when the exploration turns depth-first. No flip is dropped (docs/design/001).

use super::{Control, Explorer, Item, ItemId};

impl Explorer {
    /// Under memory pressure half of the snapshots go; their flips are run again from their prefixes. Where few are left or memory grows
    /// all the same, the exploration goes depth-first until a quarter of what is pending is done: nothing is lost (docs/design/001). From then on
    /// fewer may be pending than were then, because freed memory is not given back, so only the number shows that there is room.
    pub(super) fn relieve_memory(&mut self, control: &mut dyn Control) {
        const EVERY: u64 = 16;
        const FEW: usize = 16;
        self.selections += 1;
        if self.deep_until.is_some_and(|pending| self.items.len() <= pending) {
            self.deep_until = None;
        }
        if self.deep_until.is_none() && self.items.len() >= self.most_pending {
            self.deep_until = Some(self.most_pending / 4 * 3);
        }
        if !self.selections.is_multiple_of(EVERY) {
            return;
        }
        let used = control.memory_used();
        if used <= self.core.config.max_memory || used <= self.relieved_at + self.relieved_at / 64 {
            return;
        }
        self.relieved_at = used;
        let pending = self.items.values_mut().filter_map(|item| match item {
            Item::Flip(flip) => Some(flip),
            Item::Paused(_) | Item::Held(_) | Item::Job(_) => None,
        });
        let flips = pending.chain(self.waiting.values_mut().flat_map(|waiting| &mut waiting.flips));
        let mut given_up = 0;
        for flip in flips.filter(|flip| flip.state.is_some()).step_by(2) {
            flip.state = None;
            given_up += 1;
        }
        self.core.stats.snapshots_given_up += given_up as u64;
        if given_up * FEW < self.items.len() || used > self.core.config.max_memory / 4 * 5 {
            self.most_pending = self.items.len().min(self.most_pending) / 8 * 7;
            self.deep_until = Some(self.most_pending / 4 * 3);
        }
    }

    /// What to run next: what the searcher says, or nearly always the newest under memory pressure.
    pub(super) fn select(&mut self) -> Option<ItemId> {
        const JUMP: u64 = 256;
        match self.deep_until {
            Some(_) if !self.selections.is_multiple_of(JUMP) || self.items.len() >= self.most_pending => {
                self.items.last_key_value().map(|(id, _)| *id)
            }
            Some(_) | None => self.search_on(),
        }
    }
}
