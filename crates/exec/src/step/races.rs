//! Data races: the accesses of paths with threads are compared with those of other threads ([`crate::state::races`]).
//!
//! Paths with one thread are not checked. Paths with several threads run in the recording copy of the inner loop, which reports its
//! accesses. The accesses of slow operations come from the log of the address space. Accesses inside library functions are not checked,
//! because libraries have locks of their own. In library functions that the environment names, each access synchronises; in libraries that are linked
//! with the program, each atomic access.

use std::rc::Rc;

use wryneck_ir::{ATOMIC, Inst, Op, PLAIN};

use crate::ground::code::Callee;
use crate::ground::image::CodePos;
use crate::ground::memory::touch::{Touch, Touched};
use crate::ground::path_end::{FaultKind, PathEnd};
use crate::ground::places;
use crate::state::State;
use crate::state::races::{Access, How, Races, Touching};
use crate::state::threads::ThreadId;
use crate::step::core::Core;
use crate::step::cx::Cx;
use crate::step::pointer;

/// How the accesses of a function are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watch {
    Off,
    /// Only atomic ones, and only for what they order.
    Atomic,
    Each,
    /// Each synchronises.
    Synchronising,
    /// Each synchronises, because machine code does not tell which are meant to be atomic. So a race is found where two threads change memory by
    /// instructions without a lock.
    MachineCode,
}

impl Watch {
    /// How an access is made that says this of itself.
    #[inline]
    pub(super) fn how(self, access: u32) -> How {
        match self {
            Watch::MachineCode if access == PLAIN => How::Change,
            Watch::Synchronising | Watch::MachineCode => How::Atomic,
            Watch::Off | Watch::Atomic | Watch::Each if access == ATOMIC => How::Atomic,
            Watch::Off | Watch::Atomic | Watch::Each => How::Plain,
        }
    }
}

/// Whether the accesses of a path are watched.
pub(super) fn watched(core: &Core, state: &State) -> bool {
    core.config.races && state.threads.is_some()
}

/// How the accesses of a function are watched on this path.
pub(super) fn watch(core: &Core, state: &State, func: u32) -> Watch {
    match watched(core, state) {
        false => Watch::Off,
        true if core.image.is_machine_code(func) => Watch::MachineCode,
        true if !core.image.is_library(func) => Watch::Each,
        true if core.environment.synchronises_in(core.image.name(func)) => Watch::Synchronising,
        // A library that is linked with the program, as the C++ library is. The C library's own atomic accesses are behind its models.
        true if !core.image.program.units[core.image.code(func).module as usize].library => Watch::Atomic,
        true => Watch::Off,
    }
}

fn races(state: &mut State) -> Option<(ThreadId, &mut Races)> {
    let threads = Rc::make_mut(state.threads.as_mut()?);
    Some((threads.running, Rc::make_mut(&mut threads.races)))
}

/// An access of the inner loop. The end of the path, if it races with an earlier one.
#[cold]
pub(super) fn touch(core: &mut Core, state: &mut State, mut touching: Touching) -> Option<PathEnd> {
    if touching.how == How::Change && places::in_library(&core.image, touching.pos) {
        touching.how = How::Atomic;
    }
    let (running, races) = races(state)?;
    let (old, at) = races.touch(running, touching)?;
    Some(race(core, state, touching, old, at))
}

/// An atomic access of a library.
#[cold]
pub(super) fn synchronise(state: &mut State, address: u64, write: bool) {
    if let Some((running, races)) = races(state) {
        races.synchronise(running, address, write);
    }
}

/// What is watched of a slow operation: its place, and whether it is an access at an address that is not a number, of which it is not known before
/// the path is over which bytes it touches.
pub(super) struct Place {
    pos: CodePos,
    thread: ThreadId,
    inst: Option<Inst>,
    blurred: bool,
    /// It calls a model whose accesses synchronise.
    synchronises: bool,
}

