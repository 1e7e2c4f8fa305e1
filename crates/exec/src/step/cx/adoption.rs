//! Taking up a job: its prefix is followed, each decision is asserted under the job's input, and deferred alternatives are made again.

use wryneck_expr::ExprId;
use wryneck_solver::{Answer, Budget, Core as UnsatCore, Why};

use super::Cx;
use crate::ground::job::Deferred;
use crate::ground::path_end::PathEnd;
use crate::ground::prefix::{Decision, Prefix, PrefixId};
use crate::step::plugin::Stop;

/// The job that is taken up.
pub(crate) struct Adoption {
    /// Ends the query about its flip.
    pub(crate) stop: wryneck_solver::Stop,
    pub(crate) deferred: Deferred,
    /// Decisions whose refuted alternatives are known again.
    pub(crate) refuted: Vec<PrefixId>,
    pub(crate) refusal: Option<Refusal>,
}

/// Why a job is no path.
pub(crate) struct Refusal {
    /// The decisions before the one that is not feasible.
    pub(crate) before: Prefix,
    pub(crate) why: Result<UnsatCore, Why>,
}

impl Cx<'_> {
    /// Has the model satisfy what a decision asserts, while a job is taken up; `before`: the decisions before it. Asks the solver.
    pub(crate) fn fit(&mut self, cond: ExprId, before: &Prefix) -> Result<(), Stop> {
        let Some(stop) = self.core.adoption.as_ref().map(|adoption| adoption.stop.clone()) else { return Ok(()) };
        if self.core.eval.eval(&self.core.pool, cond, &self.state.model) != 0 {
            return Ok(());
        }
        let (budget, base) = (Budget { conflicts: self.core.config.query_conflicts, ..Budget::until(stop) }, self.state.model.clone());
        self.core.stats.solver_checks += 1;
        let why = match self.core.solver.check(&mut self.core.pool, &self.state.path, cond, &base, &budget) {
            Answer::Sat(model) => {
                self.state.model = model;
                return Ok(());
            }
            Answer::Unsat(core) => Ok(core),
            Answer::Unknown(why) => Err(why),
        };
        if let Some(adoption) = &mut self.core.adoption {
            adoption.refusal = Some(Refusal { before: before.clone(), why });
        }
        Err(PathEnd::Assumed.into())
    }

    /// Whether alternatives of the decision that the path comes to were deferred. It follows its script there.
    pub(crate) fn defers_here(&self) -> bool {
        self.core.adoption.as_ref().is_some_and(|adoption| adoption.deferred.has_place(self.state.prefix.id()))
    }

    /// Whether a flip of a decision that the path follows is not to be made again: it was explored or is pending.
    pub(crate) fn is_known(&mut self, decision: Decision) -> bool {
        if self.state.script.is_empty() {
            return false;
        }
        let flip = self.state.prefix.id().then(decision);
        self.core.adoption.as_mut().is_some_and(|adoption| !adoption.deferred.take_flip(flip))
    }

    /// Whether a refuted alternative of a decision that the path follows has been made again before.
    pub(crate) fn is_refuted_again(&mut self) -> bool {
        let place = self.state.prefix.id();
        let Some(adoption) = self.core.adoption.as_mut().filter(|_| !self.state.script.is_empty()) else { return false };
        adoption.refuted.push(place);
        !adoption.deferred.wants_refuted(place)
    }

    /// A value was not found, since the run ends: the bound goes back into the script, so that the path can be left.
    pub(crate) fn take_back(&mut self, why: &Why, above: Option<u64>) {
        if let (Why::Stopped, Some(value)) = (why, above) {
            self.state.script.push_front(Decision::Above(value));
            if let Some(tried) = self.core.targets.get_mut(&self.state.prefix.id()) {
                *tried = tried.saturating_sub(1);
            }
        }
    }
}
