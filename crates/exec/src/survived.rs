//! Going on behind an access out of bounds, if the configuration lets a path do that so many times: what was read is input, what was to be
//! written is dropped. So what else a path does wrong is found, too, such as the access that a shorter way leads to first.
//!
//! What comes behind may depend on the first fault; it is told apart by being in the list. Only loads and stores of the program itself
//! are survived, not those of models. Asks nothing.

use std::rc::Rc;

use crate::cx::Cx;
use crate::image::CodePos;
use crate::path_end::{Fault, FaultKind, PathEnd};
use crate::plugin::Stop;

/// A fault that did not end its path.
#[derive(Clone, Debug)]
pub struct Survived {
    pub fault: Fault,
    /// Innermost first.
    pub stack: Vec<CodePos>,
}

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
