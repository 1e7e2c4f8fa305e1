//! Operations of steps, models and monitors on the running path: decide, concretise, check. Those on memory, pointers and inputs are
//! functions over [`Cx`] in [`crate::step::memory`], [`crate::step::pointer`] and [`crate::step::inputs`].
//!
//! Only this module and its submodules fork a running path. Every non-constant condition consumes a decision (docs/design/002). The model
//! selects the successor that the path takes. The alternative becomes a pending flip, without a query (docs/design/001). Questions that the
//! path needs answered at once go to the solver: can this division fail?
//!
//! **The law of flips.** An operation may decide several times. The state of a flip is the state before the operation, and the flip's
//! script holds the operation's decisions up to the flipped one. The path condition of that state holds only constraints of decisions
//! before the operation: [`Cx::assert_side`] saves it before it adds the operation's first constraint. The operation then runs again under
//! its script and meets each condition, and each question to the solver, exactly as it did the first time.
//! [`crate::step::core::Flip::path`] also holds what the operation asserted before the flip. The query about the flip's feasibility uses
//! it.

pub(crate) mod adoption;
mod flips;

use wryneck_expr::{ExprId, Model};
use wryneck_solver::{Answer, Budget, Why};

use crate::ground::image::CodePos;
use crate::ground::path_end::{Limit, PathEnd};
use crate::ground::prefix::Decision;
use crate::state::State;
use crate::step::core::{Core, LedgerKind};
use crate::step::plugin::{Stop, Value};
use crate::step::recorder::Step;
use crate::step::sides::Way;
use crate::step::{lazy, seed};

/// The running path and what it shares with all others.
pub struct Cx<'a> {
    pub core: &'a mut Core,
    pub state: &'a mut State,
}

/// The smallest value of an expression, and the range that it lies in: its first value and how many.
pub(super) type Least = (u64, (u64, u64));

