//! The search towards goals: what the searcher sees of the program, and how long a path runs after it has reached a goal.
//!
//! A path that has reached a goal runs before anything else, so that its test shows natively how it ends. After `MOST_TURNS` batches it
//! ends as a limit.

use std::rc::Rc;

use super::{Frontier, Item, ItemId};
use crate::explore::search::View;
use crate::ground::image::CodePos;
use crate::state::State;
use crate::step::core::Core;

/// Calls around a place that its way to a goal may return from.
const CALLS: usize = 64;
/// Turns of a path behind a goal, of a batch of instructions each; then it ends as a limit.
const MOST_TURNS: u32 = 16;

/// How far the search towards goals has come.
#[derive(Default)]
pub(super) struct Toward {
    /// Turns that paths had behind a goal.
    turns_behind: u32,
    /// Blocks of the program when code was last lowered ahead.
    blocks_known: u32,
}

impl Frontier {
    /// What the searcher selects. Towards goals, it is shown all code that can be known by now.
    pub(super) fn search_on(&mut self, core: &mut Core, root: &mut State) -> Option<ItemId> {
        if core.goals.is_some() && core.image.blocks != self.toward.blocks_known {
            root.memory.space.wake();
            core.lower_beyond(root);
            root.memory.space.sleep();
            self.toward.blocks_known = core.image.blocks;
        }
        let source = core.code_source.as_ref().map(|source| source.borrow());
        let goals = core.goals.as_ref().map_or(&[][..], |goals| &goals.toward);
        self.search.select(&View {
            coverage: &core.coverage,
            sides: core.sides.taken(),
            contexts: &core.contexts,
            tree: &core.tree,
            image: &core.image,
            flow: source.as_deref().map(|source| source as _),
            goals,
            work: core.stats.work(),
        })
    }

    /// The path that has reached a goal, if it is not yet at its end.
    pub(super) fn next_reached(&mut self, core: &Core) -> Option<ItemId> {
        if !core.goals.as_ref()?.is_reached {
            return None;
        }
        self.toward.turns_behind += 1;
        let behind = |item: &Item| matches!(item, Item::Paused(state) if state.reached.is_some());
        self.items.iter().find(|(_, item)| behind(item)).map(|(id, _)| *id)
    }

    /// Whether a path has run long enough behind a goal.
    pub(crate) fn has_gone_on(&self, state: &State) -> bool {
        state.reached.is_some() && self.toward.turns_behind > MOST_TURNS
    }
}

/// The blocks of the calls around an item, if there are goals.
pub(super) fn calls_around(core: &mut Core, item: &Item) -> Rc<[u32]> {
    let places: Vec<CodePos> = match item {
        _ if core.goals.is_none() => return Rc::default(),
        Item::Flip(flip) => flip.state.as_ref().map_or_else(|| vec![flip.pos], |state| core.call_stack(state, CALLS)),
        Item::Paused(state) => core.call_stack(state, CALLS),
        Item::Held(held) => core.call_stack(&held.state, CALLS),
        Item::Job(_) => return Rc::default(),
    };
    let image = core.image.clone();
    core.goals.as_mut().map_or_else(Rc::default, |goals| goals.blocks(&places, &image))
}
