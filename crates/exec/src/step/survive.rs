//! Recovered faults: a path may continue after a number of accesses out of bounds and of results that overflow or lose bits. What such a
//! read returns is input; such a write is dropped; an overflowing result wraps, as the processor computes it.
//!
//! This shows faults of a path that its first fault would hide. Later faults may depend on the first one, so findings list it. Of accesses
//! only loads and stores of the program are recovered, not those of models. No query is made.

use std::rc::Rc;

use crate::ground::path_end::{Fault, FaultKind, PathEnd};
use crate::state::survived::Survived;
use crate::step::cx::Cx;
use crate::step::plugin::Stop;

/// Whether the path survives one more fault.
pub fn may_survive(cx: &Cx<'_>) -> bool {
    cx.state.survived.len() < cx.core.config.keep_going as usize
}

/// Notes a fault that the path survives; gives back what ends it.
pub fn survive(cx: &mut Cx<'_>, stop: Stop) -> Result<(), Stop> {
    use FaultKind as F;
    let Stop::End(PathEnd::Fault(fault)) = stop else { return Err(stop) };
    let guesses = matches!(fault.kind, F::OutOfBoundsRead | F::OutOfBoundsWrite);
    let wraps = matches!(fault.kind, F::SignedOverflow | F::UnsignedOverflow | F::LossyConversion);
    if !(guesses || wraps) || !may_survive(cx) {
        return Err(PathEnd::Fault(fault).into());
    }
    note(cx, fault);
    if guesses {
        cx.state.approximates("the path went on after a fault");
    }
    Ok(())
}

/// Notes a fault behind which the path goes on as the program does.
pub fn note(cx: &mut Cx<'_>, fault: Fault) {
    let stack = cx.core.call_stack(cx.state, usize::MAX);
    Rc::make_mut(&mut cx.state.survived).push(Survived { fault, stack });
}
