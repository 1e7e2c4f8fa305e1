//! The traits of plug-ins: models of functions, monitors, pruners. The engine has no rule, library function or system call of its own.

use std::any::Any;
use std::rc::Rc;

use wryneck_expr::{ExprId, Pool};

use crate::cx::Cx;
use crate::image::Image;
use crate::memory::HeapObject;
use crate::path_end::PathEnd;
use crate::prefix::PrefixId;
use crate::recorder::Trace;
use crate::stacks::Stacks;
use crate::state::{PathData, State};
use crate::subsume::SubtreeId;

/// A value as models see it: `Sym` has the width the call says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    Bits(u64),
    Sym(ExprId),
}

/// Why an operation stops before it is done.
#[derive(Clone, Debug)]
pub enum Stop {
    /// The path is over.
    End(PathEnd),
}

impl From<PathEnd> for Stop {
    fn from(end: PathEnd) -> Stop {
        Stop::End(end)
    }
}

/// What a model gives back.
pub enum Reply {
    /// The function returns nothing.
    Void,
    /// The function returns this; the caller takes as many low bits as it expects.
    Value(Value),
    /// The function returns a value of several limbs.
    Limbs(Vec<Value>),
    /// The model is not for this case: run the function's body, or treat it as undefined.
    Decline,
    /// Call these functions of the program first (addresses, each with its arguments), in this order; then return nothing.
    Run(Vec<(u64, Vec<Value>)>),
    /// Call this function with these arguments; its result is the result.
    Tail(u64, Vec<Value>),
}

/// A call as a model sees it.
pub struct Call<'a> {
    /// Name of the called function.
    pub name: &'a str,
    /// One value per argument of at most 64 bits; a wider argument is several, lowest limb first.
    pub args: &'a [Value],
    /// Widths in bits of the arguments (not limbs).
    pub widths: &'a [u32],
    /// Width in bits of the result the caller expects; 0 for none.
    pub ret_width: u32,
    /// Arguments before the variable ones, whose address is the last argument, if the call is variadic.
    pub variadic: Option<u32>,
    pub returns_pointer: bool,
}

