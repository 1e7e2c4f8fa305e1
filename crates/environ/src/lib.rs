//! The environment of a program: models of Linux system calls, of libc functions and of intrinsics (docs/design/008).
//!
//! Suggested reading order: [`input`] (the program's input), [`state`] (the environment's data on a path), [`start`] (program start),
//! [`sys`] (system calls), [`libc`] and [`intrinsics`] (functions by name). The crate reads no real file, clock or variable:
//! [`input::Host`] and [`input::ProgramInput`] supply them.
//!
//! Invariant: a model decides before it changes anything, because a fork runs the whole call again.
#![forbid(unsafe_code)]

pub mod content;
mod epolls;
pub mod errno;
mod failing;
mod host;
pub mod input;
pub mod intrinsics;
pub mod libc;
mod models;
pub mod observed;
mod processes;
mod sig;
pub mod sockets;
pub mod start;
pub mod state;
pub mod sym_calls;
mod sym_files;
mod sym_sockets;
pub mod sys;
pub mod threads;
mod written;

use std::rc::Rc;

use wryneck_exec::ground::memory::HeapObject;
use wryneck_exec::threads::ThreadId;
use wryneck_exec::{Call, Cx, Environment, PathData, Premises, Reply, State, Stop, Value};

pub use failing::SHORT as SHORT_TRANSFER;
pub use input::{
    Arg, DirEntry, Entry, EnvValue, FUZZER, Host, NoHost, Parameter, ParameterKind, Process, ProgramInput, Stat, Stdin, SymFile, SymSocket,
};
pub use observed::Observed;
pub use state::{STDERR, STDOUT, World};
pub use sym_calls::SymCall;
pub use sym_files::FREE_PERMISSIONS;

use host::Captured;
use intrinsics::verifier;
use libc::alloc;
use models::{MODELS, When};
use sig::Args;

/// The Linux world of one exploration.
pub struct Linux {
    input: ProgramInput,
    captured: Captured,
}

impl Linux {
    /// A world in which programs are given `input`, on top of what `host` says.
    pub fn new(input: ProgramInput, host: Rc<dyn Host>) -> Linux {
        Linux { input, captured: Captured::new(host) }
    }

    /// Has every path note what it asked of the world ([`observed`]).
    #[must_use]
    pub fn noting_facts(mut self) -> Linux {
        self.captured.log = Some(Default::default());
        self
    }

    /// Question and answer of a fact that a path observed.
    pub fn fact(&self, number: u32) -> Option<observed::Fact> {
        self.captured.log.as_ref()?.borrow().fact(number)
    }
}

/// Whether a model of this name leaves some arguments to the function's body: without one, calls with them are calls of an undefined
/// function.
pub fn needs_body(name: &str) -> bool {
    MODELS.binary_search_by(|m| m.name.cmp(name)).is_ok_and(|i| MODELS[i].when == When::Partly)
}

/// A function of a program that is not run but modelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandIn {
    pub name: &'static str,
    /// Widths of the arguments in bits.
    pub widths: Vec<u32>,
    /// 0: no result, or none of use.
    pub ret_width: u32,
    /// For some arguments it needs the function's body.
    pub needs_body: bool,
    /// Speaks to the tool.
    pub intrinsic: bool,
}

/// The models that stand in for functions of programs in machine code: those of libc's functions that leave control where it is,
/// and the intrinsics whose arguments and results are integers. `threads`: those of musl's functions of threads, too.
pub fn stand_ins(threads: bool) -> impl Iterator<Item = StandIn> {
    const JUMPS: [&str; 7] = ["__sigsetjmp", "_longjmp", "_setjmp", "longjmp", "setjmp", "siglongjmp", "sigsetjmp"];
    const INTRINSICS: [&str; 4] = ["__VERIFIER_", "klee_", "reach_error", "wryneck_"];
    // The others do nothing, or are right as they are in machine code.
    const OF_THREADS: [&str; 7] = ["__pthread_", "cnd_", "mtx_", "pthread_", "sem_", "thrd_", "tss_"];
    let stands_in = move |m: &&models::Model| match m.when {
        When::Bitcode => threads && m.name != "pthread_attr_getstack" && OF_THREADS.iter().any(|prefix| m.name.starts_with(prefix)),
        When::Always | When::Partly => !JUMPS.contains(&m.name),
        When::Undefined => INTRINSICS.iter().any(|prefix| m.name.starts_with(prefix)),
    };
    MODELS.iter().filter(stands_in).filter_map(|m| {
        let widths = m.sig.iter().map(|ty| ty.width()).collect();
        let (needs_body, intrinsic) = (m.when == When::Partly || m.name == "pthread_kill", m.when == When::Undefined);
        Some(StandIn { name: m.name, widths, ret_width: verifier::result(m.name)?, needs_body, intrinsic })
    })
}

