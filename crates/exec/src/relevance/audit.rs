//! Audit: when all that is relevant has been explored, some of the flips that pruning left out are explored, too, and flips on their paths. An event
//! sequence that only these show is one that pruning lost.
//!
//! The choice is deterministic: flips are taken by the names of the decisions before them, which are hashes; every second one is a flip that an audited
//! path left behind, the newest first, so that the audit gets deep. Flips that were left out as subsumed take their turn with the others. Nothing is sliced meanwhile.
//! Budget: [`Audit`]; an audited path that is longer than all others together is given up.

use crate::engine::{Explorer, Item};
use crate::ground::config::Audit;
use crate::ground::prefix::PrefixId;
use crate::state::NO_SUBTREE;
use crate::state::State;
use crate::step::core::Flip;

/// Flips left out as subsumed that are kept for an audit.
const KEPT: usize = 1 << 12;
/// Instructions that any audited path may run.
const LONGEST: u64 = 10_000_000;

/// How far an audit has come.
#[derive(Default)]
pub(crate) struct Auditor {
    /// Flips that were left out as subsumed.
    left_out: Vec<Flip>,
    /// Decisions before flips that audited paths left behind, newest last.
    inner: Vec<PrefixId>,
    turns: u64,
    /// Counters when the audit began.
    instructions: u64,
    paths: u64,
}

impl Auditor {
    /// Keeps a flip that was left out as subsumed.
    pub fn keep(&mut self, mut flip: Flip) {
        flip.state = None;
        self.left_out.push(flip);
        if self.left_out.len() == 2 * KEPT {
            self.left_out.sort_by_key(Flip::before);
            self.left_out.truncate(KEPT);
        }
    }

    /// An audited path left a flip behind.
    pub fn met(&mut self, before: PrefixId) {
        self.inner.push(before);
    }

    pub fn left_out(&self) -> impl Iterator<Item = &Flip> {
        self.left_out.iter()
    }

    pub fn left_out_mut(&mut self) -> impl Iterator<Item = &mut Flip> {
        self.left_out.iter_mut()
    }
}

impl Explorer {
    /// When everything relevant is done: takes one more of the flips that were left out. Whether there is one and the budget allows it.
    pub(crate) fn audit(&mut self) -> bool {
        let Audit::AtLeast(count) = self.core.config.audit else { return false };
        if !self.core.auditing {
            if !self.waits() || self.explores_all() {
                return false;
            }
            self.core.auditing = true;
            self.classes.relevant = self.core.stats.paths;
            self.auditor.instructions = self.core.stats.instructions;
            self.auditor.paths = self.core.stats.paths;
            self.core.stats.flips_audited = 0;
        }
        let spent = self.core.stats.instructions - self.auditor.instructions;
        self.core.stats.flips_audited = self.core.stats.paths - self.auditor.paths;
        if self.core.stats.flips_audited >= count && spent >= self.auditor.instructions / 20 {
            return false;
        }
        let Some(mut flip) = self.next_audited() else { return false };
        flip.subtree = NO_SUBTREE;
        self.core.audited = flip.pos;
        self.core.tree.unpark(flip.node);
        self.add(Item::Flip(flip));
        true
    }

    fn next_audited(&mut self) -> Option<Flip> {
        self.auditor.turns += 1;
        if self.auditor.turns.is_multiple_of(2) {
            while let Some(before) = self.auditor.inner.pop() {
                if let Some(flip) = self.take_waiting(before) {
                    self.auditor.inner.push(before);
                    return Some(flip);
                }
            }
        }
        if self.auditor.turns % 3 == 1
            && let Some(flip) = self.auditor.left_out.pop()
        {
            return Some(flip);
        }
        let before = self.waiting.iter().find(|(_, waiting)| !waiting.flips.is_empty()).map(|(before, _)| *before);
        match before {
            Some(before) => self.take_waiting(before),
            None => self.auditor.left_out.pop(),
        }
    }

    /// A flip of the decision made after these.
    fn take_waiting(&mut self, before: PrefixId) -> Option<Flip> {
        let waiting = self.waiting.get_mut(&before)?;
        let flip = waiting.flips.pop();
        if waiting.count() == 0 {
            self.waiting.remove(&before);
        }
        flip
    }

    /// Whether an audited path has run so long that it is given up.
    pub(crate) fn gives_up_audited(&self, state: &State) -> bool {
        self.core.auditing && state.instructions > LONGEST.max(self.auditor.instructions)
    }
}
