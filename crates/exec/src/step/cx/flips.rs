//! How a decision is counted, taken from a script, recorded and asserted, and how its alternative becomes a pending flip.

use std::rc::Rc;

use wryneck_expr::{ExprId, Model, print};

use super::{Cx, adoption, constraints_before};
use crate::ground::image::CodePos;
use crate::ground::path_end::{Limit, PathEnd};
use crate::ground::places;
use crate::ground::prefix::{Decision, Prefix};
use crate::state::{LEFT_OUT, Script, State, positions};
use crate::step::core::{Checked, Flip, LedgerKind, Refuted};
use crate::step::plugin::Stop;
use crate::step::recorder::Step;
use crate::step::sides::Way;
use crate::step::{contexts, optimistic};

impl Cx<'_> {
    pub(crate) fn count_decision(&mut self) -> Result<(), Stop> {
        if self.state.dirty {
            return Err(PathEnd::Internal("a model decided after it had changed the path".into()).into());
        }
        self.core.stats.decisions += 1;
        if self.state.prefix.len() >= self.core.config.max_depth {
            return Err(PathEnd::Limit(Limit::Depth).into());
        }
        Ok(())
    }

    pub(super) fn next_scripted(&mut self) -> Option<Decision> {
        self.state.script.pop_front()
    }

    pub(crate) fn record(&mut self, decision: Decision) {
        self.mark(Step::Decision { index: self.state.prefix.len() });
        let constraints = constraints_before(self);
        let pos = decides_at(self);
        self.state.prefix.push(decision, constraints, self.state.taken == 0, pos);
        self.state.taken += 1;
    }

    /// Adds what a decision asserts to the path condition. The path's model satisfies it already: one that does not would make every later
    /// answer worthless, so the path ends as an internal error. Asks the solver while a job is taken up.
    pub(super) fn assert_side(&mut self, cond: ExprId, holds: bool) -> Result<(), Stop> {
        let cond = if holds { cond } else { self.core.pool.not(cond) };
        if self.core.adoption.is_some() {
            adoption::fit(self, cond, &self.state.prefix.without_last(1))?;
        }
        let holds = self.core.eval.eval(&self.core.pool, cond, &self.state.model) != 0;
        if !holds {
            return Err(broken_model(self, cond).into());
        }
        if self.core.pool.as_u64(cond).is_none() && !self.state.path.contains(&self.core.pool, cond) {
            let State { before, path, .. } = &mut *self.state;
            before.get_or_insert_with(|| path.clone());
            self.core.solver.push(&self.core.pool, path, cond);
        }
        Ok(())
    }
}

/// The place of a decision as users know it: inside a library function, the program's call of it. Of machine code, whose calls would have to be
/// searched for, the place itself.
fn decides_at(cx: &Cx<'_>) -> CodePos {
    positions(&cx.state.frames).find(|pos| !places::in_library(&cx.core.image, *pos)).unwrap_or_else(|| cx.pos())
}

pub(super) fn follow_branch(cx: &mut Cx<'_>) -> Result<Option<bool>, Stop> {
    match cx.next_scripted() {
        None => Ok(None),
        Some(d @ Decision::Branch(taken)) => {
            cx.record(d);
            Ok(Some(taken))
        }
        Some(other) => Err(lost_script("branch", other)),
    }
}

pub(super) fn lost_script(wanted: &str, got: Decision) -> Stop {
    PathEnd::Internal(format!("a replayed prefix does not fit: {got:?} where a {wanted} was decided")).into()
}

fn broken_model(cx: &Cx<'_>, cond: ExprId) -> PathEnd {
    let what = print::human::human(&cx.core.pool, cond);
    PathEnd::Internal(format!("the path's model does not satisfy what the path has decided: {what:.400}"))
}

/// Drops an other side that cannot be; where cores are wanted it is kept for its own.
pub(super) fn refute(cx: &mut Cx<'_>, cond: ExprId, way: Option<Way>) {
    let State { inputs, model, .. } = &*cx.state;
    optimistic::try_alone(cx.core, cond, way, inputs, model);
    if !cx.core.config.keep_infeasible_flips {
        cx.core.stats.flips_dropped_at_once += 1;
        return;
    }
    if cx.state.subtree == LEFT_OUT {
        return;
    }
    if adoption::is_refuted_again(cx) {
        return;
    }
    let State { prefix, path, model, .. } = &*cx.state;
    cx.core.new_refuted.push(Refuted { before: prefix.clone(), path: path.clone(), model: model.clone(), cond });
}

