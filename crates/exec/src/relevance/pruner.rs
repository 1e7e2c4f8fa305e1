//! The traits of pruners: which decisions of a path are relevant, and which states count as equal.

use std::any::Any;
use std::rc::Rc;

use wryneck_expr::{ExprId, Pool};

use crate::ground::image::Image;
use crate::ground::path_end::PathEnd;
use crate::ground::prefix::PrefixId;
use crate::ground::stacks::Stacks;
use crate::state::{State, SubtreeId};
use crate::step::plugin::Environment;
use crate::step::recorder::Trace;

/// A completed path, recorded.
pub struct Traced<'a> {
    pub image: &'a Image,
    pub trace: &'a Trace,
    /// The path at its end.
    pub state: &'a State,
    pub stacks: &'a Stacks,
    pub environment: &'a dyn Environment,
    pub end: &'a PathEnd,
    /// The first recorded decision. Only decisions from it on are asked for.
    pub oldest: u32,
    /// By decision: the name of the prefix before it.
    pub places: &'a [PrefixId],
    /// Whether a decision has deferred flips.
    pub open: &'a dyn Fn(u32) -> bool,
    /// The subtree whose root is where recording began, and whose live-in set is to be recorded.
    pub begun: Option<Begun>,
    /// The live-in set is compared with other states, so it must include what calls with a summary read.
    pub compared: bool,
}

/// The root of a subtree on a path.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    pub subtree: SubtreeId,
    /// The flipped decision.
    pub start: u32,
    /// Frames of the call stack there.
    pub frames: u32,
}

/// The root of a fully explored subtree that subsumes a flip.
pub struct Subsumer {
    /// Constraints of the flip's path that stand for the unsat cores of that subtree. An index after the last one is the flip's own condition.
    pub constraints: Vec<u32>,
    /// Its live-in set.
    pub needs: Rc<dyn Any>,
}

/// The result of slicing a path.
pub struct Wanted {
    /// Indices of the decisions whose alternatives are relevant.
    pub decisions: Vec<u32>,
    /// An earlier path with the same prefix has found all relevant decisions before the record.
    pub settled: bool,
    /// The live-in set of [`Traced::begun`] was recorded.
    pub noted: bool,
}

/// Finds the decisions of a path whose alternatives are relevant (paper 1, section 5).
pub trait Pruner {
    /// The decisions of a completed path whose alternatives are relevant. An error says why they cannot be determined.
    fn wanted(&self, path: &Traced<'_>) -> Result<Wanted, String>;
    /// The results of the static analysis that paths contradicted since the last call, in words.
    fn contradicted(&self) -> Vec<String> {
        Vec::new()
    }
    /// State subsumption, if the pruner supports it.
    fn continuations(&self) -> Option<&dyn Continuations> {
        None
    }
    /// Explains the branches that `--explain` asked for.
    fn explained(&self, _image: &Image) -> Vec<String> {
        Vec::new()
    }
}

/// Live-in sets of the states that flips begin in, for state subsumption ([`crate::relevance::subsume`]).
pub trait Continuations {
    /// Whether another state at the same program point agrees with a subtree's root on the live-in set known so far.
    fn may_equal(&self, subtree: SubtreeId, began: &State, state: &State, pool: &Pool) -> bool;
    /// A subtree is fully explored. It is compared with later flips if its program point `place` is known. `cores`: structural hashes of the
    /// constraints in its unsat cores that held at its root.
    fn complete(&self, subtree: SubtreeId, place: Option<u128>, began: &State, pool: &Pool, cores: Vec<u128>);
    /// The live-in set of a subtree, as far as it is known.
    fn noted(&self, subtree: SubtreeId) -> Rc<dyn Any>;
    /// Finds a fully explored state at the same program point that agrees on its live-in set and whose core constraints hold here. `cond` is the
    /// condition of the flip.
    fn find(&self, place: u128, state: &State, cond: ExprId, pool: &Pool) -> Option<Subsumer>;
    /// As [`Pruner::wanted`], for a path prefix that ends at a flip, starting from the live-in set `needs`.
    fn resume(&self, needs: &dyn Any, path: &Traced<'_>) -> Result<Wanted, String>;
}
