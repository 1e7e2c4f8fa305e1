//! How a decision is counted, taken from a script, recorded and asserted, and how its other side is left for later.

use std::rc::Rc;

use wryneck_expr::{ExprId, Model, print};

use super::Cx;
use crate::ground::path_end::{Limit, PathEnd};
use crate::ground::prefix::Decision;
use crate::state::LEFT_OUT;
use crate::state::{Script, State};
use crate::step::core::{Checked, Flip, LedgerKind, Refuted};
use crate::step::plugin::Stop;
use crate::step::recorder::Step;

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

    pub(super) fn follow_branch(&mut self) -> Result<Option<bool>, Stop> {
        match self.next_scripted() {
            None => Ok(None),
            Some(d @ Decision::Branch(taken)) => {
                self.record(d);
                Ok(Some(taken))
            }
            Some(other) => Err(self.lost_script("branch", other)),
        }
    }

    pub(super) fn lost_script(&self, wanted: &str, got: Decision) -> Stop {
        PathEnd::Internal(format!("a replayed prefix does not fit: {got:?} where a {wanted} was decided")).into()
    }

    pub(crate) fn record(&mut self, decision: Decision) {
        self.mark(Step::Decision { index: self.state.prefix.len() });
        let constraints = self.constraints_before();
        self.state.prefix.push(decision, constraints, self.state.taken == 0);
        self.state.taken += 1;
    }

    /// Adds what a decision asserts to the path condition. The path's model satisfies it already: one that does not would make every later
    /// answer worthless, so the path ends as an internal error. Asks the solver while a job is taken up.
    pub(super) fn assert_side(&mut self, cond: ExprId, holds: bool) -> Result<(), Stop> {
        let cond = if holds { cond } else { self.core.pool.not(cond) };
        if self.core.adoption.is_some() {
            self.fit(cond, &self.state.prefix.without_last(1))?;
        }
        let holds = self.core.eval.eval(&self.core.pool, cond, &self.state.model) != 0;
        if !holds {
            return Err(self.broken_model(cond).into());
        }
        if self.core.pool.as_u64(cond).is_none() && !self.state.path.contains(&self.core.pool, cond) {
            let State { before, path, .. } = &mut *self.state;
            before.get_or_insert_with(|| path.clone());
            self.core.solver.push(&self.core.pool, path, cond);
        }
        Ok(())
    }

    fn broken_model(&self, cond: ExprId) -> PathEnd {
        let what = print::human::human(&self.core.pool, cond);
        PathEnd::Internal(format!("the path's model does not satisfy what the path has decided: {what:.400}"))
    }

    /// Drops an other side that cannot be; where cores are wanted it is kept for its own.
    pub(super) fn refute(&mut self, cond: ExprId) {
        if !self.core.config.keep_infeasible_flips {
            self.core.stats.flips_dropped_at_once += 1;
            return;
        }
        if self.state.subtree == LEFT_OUT {
            return;
        }
        if self.is_refuted_again() {
            return;
        }
        let State { prefix, path, model, .. } = &*self.state;
        self.core.new_refuted.push(Refuted { before: prefix.clone(), path: path.clone(), model: model.clone(), cond });
    }

    /// Whether a condition is one on bytes alone that are zero in every real input ([`Core::zeros`]), and does not hold there.
    fn contradicts_zeros(&mut self, cond: ExprId) -> bool {
        let support = self.core.pool.support(cond);
        !self.core.zeros.is_empty()
            && !support.is_empty()
            && support.iter().all(|symbol| self.core.zeros.contains(symbol))
            && self.core.eval.eval(&self.core.pool, cond, &Model::empty()) == 0
    }

    /// Leaves the other side for later: a snapshot of the path as it was when the operation began (see the law in [`super`]).
    pub(super) fn add_flip(&mut self, cond: ExprId, decision: Option<Decision>, block: Option<u32>) {
        // A path that is run again leaves nothing behind.
        if self.core.recorder.is_some() || decision.is_some_and(|d| self.is_known(d)) {
            return;
        }
        if self.contradicts_zeros(cond) || self.core.leads_astray(block) {
            self.core.stats.flips_dropped_at_once += 1;
            return;
        }
        if self.core.stats.flips >= self.core.config.max_forks {
            self.core.stats.flips_lost += 1;
            self.core.ledger.note(LedgerKind::DroppedFlip, "fork limit");
            return;
        }
        self.core.stats.flips += 1;
        let taken = self.state.taken as usize;
        let before = self.state.prefix.without_last(taken);
        let here = self.state.prefix.to_last(taken);
        let mut prefix = self.state.prefix.clone();
        let mut script: Script = here.into();
        if let Some(d) = decision {
            prefix.push(d, self.constraints_before(), taken == 0);
            script.push_back(d);
        }
        let state = self.core.config.snapshots.then(|| {
            let mut snapshot = self.state.fork();
            snapshot.prefix = before;
            snapshot.taken = 0;
            snapshot.covers_new = false;
            if let Some(path) = snapshot.before.take() {
                snapshot.path = path;
            }
            Rc::new(snapshot)
        });
        let (pos, instructions, model) = (self.pos(), self.state.instructions, self.state.model.clone());
        let path = self.state.path.clone();
        let (stays, node) = self.core.tree.fork(self.state.node, cond);
        let subtree = self.state.subtree;
        self.state.node = stays;
        let (checked, is_hard) = (Checked::NotYet, false);
        self.core.new_flips.push(Flip {
            state,
            prefix,
            script,
            model,
            path,
            cond,
            block,
            pos,
            checked,
            instructions,
            is_hard,
            node,
            subtree,
        });
    }
}
