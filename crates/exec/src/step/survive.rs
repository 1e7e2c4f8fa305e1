//! Recovered faults: a path may continue after a number of accesses out of bounds and of results that overflow. What such a read returns is
//! input; such a write is dropped; an overflowing result wraps, as the processor computes it.
//!
//! This shows further faults of a path, such as the access that a shorter path leads to first. Later faults may depend on the first one,
//! so findings list it. Of accesses only loads and stores of the program are recovered, not those of models. No queries.

use std::rc::Rc;

use crate::ground::path_end::{FaultKind, PathEnd};
use crate::state::survived::Survived;
use crate::step::cx::Cx;
use crate::step::plugin::Stop;

impl Cx<'_> {
    /// Notes a fault that the path survives; gives back what ends it.
    pub fn survive(&mut self, stop: Stop) -> Result<(), Stop> {
        use FaultKind as F;
        let Stop::End(PathEnd::Fault(fault)) = stop else { return Err(stop) };
        let guesses = matches!(fault.kind, F::OutOfBoundsRead | F::OutOfBoundsWrite);
        let wraps = matches!(fault.kind, F::SignedOverflow | F::UnsignedOverflow | F::LossyConversion);
        if !(guesses || wraps) || self.state.survived.len() >= self.core.config.keep_going as usize {
            return Err(PathEnd::Fault(fault).into());
        }
        let stack = self.core.call_stack(self.state, usize::MAX);
        Rc::make_mut(&mut self.state.survived).push(Survived { fault, stack });
        if guesses {
            self.state.approximates("the path went on after a fault");
        }
        Ok(())
    }
}
