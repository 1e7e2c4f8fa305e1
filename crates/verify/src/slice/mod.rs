//! Path slicing: which decisions of a completed path its events depend on (paper 1, section 5; Jhala and Majumdar, "Path slicing", PLDI
//! 2005).
//!
//! The slicer walks the recorded path backwards ([`walk`]) with a live set ([`live`]). The live set starts with the operands of the events.
//! It grows by what these were computed from, and by the conditions of relevant branches. A branch is relevant if something in the slice
//! lies between the branch and its immediate post-dominator. It is also relevant if its alternative may reach an event, or write something
//! live. The same holds if the alternative may not reach the post-dominator although the slice has something after it. A static analysis
//! answers these questions. Alternatives are assumed to terminate without a fault of their own. Cost: a few steps per instruction of the
//! path's own part. The part shared with earlier paths is walked only if its live-in set exceeds theirs ([`needs`]).
//!
//! One walk serves both kinds of code: [`bitcode`] and [`crate::machine_code`] implement [`walk::Code`].

pub mod bitcode;
mod checked;
mod continuations;
pub mod explain;
pub mod live;
pub mod needs;
mod recent;
pub mod walk;

use std::cell::RefCell;

use wryneck_exec::{CodePos, Continuations, Image, Pruner, Traced, Wanted};

pub use bitcode::Bitcode;
use continuations::Complete;
pub use explain::Explain;
use explain::Why;
use needs::{Known, Needs};
use walk::Mismatch;

use crate::flow::ObjectId;

/// A kind of code that paths can be sliced over, with the static analysis of the program.
pub trait Front {
    /// Slices a recorded path, from its end or from a live-in set there: the recorded decisions that its events depend on. Calls `see` for each
    /// branch that is judged, with the reason if it is relevant.
    fn slice(
        &self,
        known: &Known,
        path: &Traced<'_>,
        from: Option<&Needs>,
        see: &mut dyn FnMut(CodePos, Option<Why>),
    ) -> Result<Wanted, Mismatch>;
    /// The results of the static analysis that paths contradicted since the last call, in words.
    fn contradicted(&self) -> Vec<String> {
        Vec::new()
    }
    /// An object in words.
    fn object_name(&self, _object: ObjectId) -> String {
        "memory".to_owned()
    }
}

/// The pruner that slices paths.
pub struct PathSlicer<F> {
    front: F,
    explain: Option<Explain>,
    known: Known,
    complete: RefCell<Complete>,
}

/// The pruner for bitcode.
pub type Slicer = PathSlicer<Bitcode>;

impl<F> PathSlicer<F> {
    pub fn over(front: F, explain: Option<Explain>) -> PathSlicer<F> {
        PathSlicer { front, explain, known: Known::default(), complete: RefCell::default() }
    }
}

impl<F: Front> Pruner for PathSlicer<F> {
    fn wanted(&self, path: &Traced<'_>) -> Result<Wanted, String> {
        let mut see = |pos, why| {
            if let Some(explain) = &self.explain {
                explain.note(path.image, pos, why);
            }
        };
        self.front.slice(&self.known, path, None, &mut see).map_err(|mismatch| mismatch.to_string())
    }

    fn contradicted(&self) -> Vec<String> {
        self.front.contradicted()
    }

    fn continuations(&self) -> Option<&dyn Continuations> {
        Some(self)
    }

    fn explained(&self, image: &Image) -> Vec<String> {
        self.explain.iter().flat_map(|explain| explain.lines(image, &|object| self.front.object_name(object))).collect()
    }
}
