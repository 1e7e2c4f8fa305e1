//! Recovered accesses: a path may continue after a number of accesses out of bounds. What such a read returns is input; such a write is
//! dropped.
//!
//! This shows further faults of a path, such as the access that a shorter path leads to first. Later faults may depend on the first one,
//! so findings list it. Only loads and stores of the program are recovered, not those of models. No queries.

use std::rc::Rc;

use crate::ground::path_end::{FaultKind, PathEnd};
use crate::state::survived::Survived;
use crate::step::cx::Cx;
use crate::step::plugin::Stop;

impl Cx<'_> {
    /// Notes a fault that the path survives; gives back what ends it.
    pub(crate) fn survive(&mut self, stop: Stop) -> Result<(), Stop> {
        let Stop::End(PathEnd::Fault(fault)) = stop else { return Err(stop) };
        let bounds = matches!(fault.kind, FaultKind::OutOfBoundsRead | FaultKind::OutOfBoundsWrite);
        if !bounds || self.state.survived.len() >= self.core.config.keep_going as usize {
            return Err(PathEnd::Fault(fault).into());
        }
        let stack = self.core.call_stack(self.state, usize::MAX);
        Rc::make_mut(&mut self.state.survived).push(Survived { fault, stack });
        self.state.approximated = true;
        Ok(())
    }
}