/// Of the operation that the path is at.
pub(super) fn place(core: &Core, state: &State) -> Place {
    let frame = state.frame();
    let pos = CodePos { func: frame.func(), op: frame.op() };
    let code = core.image.code(pos.func);
    let module = &core.image.program.units[code.module as usize].module;
    let inst = module.insts.get((code.first_inst + pos.op) as usize).copied();
    let access = inst.filter(|inst| matches!(inst.operator(), Some(Op::Load | Op::Store)));
    let blurred = access.is_some_and(|inst| frame.concrete(inst.a as usize).is_none());
    let callee = inst.and_then(|inst| match inst.operator() {
        Some(Op::Call) => core.image.callee_of(code.module, inst.a),
        Some(Op::CallIndirect) => core.image.callee_at(frame.concrete(inst.a as usize)?),
        Some(_) | None => None,
    });
    let synchronises = matches!(callee, Some(Callee::Model(model)) if core.environment.synchronises(core.image.model_name(model)));
    Place { pos, thread: state.thread(), inst, blurred, synchronises }
}

/// The accesses of the slow operation at a place, as the address space has logged them.
pub(super) fn touched(core: &mut Core, state: &mut State, place: Place, log: &[Touch]) -> Option<PathEnd> {
    let Place { pos, thread, inst, blurred, synchronises } = place;
    let watch = watch(core, state, pos.func);
    let inst = inst?;
    // What a call has done before its thread gave way is not the next one's.
    let ours = watch == Watch::Off || blurred && watch != Watch::MachineCode || synchronises || state.thread() != thread;
    let how_made = match inst.operator() {
        // Of machine code it orders threads as each access does: an address on a bounded variable is no number either.
        Some(_) if blurred => How::Atomic,
        Some(Op::Load) => watch.how(inst.b),
        Some(Op::Store) => watch.how(inst.c),
        Some(_) | None => watch.how(0),
    };
    for touch in log {
        let Touch::Bytes { how, len, address } = *touch else { continue };
        match how {
            Touched::Allocate | Touched::Clear => {
                if let Some((_, races)) = races(state) {
                    races.forget(address, len.into());
                }
            }
            Touched::Read | Touched::Write if !ours && watch == Watch::Atomic => {
                if how_made == How::Atomic {
                    synchronise(state, address, how == Touched::Write);
                }
            }
            Touched::Read | Touched::Write if !ours => {
                let touching = Touching { pos, address, len: len.into(), write: how == Touched::Write, how: how_made };
                if let Some(end) = self::touch(core, state, touching) {
                    // The operation is done, so the path is behind it.
                    if state.frame().func() == pos.func {
                        state.frame_mut().go_to(pos.op);
                    }
                    return Some(end);
                }
            }
            Touched::Read | Touched::Write => {}
        }
    }
    None
}

/// A thread in words.
fn name(thread: ThreadId) -> String {
    if thread == 0 { "the main thread".into() } else { format!("thread {thread}") }
}

fn race(core: &mut Core, state: &mut State, touching: Touching, old: Access, at: u64) -> PathEnd {
    let me = state.thread();
    let cx = Cx { core, state };
    let verb = |write: bool| if write { "write" } else { "read" };
    let what = pointer::describe_address(&cx, at);
    let bytes = format!("{} byte{}", touching.len, if touching.len == 1 { "" } else { "s" });
    // What clang makes of `n.store(n.load(Relaxed) + 1, Relaxed)` is one addition.
    let unless = if cx.core.image.is_machine_code(touching.pos.func) { ", unless they are relaxed atomics" } else { "" };
    let message = format!(
        "{} of {bytes} at {what} by {}, and {} by {} at {}, with nothing between them that orders them{unless}",
        verb(touching.write),
        name(me),
        verb(old.write),
        name(old.thread),
        places::name(&cx.core.image, old.pos),
    );
    PathEnd::fault(FaultKind::DataRace, message)
}

/// What the running thread has done is known from now on to who [observes](observe) the same.
pub fn publish(cx: &mut Cx<'_>, at: u64) {
    if watched(cx.core, cx.state)
        && let Some((running, races)) = races(cx.state)
    {
        races.publish(running, at);
    }
}

pub fn observe(cx: &mut Cx<'_>, at: u64) {
    if watched(cx.core, cx.state)
        && let Some((running, races)) = races(cx.state)
    {
        races.observe(running, at);
    }
}

/// The running thread and those know what was published at an address, where the next round begins.
pub fn meet(cx: &mut Cx<'_>, at: u64, those: &[ThreadId]) {
    if watched(cx.core, cx.state)
        && let Some((running, races)) = races(cx.state)
    {
        races.meet(running, those, at);
    }
}
