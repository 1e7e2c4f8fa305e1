//! What steps, models and monitors may do with the running path: decide, concretise, check, read and write memory.
//!
//! This is the only file that makes a second state. Every non-constant condition consumes a decision (docs/design/002). The model selects
//! the successor that the path takes. The alternative becomes a pending flip, without a query (docs/design/001). Questions that the path
//! needs answered at once go to the solver: can this division fail?
//!
//! **The law of flips.** An operation may decide several times. The state of a flip is the state before the operation, and the flip's
//! script holds the operation's decisions up to the flipped one. The path condition of that state holds only constraints of decisions
//! before the operation: [`Cx::assert_side`] saves it before it adds the operation's first constraint. The operation then runs again
//! under its script and meets each condition, and each question to the solver, exactly as it did the first time.
//! What the operation asserted before the flip is in [`crate::step::core::Flip::path`], which is what the solver is asked about.

pub(crate) mod adoption;
mod flips;

use std::rc::Rc;

use wryneck_expr::{ExprId, Model};
use wryneck_solver::{Answer, Budget, Why};

use crate::ground::image::CodePos;
use crate::ground::path_end::{Limit, PathEnd};
use crate::ground::prefix::Decision;
use crate::state::{Input, State};
use crate::step::core::{Core, LedgerKind};
use crate::step::plugin::{Stop, Value};
use crate::step::recorder::Step;
use crate::step::seed::take_value_of_model;

/// The running path and what it shares with all others.
pub struct Cx<'a> {
    pub core: &'a mut Core,
    pub state: &'a mut State,
}

/// The smallest value of an expression, and the range that it lies in: its first value and how many.
type Least = (u64, (u64, u64));

/// Why the object is fixed that an address leads to.
pub const WITHOUT_BASE: &str = "a symbolic pointer without a base";

/// Bytes of memory for a symbolic byte: symbol, expression, facts, support and cell. Measured of an object of 4 MB: 343.
const PER_INPUT_BYTE: u64 = 350;

