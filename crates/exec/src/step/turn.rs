//! One turn of a path: the inner loop until it is left, and the slow operation there.

use crate::ground::memory::touch::Touch;
use crate::state::State;
use crate::step::core::Core;
use crate::step::cx::Cx;
use crate::step::plugin::{Stop, Value};
use crate::step::recorder::Step;
use crate::step::run::{Exit, expr_of, run};
use crate::step::{call, lazy, races, slow, threads};

/// Instructions between two looks at the clock (the caller's).
pub(crate) const POLL: i64 = 200_000;

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
    if state.threads.is_some() { threads::step(core, state, budget) } else { step_alone(core, state, budget) }
}

/// The same, of one thread.
pub(super) fn step_alone(core: &mut Core, state: &mut State, budget: &mut i64) -> Result<(), Stop> {
    if state.returned.is_some() {
        *budget -= 1;
        return recorded(core, state, Shown::Return, call::show_return);
    }
    if state.binding.is_some() {
        *budget -= 1;
        return recorded(core, state, Shown::Return, lazy::bind);
    }
    let exit = advance(core, state, budget);
    handle(core, exit, state, budget)
}

pub(crate) fn advance(core: &mut Core, state: &mut State, budget: &mut i64) -> Exit {
    match (state.frame().is_symbolic(), core.recorder.is_some() || races::watched(core, state)) {
        (true, false) => run::<true, false>(core, state, budget),
        (false, false) => run::<false, false>(core, state, budget),
        (true, true) => run::<true, true>(core, state, budget),
        (false, true) => run::<false, true>(core, state, budget),
    }
}

pub(crate) fn handle(core: &mut Core, exit: Exit, state: &mut State, budget: &mut i64) -> Result<(), Stop> {
    match exit {
        Exit::Budget | Exit::Again => Ok(()),
        Exit::Slow => {
            *budget -= 1;
            recorded(core, state, Shown::Operation, slow)
        }
        Exit::Returned if state.thread() > 0 => threads::returned(&mut Cx { core, state }),
        Exit::Returned => {
            Cx { core, state }.begin_operation();
            let environment = core.environment.clone();
            let whole = |(value, tag)| if tag == 0 { Value::Bits(value) } else { Value::Sym(expr_of(value)) };
            let value = core.result.map(whole);
            Err(environment.returned(value, &mut Cx { core, state }).into())
        }
    }
}

/// Does a slow operation; if there is a recorder, it is told what the operation did.
fn recorded(core: &mut Core, state: &mut State, what: Shown, operation: fn(&mut Cx<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
    let Some(recorder) = &core.recorder else {
        if races::watched(core, state) {
            return watched(core, state, operation);
        }
        let done = operation(&mut Cx { core, state });
        let done = lazy::binds_first(state, done);
        state.before = state.before.take().filter(|_| done.is_err());
        return done;
    };
    let (op, first) = (state.frame().op(), recorder.trace.steps.len());
    let place = races::place(core, state);
    state.memory.space.drain_log().for_each(drop);
    let done = operation(&mut Cx { core, state });
    let done = lazy::binds_first(state, done);
    state.before = state.before.take().filter(|_| done.is_err());
    let log: Vec<Touch> = state.memory.space.drain_log().collect();
    if let Some(recorder) = &mut core.recorder {
        let steps = &mut recorder.trace.steps;
        steps.extend(log.iter().copied().map(Step::from));
        let count = (steps.len() - first) as u32;
        steps.push(match what {
            Shown::Operation => Step::Slow { op, count },
            Shown::Return => Step::Shown { op: op.saturating_sub(1), count },
        });
    }
    done?;
    if races::watched(core, state)
        && let Some(end) = races::touched(core, state, place, &log)
    {
        return Err(end.into());
    }
    Ok(())
}

/// Does a slow operation of a path whose accesses are watched.
fn watched(core: &mut Core, state: &mut State, operation: fn(&mut Cx<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
    let place = races::place(core, state);
    state.memory.space.log();
    let done = operation(&mut Cx { core, state });
    let done = lazy::binds_first(state, done);
    state.before = state.before.take().filter(|_| done.is_err());
    let log: Vec<Touch> = state.memory.space.drain_log().collect();
    done?;
    if let Some(end) = races::touched(core, state, place, &log) {
        return Err(end.into());
    }
    Ok(())
}
