//! Pruning of machine code: path slicing where the program is instructions, without pointers' types, variables or functions' parameters.
//!
//! Control flow is recovered function by function, on first need, from the blocks that were lowered along all fixed ways ([`code`]): a call is
//! something its function does, and control goes on where the call comes back to. [`values`] finds which addresses are the frame's or
//! constant; [`ways`] what a side of a branch may do: a store through any other pointer may write anything that matters, a computed jump
//! or call may do anything, so their branches are kept (paper 3, section 4: unresolved jumps and stores). Functions of the C library have the
//! summaries that they have as bitcode. [`walk`] goes back over the recorded path.
//!
//! Assumed, beside what [`crate::flow`] assumes: functions keep the calling convention and return to their calls.

mod code;
mod effects;
mod trace;
mod values;
mod walk;
mod ways;

use std::cell::RefCell;
use std::rc::Rc;

use wryneck_exec::{Image, Pruner, Traced, Wanted};
use wryneck_ir::CodeSource;

use crate::flow::Summaries;
use crate::slice::Explain;
use crate::slice::needs::Known;
use code::Facts;

/// Wants what the slices of machine code's paths hold.
pub struct MachineSlicer {
    facts: RefCell<Facts>,
    known: Known,
    explain: Option<Explain>,
}

impl MachineSlicer {
    /// `inside_libraries`: calls that libraries make inside themselves are events too.
    pub fn new(
        source: Rc<RefCell<dyn CodeSource>>,
        summaries: Summaries,
        inside_libraries: bool,
        explain: Option<Explain>,
    ) -> MachineSlicer {
        MachineSlicer { facts: RefCell::new(Facts::new(source, summaries, inside_libraries)), known: Known::default(), explain }
    }
}

impl Pruner for MachineSlicer {
    fn wanted(&self, path: &Traced<'_>) -> Result<Wanted, String> {
        let mut see = |pos, why| {
            if let Some(explain) = &self.explain {
                explain.note(path.image, pos, why);
            }
        };
        let mut facts = self.facts.borrow_mut();
        facts.grow(path.image);
        walk::wanted(&mut facts, &self.known, path, &mut see).map_err(|mismatch| mismatch.to_string())
    }

    fn explained(&self, image: &Image) -> Vec<String> {
        self.explain.iter().flat_map(|explain| explain.lines(image, &|_| "memory".to_owned())).collect()
    }
}
