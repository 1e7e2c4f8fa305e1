//! Path slicing: which decisions of a completed path its events depend on (paper 1, section 5; Jhala and Majumdar, "Path slicing",
//! PLDI 2005).
//!
//! The recorded path is walked backwards ([`walk`]) with what is still needed ([`live`]): the operands of events that matter, what these were
//! computed from, and the branches that decided whether and in which order events happen. A branch matters if something needed lies between
//! it and its join, or if its other side may reach an event, write what is needed, or leave where something needed comes later; the static
//! facts are [`crate::flow`]'s. Other sides are assumed to come back, without a fault of their own. Cost: a few steps per instruction.

pub mod explain;
pub mod live;
pub mod walk;

use wryneck_exec::{Pruner, Traced};

pub use explain::Explain;

use crate::flow::Flow;

/// Wants what a path's slice holds.
pub struct Slicer {
    pub flow: Flow,
    pub explain: Option<Explain>,
}

impl Pruner for Slicer {
    fn wanted(&self, path: &Traced<'_>) -> Result<Vec<u32>, String> {
        let mut see = |pos, why| {
            if let Some(explain) = &self.explain {
                explain.note(path.image, pos, why);
            }
        };
        walk::wanted(&self.flow, path, &mut see).map_err(|mismatch| mismatch.to_string())
    }
}
