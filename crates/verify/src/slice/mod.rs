//! Path slicing: which decisions of a completed path its events depend on (paper 1, section 5; Jhala and Majumdar, "Path slicing", PLDI
//! 2005).
//!
//! The slicer walks the recorded path backwards ([`walk`]) with a live set ([`live`]). The live set starts with the operands of relevant
//! events. It grows by what these were computed from, and by the conditions of relevant branches. A branch is relevant if something in
//! the slice lies between the branch and its immediate post-dominator. It is also relevant if its alternative may reach an event, write
//! something live, or leave the function where something later is live; [`crate::flow`] answers that. Alternatives are assumed to
//! terminate without a fault of their own. Cost: a few steps per instruction of the part of the path that is its own; the shared part is
//! walked only if an earlier path needed less of it ([`needs`]).

pub mod backward;
mod checked;
pub mod continuations;
pub mod explain;
pub mod live;
pub mod needs;
mod recent;
pub mod walk;

use std::cell::RefCell;

use wryneck_exec::{Continuations, Image, Pruner, Traced, Wanted};

use checked::Checked;
use continuations::Complete;
pub use explain::Explain;
use needs::Known;

use crate::flow::Flow;

/// The pruner that slices paths.
pub struct Slicer {
    flow: Flow,
    explain: Option<Explain>,
    known: Known,
    complete: RefCell<Complete>,
    checked: Checked,
}

impl Slicer {
    /// `checks`: paths are compared with the static facts.
    pub fn new(flow: Flow, explain: Option<Explain>, checks: bool) -> Slicer {
        Slicer { flow, explain, known: Known::default(), complete: RefCell::default(), checked: Checked::new(checks) }
    }
}

impl Pruner for Slicer {
    fn wanted(&self, path: &Traced<'_>) -> Result<Wanted, String> {
        let mut see = |pos, why| {
            if let Some(explain) = &self.explain {
                explain.note(path.image, pos, why);
            }
        };
        walk::wanted((&self.flow, &self.checked), &self.known, path, &mut see).map_err(|mismatch| mismatch.to_string())
    }

    fn contradicted(&self) -> Vec<String> {
        self.checked.take()
    }

    fn continuations(&self) -> Option<&dyn Continuations> {
        Some(self)
    }

    fn explained(&self, image: &Image) -> Vec<String> {
        self.explain.iter().flat_map(|explain| explain.lines(image, &|object| self.flow.object_name(object))).collect()
    }
}
