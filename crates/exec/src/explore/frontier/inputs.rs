//! Given inputs: where each belongs in the tree of paths, and what its path goes on with.
//!
//! Every input belongs to one leaf of the tree. What is pending there becomes the input's path, with the input as its model: so no path is run
//! twice, and the solver is not asked.

use wryneck_expr::{ExprId, Model};

use super::{Frontier, Item, ItemId};
use crate::step::core::{Checked, Core};

/// What becomes of an input.
pub(super) enum Placed {
    /// Its path goes on with this item.
    Pending(ItemId),
    /// Its leaf is finished.
    Finished,
    /// What is pending at its leaf is not for it.
    Excluded,
}

impl Frontier {
    /// Finds what an input's path goes on with, which has the input as its model from now on.
    pub(super) fn place(&mut self, core: &mut Core, model: &Model) -> Placed {
        let Core { tree, eval, pool, .. } = core;
        let mut holds = |cond: ExprId| eval.holds(pool, cond, model);
        let id = tree.find(&mut holds).and_then(|leaf| self.at_leaf.get(&leaf).copied());
        match id.and_then(|id| Some((id, self.items.get_mut(&id)?))) {
            None => Placed::Finished,
            Some((id, Item::Flip(flip))) if holds(flip.cond) && flip.path.constraints().into_iter().all(&mut holds) => {
                (flip.model, flip.checked) = (model.clone(), Checked::Feasible);
                Placed::Pending(id)
            }
            Some((id, Item::Paused(state))) if state.path.constraints().into_iter().all(&mut holds) => {
                state.model = model.clone();
                Placed::Pending(id)
            }
            Some(_) => Placed::Excluded,
        }
    }
}
