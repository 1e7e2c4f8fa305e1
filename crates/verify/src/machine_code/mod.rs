//! Pruning of machine code: path slicing without pointer types, variables or parameters.
//!
//! Control flow is recovered function by function, on first need, from the blocks that were lifted along all fixed branches ([`code`]). A
//! call is an effect of its function, and control continues at its return address. [`values`] finds the addresses that are constant or
//! relative to the frame. [`ways`] computes the effects of an alternative. A store through any other pointer may write anything that is
//! live. A computed jump or call may do anything. So their branches are kept (paper 3, section 4: unresolved jumps and stores). Functions
//! of the C library have the same summaries as in bitcode. [`walk`] walks the recorded path backwards.
//!
//! Assumed, in addition to what [`crate::flow`] assumes: functions keep the calling convention and return to their callers.

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

/// The pruner that slices paths of machine code.
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
