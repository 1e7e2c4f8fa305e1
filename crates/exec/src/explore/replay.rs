//! Replaying a path by its decisions: to show it, to record it, or to restore a flip without a snapshot (docs/design/002).
//!
//! A replay never asks the solver. The exception is a job that another explorer left ([`crate::step::cx`]).

use std::rc::Rc;

use wryneck_expr::Model;

use crate::ground::image::{CodePos, Image};
use crate::ground::path_end::{Limit, PathEnd};
use crate::ground::prefix::{Decision, Prefix};
use crate::state::{State, SubtreeId};
use crate::step::core::{Core, LedgerKind};
use crate::step::coverage::Hits;
use crate::step::plugin::Stop;
use crate::step::recorder::{Recorder, Trace};
use crate::step::turn::{BLOCK, POLL, advance, handle, step};

/// A decision of a path that is run again.
pub struct Decided<'a> {
    pub decision: Decision,
    /// Where it was decided: innermost first.
    pub stack: &'a [CodePos],
    /// Where the function that decided goes on; `None` if the path ended there, or it calls or returns.
    pub next: Option<CodePos>,
}

/// A path that has ended, with all that a replay needs.
#[derive(Clone)]
pub struct Past {
    pub prefix: Prefix,
    pub subtree: SubtreeId,
    pub model: Model,
    pub end: PathEnd,
}

/// Calls in progress inside machine code that are looked up for each decision of a path that is shown, at most.
const RETRACED_CALLS: usize = 256;
/// Steps between two looks at whether to stop.
const LOOK: u32 = 64;

/// Runs paths again, from where all paths begin.
pub struct Replayer {
    /// What every path starts as.
    root: State,
}