/// The world below the program: models of functions, by name.
///
/// A model may ask `cx` to decide or concretise only *before* it changes memory, path data or anything else: a fork runs the
/// whole call again from its beginning. The engine checks this.
pub trait Environment {
    /// The model for a function of this name, if there is one; asked once per name. `defined`: the program has a body for it.
    fn model(&self, name: &str, defined: bool) -> Option<u32>;
    /// Runs a model.
    fn call(&self, model: u32, call: &Call<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop>;
    /// The path data every path begins with.
    fn initial(&self) -> Rc<dyn PathData>;
    /// What a heap object is in words, if it is one that the environment and not the program made.
    fn object_name(&self, _object: &HeapObject, _state: &State) -> Option<String> {
        None
    }
    /// Whether the program made this heap object and so has to free it; if not, it is a root of the search for leaks.
    fn allocates(&self, _object: &HeapObject) -> bool {
        true
    }
    /// The main function of the path has returned with this value.
    fn returned(&self, value: Option<Value>, cx: &mut Cx<'_>) -> PathEnd;
}

/// Sees what a path does. Costs nothing where none is installed, and little where the functions it watches are not called.
///
/// `on_call` and `on_return` are operations of their own: each may decide, but only before it changes its data.
pub trait Monitor {
    fn initial(&self) -> Rc<dyn PathData>;
    /// Whether calls of the function of this name are to be shown; asked once per name.
    fn watches(&self, name: &str) -> bool;
    /// A call of a watched function is about to happen. `false`: it is of no interest, nothing was changed, and its return is not to be
    /// shown. An error ends the path.
    fn on_call(&self, call: &Call<'_>, cx: &mut Cx<'_>) -> Result<bool, Stop>;
    /// The innermost call whose return is to be shown has returned, with the low 64 bits of its result if it has one.
    fn on_return(&self, result: Option<Value>, cx: &mut Cx<'_>) -> Result<(), Stop>;
    /// The path is about to end.
    fn on_end(&self, end: &PathEnd, cx: &mut Cx<'_>);
    /// A condition was decided.
    fn on_decision(&self, _cond: ExprId, _taken: bool, _cx: &mut Cx<'_>) {}
}

/// Makes objects up where a path uses a pointer that nothing gave a meaning to (under-constrained execution, paper 2).
pub trait LazyInputs {
    /// A symbolic address without a known base is about to be used for `size` bytes; gives the address of an object it shall point to.
    fn bind(&self, address: ExprId, size: u64, cx: &mut Cx<'_>) -> Result<Option<u64>, Stop>;
}

/// A completed path, recorded.
pub struct Traced<'a> {
    pub image: &'a Image,
    pub trace: &'a Trace,
    /// The path at its end.
    pub state: &'a State,
    pub stacks: &'a Stacks,
    pub environment: &'a dyn Environment,
    pub end: &'a PathEnd,
    /// The first decision that was recorded; only those from it on are asked for.
    pub oldest: u32,
    /// By decision: the name of those before it.
    pub places: &'a [PrefixId],
    /// Whether other sides of a decision wait to be wanted.
    pub open: &'a dyn Fn(u32) -> bool,
    /// The subtree that began where recording did, and for which it is to be noted what is needed there.
    pub begun: Option<Begun>,
    /// What it needs is compared with other states: what calls with a summary read is to be known.
    pub compared: bool,
}

/// Where on a path a subtree began.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    pub subtree: SubtreeId,
    /// The decision that was taken otherwise.
    pub start: u32,
    /// Frames of the call stack there.
    pub frames: u32,
}

/// Where the flip began behind which happened all that can happen behind another.
pub struct Subsumer {
    /// Of the other's constraints, those that made sides infeasible; behind the last of its path, what holds since the flip.
    pub constraints: Vec<u32>,
    /// What was needed there.
    pub needs: Rc<dyn Any>,
}

/// Which decisions of a path matter.
pub struct Wanted {
    /// Indices of the decisions whose other sides are to be explored.
    pub decisions: Vec<u32>,
    /// All decisions before the recording that matter were found before, by a path that shares them.
    pub settled: bool,
    /// It was noted what is needed where [`Traced::begun`] began.
    pub noted: bool,
}

/// Says which other sides of a path's decisions can matter (paper 1, section 5).
pub trait Pruner {
    /// The decisions of a completed path whose other sides are to be explored; an error says why that is not known.
    fn wanted(&self, path: &Traced<'_>) -> Result<Wanted, String>;
    /// Compares where flips begin, if it can.
    fn continuations(&self) -> Option<&dyn Continuations> {
        None
    }
    /// What was found of the branches that somebody asked for, in words.
    fn explained(&self, _image: &Image) -> Vec<String> {
        Vec::new()
    }
}

/// What paths need of the states that flips begin in: where it is equal, so is what can happen ([`crate::subsume`]).
pub trait Continuations {
    /// Whether what is needed so far of where a subtree began is the same in another state at its place.
    fn may_equal(&self, subtree: SubtreeId, began: &State, state: &State, pool: &Pool) -> bool;
    /// All is explored of a subtree, which is compared with others if its `place` is known; `cores`: structural hashes of the constraints that
    /// held when it began and made sides infeasible.
    fn complete(&self, subtree: SubtreeId, place: Option<u64>, began: &State, pool: &Pool, cores: Vec<u64>);
    /// What is needed so far of where a subtree began.
    fn noted(&self, subtree: SubtreeId) -> Rc<dyn Any>;
    /// A subtree that began at this place in a state that is equal to this one as far as was needed, where the constraints held that mattered;
    /// `cond` holds since the flip.
    fn find(&self, place: u64, state: &State, cond: ExprId, pool: &Pool) -> Option<Subsumer>;
    /// As [`Pruner::wanted`], of a path that is recorded up to where a flip began, where this is needed.
    fn resume(&self, needs: &dyn Any, path: &Traced<'_>) -> Result<Wanted, String>;
}
