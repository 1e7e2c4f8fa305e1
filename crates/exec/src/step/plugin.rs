//! The traits of plug-ins that run inside a path: models of functions, monitors, lazily made inputs. The engine has no rule, library
//! function or system call of its own.

use std::rc::Rc;

use wryneck_expr::ExprId;

use crate::ground::image::Models;
use crate::ground::memory::HeapObject;
use crate::ground::path_end::PathEnd;
use crate::state::landings::Token;
use crate::state::processes::ProcessId;
use crate::state::threads::ThreadId;
use crate::state::{PathData, State};
use crate::step::cx::Cx;
use crate::step::pointer::Object;

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
    /// The operation uses this address, whose pointer is unbound. The engine binds it as an operation of its own, then repeats this one.
    Bind(ExprId),
    /// Another process goes on ([`crate::step::processes`]).
    Switch(Turn),
}

/// Which process goes on in place of the running one.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    pub to: ProcessId,
    /// The running one is over. Otherwise it repeats its operation when it goes on.
    pub ends: bool,
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
    /// Unwind to this landing, whose `setjmp` returns the value.
    Jump(Token, Value),
    /// Unwind to the landing pad of this frame's call.
    Land(usize),
    /// Another thread goes on. When this one does, it makes its call again.
    Switch(ThreadId),
    /// Call this function with these arguments, then make this call again.
    Again(u64, Vec<Value>),
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
    /// Whether the model is used even where the program itself defines the function.
    fn replaces(&self, _name: &str) -> bool {
        false
    }
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
    /// Whether a heap object is memory that the program mapped, perhaps of a file.
    fn maps(&self, _object: &HeapObject) -> bool {
        false
    }
    /// What static summaries of calls assume of the environment, and whether it held on a path.
    fn premises(&self, _state: &State) -> Premises {
        Premises { standard_output: true, standard_input: true, open_descriptors: true }
    }
    /// The main function of the path has returned with this value. By default the path ends with it as its status, as the path's model has it.
    fn returned(&self, value: Option<Value>, cx: &mut Cx<'_>) -> Stop {
        let status = match value {
            Some(Value::Bits(status)) => status,
            Some(Value::Sym(e)) => cx.core.eval.eval(&cx.core.pool, e, &cx.state.model),
            None => 0,
        };
        PathEnd::Exit(status as u8).into()
    }
    /// The first function of the running thread, not the first one, has returned with this value, or what was called then has: one more function to
    /// call ([`Reply::Again`], [`Reply::Tail`]), or the thread that runs now that this one is over.
    fn thread_returned(&self, _value: Option<Value>, _cx: &mut Cx<'_>) -> Result<Reply, Stop> {
        Err(PathEnd::Internal("a thread that the environment has not made".into()).into())
    }
    /// Whether a model is one of synchronisation, whose accesses are no data races.
    fn synchronises(&self, _name: &str) -> bool {
        false
    }
    /// Whether a function of a library synchronises by what it accesses.
    fn synchronises_in(&self, _name: &str) -> bool {
        false
    }
    /// The running thread has run for long: who goes on. Decides nothing.
    fn slice_ended(&self, cx: &mut Cx<'_>) -> ThreadId {
        cx.state.thread()
    }
}

impl<E: Environment + ?Sized> Models for E {
    fn model_of(&self, name: &str, defined: bool) -> Option<u32> {
        self.model(name, defined)
    }
    fn replaces_program_s(&self, name: &str) -> bool {
        self.replaces(name)
    }
}

/// What may be assumed of the environment on most paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Premises {
    /// Descriptors 1 and 2 are what they were at the start wherever they are used, and no call found 0 to 2 closed.
    pub standard_output: bool,
    /// Descriptor 0 is what it was at the start.
    pub standard_input: bool,
    /// No system call was given a descriptor that was not open.
    pub open_descriptors: bool,
}