/// Why the object is fixed that an address leads to.
pub const WITHOUT_BASE: &str = "a symbolic pointer without a base";

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
    pub fn decide_branch(&mut self, cond: ExprId, ways: Option<(Way, Way)>) -> Result<bool, Stop> {
        if let Some(value) = self.core.pool.as_u64(cond) {
            return Ok(value != 0);
        }
        self.require_written(cond, "a branch")?;
        let quick = self.quick(cond);
        if let Some(&Decision::Branch(taken)) = self.state.script.front()
            && adoption::defers_here(self)
        {
            leave_side(self, cond, taken, quick.is_some(), ways);
        }
        if let Some(taken) = flips::follow_branch(self)? {
            if quick != Some(taken) {
                self.assert_side(cond, taken)?;
            }
            note_tested(self, cond, taken, quick.is_some());
            return Ok(taken);
        }
        self.count_decision()?;
        let taken = quick.unwrap_or_else(|| self.core.eval.eval(&self.core.pool, cond, &self.state.model) != 0);
        leave_side(self, cond, taken, quick.is_some(), ways);
        self.record(Decision::Branch(taken));
        if quick.is_none() {
            self.assert_side(cond, taken)?;
        }
        if let Some(monitor) = self.core.monitor.clone() {
            monitor.on_decision(cond, taken, self);
        }
        note_tested(self, cond, taken, quick.is_some());
        Ok(taken)
    }

    /// The first of these exclusive conditions that can hold, which need not hold together; those after it are pending flips, if they are
    /// among `flips`. `None`: none can. Asks the solver, but not on replay.
    pub fn choose_first(&mut self, conds: &[ExprId], flips: std::ops::Range<usize>) -> Result<Option<usize>, Stop> {
        if let Some(&Decision::Choice(i)) = self.state.script.front()
            && adoption::defers_here(self)
        {
            leave_after(self, conds, i as usize, flips.clone());
        }
        if let Some(d) = self.next_scripted() {
            let Decision::Choice(i) = d else { return Err(flips::lost_script("choice", d)) };
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
            leave_after(self, conds, i, flips);
            self.record(Decision::Choice(i as u32));
            self.assert_side(cond, true)?;
            return Ok(Some(i));
        }
        self.record(Decision::Choice(conds.len() as u32));
        Ok(None)
    }

    /// Which of several conditions, exactly one of which holds, the path takes. `ways` are where they lead.
    pub fn choose(&mut self, conds: &[ExprId], ways: &[Way]) -> Result<usize, Stop> {
        if let Some(i) = conds.iter().position(|c| self.core.pool.as_u64(*c) == Some(1)) {
            return Ok(i);
        }
        for cond in conds {
            self.require_written(*cond, "a branch")?;
        }
        if let Some(&Decision::Choice(i)) = self.state.script.front()
            && (i as usize) < conds.len()
            && adoption::defers_here(self)
        {
            leave_others(self, conds, i as usize, ways);
        }
        if let Some(d) = self.next_scripted() {
            let Decision::Choice(i) = d else { return Err(flips::lost_script("choice", d)) };
            let Some(&cond) = conds.get(i as usize) else { return Err(flips::lost_script("choice", d)) };
            let sure = !ways.is_empty() && self.quick(cond) == Some(true);
            self.record(d);
            self.assert_side(cond, true)?;
            if !ways.is_empty() {
                note_tested(self, cond, true, sure);
            }
            return Ok(i as usize);
        }
        self.count_decision()?;
        let holds = |core: &mut Core, state: &State, c: ExprId| core.eval.eval(&core.pool, c, &state.model) != 0;
        let Some(taken) = (0..conds.len()).find(|&i| holds(self.core, self.state, conds[i])) else {
            return Err(PathEnd::Internal("no side of a choice holds under the path's model".into()).into());
        };
        let sure = leave_others(self, conds, taken, ways);
        self.record(Decision::Choice(taken as u32));
        self.assert_side(conds[taken], true)?;
        if !ways.is_empty() {
            note_tested(self, conds[taken], true, sure);
        }
        Ok(taken)
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
        if let Some(value) = seed::seeded(self, e)? {
            return Ok(value);
        }
        let flips = self.core.stats.flips;
        // Slices know the smallest value alone, and lazily made input notes what was chosen.
        let may_fail = self.core.lazy.is_none();
        let value = match fix_least(self, e, why, &|_, value| (value, 1), may_fail)? {
            Some((value, _)) => value,
            None => seed::take_value_of_model(self, e)?,
        };
        if self.core.stats.flips > flips {
            self.core.ledger.note(LedgerKind::Concretisation, why);
        }
        Ok(value)
    }

    /// As [`Cx::concretise`]: a target of a computed jump. Of one jump there are so many as the configuration allows.
    pub(crate) fn target(&mut self, value: Value, why: &str) -> Result<u64, Stop> {
        let known = matches!(self.state.script.front(), Some(Decision::Value(_)));
        if let (Value::Sym(_), false) = (value, known) {
            count_tried(self, self.core.config.max_targets, Limit::Targets)?;
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
            Some(other) => return Err(flips::lost_script("value", other)),
            None if self.state.guided => {
                self.count_decision()?;
                self.core.eval.eval(&self.core.pool, value, &self.state.model)
            }
            None => {
                self.count_decision()?;
                let (budget, base) = (self.budget(), self.state.model.clone());
                self.core.stats.solver_checks += 1;
                let least = self.core.solver.min_value(&mut self.core.pool, &self.state.path, value, &base, &budget);
                let (v, model) = least.map_err(|unknown| undecided(self, unknown, why))?;
                self.state.model = model;
                v
            }
        };
        self.core.ledger.note(LedgerKind::DroppedFlip, why);
        self.record(Decision::Value(v));
        let fixed = self.core.pool.bits(self.core.pool.width(value), v);
        let cond = self.core.pool.eq(value, fixed);
        assume_chosen(self, cond, why)?;
        Ok(v)
    }

    /// The smallest value of at most 64 bits an expression can have here; the path keeps all others. Asks the solver.
    pub fn least(&mut self, e: ExprId, why: &str) -> Result<u64, Stop> {
        if let Some(bits) = self.core.pool.as_u64(e) {
            return Ok(bits);
        }
        let budget = self.budget();
        self.core.stats.solver_checks += 1;
        let least = self.core.solver.min_value(&mut self.core.pool, &self.state.path, e, &self.state.model, &budget);
        least.map(|(value, _)| value).map_err(|unknown| undecided(self, unknown, why).into())
    }

    /// Decides now whether something can go wrong: where `ok` can be false, the path that makes it so ends as `fault` says; where it
    /// can be true, this path goes on with it. Asks the solver unless cheap facts decide.
    pub fn require(&mut self, ok: ExprId, fault: impl FnOnce(&Cx<'_>, &Model) -> PathEnd) -> Result<(), Stop> {
        required(self, ok, true, fault)
    }

    /// A model of the path condition and `cond`, if there is one. Asks the solver; a path ends if it does not decide.
    pub fn ask(&mut self, cond: ExprId) -> Result<Option<Model>, Stop> {
        let budget = self.budget();
        let answer = self.check(cond, &budget);
        decided(self, answer)
    }

    fn check(&mut self, cond: ExprId, budget: &Budget) -> Answer {
        let base = self.state.model.clone();
        self.core.stats.solver_checks += 1;
        self.core.solver.check(&mut self.core.pool, &self.state.path, cond, &base, budget)
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

    /// Tells the recorder, if there is one, of something that the running operation did.
    pub fn mark(&mut self, step: Step) {
        if let Some(recorder) = &mut self.core.recorder {
            recorder.step(step);
        }
    }
}

/// Constraints of the path when the running operation began.
fn constraints_before(cx: &Cx<'_>) -> u32 {
    cx.state.before.as_ref().unwrap_or(&cx.state.path).len() as u32
}

/// Leaves the alternative of a branch. If the path's decision is `known`, there is none, but for the facts that say so.
fn leave_side(cx: &mut Cx<'_>, cond: ExprId, taken: bool, known: bool, ways: Option<(Way, Way)>) {
    let other = if taken { cx.core.pool.not(cond) } else { cond };
    let way = ways.map(|(holds, not)| if taken { not } else { holds });
    if known {
        return flips::refute(cx, other, way);
    }
    flips::add(cx, other, Some(Decision::Branch(!taken)), way);
}

fn note_tested(cx: &mut Cx<'_>, cond: ExprId, taken: bool, known: bool) {
    if let Some(lazy) = cx.core.lazy.clone() {
        let before = constraints_before(cx);
        lazy.tested(cond, taken, (!known).then_some(before), cx);
    }
}

/// Asserts what the engine chose, and notes it unless the code has tested it.
fn assume_chosen(cx: &mut Cx<'_>, cond: ExprId, why: &str) -> Result<(), Stop> {
    if cx.core.lazy.is_some() && !lazy::holds_on(cx, &cx.state.path.clone(), cond) {
        lazy::note_assumed(cx, cond, why);
    }
    cx.assert_side(cond, true)
}

/// Leaves those of these conditions that come after the one taken and are among `flips`.
fn leave_after(cx: &mut Cx<'_>, conds: &[ExprId], taken: usize, flips: std::ops::Range<usize>) {
    for (other, &cond) in conds.iter().enumerate().skip(taken + 1) {
        if flips.contains(&other) && cx.quick(cond) != Some(false) {
            flips::add(cx, cond, Some(Decision::Choice(other as u32)), None);
        }
    }
}

/// Leaves all of these exclusive conditions but the one taken. Returns whether cheap facts say that it holds.
fn leave_others(cx: &mut Cx<'_>, conds: &[ExprId], taken: usize, ways: &[Way]) -> bool {
    let sure = cx.quick(conds[taken]) == Some(true);
    for (i, &cond) in conds.iter().enumerate().filter(|(i, _)| *i != taken) {
        match if sure { Some(false) } else { cx.quick(cond) } {
            Some(false) => flips::refute(cx, cond, ways.get(i).copied()),
            Some(true) | None => flips::add(cx, cond, Some(Decision::Choice(i as u32)), ways.get(i).copied()),
        }
    }
    sure
}

/// Fixes the range of values that the smallest value of `e` lies in, as `range` tells it (first value and how many); values beyond the range
/// become a pending flip. Gives the smallest value and the range. Asks the solver, but not on replay. A range
/// has no smaller values that `e` can have than those in it, and ranges do not overlap. Nothing where it may fail and a query is hard ([`Core::short`]); not
/// where smaller values have been left out, because the path's condition has no bound then.
fn fix_least(
    cx: &mut Cx<'_>,
    e: ExprId,
    why: &str,
    range: &dyn Fn(&Cx<'_>, u64) -> (u64, u64),
    may_fail: bool,
) -> Result<Option<Least>, Stop> {
    let width = cx.core.pool.width(e);
    let mut within = cx.state.path.clone();
    let (mut bound, mut above) = (ExprId::TRUE, None);
    if let Some(&Decision::Value(v)) = cx.state.script.front() {
        let range = range(cx, v);
        if adoption::defers_here(cx) {
            leave_rest(cx, e, ExprId::TRUE, v, range);
        }
        cx.next_scripted();
        cx.record(Decision::Value(v));
        let inside = is_in(cx, e, range);
        assume_chosen(cx, inside, why)?;
        return Ok(Some((v, range)));
    }
    match cx.next_scripted() {
        // The bound is for this query alone: the range chosen implies it.
        Some(Decision::Above(v)) => {
            let floor = cx.core.pool.bits(width, v);
            bound = cx.core.pool.ult(floor, e);
            adoption::fit(cx, bound, &cx.state.prefix.clone())?;
            cx.core.solver.push(&cx.core.pool, &mut within, bound);
            above = Some(v);
        }
        Some(other) => return Err(flips::lost_script("value", other)),
        None => {}
    }
    cx.count_decision()?;
    let all = cx.budget();
    let short = cx.core.short(&all, 0).filter(|_| may_fail && above.is_none());
    let is_short = short.is_some();
    let budget = short.unwrap_or(all);
    let base = cx.state.model.clone();
    cx.core.stats.solver_checks += 1;
    let least = cx.core.solver.min_value(&mut cx.core.pool, &within, e, &base, &budget);
    let (v, model) = match least {
        Ok(found) => found,
        Err(Why::Conflicts | Why::Cone) if is_short => return Ok(None),
        Err(unknown) => {
            adoption::take_back(cx, &unknown, above);
            return Err(undecided(cx, unknown, why).into());
        }
    };
    let range = range(cx, v);
    let inside = is_in(cx, e, range);
    leave_rest(cx, e, bound, v, range);
    cx.record(Decision::Value(v));
    cx.state.model = model;
    assume_chosen(cx, inside, why)?;
    Ok(Some((v, range)))
}

/// Leaves the values of `e` above the range of its smallest one. `bound`: what the smaller ones would have to satisfy besides.
fn leave_rest(cx: &mut Cx<'_>, e: ExprId, bound: ExprId, least: u64, range: (u64, u64)) {
    let width = cx.core.pool.width(e);
    let last = range.0.wrapping_add(range.1.wrapping_sub(1));
    let last_value = cx.core.pool.bits(width, last);
    let more = cx.core.pool.ult(last_value, e);
    let single = more == ExprId::FALSE || cx.core.solver.quick(&mut cx.core.pool, &cx.state.path, more) == Some(false);
    // No smaller value is possible: what makes it so matters if the value does.
    let first = cx.core.pool.bits(width, least);
    let smaller = cx.core.pool.ult(e, first);
    let smaller = cx.core.pool.and(bound, smaller);
    if smaller != ExprId::FALSE {
        flips::refute(cx, smaller, None);
    }
    match single {
        true if more != ExprId::FALSE => flips::refute(cx, more, None),
        true => {}
        false => flips::add(cx, more, Some(Decision::Above(last)), None),
    }
}

/// Counts one more range or value that an expression is fixed to after the same decisions; of these there are `most`.
fn count_tried(cx: &mut Cx<'_>, most: u32, limit: Limit) -> Result<(), Stop> {
    let tried = cx.core.targets.entry(cx.state.prefix.id()).or_default();
    *tried += 1;
    if *tried > most { Err(PathEnd::Limit(limit).into()) } else { Ok(()) }
}

/// As [`fix_least`], of an address: the object or gap that it lies in. Of one pointer there are so many as the configuration allows.
pub(crate) fn fix_region(cx: &mut Cx<'_>, e: ExprId, range: &dyn Fn(&Cx<'_>, u64) -> (u64, u64)) -> Result<(u64, (u64, u64)), Stop> {
    if let Some(Decision::Above(_)) = cx.state.script.front() {
        count_tried(cx, cx.core.config.max_resolutions.saturating_sub(1), Limit::Resolutions)?;
    }
    if let Some(found) = seed::seeded_range(cx, e, range)? {
        return Ok(found);
    }
    let least = fix_least(cx, e, WITHOUT_BASE, range, false)?;
    Ok(least.expect("it may not fail"))
}

/// Whether an expression's value is one of `count` from `first` on.
pub(super) fn is_in(cx: &mut Cx<'_>, e: ExprId, (first, count): (u64, u64)) -> ExprId {
    let width = cx.core.pool.width(e);
    let first = cx.core.pool.bits(width, first);
    if count == 1 {
        return cx.core.pool.eq(e, first);
    }
    let count = cx.core.pool.bits(width, count);
    let offset = cx.core.pool.sub(e, first);
    cx.core.pool.ult(offset, count)
}

/// As [`Cx::require`], but where `ok` can be false the path ends there, as the ledger says.
pub(crate) fn require_or_end(cx: &mut Cx<'_>, ok: ExprId, fault: impl FnOnce(&Cx<'_>, &Model) -> PathEnd) -> Result<(), Stop> {
    required(cx, ok, false, fault)
}

