//! Seeds: inputs whose paths are run before all others, for at most `MOST_TURNS` batches each.
//!
//! The first seed's path begins at the root. Every input belongs to one leaf of the tree of paths. A later seed's path begins at its
//! pending leaf, with the seed as its model. So no path is run twice, and the solver is not asked. If the leaf is finished, an earlier path
//! was that of the seed. Some choices do not depend on the model, such as the object that a pointer leads to. Such a choice may take
//! another path than the seed's. The seed's path then continues at the flip that the choice recorded.

use std::collections::VecDeque;

use wryneck_expr::{ExprId, Model};

use super::{Frontier, Item, ItemId};
use crate::step::core::{Checked, Core, Ended};
use crate::step::seed::values;

/// What became of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedEnd {
    /// It has not been its turn yet, or its path still ran when the exploration ended.
    Waits,
    /// Its path was run to its end.
    Ran,
    /// An earlier path was its own.
    Known,
    /// No path is its own: what the program or the input's form assumes does not hold for it, or the path was given up.
    Excluded,
    /// Its path takes long, and goes on as others do.
    Long,
}

/// Turns of a seed's path, of a batch of instructions each, before others get theirs.
const MOST_TURNS: u32 = 64;

/// The seeds of an exploration.
#[derive(Default)]
pub(super) struct Seeds {
    waiting: VecDeque<(u32, Model)>,
    /// The one whose path runs, and how often it was selected.
    current: Option<(u32, Model, u32)>,
    ends: Vec<SeedEnd>,
}

impl Seeds {
    pub(super) fn is_running(&self) -> bool {
        self.current.is_some()
    }

    fn end(&mut self, how: SeedEnd) {
        if let Some((number, ..)) = self.current.take() {
            self.ends[number as usize] = how;
        }
    }
}

impl Frontier {
    /// One more seed: values of bytes by the names of the inputs that they are in; other bytes are 0. Before it starts. Seeds are numbered from 0
    /// in this order.
    pub(crate) fn add_seed(&mut self, core: &mut Core, inputs: &[(String, Vec<u8>)]) {
        let all: Vec<_> = inputs.iter().flat_map(|(name, bytes)| values(&mut core.pool, name, bytes)).collect();
        let number = self.seeds.ends.len() as u32;
        self.seeds.waiting.push_back((number, Model::empty().with(&all)));
        self.seeds.ends.push(SeedEnd::Waits);
        core.tree.remember();
    }

    /// What became of the seeds, by number.
    pub(crate) fn seed_ends(&self) -> &[SeedEnd] {
        &self.seeds.ends
    }

    /// What the path of a seed goes on with, if there is a seed whose path has not ended.
    pub(super) fn next_of_seed(&mut self, core: &mut Core) -> Option<ItemId> {
        loop {
            if self.seeds.current.is_none() {
                let (number, model) = self.seeds.waiting.pop_front()?;
                self.seeds.current = Some((number, model, 0));
            }
            let (_, model, turns) = self.seeds.current.as_mut()?;
            *turns += 1;
            let (model, turns) = (model.clone(), *turns);
            if turns > MOST_TURNS {
                self.seeds.end(SeedEnd::Long);
                continue;
            }
            let leaf = core.tree.find(|cond| core.eval.holds(&core.pool, cond, &model));
            let item = leaf.and_then(|leaf| self.items.iter_mut().find(|(_, item)| item.node() == leaf));
            let Some((id, item)) = item else {
                self.seeds.end(if turns == 1 { SeedEnd::Known } else { SeedEnd::Excluded });
                continue;
            };
            let mut holds = |cond: ExprId| core.eval.holds(&core.pool, cond, &model);
            let fits = match &*item {
                Item::Flip(flip) => holds(flip.cond) && flip.path.constraints().into_iter().all(&mut holds),
                Item::Paused(state) => state.path.constraints().into_iter().all(&mut holds),
                Item::Held(_) | Item::Job(_) => false,
            };
            if !fits {
                self.seeds.end(SeedEnd::Excluded);
                continue;
            }
            match item {
                Item::Flip(flip) => (flip.model, flip.checked) = (model, Checked::Feasible),
                Item::Paused(state) => state.model = model,
                Item::Held(_) | Item::Job(_) => {}
            }
            return Some(*id);
        }
    }

    /// The seed whose path has ended so, if it is the one that runs.
    pub(crate) fn seed_of(&mut self, core: &mut Core, ended: &Ended) -> Option<u32> {
        let (number, model, _) = self.seeds.current.as_ref()?;
        let number = *number;
        let follows = ended.path.constraints().into_iter().all(|cond| core.eval.holds(&core.pool, cond, model));
        if follows {
            self.seeds.end(SeedEnd::Ran);
        }
        follows.then_some(number)
    }
}
