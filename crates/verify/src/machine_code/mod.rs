//! Pruning of machine code: path slicing without the types of the source.
//!
//! Control flow is recovered function by function, on first need, from the blocks that were lifted along direct branches ([`code`]). A call
//! has its callee's effects, and control continues at its return address. [`values`] finds the addresses that are constant or relative to
//! the frame, [`pointers`] the variables that other pointers of unoptimised code are derived from. [`ways`] computes the effects of an
//! alternative. A store through any other pointer may write anything that is live. A computed jump or call may do anything. So branches
//! with such an alternative are kept (paper 3, section 4: unresolved jumps and stores). Functions of the C library have the same summaries
//! as in bitcode. [`walk`] implements the backward walk for machine code.
//!
//! Assumed, in addition to what [`crate::flow`] assumes: functions keep the calling convention and return to their callers.

mod code;
mod effects;
mod known;
mod layout;
mod pointers;
mod private;
mod saved;
mod stores;
mod trace;
mod values;
mod walk;
mod ways;

use std::cell::RefCell;
use std::rc::Rc;

use wryneck_exec::{CodePos, Traced, Wanted};
use wryneck_ir::CodeSource;

use crate::flow::Summaries;
use crate::slice::explain::{Explain, Why};
use crate::slice::needs::{Known, Needs};
use crate::slice::walk::Mismatch;
use crate::slice::{Front, PathSlicer};
use code::Facts;

/// A program as machine code, as far as it was lifted.
pub struct MachineCode {
    facts: RefCell<Facts>,
}

/// The pruner that slices paths of machine code.
pub type MachineSlicer = PathSlicer<MachineCode>;

impl MachineSlicer {
    /// `inside_libraries`: calls that libraries make inside themselves are events too.
    pub fn new(
        source: Rc<RefCell<dyn CodeSource>>,
        summaries: Summaries,
        inside_libraries: bool,
        explain: Option<Explain>,
    ) -> MachineSlicer {
        MachineSlicer::over(MachineCode { facts: RefCell::new(Facts::new(source, summaries, inside_libraries)) }, explain)
    }
}

impl Front for MachineCode {
    fn slice(
        &self,
        known: &Known,
        path: &Traced<'_>,
        from: Option<&Needs>,
        see: &mut dyn FnMut(CodePos, Option<Why>),
    ) -> Result<Wanted, Mismatch> {
        let mut facts = self.facts.borrow_mut();
        facts.grow(path.image, path.state);
        walk::slice(&mut facts, known, path, from, see)
    }
}