fn required(cx: &mut Cx<'_>, ok: ExprId, goes_on: bool, fault: impl FnOnce(&Cx<'_>, &Model) -> PathEnd) -> Result<(), Stop> {
    if let Some(value) = cx.core.pool.as_u64(ok) {
        return if value != 0 { Ok(()) } else { Err(fault(cx, &cx.state.model).into()) };
    }
    cx.require_written(ok, "whether this is a fault")?;
    let quick = cx.quick(ok);
    if let Some(holds) = flips::follow_branch(cx)? {
        if quick != Some(holds) {
            cx.assert_side(ok, holds)?;
        }
        return if holds { Ok(()) } else { Err(fault(cx, &cx.state.model).into()) };
    }
    cx.count_decision()?;
    match quick {
        Some(true) => {
            cx.record(Decision::Branch(true));
            return Ok(());
        }
        Some(false) => {
            cx.record(Decision::Branch(false));
            return Err(fault(cx, &cx.state.model).into());
        }
        None => {}
    }
    let bad = cx.core.pool.not(ok);
    let now_ok = cx.core.eval.eval(&cx.core.pool, ok, &cx.state.model) != 0;
    let failing = match now_ok {
        false => Some(cx.state.model.clone()),
        true => match ask_shortly(cx, bad, goes_on)? {
            Some(failing) => failing,
            None => {
                flips::add_hard(cx, bad, Decision::Branch(false));
                cx.record(Decision::Branch(true));
                return cx.assert_side(ok, true);
            }
        },
    };
    let passing = if now_ok { Some(cx.state.model.clone()) } else { cx.ask(ok)? };
    match (failing, passing) {
        (None, _) => {
            cx.record(Decision::Branch(true));
            cx.assert_side(ok, true)?;
            Ok(())
        }
        (Some(_), None) => {
            cx.record(Decision::Branch(false));
            cx.assert_side(ok, false)?;
            Err(fault(cx, &cx.state.model).into())
        }
        (Some(failing), Some(_)) if !goes_on => {
            let end = fault(cx, &failing);
            cx.core.ledger.note(LedgerKind::DroppedFlip, "where a jump to an address made of input goes, if code is there");
            cx.record(Decision::Branch(false));
            cx.state.model = failing;
            cx.assert_side(ok, false)?;
            Err(end.into())
        }
        (Some(failing), Some(passing)) => {
            let end = fault(cx, &failing);
            let mut ended = cx.state.fork();
            ended.model = failing;
            let mut there = Cx { core: cx.core, state: &mut ended };
            there.record(Decision::Branch(false));
            there.assert_side(ok, false)?;
            if let Some(monitor) = there.core.monitor.clone() {
                monitor.on_end(&end, &mut there);
            }
            if let Some(lazy) = there.core.lazy.clone() {
                lazy.ends(&end, Some(ok), &mut there);
            }
            cx.core.end(&ended, end, Vec::new());
            cx.state.node = cx.core.tree.ended_beside(cx.state.node, bad);
            cx.record(Decision::Branch(true));
            cx.state.model = passing;
            cx.assert_side(ok, true)
        }
    }
}

