//! One turn of a path: the inner loop until it is left, and the slow operation there.

use crate::ground::memory::touch::Touch;
use crate::state::State;
use crate::step::core::Core;
use crate::step::cx::Cx;
use crate::step::plugin::{Stop, Value};
use crate::step::recorder::Step;
use crate::step::run::{Exit, expr_of, run};
use crate::step::{call, lazy, processes, races, slow, threads};

/// Instructions between two looks at the clock (the caller's).
pub(crate) const POLL: i64 = 200_000;
/// Bytes of a block operation that take about as long as an instruction.
pub(crate) const BLOCK: u64 = 64;

/// What a recorded operation is.
#[derive(Clone, Copy)]
enum Shown {
    /// One of the program.
    Operation,
    /// A call's return, shown to the monitor.
    Return,
}

/// The inner loop until its next exit, and the slow operation there.
pub(crate) fn step(core: &mut Core, state: &mut State, budget: &mut i64) -> Result<(), Stop> {
    if state.returned.is_some() {
        return slow_operation(core, state, budget, Shown::Return, call::show_return);
    }
    if state.binding.is_some() {
        return slow_operation(core, state, budget, Shown::Return, lazy::bind);
    }
    let exit = advance(core, state, budget);
    handle(core, exit, state, budget)
}

/// The inner loop until its next exit, or the end of the running thread's slice.
pub(crate) fn advance(core: &mut Core, state: &mut State, budget: &mut i64) -> Exit {
    let given = threads::window(state, *budget);
    let mut left = given;
    let exit = inner_loop(core, state, &mut left);
    *budget -= given - left;
    threads::charge(state, given - left);
    exit
}

fn inner_loop(core: &mut Core, state: &mut State, budget: &mut i64) -> Exit {
    match (state.frame().is_symbolic(), core.recorder.is_some() || races::watched(core, state)) {
        (true, false) => run::<true, false>(core, state, budget),
        (false, false) => run::<false, false>(core, state, budget),
        (true, true) => run::<true, true>(core, state, budget),
        (false, true) => run::<false, true>(core, state, budget),
    }
}

pub(crate) fn handle(core: &mut Core, exit: Exit, state: &mut State, budget: &mut i64) -> Result<(), Stop> {
    match exit {
        Exit::Budget | Exit::Again => threads::give_way(core, state),
        Exit::Slow => slow_operation(core, state, budget, Shown::Operation, slow),
        Exit::Returned if state.thread() > 0 => threads::returned(&mut Cx { core, state }),
        Exit::Returned => {
            Cx { core, state }.begin_operation();
            let environment = core.environment.clone();
            let whole = |(value, tag)| if tag == 0 { Value::Bits(value) } else { Value::Sym(expr_of(value)) };
            let value = core.result.map(whole);
            let stop = environment.returned(value, &mut Cx { core, state });
            processes::switches(state, Err(stop))
        }
    }
}

/// A slow operation, after which the thread may have to give way. It is charged once done: a flip of it begins before it.
fn slow_operation(core: &mut Core, state: &mut State, budget: &mut i64, what: Shown, operation: Operation) -> Result<(), Stop> {
    *budget -= 1;
    recorded(core, state, what, operation)?;
    threads::charge(state, 1);
    threads::give_way(core, state)
}

type Operation = fn(&mut Cx<'_>) -> Result<(), Stop>;

/// Does a slow operation. If there is a recorder, it is told what the operation did; if accesses are watched, they are compared with earlier ones.
fn recorded(core: &mut Core, state: &mut State, what: Shown, operation: Operation) -> Result<(), Stop> {
    let place = races::watched(core, state).then(|| races::place(core, state));
    let (op, first) = (state.frame().op(), core.recorder.as_ref().map_or(0, |recorder| recorder.trace.steps.len()));
    match &core.recorder {
        Some(_) => state.memory.space.drain_log().for_each(drop),
        None if place.is_some() => state.memory.space.log(),
        None => {}
    }
    let done = operation(&mut Cx { core, state });
    let done = lazy::binds_first(state, done);
    let done = processes::switches(state, done);
    state.before = state.before.take().filter(|_| done.is_err());
    if core.recorder.is_none() && place.is_none() {
        return done;
    }
    let log: Vec<Touch> = state.memory.space.drain_log().collect();
    if let Some(recorder) = &mut core.recorder {
        let steps = &mut recorder.trace.steps;
        steps.extend(log.iter().copied().map(Step::from));
        // The operation itself may have recorded steps, too.
        let count = (steps.len() - first) as u32;
        steps.push(match what {
            Shown::Operation => Step::Slow { op, count },
            Shown::Return => Step::Shown { op: op.saturating_sub(1), count },
        });
    }
    done?;
    match place.and_then(|place| races::touched(core, state, place, &log)) {
        Some(end) => Err(end.into()),
        None => Ok(()),
    }
}
