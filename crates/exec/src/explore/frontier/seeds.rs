//! Seeds: inputs whose paths are run before all others, for at most `MOST_TURNS` batches each.
//!
//! The first seed's path begins at the root, a later one's at its leaf ([`super::inputs`]). If the leaf is finished, an earlier path was
//! that of the seed. Some choices do not depend on the model, such as the object that a pointer leads to. Such a choice may take
//! another path than the seed's. The seed's path then continues at the flip that the choice recorded.

use std::collections::VecDeque;

use wryneck_expr::Model;

use super::inputs::Placed;
use super::{Frontier, ItemId};
use crate::explore::fuzz::Chosen;
use crate::step::core::{Core, Ended};
use crate::step::seed::{Inputs, model};

/// What became of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedEnd {
    /// It has not been its turn yet, or its path still ran when the exploration ended.
    Waits,
    /// Its path was run to its end.
    Ran,
    /// An earlier path was its own.
    Known,
    /// It enters no code that others do not, and it is one of so many that its path had no turn of its own.
    Alike,
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
    /// By number; mutants that became seeds have none.
    waiting: VecDeque<(Option<u32>, Model)>,
    /// The one whose path runs, and how often it was selected.
    current: Option<(Option<u32>, Model, u32)>,
    ends: Vec<SeedEnd>,
}

impl Seeds {
    pub(super) fn is_running(&self) -> bool {
        self.current.is_some()
    }

    /// One more input whose path comes first; one that a mutant gave has no number.
    fn add(&mut self, core: &mut Core, number: Option<u32>, inputs: &Inputs) {
        self.waiting.push_back((number, model(&mut core.pool, inputs)));
    }

    fn end(&mut self, how: SeedEnd) {
        if let Some((Some(number), ..)) = self.current.take() {
            self.ends[number as usize] = how;
        }
    }
}

impl Frontier {
    /// Seeds: values of bytes by the names of the inputs that they are in; other bytes are 0. Before it starts. They are numbered from 0 in this order, the first
    /// one of these is given. Where they are not `paths`, a fuzzer chooses those that are.
    pub(crate) fn add_seeds(&mut self, core: &mut Core, seeds: &[Inputs], paths: bool) -> u32 {
        let first = self.seeds.ends.len() as u32;
        for (number, inputs) in (first..).zip(seeds) {
            self.seeds.ends.push(SeedEnd::Waits);
            if paths {
                self.seeds.add(core, Some(number), inputs);
            }
        }
        core.tree.remember();
        first
    }

    /// Takes up what a fuzzer chose ([`crate::explore::fuzz`]).
    pub(crate) fn take_up(&mut self, core: &mut Core, chosen: Chosen) {
        chosen.paths.iter().for_each(|(number, inputs)| self.seeds.add(core, *number, inputs));
        chosen.alike.iter().for_each(|number| self.seeds.ends[*number as usize] = SeedEnd::Alike);
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
            match self.place(core, &model) {
                Placed::Pending(id) => return Some(id),
                Placed::Finished => self.seeds.end(if turns == 1 { SeedEnd::Known } else { SeedEnd::Excluded }),
                Placed::Excluded => self.seeds.end(SeedEnd::Excluded),
            }
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
        number.filter(|_| follows)
    }
}
