//! Replaying a path by its decisions: to show it, to record it, or to restore a flip without a snapshot (docs/design/002).
//!
//! A replay never asks the solver.

use std::rc::Rc;

use wryneck_expr::Model;

use crate::engine::{Explorer, POLL};
use crate::ground::image::{CodePos, Image};
use crate::ground::path_end::{Limit, PathEnd};
use crate::ground::prefix::{Decision, Prefix};
use crate::relevance::pruning::Past;
use crate::state::State;
use crate::step::core::{Core, LedgerKind};
use crate::step::plugin::Stop;
use crate::step::recorder::{Recorder, Trace};

/// A decision of a path that is run again.
pub struct Decided<'a> {
    pub decision: Decision,
    /// Where it was decided: innermost first.
    pub stack: &'a [CodePos],
    /// Where the function that decided goes on; `None` if the path ended there, or it calls or returns.
    pub next: Option<CodePos>,
}

/// Calls in progress inside machine code that are looked up for each decision of a path that is shown, at most.
const RETRACED_CALLS: usize = 256;
/// Steps between two looks at whether to stop.
const LOOK: u32 = 64;

impl Explorer {
    /// Runs a whole path again by its decisions, which `model` satisfies; the solver is not asked. Gives the state at its end and how it ended.
    pub fn replay(&mut self, decisions: &[Decision], model: Model) -> (Box<State>, PathEnd) {
        self.retrace(decisions, model, &wryneck_solver::Stop::never(), &mut |_, _| {})
    }