/// As [`Cx::ask`] whether there is a fault; nothing if the query is hard and `may_wait`. Where inputs are lazily made, what a fault tells is noted at once.
fn ask_shortly(cx: &mut Cx<'_>, bad: ExprId, may_wait: bool) -> Result<Option<Option<Model>>, Stop> {
    let all = cx.budget();
    match cx.core.short(&all, 0).filter(|_| may_wait && cx.core.lazy.is_none()) {
        None => cx.ask(bad).map(Some),
        Some(short) => match cx.check(bad, &short) {
            Answer::Unknown(Why::Conflicts | Why::Cone) => Ok(None),
            answer => decided(cx, answer).map(Some),
        },
    }
}

/// The model of an answer, if there is one; a path ends if there is no answer.
fn decided(cx: &mut Cx<'_>, answer: Answer) -> Result<Option<Model>, Stop> {
    match answer {
        Answer::Sat(model) => Ok(Some(model)),
        Answer::Unsat(_) => Ok(None),
        Answer::Unknown(unknown) => Err(undecided(cx, unknown, "a decision inside a path").into()),
    }
}

/// The end of a path whose next step the solver did not decide.
pub(crate) fn undecided(cx: &mut Cx<'_>, unknown: Why, what: &str) -> PathEnd {
    match unknown {
        Why::Stopped => return PathEnd::Limit(Limit::Interrupted),
        Why::BrokenModel => {
            return PathEnd::Internal(format!("{what}: {unknown}: {:.400}", cx.core.solver.broken().unwrap_or_default()));
        }
        Why::Nodes | Why::Cone | Why::Conflicts | Why::TooWide | Why::NoText | Why::Process | Why::Backend => {}
    }
    cx.core.ledger.note(LedgerKind::SolverTimeout, format!("{what}: {unknown}"));
    PathEnd::Limit(Limit::Solver)
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
        note_tested(cx, here, true, true);
    }
    Ok(address)
}
