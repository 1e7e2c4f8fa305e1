//! Audit: after all relevant flips have been explored, a sample of the pruned flips is explored, and of the flips on their paths. An event
//! sequence that only these show is one that pruning lost.
//!
//! The choice is deterministic: pruned flips are selected by the hashes of their prefixes. Every second one is a flip on an audited path,
//! the newest first, so that the audit goes deep. A third of the others are subsumed flips. No path is sliced meanwhile. Budget: [`Audit`].
//! An audited path is given up when it is longer than all paths before the audit together, and than `LONGEST`.

use wryneck_expr::{ExprId, Remap};

use crate::explore::Exploration;
use crate::explore::frontier::Item;
use crate::ground::config::Audit;
use crate::ground::prefix::PrefixId;
use crate::ground::sharing::Visited;
use crate::relevance::Relevance;
use crate::relevance::deferred::DeferredFlips;
use crate::state::rebuilt::Rebuilt;
use crate::state::{NO_SUBTREE, State};
use crate::step::core::{Core, Flip};

/// Subsumed flips that are kept for an audit; the list is cut to so many when it has twice as many.
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

    /// One more of the flips that were left out.
    fn next(&mut self, deferred: &mut DeferredFlips) -> Option<Flip> {
        self.turns += 1;
        if self.turns.is_multiple_of(2) {
            while let Some(before) = self.inner.pop() {
                if let Some(flip) = deferred.take_one(before) {
                    self.inner.push(before);
                    return Some(flip);
                }
            }
        }
        if self.turns % 3 == 1
            && let Some(flip) = self.left_out.pop()
        {
            return Some(flip);
        }
        match deferred.first() {
            Some(before) => deferred.take_one(before),
            None => self.left_out.pop(),
        }
    }

    /// Whether an audited path has run so long that it is given up.
    pub fn gives_up(&self, core: &Core, state: &State) -> bool {
        core.auditing && state.instructions > LONGEST.max(self.instructions)
    }

    pub fn for_each_expr(&self, visited: &mut Visited, keep: &mut dyn FnMut(ExprId)) {
        self.left_out.iter().for_each(|flip| flip.for_each_expr(visited, keep));
    }

    pub fn remap(&mut self, map: &Remap, rebuilt: &mut Rebuilt) {
        self.left_out.iter_mut().for_each(|flip| flip.remap(map, rebuilt));
    }
}

impl Relevance {
    /// When everything relevant is done: takes one more of the flips that were left out. Whether there is one and the budget allows it.
    pub(crate) fn audit(&mut self, below: &mut Exploration<'_>) -> bool {
        let core = &mut *below.core;
        let Audit::AtLeast(count) = core.config.audit else { return false };
        if !core.auditing {
            if !self.mode.waits(core) || self.mode.explores_all() {
                return false;
            }
            core.auditing = true;
            self.classes.relevant = core.stats.paths;
            self.auditor.instructions = core.stats.instructions;
            self.auditor.paths = core.stats.paths;
            core.stats.flips_audited = 0;
        }
        let spent = core.stats.instructions - self.auditor.instructions;
        core.stats.flips_audited = core.stats.paths - self.auditor.paths;
        if core.stats.flips_audited >= count && spent >= self.auditor.instructions / 20 {
            return false;
        }
        let Some(mut flip) = self.auditor.next(&mut self.deferred) else { return false };
        flip.subtree = NO_SUBTREE;
        core.audited = flip.pos;
        core.tree.unpark(flip.node);
        below.frontier.add(core, Item::Flip(flip));
        true
    }
}