/// Functions of `runtime/cxx`, whose bitcode comes with the program's, that do nothing natively. Their models stand in for them all the same.
pub const OF_CXX: [&str; 2] = ["__wryneck_deleted", "__wryneck_made_by_new"];

impl Environment for Linux {
    fn replaces(&self, name: &str) -> bool {
        sym_calls::position(&self.input.sym_calls, name).is_some() || OF_CXX.contains(&name)
    }

    fn model(&self, name: &str, defined: bool) -> Option<u32> {
        // Behind the models: the functions whose results are input, and one for those that take variables away.
        if let Some(i) = sym_calls::position(&self.input.sym_calls, name) {
            return Some((MODELS.len() + i) as u32);
        }
        let i = MODELS.binary_search_by(|m| m.name.cmp(name)).ok()?;
        match MODELS[i].when {
            When::Always | When::Partly | When::Bitcode => Some(i as u32),
            When::Undefined => (!defined).then_some(i as u32),
        }
    }

    fn call(&self, model: u32, call: &Call<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
        let Some(model) = MODELS.get(model as usize) else {
            let number = model as usize - MODELS.len();
            return match self.input.sym_calls.get(number) {
                Some(of) => sym_calls::call(self, of, call, cx),
                None if number == self.input.sym_calls.len() => sym_calls::forget(cx),
                None => Ok(sym_calls::is_own_call(cx)),
            };
        };
        (model.run)(self, &Args::of(call, model.sig)?, cx)
    }

    fn initial(&self) -> Rc<dyn PathData> {
        let world = start::world(&self.input, &self.captured);
        // The way down to the working directory is asked for again where a path uses it.
        self.captured.forget_pending();
        Rc::new(world)
    }

    fn object_name(&self, object: &HeapObject, state: &State) -> Option<String> {
        match object.kind {
            alloc::GIVEN => state.env::<World>().given.get(&object.base).map(|name| name.to_string()),
            alloc::MAPPED => Some("a mapping of memory".into()),
            _ => None,
        }
    }

    fn allocates(&self, object: &HeapObject) -> bool {
        !matches!(object.kind, alloc::GIVEN | alloc::MAPPED)
    }

    fn maps(&self, object: &HeapObject) -> bool {
        object.kind == alloc::MAPPED
    }

    fn premises(&self, state: &State) -> Premises {
        let world = state.env::<World>();
        Premises { standard_output: !world.standard_moved, standard_input: !world.input_moved, open_descriptors: !world.bad_descriptor }
    }

    fn thread_returned(&self, value: Option<Value>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
        threads::life::end(cx, value)
    }

    fn synchronises(&self, name: &str) -> bool {
        let model = MODELS.binary_search_by(|m| m.name.cmp(name)).ok();
        model.is_some_and(|i| MODELS[i].when == When::Bitcode || name.ends_with("pthread_create"))
    }

    fn synchronises_in(&self, name: &str) -> bool {
        const LOCKS_OF_FILES: [&str; 5] = ["__lockfile", "__unlockfile", "flockfile", "ftrylockfile", "funlockfile"];
        name.starts_with("__pthread_once") || name == "call_once" || LOCKS_OF_FILES.contains(&name)
    }

    fn slice_ended(&self, cx: &mut Cx<'_>) -> ThreadId {
        threads::after_slice(cx)
    }

    fn returned(&self, value: Option<Value>, cx: &mut Cx<'_>) -> Stop {
        match cx.concretise(value.unwrap_or(Value::Bits(0)), "exit status") {
            Ok(status) => sys::children::exit(cx, status as u8),
            Err(stop) => stop,
        }
    }
}
