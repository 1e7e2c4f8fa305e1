//! Path slicing: which decisions of a completed path its events depend on (paper 1, section 5; Jhala and Majumdar, "Path slicing",
//! PLDI 2005).
//!
//! The recorded path is walked backwards ([`walk`]) with what is still needed ([`live`]): the operands of events that matter, what these were
//! computed from, and the branches that decided whether and in which order events happen. A branch matters if something needed lies between
//! it and its join, or if its other side may reach an event, write what is needed, or leave where something needed comes later; the static
//! facts are [`crate::flow`]'s. Other sides are assumed to come back, without a fault of their own. Cost: a few steps per instruction,
//! of the part of the path that it does not share, if paths that share the rest needed as much of it ([`needs`]).

pub mod backward;
pub mod continuations;
pub mod explain;
pub mod live;
pub mod needs;
mod recent;
pub mod walk;

use std::cell::RefCell;

use wryneck_exec::{Continuations, Image, Pruner, Traced, Wanted};

use continuations::Complete;
pub use explain::Explain;
use needs::Known;

use crate::flow::Flow;

/// Wants what a path's slice holds.
pub struct Slicer {
    flow: Flow,
    explain: Option<Explain>,
    known: Known,
    complete: RefCell<Complete>,
}

impl Slicer {
    pub fn new(flow: Flow, explain: Option<Explain>) -> Slicer {
        Slicer { flow, explain, known: Known::default(), complete: RefCell::default() }
    }
}

impl Pruner for Slicer {
    fn wanted(&self, path: &Traced<'_>) -> Result<Wanted, String> {
        let mut see = |pos, why| {
            if let Some(explain) = &self.explain {
                explain.note(path.image, pos, why);
            }
        };
        walk::wanted(&self.flow, &self.known, path, &mut see).map_err(|mismatch| mismatch.to_string())
    }

    fn continuations(&self) -> Option<&dyn Continuations> {
        Some(self)
    }

    fn explained(&self, image: &Image) -> Vec<String> {
        self.explain.iter().flat_map(|explain| explain.lines(image, &|object| self.flow.object_name(object))).collect()
    }
}
