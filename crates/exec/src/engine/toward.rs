//! The search towards goals: what a searcher is shown of the program, and what comes behind a goal.
//!
//! A path that has reached a goal is run to its end before anything else, so that its test shows natively how it ends.

use std::rc::Rc;

use super::{Explorer, Item, ItemId};
use crate::explore::search::{Searcher, View};
use crate::ground::image::CodePos;
use crate::state::State;
use crate::step::goals::Goals;

/// Calls around a place that its way to a goal may return from.
const CALLS: usize = 64;
/// Turns of a path behind a goal, of a batch of instructions each; then it ends as a limit.
const MOST_TURNS: u32 = 16;

impl Explorer {
    /// Searches in another order; before it starts.
    pub fn search_by(&mut self, search: Box<dyn Searcher>) {
        debug_assert!(self.items.is_empty(), "what is pending is known to the former searcher alone");
        self.search = search;
    }

    /// Sets what is to be reached. Of machine code, what is at these addresses, and all that is known to follow, is lowered now: the search goes by
    /// it. Before it starts.
    pub fn set_goals(&mut self, goals: Goals, lower: &[u64]) {
        self.core.goals = Some(goals);
        self.root.memory.space.wake();
        self.core.lower_at(lower, &self.root);
        self.core.lower_beyond(&self.root);
        self.root.memory.space.sleep();
        self.core.mark_lowered();
    }

    /// What the searcher selects. Towards goals, it is shown all code that can be known by now.
    pub(super) fn search_on(&mut self) -> Option<ItemId> {
        if self.core.goals.is_some() && self.core.image.blocks != self.blocks_known {
            self.root.memory.space.wake();
            self.core.lower_beyond(&self.root);
            self.root.memory.space.sleep();
            self.blocks_known = self.core.image.blocks;
        }
        let Explorer { core, search, .. } = self;
        let source = core.code_source.as_ref().map(|source| source.borrow());
        let goals = core.goals.as_ref().map_or(&[][..], |goals| &goals.toward);
        search.select(&View { coverage: &core.coverage, tree: &core.tree, image: &core.image, source: source.as_deref(), goals })
    }

    /// The blocks of the calls around an item, if there are goals.
    pub(super) fn calls_around(&mut self, item: &Item) -> Rc<[u32]> {
        let places: Vec<CodePos> = match item {
            _ if self.core.goals.is_none() => return Rc::default(),
            Item::Flip(flip) => flip.state.as_ref().map_or_else(|| vec![flip.pos], |state| self.core.call_stack(state, CALLS)),
            Item::Paused(state) => self.core.call_stack(state, CALLS),
            Item::Held(held) => self.core.call_stack(&held.state, CALLS),
            Item::Job(_) => return Rc::default(),
        };
        let image = self.core.image.clone();
        self.core.goals.as_mut().map_or_else(Rc::default, |goals| goals.blocks(&places, &image))
    }

    /// The path that has reached a goal, if it is not yet at its end.
    pub(super) fn next_reached(&mut self) -> Option<ItemId> {
        if !self.core.goals.as_ref()?.is_reached {
            return None;
        }
        self.turns_behind += 1;
        let behind = |item: &Item| matches!(item, Item::Paused(state) if state.reached.is_some());
        self.items.iter().find(|(_, item)| behind(item)).map(|(id, _)| *id)
    }

    /// Whether a path has run long enough behind a goal.
    pub(super) fn has_gone_on(&self, state: &State) -> bool {
        state.reached.is_some() && self.turns_behind > MOST_TURNS
    }
}
