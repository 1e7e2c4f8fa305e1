//! The floor of relevance: which flips are explored at all (docs/design/010).
//!
//! [`Relevance`] owns the deferred flips, the classes of paths and the audit. [`subsume::Subsumption`] owns the subtrees that later states
//! are compared with. The methods of each borrow the other, and the lower floors ([`crate::explore`]).

pub(crate) mod audit;
mod classify;
pub(crate) mod deferred;
pub mod pruner;
pub mod pruning;
pub mod subsume;

use std::rc::Rc;

use wryneck_expr::{ExprId, Remap};

use crate::ground::job::Deferral;
use crate::ground::sharing::Visited;
use crate::relevance::audit::Auditor;
use crate::relevance::classify::Classes;
use crate::relevance::deferred::DeferredFlips;
use crate::relevance::pruner::Pruner;
use crate::relevance::pruning::{Benefit, Pruning};
use crate::state::State;
use crate::state::rebuilt::Rebuilt;
use crate::step::core::Core;

/// Which flips are relevant.
#[derive(Default)]
pub struct Relevance {
    mode: Mode,
    /// Flips that are not relevant so far.
    deferred: DeferredFlips,
    benefit: Benefit,
    /// Where the running path began, if it began at a flip and was not interrupted.
    begun: Option<Rc<State>>,
    classes: Classes,
    auditor: Auditor,
}

/// How flips are pruned, if they are, and by whom.
#[derive(Default)]
pub struct Mode(Option<(Pruning, Rc<dyn Pruner>)>);

impl Mode {
    fn pruner(&self) -> Option<Rc<dyn Pruner>> {
        self.0.as_ref().map(|(_, pruner)| pruner.clone())
    }

    fn classifies(&self) -> bool {
        matches!(self.0, Some((Pruning::Classified, _)))
    }

    /// Whether flips are explored that are not relevant.
    pub(crate) fn explores_all(&self) -> bool {
        matches!(self.0, Some((Pruning::Classified | Pruning::Measured, _)))
    }

    /// Whether state subsumption is on.
    pub(crate) fn subsumes(&self, core: &Core) -> bool {
        let pruned = matches!(&self.0, Some((Pruning::Wanted | Pruning::Classified, pruner)) if pruner.continuations().is_some());
        pruned && core.config.subsume && !core.auditing
    }

    /// Whether flips start deferred.
    pub(crate) fn waits(&self, core: &Core) -> bool {
        !core.auditing && matches!(self.0, Some((Pruning::Wanted | Pruning::Classified | Pruning::Measured, _)))
    }
}

impl Relevance {
    /// Has only those flips explored that `pruner` finds relevant; before any path starts.
    pub(crate) fn prune(&mut self, core: &mut Core, pruning: Pruning, pruner: Rc<dyn Pruner>) {
        core.config.keep_infeasible_flips = pruning != Pruning::AsPrinted;
        core.config.implied_values = false;
        core.config.allocation_stacks = true;
        self.mode.0 = Some((pruning, pruner));
    }

    /// How flips are pruned.
    pub(crate) fn mode(&self) -> &Mode {
        &self.mode
    }

    /// The number of flips that stay deferred, if others are explored alone.
    pub(crate) fn pruned(&self) -> Option<usize> {
        (self.mode.0.is_some() && !self.mode.explores_all()).then(|| self.deferred.count())
    }

    /// The number of relevant paths; `None` if it is not known.
    pub(crate) fn relevant(&self, core: &Core) -> Option<u64> {
        match self.mode.0.as_ref()?.0 {
            Pruning::Wanted if !core.auditing => Some(core.stats.paths),
            Pruning::Wanted | Pruning::Classified => Some(self.classes.relevant),
            Pruning::Measured | Pruning::AsPrinted => None,
        }
    }

    /// The running path begins in this snapshot.
    pub(crate) fn note_begins(&mut self, core: &Core, snapshot: &Rc<State>) {
        let Relevance { mode, begun, .. } = self;
        *begun = (mode.waits(core) && (!mode.classifies() || mode.subsumes(core))).then(|| snapshot.clone());
    }

    /// Forgets where the running path began.
    pub(crate) fn take_begun(&mut self) -> Option<Rc<State>> {
        self.begun.take()
    }

    /// The flips that are not relevant so far.
    pub(crate) fn deferred(&mut self) -> &mut DeferredFlips {
        &mut self.deferred
    }

    /// The names of the flips that are not relevant so far.
    pub(crate) fn names(&self) -> impl Iterator<Item = Deferral> {
        self.deferred.names()
    }

    /// Whether an audited path has run so long that it is given up.
    pub(crate) fn gives_up(&self, core: &Core, state: &State) -> bool {
        self.auditor.gives_up(core, state)
    }

    pub(crate) fn for_each_expr(&self, visited: &mut Visited, keep: &mut dyn FnMut(ExprId)) {
        self.deferred.for_each_expr(visited, keep);
        self.auditor.for_each_expr(visited, keep);
    }

    pub(crate) fn remap(&mut self, map: &Remap, rebuilt: &mut Rebuilt) {
        self.deferred.remap(map, rebuilt);
        self.auditor.remap(map, rebuilt);
    }
}
