//! Classifies the paths of an exploration without pruning: relevant, if pruning would have explored them, or redundant (paper 1, section
//! 8.1).
//!
//! All flips are explored, but become relevant by the same rules as under pruning. A path below a flip that never becomes relevant is
//! redundant. Only relevant paths are sliced, as under pruning. So a path that becomes relevant after it ended is sliced then.

use std::collections::BTreeMap;

use crate::engine::Explorer;
use crate::ground::prefix::{Decision, Prefix, PrefixId};
use crate::relevance::pruning::{Explored, Past, Pruning, Waiting};
use crate::state::LEFT_OUT;
use crate::step::core::{Flip, Refuted};

/// The paths that have ended.
#[derive(Default)]
pub struct Classes {
    pub relevant: u64,
    /// Paths that are not relevant so far, by the prefix of a flip on them that is not relevant.
    redundant: BTreeMap<PrefixId, Vec<Past>>,
    /// Paths whose flip has become relevant.
    again: Vec<Past>,
}

impl Explorer {
    /// The number of relevant paths; `None` if it is not known.
    pub fn relevant(&self) -> Option<u64> {
        match self.pruning.as_ref()?.0 {
            Pruning::Wanted if !self.core.auditing => Some(self.core.stats.paths),
            Pruning::Wanted | Pruning::Classified => Some(self.classes.relevant),
            Pruning::Measured | Pruning::AsPrinted => None,
        }
    }

    pub(crate) fn classifies(&self) -> bool {
        matches!(self.pruning, Some((Pruning::Classified, _)))
    }

    /// Whether flips are explored that are not relevant.
    pub(crate) fn explores_all(&self) -> bool {
        matches!(self.pruning, Some((Pruning::Classified | Pruning::Measured, _)))
    }

    /// Registers a flip that is explored whether or not it is relevant.
    pub(crate) fn note_flip(&mut self, flip: &Flip) {
        if flip.subtree != LEFT_OUT {
            let explored = flip.last().map(|decision| Explored { decision, subtree: flip.subtree, begun: false });
            self.waiting.entry(flip.before()).or_default().explored.extend(explored);
        }
    }

    /// A flip begins. Returns whether it is not relevant so far.
    pub(crate) fn note_begun(&mut self, flip: &Flip) -> bool {
        let Some((waiting, at)) = self.explored(flip) else { return false };
        waiting.explored[at].begun = true;
        true
    }

    /// The entry of a flip that is explored although it is not relevant so far.
    fn explored(&mut self, flip: &Flip) -> Option<(&mut Waiting, usize)> {
        let (last, waiting) = (flip.last()?, self.waiting.get_mut(&flip.before())?);
        let at = waiting.explored.iter().position(|explored| explored.decision == last)?;
        Some((waiting, at))
    }

    /// A flip is infeasible. Its unsat core is computed when the flip becomes relevant. Returns whether it is not relevant so far.
    pub(crate) fn note_infeasible(&mut self, flip: &Flip) -> bool {
        let Some((waiting, at)) = self.explored(flip) else { return false };
        waiting.explored.swap_remove(at);
        let (path, model) = (flip.path.clone(), flip.model.clone());
        waiting.refuted.push(Refuted { before: flip.prefix.without_last(1), path, model, cond: flip.cond });
        true
    }

    /// Counts a path that has ended and slices it if it is relevant, then the paths that became relevant by that.
    pub(crate) fn classify(&mut self, past: Past) {
        if past.subtree == LEFT_OUT {
            return;
        }
        self.classes.again.push(past);
        self.classify_again();
    }

    /// The flips after this prefix are relevant, so paths on them may be relevant.
    pub(crate) fn reclassify(&mut self, before: PrefixId) {
        let paths = self.classes.redundant.remove(&before);
        self.classes.again.extend(paths.into_iter().flatten());
    }

    pub(crate) fn classify_again(&mut self) {
        while let Some(past) = self.classes.again.pop() {
            match self.unwanted_on(&past.prefix) {
                Some(before) => self.classes.redundant.entry(before).or_default().push(past),
                None => {
                    self.classes.relevant += 1;
                    self.want_what_matters(&past);
                }
            }
        }
    }

    /// The prefix of a flip on this path that is not relevant.
    fn unwanted_on(&self, prefix: &Prefix) -> Option<PrefixId> {
        prefix.backwards().find(|made| !self.wants(made.before, made.decision)).map(|made| made.before)
    }

    /// Whether this decision after this prefix is relevant, or was not a flip.
    pub fn wants(&self, before: PrefixId, made: Decision) -> bool {
        let on_flip = |flipped: &Decision| match (*flipped, made) {
            (Decision::Above(least), Decision::Value(value)) => value > least,
            (flipped, made) => flipped == made,
        };
        let left_out = self.subsumption.redundant.contains(&(before, made));
        !left_out && !self.waiting.get(&before).is_some_and(|waiting| waiting.explored.iter().any(|explored| on_flip(&explored.decision)))
    }
}
