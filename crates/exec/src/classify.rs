//! Which paths of an exploration that is not pruned pruning would have explored (paper 1, section 8.1).
//!
//! All flips are explored, but wanted as if they waited. A path is redundant if it is on a flip that nobody wants, and relevant otherwise. Only
//! relevant paths are sliced, as under pruning; one that turns out relevant after it ended wants all its flips, so rather too many paths
//! count as relevant.

use crate::core::{Flip, Refuted};
use crate::engine::Explorer;
use crate::prefix::{Decision, Prefix};
use crate::pruning::Pruning;
use crate::state::State;

/// The paths that have ended.
#[derive(Default)]
pub struct Classes {
    pub relevant: u64,
    /// Those that nobody wants so far.
    redundant: Vec<Prefix>,
}

impl Explorer {
    /// Paths that pruning explores, or would have explored; `None` if that is not known.
    pub fn relevant(&self) -> Option<u64> {
        match self.pruning.as_ref()?.0 {
            Pruning::Wanted if !self.core.auditing => Some(self.core.stats.paths),
            Pruning::Wanted | Pruning::Classified => Some(self.classes.relevant),
            Pruning::AsPrinted => None,
        }
    }

    pub(crate) fn classifies(&self) -> bool {
        matches!(self.pruning, Some((Pruning::Classified, _)))
    }

    /// Notes a flip that is explored whether or not it is wanted.
    pub(crate) fn note_flip(&mut self, flip: &Flip) {
        let last = flip.prefix.backwards().next().map(|made| made.decision);
        self.waiting.entry(flip.before()).or_default().explored.extend(last);
    }

    /// Notes that a flip is infeasible, which starts in this state; its core is asked for when the flip is wanted. Whether it is not wanted yet.
    pub(crate) fn note_infeasible(&mut self, flip: &Flip, state: &State) -> bool {
        let Some(waiting) = self.waiting.get_mut(&flip.before()).filter(|waiting| !waiting.explored.is_empty()) else { return false };
        let (path, model) = (state.path.clone(), state.model.clone());
        waiting.refuted.push(Refuted { before: flip.prefix.without_last(1), path, model, cond: flip.cond });
        true
    }

    /// Counts a path that has ended. Whether it is relevant.
    pub(crate) fn classify(&mut self, prefix: &Prefix) -> bool {
        let relevant = !self.is_unwanted(prefix);
        match relevant {
            true => self.classes.relevant += 1,
            false => self.classes.redundant.push(prefix.clone()),
        }
        relevant
    }

    /// Finds what has turned out relevant since it ended.
    pub(crate) fn classify_again(&mut self) {
        loop {
            let (redundant, relevant): (Vec<_>, Vec<_>) =
                std::mem::take(&mut self.classes.redundant).into_iter().partition(|prefix| self.is_unwanted(prefix));
            self.classes.redundant = redundant;
            self.classes.relevant += relevant.len() as u64;
            if relevant.is_empty() {
                return;
            }
            relevant.iter().for_each(|prefix| self.want_all(prefix));
        }
    }

    /// Whether a path is on a flip that nobody wants.
    fn is_unwanted(&self, prefix: &Prefix) -> bool {
        let on_flip = |flipped: &Decision, made: Decision| match (*flipped, made) {
            (Decision::Above(least), Decision::Value(value)) => value > least,
            (flipped, made) => flipped == made,
        };
        prefix.backwards().any(|made| {
            let waiting = self.waiting.get(&made.before);
            waiting.is_some_and(|waiting| waiting.explored.iter().any(|flipped| on_flip(flipped, made.decision)))
        })
    }
}
