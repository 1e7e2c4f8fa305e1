//! Adopting a job: the job's prefix is followed, and each decision is asserted under the job's input. Alternatives that were deferred are
//! made again.

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

/// Has the model satisfy what a decision asserts, while a job is taken up; `before`: the decisions before it. Asks the solver.
pub(crate) fn fit(cx: &mut Cx<'_>, cond: ExprId, before: &Prefix) -> Result<(), Stop> {
    let Some(stop) = cx.core.adoption.as_ref().map(|adoption| adoption.stop.clone()) else { return Ok(()) };
    if cx.core.eval.eval(&cx.core.pool, cond, &cx.state.model) != 0 {
        return Ok(());
    }
    let (budget, base) = (Budget { conflicts: cx.core.config.query_conflicts, ..Budget::until(stop) }, cx.state.model.clone());
    cx.core.stats.solver_checks += 1;
    let why = match cx.core.solver.check(&mut cx.core.pool, &cx.state.path, cond, &base, &budget) {
        Answer::Sat(model) => {
            cx.state.model = model;
            return Ok(());
        }
        Answer::Unsat(core) => Ok(core),
        Answer::Unknown(why) => Err(why),
    };
    if let Some(adoption) = &mut cx.core.adoption {
        adoption.refusal = Some(Refusal { before: before.clone(), why });
    }
    Err(PathEnd::Assumed.into())
}

/// Whether alternatives of the decision that the path comes to were deferred. It follows its script there.
pub(crate) fn defers_here(cx: &Cx<'_>) -> bool {
    cx.core.adoption.as_ref().is_some_and(|adoption| adoption.deferred.has_place(cx.state.prefix.id()))
}

/// Whether a flip of a decision that the path follows is not to be made again: it was explored or is pending.
pub(crate) fn is_known(cx: &mut Cx<'_>, decision: Decision) -> bool {
    if cx.state.script.is_empty() {
        return false;
    }
    let flip = cx.state.prefix.id().then(decision);
    cx.core.adoption.as_mut().is_some_and(|adoption| !adoption.deferred.take_flip(flip))
}

/// Whether a refuted alternative of a decision that the path follows has been made again before.
pub(crate) fn is_refuted_again(cx: &mut Cx<'_>) -> bool {
    let place = cx.state.prefix.id();
    let Some(adoption) = cx.core.adoption.as_mut().filter(|_| !cx.state.script.is_empty()) else { return false };
    adoption.refuted.push(place);
    !adoption.deferred.wants_refuted(place)
}

/// A value was not found, since the run ends: the bound goes back into the script, so that the path can be left.
pub(crate) fn take_back(cx: &mut Cx<'_>, why: &Why, above: Option<u64>) {
    if let (Why::Stopped, Some(value)) = (why, above) {
        cx.state.script.push_front(Decision::Above(value));
        if let Some(tried) = cx.core.targets.get_mut(&cx.state.prefix.id()) {
            *tried = tried.saturating_sub(1);
        }
    }
}
