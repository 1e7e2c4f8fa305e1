//! Lazily made inputs in the engine: the slot of their plug-in, and binding as an operation of its own (docs/design/016).

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
