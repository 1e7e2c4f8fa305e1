//! Classifies the paths of an exploration without pruning: relevant, if pruning would have explored them, or redundant (paper 1, section
//! 8.1).
//!
//! All flips are explored, but become relevant by the same rules as under pruning. A path below a flip that never becomes relevant is
//! redundant. Only relevant paths are sliced, as under pruning. So a path that becomes relevant after it ended is sliced then.

use std::collections::BTreeMap;

use crate::explore::Exploration;
use crate::explore::replay::Past;
use crate::ground::prefix::{Decision, PrefixId};
use crate::relevance::Relevance;
use crate::relevance::subsume::Subsumption;
use crate::state::LEFT_OUT;

/// The paths that have ended.
#[derive(Default)]
pub(super) struct Classes {
    pub relevant: u64,
    /// Paths that are not relevant so far, by the prefix of a flip on them that is not relevant.
    redundant: BTreeMap<PrefixId, Vec<Past>>,
    /// Paths whose flip has become relevant.
    again: Vec<Past>,
}

impl Classes {
    /// The flips after this prefix are relevant, so paths on them may be relevant.
    pub(super) fn reclassify(&mut self, before: PrefixId) {
        let paths = self.redundant.remove(&before);
        self.again.extend(paths.into_iter().flatten());
    }
}

impl Relevance {
    /// Counts a path that has ended and slices it if it is relevant, then the paths that became relevant by that.
    pub(super) fn classify(&mut self, subsumption: &mut Subsumption, below: &mut Exploration<'_>, past: Past) {
        if past.subtree == LEFT_OUT {
            return;
        }
        self.classes.again.push(past);
        self.classify_again(subsumption, below);
    }

    pub(crate) fn classify_again(&mut self, subsumption: &mut Subsumption, below: &mut Exploration<'_>) {
        while let Some(past) = self.classes.again.pop() {
            let unwanted = past.prefix.backwards().find(|made| !self.wants(subsumption, made.before, made.decision));
            match unwanted.map(|made| made.before) {
                Some(before) => self.classes.redundant.entry(before).or_default().push(past),
                None => {
                    self.classes.relevant += 1;
                    self.want_what_matters(subsumption, below, &past);
                }
            }
        }
    }

    /// Whether this decision after this prefix is relevant, or was not a flip.
    pub(crate) fn wants(&self, subsumption: &Subsumption, before: PrefixId, made: Decision) -> bool {
        !subsumption.is_redundant(before, made) && !self.deferred.explores(before, made)
    }
}