    /// As [`Explorer::replay`], showing each decision, until `stop` says that it takes too long. Counters and ledger stay as they are.
    pub fn retrace(
        &mut self,
        decisions: &[Decision],
        model: Model,
        stop: &wryneck_solver::Stop,
        see: &mut dyn FnMut(&Image, &Decided<'_>),
    ) -> (Box<State>, PathEnd) {
        let mut state = Box::new(self.root.fork_idle());
        state.script = decisions.iter().copied().collect();
        state.model = model;
        let mut steps = 0u32;
        let end = self.again(&mut state, &mut |explorer, state| {
            steps = steps.wrapping_add(1);
            if steps.is_multiple_of(LOOK) && stop.asked() {
                return Err(PathEnd::Limit(Limit::Interrupted).into());
            }
            let (mut stack, before) = (Vec::new(), state.prefix.len());
            let done = explorer.step_seen(state, &mut |core, state| stack = core.call_stack(state, RETRACED_CALLS));
            let image = explorer.core.image.clone();
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
    pub fn concretely(&mut self, model: Model, stop: &wryneck_solver::Stop) -> (Box<State>, PathEnd) {
        self.core.given = Some(model.clone());
        let ended = self.retrace(&[], model, stop, &mut |_, _| {});
        self.core.given = None;
        ended
    }

    /// As [`Explorer::step`]; `see` is shown the path before what the inner loop leaves to others.
    fn step_seen(&mut self, state: &mut State, see: &mut dyn FnMut(&Core, &State)) -> Result<(), Stop> {
        let budget = &mut POLL.clone();
        let exit = if state.returned.is_some() || state.binding.is_some() { None } else { Some(self.advance(state, budget)) };
        see(&self.core, state);
        match exit {
            Some(exit) => self.handle(exit, state, budget),
            None => self.step(state, budget),
        }
    }

    /// Runs a path again by its script to its end, a `step` at a time; what it leaves behind, counters and ledger are as if it had not run.
    fn again(&mut self, state: &mut State, step: &mut dyn FnMut(&mut Explorer, &mut State) -> Result<(), Stop>) -> PathEnd {
        let (ledger, stats, entered) = (std::mem::take(&mut self.core.ledger), self.core.stats.clone(), self.core.entered);
        state.memory.space.wake();
        let end = loop {
            if let Err(Stop::End(end)) = step(self, state) {
                break end;
            }
        };
        state.memory.space.sleep();
        self.core.new_flips.clear();
        self.core.new_refuted.clear();
        self.core.ended.clear();
        (self.core.ledger, self.core.stats, self.core.entered) = (ledger, stats, entered);
        end
    }

    /// Runs a path that has ended again and records it, from where its decisions are `before`: in this snapshot, or else run again too. `None`
    /// if they do not fit, as in [`Explorer::rerun`], if there is too much to record, or the run is to end. One that is
    /// `left_out` ends before the operation that decides last.
    pub(crate) fn record(
        &mut self,
        past: &Past,
        snapshot: Option<Rc<State>>,
        before: &Prefix,
        left_out: bool,
    ) -> Option<(Trace, Box<State>, PathEnd)> {
        let mut state = match snapshot {
            Some(snapshot) => Box::new(snapshot.fork_idle()),
            None => self.rerun(before, &past.model)?,
        };
        state.taken = 0;
        state.script = past.prefix.to_last((past.prefix.len() - state.prefix.len()) as usize).into();
        state.model = past.model.clone();
        state.memory.space.log();
        self.core.recorder = Some(Box::new(Recorder::new(&self.core, &state)));
        let (mut last, mut steps, mut given_up) = (None, 0u32, false);
        let end = self.again(&mut state, &mut |explorer, state| {
            steps = steps.wrapping_add(1);
            given_up = given_up || explorer.gives_up_recording(steps);
            if given_up {
                return Err(PathEnd::Assumed.into());
            }
            if !left_out {
                return explorer.step(state, &mut POLL.clone());
            }
            explorer.step_seen(state, &mut |core, state| last = core.recorder.as_ref().map(|recorder| recorder.mark(state)))?;
            if state.script.is_empty() { Err(PathEnd::Assumed.into()) } else { Ok(()) }
        });
        let recorder = self.core.recorder.take().unwrap_or_default();
        if given_up {
            if recorder.trace.steps.len() > self.core.config.max_recorded {
                self.core.ledger.note(LedgerKind::Warning, "a path is too long to be sliced, so all its flips are explored");
            }
            return None;
        }
        if !left_out {
            return Some((recorder.finish(&state), state, end));
        }
        let fits = state.script.is_empty();
        Some((recorder.cut(last.filter(|_| fits)?), state, end))
    }

    /// Whether the recording under way goes no further, after so many steps of the engine: it is too long, or the run is to end.
    fn gives_up_recording(&self, steps: u32) -> bool {
        let too_long = self.core.recorder.as_ref().is_some_and(|recorder| recorder.trace.steps.len() > self.core.config.max_recorded);
        too_long || steps.is_multiple_of(LOOK) && self.core.end_signal.asked()
    }

    /// Runs decisions from the root up to the operation behind them. Asks nothing; `None` if they do not fit, which would be our defect
    /// and is counted as a lost flip.
    pub(crate) fn rerun(&mut self, before: &Prefix, model: &Model) -> Option<Box<State>> {
        let mut state = Box::new(self.root.fork_idle());
        state.script = before.to_vec().into();
        state.model = model.clone();
        state.memory.space.wake();
        let entered = self.core.entered;
        let mut steps = 0u32;
        while !state.script.is_empty() {
            steps = steps.wrapping_add(1);
            // The run ends with work left, as its summary says.
            if steps.is_multiple_of(LOOK) && self.core.end_signal.asked() {
                self.core.stats.flips_lost += 1;
                return None;
            }
            if let Err(Stop::End(end)) = self.step(&mut state, &mut POLL.clone()) {
                self.core.stats.flips_lost += 1;
                self.core.ledger.note(LedgerKind::DroppedFlip, format!("a prefix did not run again: {end:?}"));
                return None;
            }
        }
        state.memory.space.sleep();
        self.core.entered = entered;
        // What its prefix covers was new to another path.
        state.covers_new = false;
        Some(state)
    }
}