/// Whether a condition is one on bytes alone that are zero in every real input ([`Core::zeros`]), and does not hold there.
fn contradicts_zeros(cx: &mut Cx<'_>, cond: ExprId) -> bool {
    let support = cx.core.pool.support(cond);
    !cx.core.zeros.is_empty()
        && !support.is_empty()
        && support.iter().all(|symbol| cx.core.zeros.contains(symbol))
        && cx.core.eval.eval(&cx.core.pool, cond, &Model::empty()) == 0
}

/// Leaves an other side whose query was given up once.
pub(super) fn add_hard(cx: &mut Cx<'_>, cond: ExprId, decision: Decision) {
    let before = cx.core.new_flips.len();
    add(cx, cond, Some(decision), None);
    if let Some(flip) = cx.core.new_flips.get_mut(before) {
        flip.given_up = 1;
    }
}

/// Decisions and instructions that are run again, at most, from a snapshot that several flips share.
const SHARED_DECISIONS: u32 = 32;
const SHARED_INSTRUCTIONS: u64 = 10_000;

/// The path as it was when the operation began, or where flips share snapshots, not long before.
fn snapshot(cx: &mut Cx<'_>, before: Prefix) -> Rc<State> {
    let shares = cx.core.shares_snapshots;
    let is_near = |last: &&Rc<State>| {
        before.len() - last.prefix.len() <= SHARED_DECISIONS && cx.state.instructions - last.instructions <= SHARED_INSTRUCTIONS
    };
    if let Some(last) = cx.state.last_snapshot.as_ref().filter(|_| shares).filter(is_near) {
        return last.clone();
    }
    let mut snapshot = cx.state.fork();
    snapshot.prefix = before;
    snapshot.taken = 0;
    snapshot.covers_new = false;
    if let Some(path) = snapshot.before.take() {
        snapshot.path = path;
    }
    let snapshot = Rc::new(snapshot);
    cx.state.last_snapshot = shares.then(|| snapshot.clone());
    snapshot
}

/// Leaves the other side for later: a snapshot of the path as it was when the operation began (see the law in [`super`]).
pub(super) fn add(cx: &mut Cx<'_>, cond: ExprId, decision: Option<Decision>, way: Option<Way>) {
    // A path that is run again leaves nothing behind.
    if cx.core.recorder.is_some() || decision.is_some_and(|d| adoption::is_known(cx, d)) {
        return;
    }
    if contradicts_zeros(cx, cond) || cx.core.leads_astray(way.map(|way| way.block)) {
        cx.core.stats.flips_dropped_at_once += 1;
        return;
    }
    if cx.core.stats.flips >= cx.core.config.max_forks {
        cx.core.stats.flips_lost += 1;
        cx.core.ledger.note(LedgerKind::DroppedFlip, "fork limit");
        return;
    }
    cx.core.stats.flips += 1;
    let taken = cx.state.taken as usize;
    let before = cx.state.prefix.without_last(taken);
    let here = cx.state.prefix.to_last(taken);
    let mut prefix = cx.state.prefix.clone();
    let mut script: Script = here.into();
    if let Some(d) = decision {
        prefix.push(d, constraints_before(cx), taken == 0, decides_at(cx));
        script.push_back(d);
    }
    let state = cx.core.config.snapshots.then(|| snapshot(cx, before));
    let (pos, instructions, model) = (cx.pos(), cx.state.instructions, cx.state.model.clone());
    let path = cx.state.path.clone();
    let (stays, node) = cx.core.tree.fork(cx.state.node, cond);
    let way = way.map(|way| Way { context: cx.core.tree.remembers().then(|| contexts::number(&cx.state.frames, way.block)), ..way });
    let subtree = cx.state.subtree;
    cx.state.node = stays;
    let (checked, given_up) = (Checked::NotYet, 0);
    cx.core.new_flips.push(Flip { state, prefix, script, model, path, cond, way, pos, checked, instructions, given_up, node, subtree });
}
