//! Threads: making them, switching between them, ending them. The environment decides which thread runs.
//!
//! A thread that cannot continue is parked at the call that it could not make. When it runs again it repeats that call. So a switch changes
//! only which thread runs, and the model of a blocking function is called again.

use std::rc::Rc;

use wryneck_ir::NONE;

use crate::ground::path_end::PathEnd;
pub use crate::state::threads::{Begins, Order, Status, ThreadId, Wait};
use crate::state::threads::{Own, Thread, Threads, stack_top};
use crate::state::{State, Tagged};
use crate::step::core::Core;
use crate::step::cx::Cx;
use crate::step::landing;
use crate::step::machine;
use crate::step::plugin::{Reply, Stop, Value};
pub use crate::step::races::{meet, observe, publish};

/// Instructions that a thread runs before others get their turn though it neither blocks nor ends: a program may wait in a loop for what another
/// thread does.
const SLICE: i64 = 200_000;

/// What a new thread has of its own.
pub enum Given {
    /// Instances of the thread-local variables of bitcode.
    Locals(Vec<u64>),
    MachineCode(Begins),
}

/// A new thread that begins with a call of a function of the program. It does not run yet.
pub fn make(cx: &mut Cx<'_>, address: u64, args: &[Value], given: Given) -> Result<ThreadId, Stop> {
    cx.state.dirty = true;
    let stack_size = cx.core.config.stack_size;
    let threads = table(cx);
    let number = threads.all.len() as ThreadId;
    let own = Own { sp: stack_top(number, stack_size), ..Own::default() };
    let (locals, begins) = match given {
        Given::Locals(locals) => (locals, None),
        Given::MachineCode(begins) => (Vec::new(), Some(begins)),
    };
    threads.all.push(Thread { status: Status::Ready, own, begins, locals: locals.into() });
    let (running, slice) = (threads.running, threads.slice);
    Rc::make_mut(&mut threads.races).make(running, number);
    run(cx, number);
    let entered = machine::enter_called(cx, address, args, NONE, 0);
    run(cx, running);
    table(cx).slice = slice;
    entered.map(|()| number)
}

/// A new thread that is where the running one is: in a system call of machine code, which it makes once more when it runs. It does not run yet.
pub fn split(cx: &mut Cx<'_>) -> ThreadId {
    cx.state.dirty = true;
    let (own, stack_size) = (Own::of(cx.state), cx.core.config.stack_size);
    let threads = table(cx);
    let number = threads.all.len() as ThreadId;
    // What the running thread is on its way to, and may jump back to, is its own.
    let own = Own { sp: stack_top(number, stack_size), awaited: Vec::new(), landings: Rc::default(), ..own };
    threads.all.push(Thread { status: Status::Ready, own, begins: None, locals: Rc::default() });
    let running = threads.running;
    Rc::make_mut(&mut threads.races).make(running, number);
    number
}

/// Says what a thread does.
pub fn set_status(cx: &mut Cx<'_>, thread: ThreadId, status: Status) {
    cx.state.dirty = true;
    table(cx).all[thread as usize].status = status;
}

/// The path's threads, to be changed; the first one may be alone.
fn table<'c>(cx: &'c mut Cx<'_>) -> &'c mut Threads {
    let threads = cx.state.threads.get_or_insert_with(|| {
        let first = Thread { status: Status::Ready, own: Own::default(), begins: None, locals: Rc::default() };
        Rc::new(Threads { all: vec![first], running: 0, slice: SLICE, races: Rc::default(), order: Rc::default() })
    });
    Rc::make_mut(threads)
}

/// The running thread is over: its stack is gone.
pub fn end(cx: &mut Cx<'_>) -> Result<(), Stop> {
    landing::unwind_thread(cx)?;
    let running = cx.state.thread();
    set_status(cx, running, Status::Ended);
    Ok(())
}

/// Has another thread go on, and records this in the order of the path's threads.
pub(super) fn switch(cx: &mut Cx<'_>, to: ThreadId) {
    cx.state.record_switch(to, false);
    run(cx, to);
}

/// The environment has decided who goes on.
pub fn decided(cx: &mut Cx<'_>) {
    cx.state.record_decision();
}

/// The address from which a thread's stack grows down.
pub fn stack_end(cx: &Cx<'_>, thread: ThreadId) -> u64 {
    stack_top(thread, cx.core.config.stack_size)
}

/// Has another thread run.
pub fn run(cx: &mut Cx<'_>, to: ThreadId) {
    cx.state.dirty = true;
    if to == cx.state.thread() {
        return;
    }
    cx.state.change_thread(to);
    cx.state.stack_top = stack_top(to, cx.core.config.stack_size);
    if let Some(threads) = &mut cx.state.threads {
        Rc::make_mut(threads).slice = SLICE;
    }
}

/// Ends what a thread does that has come to the end of its first function.
pub(super) fn returned(cx: &mut Cx<'_>) -> Result<(), Stop> {
    cx.begin_operation();
    let value = cx.core.result.map(|(value, tag): Tagged| match tag {
        0 => Value::Bits(value),
        _ => Value::Sym(super::run::expr_of(value)),
    });
    let environment = cx.core.environment.clone();
    match environment.thread_returned(value, cx)? {
        Reply::Switch(to) => switch(cx, to),
        Reply::Again(address, args) | Reply::Tail(address, args) => machine::enter_called(cx, address, &args, NONE, 0)?,
        Reply::Void | Reply::Value(_) | Reply::Limbs(_) | Reply::Decline | Reply::Run(_) | Reply::Jump(..) | Reply::Land(_) => {
            return Err(PathEnd::Internal("a thread that has ended goes on".into()).into());
        }
    }
    Ok(())
}

/// How many instructions the running thread may run now, of so many.
pub(super) fn window(state: &State, budget: i64) -> i64 {
    state.threads.as_ref().map_or(budget, |threads| threads.slice.min(budget))
}

/// The running thread has used so many instructions of its slice.
pub(super) fn charge(state: &mut State, used: i64) {
    if let Some(threads) = &mut state.threads {
        Rc::make_mut(threads).slice -= used;
    }
}

/// Has another thread go on if the running one has used up its slice, and is not between a call and what is seen of it.
pub(super) fn give_way(core: &mut Core, state: &mut State) -> Result<(), Stop> {
    let used_up = state.threads.as_ref().is_some_and(|threads| threads.slice < 0);
    if !used_up || state.returned.is_some() || state.binding.is_some() || state.announced {
        return Ok(());
    }
    let mut cx = Cx { core, state };
    cx.begin_operation();
    let environment = cx.core.environment.clone();
    let next = environment.slice_ended(&mut cx);
    cx.state.record_switch(next, true);
    run(&mut cx, next);
    table(&mut cx).slice = SLICE;
    Ok(())
}
