//! Threads: making them, switching between them, ending them. Who runs, the environment decides.
//!
//! A thread that cannot go on is parked at the call that it could not make. When it runs again it makes that call again: so a switch changes
//! nothing but who runs, and a model of a blocking function is one that is asked again.

use std::rc::Rc;

use wryneck_ir::NONE;

use crate::ground::path_end::PathEnd;
use crate::state::threads::{Own, Thread, Threads, stack_top};
pub use crate::state::threads::{Status, ThreadId, Wait};
use crate::state::{State, Tagged};
use crate::step::core::Core;
use crate::step::cx::Cx;
use crate::step::frame;
use crate::step::plugin::{Reply, Stop, Value};
pub use crate::step::races::{observe, publish};
use crate::step::turn;

/// Instructions that a thread runs before others get their turn though it neither blocks nor ends: a program may wait in a loop for what another
/// thread does.
const SLICE: i64 = 200_000;

/// A new thread that begins with a call of a function of the program, and has these instances of the thread-local variables. It does not run yet.
pub fn make(cx: &mut Cx<'_>, address: u64, args: &[Value], locals: Vec<u64>) -> Result<ThreadId, Stop> {
    cx.state.dirty = true;
    let stack_size = cx.core.config.stack_size;
    let threads = table(cx);
    let number = threads.all.len() as ThreadId;
    let own = Own { sp: stack_top(number, stack_size), ..Own::default() };
    threads.all.push(Thread { status: Status::Ready, own, locals: locals.into() });
    let running = threads.running;
    Rc::make_mut(&mut threads.races).make(running, number);
    run(cx, number);
    let entered = cx.enter_called(address, args, NONE, 0);
    run(cx, running);
    entered.map(|()| number)
}

/// Says what a thread does.
pub fn set_status(cx: &mut Cx<'_>, thread: ThreadId, status: Status) {
    cx.state.dirty = true;
    table(cx).all[thread as usize].status = status;
}

/// The path's threads, to be changed; the first one may be alone.
fn table<'c>(cx: &'c mut Cx<'_>) -> &'c mut Threads {
    let threads = cx.state.threads.get_or_insert_with(|| {
        let first = Thread { status: Status::Ready, own: Own::default(), locals: Rc::default() };
        Rc::new(Threads { all: vec![first], running: 0, slice: SLICE, races: Rc::default() })
    });
    Rc::make_mut(threads)
}

/// The running thread is over: its stack is gone.
pub fn end(cx: &mut Cx<'_>) {
    let running = cx.state.thread();
    for frame in std::mem::take(&mut cx.state.frames).iter().rev() {
        frame::release_stack(cx.core, cx.state, frame);
    }
    cx.state.landings = Rc::default();
    set_status(cx, running, Status::Ended);
}

/// Has another thread go on.
pub fn run(cx: &mut Cx<'_>, to: ThreadId) {
    cx.state.dirty = true;
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
        Reply::Switch(to) => run(cx, to),
        Reply::Again(address, args) | Reply::Tail(address, args) => cx.enter_called(address, &args, NONE, 0)?,
        Reply::Void | Reply::Value(_) | Reply::Limbs(_) | Reply::Decline | Reply::Run(_) | Reply::Jump(..) | Reply::Land(_) => {
            return Err(PathEnd::Internal("a thread that has ended goes on".into()).into());
        }
    }
    Ok(())
}

/// As [`turn::step`], of a path with threads: the running one goes on, until its slice is used up.
pub(super) fn step(core: &mut Core, state: &mut State, budget: &mut i64) -> Result<(), Stop> {
    let left = slice(state);
    let mut window = left.min(*budget);
    let given = window;
    let done = turn::step_alone(core, state, &mut window);
    let used = given - window;
    *budget -= used;
    let Some(threads) = &mut state.threads else { return done };
    let threads = Rc::make_mut(threads);
    // A switch has begun another slice.
    if threads.slice == left {
        threads.slice -= used;
    }
    if done.is_err() || threads.slice >= 0 || state.returned.is_some() || state.binding.is_some() || state.announced {
        return done;
    }
    let mut cx = Cx { core, state };
    cx.begin_operation();
    let environment = cx.core.environment.clone();
    let next = environment.slice_ended(&mut cx);
    run(&mut cx, next);
    Ok(())
}

fn slice(state: &State) -> i64 {
    state.threads.as_ref().map_or(SLICE, |threads| threads.slice)
}
