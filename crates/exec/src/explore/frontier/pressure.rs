//! Memory pressure: which snapshots are dropped, and when the exploration turns depth-first. No flip is dropped (docs/design/001).

use super::hard::FIRST;
use super::{Frontier, Item, ItemId};
use crate::state::State;
use crate::step::core::{Core, Flip};

/// What is known of memory.
pub(super) struct Pressure {
    /// Memory in use when snapshots were last given up: only growth beyond it is pressure again, since freed memory is
    /// used again but not always handed back to the system.
    relieved_at: u64,
    /// Set while the exploration goes depth-first under memory pressure: the number of pending items at which it stops doing so.
    deep_until: Option<usize>,
    /// Above this number of pending items the exploration goes depth-first.
    most_pending: usize,
    selections: u64,
}

impl Default for Pressure {
    fn default() -> Pressure {
        Pressure { relieved_at: 0, deep_until: None, most_pending: usize::MAX, selections: 0 }
    }
}

impl Frontier {
    /// Under memory pressure half of the snapshots go, those of the flips `deferred` among them; their flips are run again from their prefixes. Where few
    /// are left or memory grows all the same, the exploration goes depth-first until a quarter of what is pending is done: nothing is lost
    /// (docs/design/001). From then on fewer may be pending than were then, because freed memory is not given back, so only the number shows that there is
    /// room. `used`: bytes of memory in use.
    pub(crate) fn relieve_memory<'a>(
        &mut self,
        core: &mut Core,
        deferred: impl Iterator<Item = &'a mut Flip>,
        used: &mut dyn FnMut() -> u64,
    ) {
        const EVERY: u64 = 16;
        const FEW: usize = 16;
        let Frontier { items, pressure, .. } = self;
        pressure.selections += 1;
        if pressure.deep_until.is_some_and(|pending| items.len() <= pending) {
            pressure.deep_until = None;
        }
        if pressure.deep_until.is_none() && items.len() >= pressure.most_pending {
            pressure.deep_until = Some(pressure.most_pending / 4 * 3);
        }
        if !pressure.selections.is_multiple_of(EVERY) {
            return;
        }
        let used = used();
        if used <= core.config.max_memory || used <= pressure.relieved_at + pressure.relieved_at / 64 {
            return;
        }
        pressure.relieved_at = used;
        let (mut met, mut given_up) = (0u64, 0);
        let mut give_up = |flip: &mut Flip| {
            if flip.state.is_some() {
                if met.is_multiple_of(2) {
                    flip.state = None;
                    given_up += 1;
                }
                met += 1;
            }
        };
        for item in items.values_mut() {
            match item {
                Item::Flip(flip) => give_up(flip),
                Item::Paused(_) | Item::Held(_) | Item::Job(_) => {}
            }
        }
        deferred.for_each(give_up);
        core.stats.snapshots_given_up += given_up as u64;
        if given_up * FEW < items.len() || used > core.config.max_memory / 4 * 5 {
            pressure.most_pending = items.len().min(pressure.most_pending) / 8 * 7;
            pressure.deep_until = Some(pressure.most_pending / 4 * 3);
        }
    }

    /// What to run next: what the searcher says, or nearly always the newest under memory pressure.
    pub(super) fn select(&mut self, core: &mut Core, root: &mut State) -> Option<ItemId> {
        const JUMP: u64 = 256;
        let Pressure { deep_until, selections, most_pending, .. } = self.pressure;
        match deep_until {
            Some(_) if !selections.is_multiple_of(JUMP) || self.items.len() >= most_pending => {
                self.items.last_key_value().map(|(id, _)| *id).filter(|id| *id >= FIRST)
            }
            Some(_) | None => self.search_on(core, root),
        }
    }
}