/// How [`Replayer::retrace`] shows each decision.
pub type See<'a> = &'a mut dyn FnMut(&Image, &Decided<'_>);

impl Replayer {
    pub(crate) fn new(root: State) -> Replayer {
        Replayer { root }
    }

    pub(crate) fn root(&self) -> &State {
        &self.root
    }

    /// To be changed before any path starts, or to look at its memory.
    pub(crate) fn root_mut(&mut self) -> &mut State {
        &mut self.root
    }

    /// Runs a whole path again by its decisions, which `model` satisfies, and shows each decision, until `stop` says that it takes too long. Counters and
    /// ledger stay as they are. Gives the state at its end and how it ended.
    pub(crate) fn retrace(
        &self,
        core: &mut Core,
        decisions: &[Decision],
        model: Model,
        stop: &wryneck_solver::Stop,
        see: See<'_>,
    ) -> (Box<State>, PathEnd) {
        let mut state = Box::new(self.root.fork_idle());
        state.script = decisions.iter().copied().collect();
        state.model = model;
        let mut steps = 0u32;
        let end = again(core, &mut state, &mut |core, state| {
            steps = steps.wrapping_add(1);
            if steps.is_multiple_of(LOOK) && stop.asked() {
                return Err(PathEnd::Limit(Limit::Interrupted).into());
            }
            let (mut stack, before) = (Vec::new(), state.prefix.len());
            let done = step_seen(core, state, &mut |core, state| stack = core.call_stack(state, RETRACED_CALLS));
            let image = core.image.clone();
            for decision in state.prefix.to_last((state.prefix.len() - before) as usize) {
                let next =
                    state.call_stack().first().copied().filter(|pos| done.is_ok() && stack.first().is_some_and(|at| at.func == pos.func));
                see(&image, &Decided { decision, stack: &stack, next });
            }
            done
        });
        (state, end)
    }

    /// Runs the program from its beginning on the input of a model, as numbers: nothing is symbolic. Asks no solver. Gives the state at the path's end
    /// and how it ended, until `stop` says that it takes too long.
    pub(crate) fn concretely(&self, core: &mut Core, model: Model, stop: &wryneck_solver::Stop) -> (Box<State>, PathEnd) {
        core.given = Some(model.clone());
        let ended = self.retrace(core, &[], model, stop, &mut |_, _| {});
        core.given = None;
        ended
    }

    /// Runs the program from its beginning on the input of a model, as numbers, and counts entries of blocks. Gives how the run ended and where, unless it
    /// takes more than so many instructions, and its instructions; many bytes of block operations count as some. What paths have covered stays as it is.
    pub(crate) fn count_blocks(&self, core: &mut Core, model: Model, most: u64, hits: &mut Hits) -> (Option<(PathEnd, CodePos)>, u64) {
        let mut state = Box::new(self.root.fork_idle());
        state.model = model.clone();
        core.given = Some(model);
        core.begin_counting(hits);
        let mut took = 0;
        let end = again(core, &mut state, &mut |core, state| {
            let mut budget = POLL;
            core.block_bytes = 0;
            let done = step(core, state, &mut budget);
            took += (POLL - budget) as u64 + core.block_bytes / BLOCK;
            if took > most { Err(PathEnd::Limit(Limit::Instructions).into()) } else { done }
        });
        core.end_counting(hits);
        core.given = None;
        let at = state.call_stack().first().copied().unwrap_or_default();
        ((end != PathEnd::Limit(Limit::Instructions)).then_some((end, at)), took)
    }

    /// Runs a path that has ended again and records it, from where its decisions are `before`: in this snapshot, or else run again too. `None`
    /// if they do not fit, as in [`Replayer::rerun`], if there is too much to record, or the run is to end. One that is
    /// `left_out` ends before the operation that decides last.
    pub(crate) fn record(
        &self,
        core: &mut Core,
        past: &Past,
        snapshot: Option<Rc<State>>,
        before: &Prefix,
        left_out: bool,
    ) -> Option<(Trace, Box<State>, PathEnd)> {
        let mut state = match snapshot {
            Some(snapshot) => Box::new(snapshot.fork_idle()),
            None => self.rerun(core, None, before, &past.model)?,
        };
        state.taken = 0;
        state.script = past.prefix.to_last((past.prefix.len() - state.prefix.len()) as usize).into();
        state.model = past.model.clone();
        state.memory.space.log();
        core.recorder = Some(Box::new(Recorder::new(core, &state)));
        let (mut last, mut steps, mut given_up) = (None, 0u32, false);
        let end = again(core, &mut state, &mut |core, state| {
            steps = steps.wrapping_add(1);
            given_up = given_up || gives_up_recording(core, steps);
            if given_up {
                return Err(PathEnd::Assumed.into());
            }
            if !left_out {
                return step(core, state, &mut POLL.clone());
            }
            step_seen(core, state, &mut |core, state| last = core.recorder.as_ref().map(|recorder| recorder.mark(state)))?;
            if state.script.is_empty() { Err(PathEnd::Assumed.into()) } else { Ok(()) }
        });
        let recorder = core.recorder.take().unwrap_or_default();
        if given_up {
            if recorder.trace.steps.len() > core.config.max_recorded {
                core.ledger.note(LedgerKind::Warning, "a path is too long to be sliced, so all its flips are explored");
            }
            return None;
        }
        if !left_out {
            return Some((recorder.finish(&state), state, end));
        }
        let fits = state.script.is_empty();
        Some((recorder.cut(last.filter(|_| fits)?), state, end))
    }

    /// Runs decisions up to the operation behind them, from a snapshot of their path or else from where all paths begin. Asks nothing. What is noted on the
    /// way was noted before. `None` if they do not fit, which would be our defect and is counted as a lost flip.
    pub(crate) fn rerun(&self, core: &mut Core, snapshot: Option<&State>, before: &Prefix, model: &Model) -> Option<Box<State>> {
        let mut state = Box::new(snapshot.unwrap_or(&self.root).fork_idle());
        state.script = before.to_last((before.len() - state.prefix.len()) as usize).into();
        state.model = model.clone();
        state.memory.space.wake();
        let (ledger, entered) = (std::mem::take(&mut core.ledger), core.entered);
        let mut steps = 0u32;
        let lost = loop {
            if state.script.is_empty() {
                break None;
            }
            steps = steps.wrapping_add(1);
            // The run ends with work left, as its summary says.
            if steps.is_multiple_of(LOOK) && core.end_signal.asked() {
                break Some(None);
            }
            if let Err(Stop::End(end)) = step(core, &mut state, &mut POLL.clone()) {
                break Some(Some(end));
            }
        };
        (core.ledger, core.entered) = (ledger, entered);
        if let Some(end) = lost {
            core.stats.flips_lost += 1;
            end.iter().for_each(|end| core.ledger.note(LedgerKind::DroppedFlip, format!("a prefix did not run again: {end:?}")));
            return None;
        }
        state.memory.space.sleep();
        // What its prefix covers was new to another path.
        state.covers_new = false;
        Some(state)
    }
}

/// Runs a path until it has followed its script, or its end. What is noted on the way was noted before.
pub(crate) fn run_script(core: &mut Core, state: &mut State) -> Option<Stop> {
    let (ledger, entered) = (std::mem::take(&mut core.ledger), core.entered);
    let (mut steps, mut ended) = (0u32, None);
    state.memory.space.wake();
    while !state.script.is_empty() && ended.is_none() {
        core.ledger.rows.clear();
        steps = steps.wrapping_add(1);
        if steps.is_multiple_of(LOOK) && core.end_signal.asked() {
            ended = Some(PathEnd::Limit(Limit::Interrupted).into());
            break;
        }
        let mut budget = POLL;
        ended = step(core, state, &mut budget).err();
        state.instructions += (POLL - budget) as u64;
    }
    state.memory.space.sleep();
    let last = std::mem::replace(&mut core.ledger, ledger);
    for (row, count) in last.rows {
        *core.ledger.rows.entry(row).or_default() += count;
    }
    core.entered = entered;
    ended
}

/// As [`step`]; `see` is shown the path before what the inner loop leaves to others.
fn step_seen(core: &mut Core, state: &mut State, see: &mut dyn FnMut(&Core, &State)) -> Result<(), Stop> {
    let budget = &mut POLL.clone();
    let exit = if state.returned.is_some() || state.binding.is_some() { None } else { Some(advance(core, state, budget)) };
    see(core, state);
    match exit {
        Some(exit) => handle(core, exit, state, budget),
        None => step(core, state, budget),
    }
}

/// Runs a path again by its script to its end, a `step` at a time; what it leaves behind, counters and ledger are as if it had not run.
fn again(core: &mut Core, state: &mut State, step: &mut dyn FnMut(&mut Core, &mut State) -> Result<(), Stop>) -> PathEnd {
    let (ledger, stats, entered) = (std::mem::take(&mut core.ledger), core.stats.clone(), core.entered);
    state.memory.space.wake();
    let end = loop {
        if let Err(Stop::End(end)) = step(core, state) {
            break end;
        }
    };
    state.memory.space.sleep();
    core.new_flips.clear();
    core.new_refuted.clear();
    core.ended.clear();
    (core.ledger, core.stats, core.entered) = (ledger, stats, entered);
    end
}

/// Whether the recording under way goes no further, after so many steps of the engine: it is too long, or the run is to end.
fn gives_up_recording(core: &Core, steps: u32) -> bool {
    let too_long = core.recorder.as_ref().is_some_and(|recorder| recorder.trace.steps.len() > core.config.max_recorded);
    too_long || steps.is_multiple_of(LOOK) && core.end_signal.asked()
}