impl Cx<'_> {
    /// The place of the running operation.
    pub fn pos(&self) -> CodePos {
        let f = self.state.frame();
        CodePos { func: f.func(), op: f.op() }
    }

    pub(crate) fn begin_operation(&mut self) {
        self.state.taken = 0;
        self.state.dirty = false;
        self.state.before = None;
    }

    /// Constraints of the path when the running operation began.
    fn constraints_before(&self) -> u32 {
        self.state.before.as_ref().unwrap_or(&self.state.path).len() as u32
    }

    /// What cheap facts say of a condition on this path, if they are switched on.
    fn quick(&mut self, cond: ExprId) -> Option<bool> {
        if !self.core.config.quick_checks {
            return None;
        }
        self.core.solver.quick(&mut self.core.pool, &self.state.path, cond)
    }

    pub(crate) fn budget(&self) -> Budget {
        Budget { conflicts: self.core.config.query_conflicts, ..Budget::until(self.core.end_signal.clone()) }
    }

    /// Which side of a 1-bit condition the path takes; the other becomes a pending flip.
    pub fn decide(&mut self, cond: ExprId) -> Result<bool, Stop> {
        self.decide_branch(cond, None)
    }

    /// As [`Cx::decide`], where the sides lead to these blocks: (if it holds, if not).
    pub fn decide_branch(&mut self, cond: ExprId, blocks: Option<(u32, u32)>) -> Result<bool, Stop> {
        if let Some(value) = self.core.pool.as_u64(cond) {
            return Ok(value != 0);
        }
        self.require_written(cond, "a branch")?;
        let quick = self.quick(cond);
        if let Some(&Decision::Branch(taken)) = self.state.script.front()
            && self.defers_here()
        {
            self.leave_side(cond, taken, quick.is_some(), blocks);
        }
        if let Some(taken) = self.follow_branch()? {
            if quick != Some(taken) {
                self.assert_side(cond, taken)?;
            }
            self.note_tested(cond, taken, quick.is_some());
            return Ok(taken);
        }
        self.count_decision()?;
        let taken = quick.unwrap_or_else(|| self.core.eval.eval(&self.core.pool, cond, &self.state.model) != 0);
        self.leave_side(cond, taken, quick.is_some(), blocks);
        self.record(Decision::Branch(taken));
        if quick.is_none() {
            self.assert_side(cond, taken)?;
        }
        if let Some(monitor) = self.core.monitor.clone() {
            monitor.on_decision(cond, taken, self);
        }
        self.note_tested(cond, taken, quick.is_some());
        Ok(taken)
    }

    /// Leaves the alternative of a branch. If the path's decision is `known`, there is none, but for the facts that say so.
    fn leave_side(&mut self, cond: ExprId, taken: bool, known: bool, blocks: Option<(u32, u32)>) {
        let other = if taken { self.core.pool.not(cond) } else { cond };
        if known {
            return self.refute(other);
        }
        let block = blocks.map(|(holds, not)| if taken { not } else { holds });
        self.add_flip(other, Some(Decision::Branch(!taken)), block);
    }

    fn note_tested(&mut self, cond: ExprId, taken: bool, known: bool) {
        if let Some(lazy) = self.core.lazy.clone() {
            let before = self.constraints_before();
            lazy.tested(cond, taken, (!known).then_some(before), self);
        }
    }

    /// Asserts what the engine chose, and notes it unless the code has tested it.
    fn assume_chosen(&mut self, cond: ExprId, why: &str) -> Result<(), Stop> {
        if self.core.lazy.is_some() && !self.holds_on(&self.state.path.clone(), cond) {
            self.note_assumed(cond, why);
        }
        self.assert_side(cond, true)
    }

    /// Notes that the engine chose that a condition holds, where inputs are lazily made.
    pub(crate) fn note_assumed(&mut self, cond: ExprId, why: &str) {
        if let Some(lazy) = self.core.lazy.clone() {
            lazy.assumed(cond, why, self);
        }
    }

    /// Whether a path condition has every part of a condition.
    pub(crate) fn holds_on(&self, path: &wryneck_solver::PathCondition, cond: ExprId) -> bool {
        self.core.pool.conjuncts(cond).into_iter().all(|part| path.contains(&self.core.pool, part))
    }

    /// The first of these exclusive conditions that can hold, which need not hold together; those after it are pending flips, if they are
    /// among `flips`. `None`: none can. Asks the solver, but not on replay.
    pub fn choose_first(&mut self, conds: &[ExprId], flips: std::ops::Range<usize>) -> Result<Option<usize>, Stop> {
        if let Some(&Decision::Choice(i)) = self.state.script.front()
            && self.defers_here()
        {
            self.leave_after(conds, i as usize, flips.clone());
        }
        if let Some(d) = self.next_scripted() {
            let Decision::Choice(i) = d else { return Err(self.lost_script("choice", d)) };
            self.record(d);
            let Some(&cond) = conds.get(i as usize) else { return Ok(None) };
            self.assert_side(cond, true)?;
            return Ok(Some(i as usize));
        }
        self.count_decision()?;
        for (i, &cond) in conds.iter().enumerate() {
            if self.core.eval.eval(&self.core.pool, cond, &self.state.model) == 0 {
                match self.ask(cond)? {
                    Some(model) => self.state.model = model,
                    None => continue,
                }
            }
            self.leave_after(conds, i, flips);
            self.record(Decision::Choice(i as u32));
            self.assert_side(cond, true)?;
            return Ok(Some(i));
        }
        self.record(Decision::Choice(conds.len() as u32));
        Ok(None)
    }

    /// Leaves those of these conditions that come after the one taken and are among `flips`.
    fn leave_after(&mut self, conds: &[ExprId], taken: usize, flips: std::ops::Range<usize>) {
        for (other, &cond) in conds.iter().enumerate().skip(taken + 1) {
            if flips.contains(&other) && self.quick(cond) != Some(false) {
                self.add_flip(cond, Some(Decision::Choice(other as u32)), None);
            }
        }
    }

    /// Which of several conditions, exactly one of which holds, the path takes. `blocks` are where they lead.
    pub fn choose(&mut self, conds: &[ExprId], blocks: &[u32]) -> Result<usize, Stop> {
        if let Some(i) = conds.iter().position(|c| self.core.pool.as_u64(*c) == Some(1)) {
            return Ok(i);
        }
        for cond in conds {
            self.require_written(*cond, "a branch")?;
        }
        if let Some(&Decision::Choice(i)) = self.state.script.front()
            && (i as usize) < conds.len()
            && self.defers_here()
        {
            self.leave_others(conds, i as usize, blocks);
        }
        if let Some(d) = self.next_scripted() {
            let Decision::Choice(i) = d else { return Err(self.lost_script("choice", d)) };
            let Some(&cond) = conds.get(i as usize) else { return Err(self.lost_script("choice", d)) };
            let sure = !blocks.is_empty() && self.quick(cond) == Some(true);
            self.record(d);
            self.assert_side(cond, true)?;
            if !blocks.is_empty() {
                self.note_tested(cond, true, sure);
            }
            return Ok(i as usize);
        }
        self.count_decision()?;
        let holds = |core: &mut Core, state: &State, c: ExprId| core.eval.eval(&core.pool, c, &state.model) != 0;
        let Some(taken) = (0..conds.len()).find(|&i| holds(self.core, self.state, conds[i])) else {
            return Err(PathEnd::Internal("no side of a choice holds under the path's model".into()).into());
        };
        let sure = self.leave_others(conds, taken, blocks);
        self.record(Decision::Choice(taken as u32));
        self.assert_side(conds[taken], true)?;
        if !blocks.is_empty() {
            self.note_tested(conds[taken], true, sure);
        }
        Ok(taken)
    }

    /// Leaves all of these exclusive conditions but the one taken. Returns whether cheap facts say that it holds.
    fn leave_others(&mut self, conds: &[ExprId], taken: usize, blocks: &[u32]) -> bool {
        let sure = self.quick(conds[taken]) == Some(true);
        for (i, &cond) in conds.iter().enumerate().filter(|(i, _)| *i != taken) {
            match if sure { Some(false) } else { self.quick(cond) } {
                Some(false) => self.refute(cond),
                Some(true) | None => self.add_flip(cond, Some(Decision::Choice(i as u32)), blocks.get(i).copied()),
            }
        }
        sure
    }

    /// Fixes a value of `width` bits to the smallest it can have; larger ones become a pending flip. Asks the solver. If the smallest one is hard to
    /// find, it is the model's value, and all others become a pending flip.
    pub fn concretise(&mut self, value: Value, why: &str) -> Result<u64, Stop> {
        let e = match value {
            Value::Bits(bits) => return Ok(bits),
            Value::Sym(e) => e,
        };
        if let Some(bits) = self.core.pool.as_u64(e) {
            return Ok(bits);
        }
        self.require_written(e, why)?;
        if let Some(value) = self.seeded(e)? {
            return Ok(value);
        }
        let flips = self.core.stats.flips;
        // Slices know the smallest value alone, and lazily made input notes what was chosen.
        let patience = if self.core.lazy.is_none() { self.core.patience() } else { u64::MAX };
        let value = match self.fix_least(e, why, &|_, value| (value, 1), patience)? {
            Some((value, _)) => value,
            None => take_value_of_model(self, e)?,
        };
        if self.core.stats.flips > flips {
            self.core.ledger.note(LedgerKind::Concretisation, why);
        }
        Ok(value)
    }

    /// Fixes the range of values that the smallest value of `e` lies in, as `range` tells it (first value and how many); values beyond the range
    /// become a pending flip. Gives the smallest value and the range. Asks the solver, but not on replay. A range
    /// has no smaller values that `e` can have than those in it, and ranges do not overlap. Nothing if a query takes more conflicts than `patience`; not
    /// where smaller values have been left out, because the path's condition has no bound then.
    fn fix_least(&mut self, e: ExprId, why: &str, range: &dyn Fn(&Self, u64) -> (u64, u64), patience: u64) -> Result<Option<Least>, Stop> {
        let width = self.core.pool.width(e);
        let mut within = self.state.path.clone();
        let (mut bound, mut above) = (ExprId::TRUE, None);
        if let Some(&Decision::Value(v)) = self.state.script.front() {
            let range = range(self, v);
            if self.defers_here() {
                self.leave_rest(e, ExprId::TRUE, v, range);
            }
            self.next_scripted();
            self.record(Decision::Value(v));
            let inside = self.is_in(e, range);
            self.assume_chosen(inside, why)?;
            return Ok(Some((v, range)));
        }
        match self.next_scripted() {
            // The bound is for this query alone: the range chosen implies it.
            Some(Decision::Above(v)) => {
                let floor = self.core.pool.bits(width, v);
                bound = self.core.pool.ult(floor, e);
                self.fit(bound, &self.state.prefix.clone())?;
                self.core.solver.push(&self.core.pool, &mut within, bound);
                above = Some(v);
            }
            Some(other) => return Err(self.lost_script("value", other)),
            None => {}
        }
        self.count_decision()?;
        let mut budget = self.budget();
        let is_short = above.is_none() && patience < budget.conflicts;
        if is_short {
            budget.conflicts = patience;
        }
        let base = self.state.model.clone();
        self.core.stats.solver_checks += 1;
        let least = self.core.solver.min_value(&mut self.core.pool, &within, e, &base, &budget);
        let (v, model) = match least {
            Ok(found) => found,
            Err(Why::Conflicts) if is_short => return Ok(None),
            Err(unknown) => {
                self.take_back(&unknown, above);
                return Err(self.undecided(unknown, why).into());
            }
        };
        let range = range(self, v);
        let inside = self.is_in(e, range);
        self.leave_rest(e, bound, v, range);
        self.record(Decision::Value(v));
        self.state.model = model;
        self.assume_chosen(inside, why)?;
        Ok(Some((v, range)))
    }

    /// Leaves the values of `e` above the range of its smallest one. `bound`: what the smaller ones would have to satisfy besides.
    fn leave_rest(&mut self, e: ExprId, bound: ExprId, least: u64, range: (u64, u64)) {
        let width = self.core.pool.width(e);
        let last = range.0.wrapping_add(range.1.wrapping_sub(1));
        let last_value = self.core.pool.bits(width, last);
        let more = self.core.pool.ult(last_value, e);
        let single = more == ExprId::FALSE || self.core.solver.quick(&mut self.core.pool, &self.state.path, more) == Some(false);
        // No smaller value is possible: what makes it so matters if the value does.
        let first = self.core.pool.bits(width, least);
        let smaller = self.core.pool.ult(e, first);
        let smaller = self.core.pool.and(bound, smaller);
        if smaller != ExprId::FALSE {
            self.refute(smaller);
        }
        match single {
            true if more != ExprId::FALSE => self.refute(more),
            true => {}
            false => self.add_flip(more, Some(Decision::Above(last)), None),
        }
    }

    /// Counts one more range or value that an expression is fixed to after the same decisions; of these there are `most`.
    fn count_tried(&mut self, most: u32, limit: Limit) -> Result<(), Stop> {
        let tried = self.core.targets.entry(self.state.prefix.id()).or_default();
        *tried += 1;
        if *tried > most { Err(PathEnd::Limit(limit).into()) } else { Ok(()) }
    }

    /// As [`Cx::fix_least`], of an address: the object or gap that it lies in. Of one pointer there are so many as the configuration allows.
    pub(crate) fn fix_region(&mut self, e: ExprId, range: &dyn Fn(&Self, u64) -> (u64, u64)) -> Result<(u64, (u64, u64)), Stop> {
        if let Some(Decision::Above(_)) = self.state.script.front() {
            self.count_tried(self.core.config.max_resolutions.saturating_sub(1), Limit::Resolutions)?;
        }
        let least = self.fix_least(e, WITHOUT_BASE, range, u64::MAX)?;
        Ok(least.expect("no patience is asked for"))
    }

    /// Whether an expression's value is one of `count` from `first` on.
    pub(super) fn is_in(&mut self, e: ExprId, (first, count): (u64, u64)) -> ExprId {
        let width = self.core.pool.width(e);
        let first = self.core.pool.bits(width, first);
        if count == 1 {
            return self.core.pool.eq(e, first);
        }
        let count = self.core.pool.bits(width, count);
        let offset = self.core.pool.sub(e, first);
        self.core.pool.ult(offset, count)
    }

    /// As [`Cx::concretise`]: a target of a computed jump. Of one jump there are so many as the configuration allows.
    pub(crate) fn target(&mut self, value: Value, why: &str) -> Result<u64, Stop> {
        let known = matches!(self.state.script.front(), Some(Decision::Value(_)));
        if let (Value::Sym(_), false) = (value, known) {
            self.count_tried(self.core.config.max_targets, Limit::Targets)?;
        }
        address_of_code(self, value, why)
    }

    /// Fixes a value to the smallest it can have, so that it does not depend on what was explored before; on a guided path to its model's. The others are
    /// not explored, which the ledger says. Asks the solver.
    pub fn pin(&mut self, value: ExprId, why: &str) -> Result<u64, Stop> {
        if let Some(bits) = self.core.pool.as_u64(value) {
            return Ok(bits);
        }
        let v = match self.next_scripted() {
            Some(Decision::Value(v)) => v,
            Some(other) => return Err(self.lost_script("value", other)),
            None if self.state.guided => {
                self.count_decision()?;
                self.core.eval.eval(&self.core.pool, value, &self.state.model)
            }
            None => {
                self.count_decision()?;
                let (budget, base) = (self.budget(), self.state.model.clone());
                self.core.stats.solver_checks += 1;
                let least = self.core.solver.min_value(&mut self.core.pool, &self.state.path, value, &base, &budget);
                let (v, model) = least.map_err(|unknown| self.undecided(unknown, why))?;
                self.state.model = model;
                v
            }
        };
        self.core.ledger.note(LedgerKind::DroppedFlip, why);
        self.record(Decision::Value(v));
        let fixed = self.core.pool.bits(self.core.pool.width(value), v);
        let cond = self.core.pool.eq(value, fixed);
        self.assume_chosen(cond, why)?;
        Ok(v)
    }

    /// Decides now whether something can go wrong: where `ok` can be false, the path that makes it so ends as `fault` says; where it
    /// can be true, this path goes on with it. Asks the solver unless cheap facts decide.
    pub fn require(&mut self, ok: ExprId, fault: impl FnOnce(&Self, &Model) -> PathEnd) -> Result<(), Stop> {
        self.required(ok, true, fault)
    }

    /// As [`Cx::require`], but where `ok` can be false the path ends there, as the ledger says.
    pub(crate) fn require_or_end(&mut self, ok: ExprId, fault: impl FnOnce(&Self, &Model) -> PathEnd) -> Result<(), Stop> {
        self.required(ok, false, fault)
    }

    fn required(&mut self, ok: ExprId, goes_on: bool, fault: impl FnOnce(&Self, &Model) -> PathEnd) -> Result<(), Stop> {
        if let Some(value) = self.core.pool.as_u64(ok) {
            return if value != 0 { Ok(()) } else { Err(fault(self, &self.state.model).into()) };
        }
        self.require_written(ok, "whether this is a fault")?;
        let quick = self.quick(ok);
        if let Some(holds) = self.follow_branch()? {
            if quick != Some(holds) {
                self.assert_side(ok, holds)?;
            }
            return if holds { Ok(()) } else { Err(fault(self, &self.state.model).into()) };
        }
        self.count_decision()?;
        match quick {
            Some(true) => {
                self.record(Decision::Branch(true));
                return Ok(());
            }
            Some(false) => {
                self.record(Decision::Branch(false));
                return Err(fault(self, &self.state.model).into());
            }
            None => {}
        }
        let bad = self.core.pool.not(ok);
        let now_ok = self.core.eval.eval(&self.core.pool, ok, &self.state.model) != 0;
        let failing = if now_ok { self.ask(bad)? } else { Some(self.state.model.clone()) };
        let passing = if now_ok { Some(self.state.model.clone()) } else { self.ask(ok)? };
        match (failing, passing) {
            (None, _) => {
                self.record(Decision::Branch(true));
                self.assert_side(ok, true)?;
                Ok(())
            }
            (Some(_), None) => {
                self.record(Decision::Branch(false));
                self.assert_side(ok, false)?;
                Err(fault(self, &self.state.model).into())
            }
            (Some(failing), Some(_)) if !goes_on => {
                let end = fault(self, &failing);
                self.core.ledger.note(LedgerKind::DroppedFlip, "where a jump to an address made of input goes, if code is there");
                self.record(Decision::Branch(false));
                self.state.model = failing;
                self.assert_side(ok, false)?;
                Err(end.into())
            }
            (Some(failing), Some(passing)) => {
                let end = fault(self, &failing);
                let mut ended = self.state.fork();
                ended.model = failing;
                let mut there = Cx { core: self.core, state: &mut ended };
                there.record(Decision::Branch(false));
                there.assert_side(ok, false)?;
                if let Some(monitor) = there.core.monitor.clone() {
                    monitor.on_end(&end, &mut there);
                }
                if let Some(lazy) = there.core.lazy.clone() {
                    lazy.ends(&end, Some(ok), &mut there);
                }
                self.core.end(&ended, end, Vec::new());
                self.state.node = self.core.tree.ended_beside(self.state.node, bad);
                self.record(Decision::Branch(true));
                self.state.model = passing;
                self.assert_side(ok, true)
            }
        }
    }

    /// A model of the path condition and `cond`, if there is one. Asks the solver; a path ends if it does not decide.
    pub fn ask(&mut self, cond: ExprId) -> Result<Option<Model>, Stop> {
        let budget = self.budget();
        let base = self.state.model.clone();
        self.core.stats.solver_checks += 1;
        match self.core.solver.check(&mut self.core.pool, &self.state.path, cond, &base, &budget) {
            Answer::Sat(model) => Ok(Some(model)),
            Answer::Unsat(_) => Ok(None),
            Answer::Unknown(unknown) => Err(self.undecided(unknown, "a decision inside a path").into()),
        }
    }

    /// The end of a path whose next step the solver did not decide.
    pub(crate) fn undecided(&mut self, unknown: Why, what: &str) -> PathEnd {
        match unknown {
            Why::Stopped => return PathEnd::Limit(Limit::Interrupted),
            Why::BrokenModel => {
                return PathEnd::Internal(format!("{what}: {unknown}: {:.400}", self.core.solver.broken().unwrap_or_default()));
            }
            Why::Nodes | Why::Conflicts | Why::TooWide | Why::NoText | Why::Process | Why::Backend => {}
        }
        self.core.ledger.note(LedgerKind::SolverTimeout, format!("{what}: {unknown}"));
        PathEnd::Limit(Limit::Solver)
    }

    /// Goes on only where `cond` holds; a path where it cannot ends as assumed. Asks the solver if the model does not satisfy it.
    pub fn assume(&mut self, cond: ExprId) -> Result<(), Stop> {
        if let Some(value) = self.core.pool.as_u64(cond) {
            return if value != 0 { Ok(()) } else { Err(PathEnd::Assumed.into()) };
        }
        if self.core.eval.eval(&self.core.pool, cond, &self.state.model) == 0 {
            match self.ask(cond)? {
                Some(model) => self.state.model = model,
                None => return Err(PathEnd::Assumed.into()),
            }
        }
        self.assert_side(cond, true)
    }

    /// New symbolic input of `len` bytes: one 8-bit symbol each, part of the path's test case. A name used before gets a number.
    pub fn new_input(&mut self, name: &str, len: u64) -> Vec<ExprId> {
        let name: Rc<str> = self.unused_input_name(name).into();
        let symbols: Rc<[_]> = (0..len as u32).map(|i| self.core.pool.symbol(&name, i, 8)).collect();
        let exprs = symbols.iter().map(|s| self.core.input_byte(*s)).collect();
        self.state.inputs.push(Input { name, bytes: symbols });
        self.state.dirty = true;
        exprs
    }

    /// Whether there is room for an input of `len` bytes; what takes too much memory ends its path by name. To be asked where the user or the program
    /// says how large an input is.
    pub fn room_for_input(&mut self, name: &str, len: u64) -> Result<(), Stop> {
        if len.saturating_mul(PER_INPUT_BYTE) <= self.core.config.max_memory {
            return Ok(());
        }
        let what = format!("the symbolic input `{name}` of {len} bytes takes more memory than there may be");
        self.core.ledger.note(LedgerKind::Limit, what);
        Err(PathEnd::Limit(Limit::Memory).into())
    }

    /// Tells the recorder, if there is one, of something that the running operation did.
    pub fn mark(&mut self, step: Step) {
        if let Some(recorder) = &mut self.core.recorder {
            recorder.step(step);
        }
    }
}

/// As [`Cx::concretise`]: an address of code. Where the code goes by a table, as for a `switch`, is its own decision.
pub(super) fn address_of_code(cx: &mut Cx<'_>, value: Value, why: &str) -> Result<u64, Stop> {
    let address = cx.concretise(value, why)?;
    if let Value::Sym(e) = value
        && cx.core.lazy.is_some()
        && cx.core.pool.is_chosen(e)
    {
        let fixed = cx.core.pool.bits(64, address);
        let here = cx.core.pool.eq(e, fixed);
        cx.note_tested(here, true, true);
    }
    Ok(address)
}
