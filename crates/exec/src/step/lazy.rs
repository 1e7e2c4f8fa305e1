//! Lazily made inputs in the engine: calls of their plug-in, and binding as an operation of its own (docs/design/016).

use wryneck_expr::ExprId;
use wryneck_solver::PathCondition;

use crate::ground::path_end::PathEnd;
use crate::state::State;
use crate::step::cx::Cx;
use crate::step::plugin::Stop;

/// The pointer that an operation left unbound is bound by an operation of its own; then this one, which has changed nothing yet, is repeated.
pub(crate) fn binds_first(state: &mut State, done: Result<(), Stop>) -> Result<(), Stop> {
    let Err(Stop::Bind(address)) = done else { return done };
    if state.dirty {
        return Err(PathEnd::Internal("a model used an unbound pointer after it had changed the path".into()).into());
    }
    state.binding = Some(address);
    Ok(())
}

/// Binds the pointer that the operation the path is at needs.
pub(crate) fn bind(cx: &mut Cx<'_>) -> Result<(), Stop> {
    cx.begin_operation();
    let (Some(address), Some(lazy)) = (cx.state.binding, cx.core.lazy.clone()) else {
        return Err(PathEnd::Internal("a pointer to bind, but no inputs are made".into()).into());
    };
    lazy.bind(address, cx)?;
    cx.state.binding = None;
    Ok(())
}

/// Notes that the engine chose that a condition holds, where inputs are lazily made.
pub(crate) fn note_assumed(cx: &mut Cx<'_>, cond: ExprId, why: &str) {
    if let Some(lazy) = cx.core.lazy.clone() {
        lazy.assumed(cond, why, cx);
    }
}

/// Whether a path condition has every part of a condition.
pub(crate) fn holds_on(cx: &Cx<'_>, path: &PathCondition, cond: ExprId) -> bool {
    cx.core.pool.conjuncts(cond).into_iter().all(|part| path.contains(&cx.core.pool, part))
}
