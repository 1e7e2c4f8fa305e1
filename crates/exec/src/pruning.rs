//! Pruning: which flips are explored (paper 1, section 5; DESIGN 1.10).
//!
//! A flip is not yet wanted. A path that completes wants the flips of the decisions that its slice holds; a wanted flip that proves
//! infeasible wants those of every decision in its unsat core, since one of them taken otherwise may make it feasible; a path that does not
//! complete wants all of its flips. What nobody wants when no wanted flip is left is pruned. The order of exploration does not matter, so any
//! searcher will do. The paper's own algorithm, which loses behaviour, is kept beside it to show that. Cost: a completed path whose
//! flips are not all decided runs once more from the oldest of them, without the solver.

use crate::core::{Ended, Flip, LedgerKind};
use crate::engine::{Explorer, Item};
use crate::plugin::{Pruner, Traced};
use crate::prefix::{Made, Prefix, PrefixId};
use crate::search::Random;

/// How flips are pruned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pruning {
    /// Those are explored that are wanted.
    Wanted,
    /// As paper 1's Algorithm 1 is printed: a path that ends drops the flips that are not in its slice. Loses behaviour.
    AsPrinted,
}

impl Explorer {
    /// Keeps a flip until it is wanted.
    pub(crate) fn wait(&mut self, flip: Flip) {
        self.core.tree.park(flip.node);
        self.waiting.entry(flip.before()).or_default().push(flip);
    }

    /// Decides about the flips along a path that has ended.
    pub(crate) fn prune_after(&mut self, ended: &Ended) {
        let Some((pruning, pruner)) = self.pruning.clone() else { return };
        if self.core.auditing {
            return;
        }
        match pruning {
            Pruning::Wanted => {
                if !ended.end.is_complete() {
                    return self.want_all(&ended.prefix);
                }
                let places: Vec<PrefixId> = ids(&ended.prefix);
                let Some(oldest) = places.iter().position(|id| self.waiting.contains_key(id)) else { return };
                let Some(wanted) = self.slice(ended, oldest as u32, &places, &*pruner) else { return self.want_all(&ended.prefix) };
                for index in wanted {
                    self.want(places[index as usize]);
                }
            }
            Pruning::AsPrinted => {
                let places: Vec<PrefixId> = ids(&ended.prefix);
                let Some(wanted) = self.slice(ended, 0, &places, &*pruner) else { return };
                for made in ended.prefix.backwards().filter(|made| !wanted.contains(&made.index)) {
                    self.drop_other_sides(&made);
                }
            }
        }
    }

    /// The decisions of a path, from `oldest` on, that its slice holds; `None` if that is not known.
    fn slice(&mut self, ended: &Ended, oldest: u32, places: &[PrefixId], pruner: &dyn Pruner) -> Option<Vec<u32>> {
        let from = self.waiting.get(places.get(oldest as usize)?).and_then(|flips| flips.first());
        let (snapshot, before) = from.map_or((None, Prefix::default()), |flip| (flip.state.clone(), flip.before_operation()));
        let (trace, state, end) = self.record(ended, snapshot, &before)?;
        if end != ended.end {
            let what = format!("a path that ended as {:?} ended as {end:?} when it was run again", ended.end);
            self.core.ledger.note(LedgerKind::Warning, what);
            return None;
        }
        let image = self.core.image.clone();
        let (stacks, environment) = (&self.core.stacks, &*self.core.environment);
        let path = Traced { image: &image, trace: &trace, state: &state, stacks, environment, end: &end, oldest };
        match pruner.wanted(&path) {
            Ok(wanted) => Some(wanted),
            Err(why) => {
                self.core.ledger.note(LedgerKind::Warning, format!("a path was not sliced, so all its flips are explored: {why}"));
                None
            }
        }
    }

    /// Lets the searcher have the flips of the decision made after these; how many there are.
    fn release(&mut self, before: PrefixId) -> u64 {
        let flips = self.waiting.remove(&before).unwrap_or_default();
        let count = flips.len() as u64;
        for flip in flips {
            self.core.tree.unpark(flip.node);
            self.add(Item::Flip(flip));
        }
        count
    }

    /// Wants the flips of the decision made after these.
    fn want(&mut self, before: PrefixId) {
        self.core.stats.flips_wanted += self.release(before);
    }

    /// Whether flips wait until they are wanted.
    fn waits(&self) -> bool {
        !self.core.auditing && matches!(self.pruning, Some((Pruning::Wanted, _)))
    }

    /// Wants the flips of all these decisions.
    pub(crate) fn want_all(&mut self, prefix: &Prefix) {
        if self.waits() {
            ids(prefix).into_iter().for_each(|id| self.want(id));
        }
    }

    /// A wanted flip after `prefix` (its own decision included) is infeasible because of these constraints of its path.
    pub(crate) fn want_core(&mut self, prefix: &Prefix, constraints: &[u32]) {
        if !self.waits() {
            return;
        }
        let before: Vec<Made> = prefix.backwards().skip(1).collect();
        for constraint in constraints {
            // The operation that asserted it is the last one that found fewer constraints.
            let operation = before.iter().skip_while(|made| made.constraints > *constraint);
            let mut ended = false;
            let decisions = operation.take_while(|made| !std::mem::replace(&mut ended, made.first));
            let wanted: Vec<PrefixId> = decisions.map(|made| made.before).collect();
            wanted.into_iter().for_each(|id| self.want(id));
        }
    }

    /// When everything wanted is done: takes a random share of the rest, once. Whether there is any.
    pub(crate) fn audit(&mut self) -> bool {
        let share = self.core.config.audit;
        if share <= 0.0 || !self.waits() {
            return false;
        }
        self.core.auditing = true;
        let mut random = Random(self.core.config.seed);
        let places: Vec<PrefixId> = self.waiting.keys().copied().collect();
        for before in places {
            if (random.next() >> 11) as f64 / (1u64 << 53) as f64 <= share {
                self.core.stats.flips_audited += self.release(before);
            }
        }
        !self.items.is_empty()
    }

    /// Drops every pending item on another side of this decision.
    fn drop_other_sides(&mut self, made: &Made) {
        let other = |prefix: &Prefix| {
            let mut there = prefix.backwards().skip_while(|m| m.index > made.index);
            there.next().is_some_and(|m| m.index == made.index && m.before == made.before && m.decision != made.decision)
        };
        let items = self.items.iter().filter(|(_, item)| match item {
            Item::Flip(flip) => other(&flip.prefix),
            Item::Paused(state) => other(&state.prefix),
        });
        let dropped: Vec<_> = items.map(|(id, _)| *id).collect();
        for id in dropped {
            self.search.remove(id);
            if let Some(Item::Flip(Flip { node, .. })) = self.items.remove(&id) {
                self.core.tree.finish(node);
            }
        }
    }
}

/// For each decision, the name of those before it.
fn ids(prefix: &Prefix) -> Vec<PrefixId> {
    let mut ids: Vec<PrefixId> = prefix.backwards().map(|made| made.before).collect();
    ids.reverse();
    ids
}
