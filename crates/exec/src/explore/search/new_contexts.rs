//! Items that enter a [context](crate::step::contexts) which no path has entered.
//!
//! The newest context and the oldest have turns: what a path finds behind a new context is soon followed, and no context waits for ever.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::ItemId;
use crate::step::contexts::Contexts;

/// Selections of a context: some flips cannot be taken.
const MOST: u32 = 2;

#[derive(Default)]
pub(super) struct NewContexts {
    /// The place of each in `all`.
    places: FxHashMap<u32, usize>,
    /// In the order in which they were met.
    all: Vec<Context>,
    /// Places of those that are to be selected.
    waiting: BTreeSet<usize>,
    items: FxHashMap<ItemId, usize>,
    newest: bool,
}

struct Context {
    number: u32,
    items: BTreeSet<ItemId>,
    tried: u32,
}

impl NewContexts {
    pub(super) fn add(&mut self, id: ItemId, number: u32) {
        let next = self.all.len();
        let place = *self.places.entry(number).or_insert(next);
        if place == next {
            self.all.push(Context { number, items: BTreeSet::new(), tried: 0 });
        }
        let context = &mut self.all[place];
        context.items.insert(id);
        if context.tried < MOST {
            self.waiting.insert(place);
        }
        self.items.insert(id, place);
    }

    pub(super) fn remove(&mut self, id: ItemId) {
        let Some(place) = self.items.remove(&id) else { return };
        let items = &mut self.all[place].items;
        items.remove(&id);
        if items.is_empty() {
            self.waiting.remove(&place);
        }
    }

    /// An item of a context that is in none of these.
    pub(super) fn select(&mut self, entered: &Contexts) -> Option<ItemId> {
        self.newest = !self.newest;
        loop {
            let place = if self.newest { *self.waiting.last()? } else { *self.waiting.first()? };
            let context = &mut self.all[place];
            if entered.is_entered(context.number) {
                self.waiting.remove(&place);
                continue;
            }
            context.tried += 1;
            if context.tried == MOST {
                self.waiting.remove(&place);
            }
            // The oldest has the shortest way; if that was in vain, the youngest may have another one.
            return if context.tried == 1 { context.items.first() } else { context.items.last() }.copied();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_and_the_oldest_context_that_no_path_has_entered_have_turns() {
        let (mut contexts, mut entered) = (NewContexts::default(), Contexts::default());
        [7, 8, 8, 8, 9, 10].into_iter().zip(0..).for_each(|(context, id)| contexts.add(id, context));
        entered.enter(7);
        let mut selected = Vec::new();
        while let Some(id) = contexts.select(&entered) {
            contexts.remove(id);
            selected.push(id);
        }
        assert_eq!(selected, [5, 1, 4, 3], "each has a few turns");
    }
}
