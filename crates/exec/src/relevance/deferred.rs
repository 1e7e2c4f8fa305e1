//! The flips that are deferred: nothing has made them relevant so far.

use std::collections::BTreeMap;

use wryneck_expr::{ExprId, Remap};

use crate::ground::job::Deferral;
use crate::ground::prefix::{Decision, PrefixId};
use crate::ground::sharing::Visited;
use crate::state::rebuilt::Rebuilt;
use crate::state::{LEFT_OUT, SubtreeId};
use crate::step::core::{Core, Flip, Refuted};

/// The deferred alternatives of a decision.
#[derive(Default)]
pub(crate) struct Waiting {
    pub flips: Vec<Flip>,
    pub refuted: Vec<Refuted>,
    /// Flips that are explored although they are not known to be relevant.
    pub explored: Vec<Explored>,
}

/// A flip that is explored whether or not it is relevant.
pub(crate) struct Explored {
    /// The flipped decision.
    pub decision: Decision,
    pub subtree: SubtreeId,
    /// Its exploration has begun.
    pub begun: bool,
}

impl Waiting {
    fn count(&self) -> usize {
        self.flips.len() + self.refuted.len()
    }

    fn for_each_expr(&self, visited: &mut Visited, keep: &mut dyn FnMut(ExprId)) {
        self.flips.iter().for_each(|flip| flip.for_each_expr(visited, keep));
        self.refuted.iter().for_each(|refuted| refuted.for_each_expr(visited, keep));
    }

    fn remap(&mut self, map: &Remap, rebuilt: &mut Rebuilt) {
        self.flips.iter_mut().for_each(|flip| flip.remap(map, rebuilt));
        self.refuted.iter_mut().for_each(|refuted| refuted.remap(map, rebuilt));
    }
}

/// All deferred flips, by the decisions before the flipped one.
#[derive(Default)]
pub(crate) struct DeferredFlips {
    places: BTreeMap<PrefixId, Waiting>,
}

impl DeferredFlips {
    /// Defers a flip.
    pub(crate) fn defer(&mut self, core: &mut Core, flip: Flip) {
        core.tree.park(flip.node);
        self.places.entry(flip.before()).or_default().flips.push(flip);
    }

    /// Defers an infeasible alternative, whose unsat core may become relevant.
    pub(crate) fn defer_refuted(&mut self, refuted: Refuted) {
        self.places.entry(refuted.before.id()).or_default().refuted.push(refuted);
    }

    /// Registers a flip that is explored whether or not it is relevant.
    pub(crate) fn note_flip(&mut self, flip: &Flip) {
        if flip.subtree != LEFT_OUT {
            let explored = flip.last().map(|decision| Explored { decision, subtree: flip.subtree, begun: false });
            self.places.entry(flip.before()).or_default().explored.extend(explored);
        }
    }

    /// A flip begins. Returns whether it is not relevant so far.
    pub(crate) fn note_begun(&mut self, flip: &Flip) -> bool {
        let Some((waiting, at)) = self.explored(flip) else { return false };
        waiting.explored[at].begun = true;
        true
    }

    /// A flip is infeasible. Its unsat core is computed when the flip becomes relevant. Returns whether it is not relevant so far.
    pub(crate) fn note_infeasible(&mut self, flip: &Flip) -> bool {
        let Some((waiting, at)) = self.explored(flip) else { return false };
        waiting.explored.swap_remove(at);
        let (path, model) = (flip.path.clone(), flip.model.clone());
        waiting.refuted.push(Refuted { before: flip.prefix.without_last(1), path, model, cond: flip.cond });
        true
    }

    /// The entry of a flip that is explored although it is not relevant so far.
    fn explored(&mut self, flip: &Flip) -> Option<(&mut Waiting, usize)> {
        let (last, waiting) = (flip.last()?, self.places.get_mut(&flip.before())?);
        let at = waiting.explored.iter().position(|explored| explored.decision == last)?;
        Some((waiting, at))
    }

    /// Whether this decision after this prefix is that of a flip that is explored although it is not relevant so far.
    pub(crate) fn explores(&self, before: PrefixId, made: Decision) -> bool {
        let on_flip = |flipped: &Decision| match (*flipped, made) {
            (Decision::Above(least), Decision::Value(value)) => value > least,
            (flipped, made) => flipped == made,
        };
        self.places.get(&before).is_some_and(|waiting| waiting.explored.iter().any(|explored| on_flip(&explored.decision)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether alternatives of the decision after this prefix are deferred.
    pub(crate) fn has(&self, before: PrefixId) -> bool {
        self.places.contains_key(&before)
    }

    /// The number of deferred flips and infeasible alternatives.
    pub(crate) fn count(&self) -> usize {
        self.places.values().map(Waiting::count).sum()
    }

    /// A state in which a deferred flip of the decision after this prefix was made.
    pub(crate) fn snapshot(&self, before: PrefixId) -> Option<std::rc::Rc<crate::state::State>> {
        self.places.get(&before)?.flips.first()?.state.clone()
    }

    /// Takes all alternatives of the decision after this prefix.
    pub(crate) fn take(&mut self, before: PrefixId) -> Waiting {
        self.places.remove(&before).unwrap_or_default()
    }

    /// Takes one deferred flip of the decision after this prefix.
    pub(crate) fn take_one(&mut self, before: PrefixId) -> Option<Flip> {
        let waiting = self.places.get_mut(&before)?;
        let flip = waiting.flips.pop();
        if waiting.count() == 0 {
            self.places.remove(&before);
        }
        flip
    }

    /// The first prefix after which a flip is deferred.
    pub(crate) fn first(&self) -> Option<PrefixId> {
        self.places.iter().find(|(_, waiting)| !waiting.flips.is_empty()).map(|(before, _)| *before)
    }

    /// All by name.
    pub(crate) fn names(&self) -> impl Iterator<Item = Deferral> {
        self.places.iter().flat_map(|(place, waiting)| {
            let flips = waiting.flips.iter().map(|flip| Deferral::Flip(flip.prefix.id()));
            flips.chain([Deferral::Place(*place)])
        })
    }

    pub(crate) fn flips_mut(&mut self) -> impl Iterator<Item = &mut Flip> {
        self.places.values_mut().flat_map(|waiting| &mut waiting.flips)
    }

    pub(crate) fn for_each_expr(&self, visited: &mut Visited, keep: &mut dyn FnMut(ExprId)) {
        self.places.values().for_each(|waiting| waiting.for_each_expr(visited, keep));
    }

    pub(crate) fn remap(&mut self, map: &Remap, rebuilt: &mut Rebuilt) {
        self.places.values_mut().for_each(|waiting| waiting.remap(map, rebuilt));
    }
}