/// Sees what a path does. Costs nothing where none is installed, and little where the functions it watches are not called.
///
/// `on_call` and `on_return` are operations of their own: each may decide, but only before it changes its data.
pub trait Monitor {
    fn initial(&self) -> Rc<dyn PathData>;
    /// Whether the monitor observes calls of the function of this name; asked once per name.
    fn watches(&self, name: &str) -> bool;
    /// An observed function is about to be called. `false`: the call is not of interest, nothing was changed, and its return is not observed.
    /// An error ends the path.
    fn on_call(&self, call: &Call<'_>, cx: &mut Cx<'_>) -> Result<bool, Stop>;
    /// The innermost observed call has returned, with the low 64 bits of its result if it has one.
    fn on_return(&self, result: Option<Value>, cx: &mut Cx<'_>) -> Result<(), Stop>;
    /// The innermost `calls` observed calls never return: a `longjmp` or an exception has unwound them.
    fn on_unwind(&self, calls: u32, cx: &mut Cx<'_>);
    /// The path is about to end.
    fn on_end(&self, end: &PathEnd, cx: &mut Cx<'_>);
    /// A condition was decided.
    fn on_decision(&self, _cond: ExprId, _taken: bool, _cx: &mut Cx<'_>) {}
}

/// Makes inputs where a path uses them (under-constrained execution, paper 2; docs/design/016).
///
/// `bind` is an operation of its own. The other methods run inside an operation of the program, which may run again after a fork: what they
/// add to their path data they may add twice.
pub trait LazyInputs {
    fn initial(&self) -> Rc<dyn PathData>;
    /// An address with its bound pointers replaced by their objects. `Err(Stop::Bind)` if one is unbound. Asks no solver.
    fn resolve(&self, address: ExprId, cx: &mut Cx<'_>) -> Result<ExprId, Stop>;
    /// Whether an address is under-constrained.
    fn is_lazy(&self, address: ExprId, cx: &Cx<'_>) -> bool;
    /// Whether an address is, or is computed from, an under-constrained pointer that leads to no object yet.
    fn is_unbound(&self, address: ExprId, cx: &Cx<'_>) -> bool;
    /// Chooses the object of the unbound pointer in an address: a new one, or one that exists. Asks the solver.
    fn bind(&self, address: ExprId, cx: &mut Cx<'_>) -> Result<(), Stop>;
    /// An access of `size` bytes at `offset` of an object, found by a symbolic pointer: the offset to use. A lazily made object grows up to a
    /// bound; leaving that ends the path as a limit. May decide.
    fn access(&self, object: &Object, offset: ExprId, size: u64, write: bool, cx: &mut Cx<'_>) -> Result<ExprId, Stop>;
    /// The 8-bit value of a byte that was never written.
    fn unwritten(&self, address: u64, cx: &mut Cx<'_>) -> ExprId;
    /// What a lazily made object is, in words, and the bytes before the address that its pointer was bound to.
    fn name(&self, object: u64, cx: &Cx<'_>) -> Option<(String, u64)>;
    /// What an under-constrained pointer is called: the parameter, variable or word of an object that it is.
    fn pointer(&self, pointer: ExprId, cx: &Cx<'_>) -> String;
    /// The heap object that freeing this address frees, or would free again, if it was lazily made and may begin at this address.
    fn freed(&self, address: u64, cx: &Cx<'_>) -> Option<HeapObject>;
    /// Whether what is added to a null pointer is an index, `scale` bytes each, and no pointer itself.
    fn is_index(&self, offset: ExprId, scale: u32, cx: &Cx<'_>) -> bool;
    /// The address was used as the base of pointer arithmetic.
    fn is_base(&self, address: ExprId, cx: &mut Cx<'_>);
    /// A call that is not followed: gives its result, and forgets what it may have changed. An error ends the path.
    fn skip(&self, call: &Call<'_>, cx: &mut Cx<'_>) -> Result<Vec<Value>, Stop>;
    /// A loop is left out from its head on: forgets what it may have changed, and gives so many unknown values for its slots.
    fn skip_loop(&self, effects: &LoopEffects, slots: usize, cx: &mut Cx<'_>) -> Vec<Value>;
    /// The code tested a condition. `before`: how many constraints the path had; `None`: they left no choice.
    fn tested(&self, cond: ExprId, taken: bool, before: Option<u32>, cx: &mut Cx<'_>);
    /// The engine, not the code, chose that a condition holds.
    fn assumed(&self, cond: ExprId, why: &str, cx: &mut Cx<'_>);
    /// The path is about to end. `possible`: it ends so only where this condition is false, and another path goes on where it is true.
    fn ends(&self, end: &PathEnd, possible: Option<ExprId>, cx: &mut Cx<'_>);
}

/// What a loop may change, by its instructions.
#[derive(Clone, Debug, Default)]
pub struct LoopEffects {
    /// Where it is, in words.
    pub place: String,
    /// Operations of the only block that leaves it.
    pub exit: Option<std::ops::Range<u32>>,
    /// Stores to addresses that are the same in each iteration, and their bytes.
    pub stores: Vec<(Value, u64)>,
    /// Pointers from which it may reach what it writes; empty if it writes only to `stores`.
    pub reached: Vec<Value>,
    /// Addresses that it only loads from or stores to: what lies there may point to what it writes.
    pub loaded: Vec<Value>,
    /// It calls functions, which may write to the program's variables.
    pub calls: bool,
}
