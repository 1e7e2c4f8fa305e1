//! Contexts: functions called with constant arguments. `error (0, …)` returns, `error (1, …)` does not (paper 1, section 7.4: bounded
//! context sensitivity).
//!
//! A context says which parameters of a call are known numbers. Under it the conditions of the function are evaluated, and edges that are
//! never taken are removed. Contexts are numbered; context 0 knows no parameter. A function has at most [`MOST`] contexts. Later ones
//! become context 0, which is always sound. Cost: effects are computed once per function and context, on demand.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use wryneck_ir::{Inst, Op};

use super::Effects;
use super::cfg::{Calls, Cfg, End};
use super::effects::Facts;
use super::known::Known;
use super::local::Local;
use super::summary::Gives;
use super::writer::arguments;
use crate::operand::slots_written;

/// The number of a context. Context 0 knows no parameter.
pub type ContextId = u32;

/// The limbs of parameters that are known numbers.
type Parameters = Rc<[Option<u64>]>;

/// Contexts of one function.
const MOST: usize = 24;
/// The most steps along a chain of values.
const DEEP: u32 = 16;

#[derive(Default)]
pub struct Contexts {
    /// By context number minus 1: the function, and its known parameters.
    known: Vec<(u32, Parameters)>,
    numbers: FxHashMap<(u32, Parameters), ContextId>,
    per_function: FxHashMap<u32, usize>,
}

/// For values of a function with one definition: the instruction that defines them.
pub struct Definitions {
    at: FxHashMap<u32, u32>,
    /// Values with a definition.
    written: FxHashSet<u32>,
}

/// Results by context.
#[derive(Default)]
pub struct Specialised {
    contexts: RefCell<Contexts>,
    cfgs: RefCell<FxHashMap<ContextId, Rc<Cfg>>>,
    effects: RefCell<FxHashMap<ContextId, Rc<Effects>>>,
    definitions: RefCell<FxHashMap<u32, Rc<Definitions>>>,
    /// Contexts being computed. A recursive call gets the results of context 0.
    in_work: RefCell<FxHashSet<ContextId>>,
}

/// A function's calls and branches under a context.
pub struct InContext<'a> {
    pub known: &'a Known<'a>,
    pub context: ContextId,
}

impl Calls for InContext<'_> {
    fn never_returns(&self, call: &Inst) -> Option<End> {
        self.known.never_returns(call)
    }
    fn never_takes(&self, op: u32) -> Option<u32> {
        let known = self.known;
        let branch = known.local.values.insts.get(op as usize)?;
        let by_context = || {
            let value = known.facts.value(known.func, self.context, branch.a)?;
            let never = if value != 0 { branch.c } else { branch.b };
            (branch.operator() == Some(Op::CondBr) && branch.b != branch.c).then_some(never)
        };
        by_context().or_else(|| known.never_takes(op))
    }
}

impl Facts {
    /// The context of a call of `callee`, whose argument limbs are these values of `func` under its own context.
    pub fn context(&self, func: u32, own: ContextId, args: &[u32], callee: u32) -> ContextId {
        if self.points_to.local(callee).is_none_or(|local| local.jumps) {
            return 0;
        }
        let code = self.image.code(callee);
        let known: Parameters =
            (0..code.param_slots as usize).map(|i| args.get(i).and_then(|value| self.value(func, own, *value))).collect();
        if known.iter().all(Option::is_none) {
            return 0;
        }
        let mut contexts = self.specialised.contexts.borrow_mut();
        if let Some(number) = contexts.numbers.get(&(callee, known.clone())) {
            return *number;
        }
        let count = contexts.per_function.entry(callee).or_default();
        *count += 1;
        if *count > MOST {
            return 0;
        }
        contexts.known.push((callee, known.clone()));
        let number = contexts.known.len() as u32;
        contexts.numbers.insert((callee, known), number);
        number
    }

    /// The only operation that defines a value, if there is one.
    pub(super) fn definition(&self, func: u32, local: &Local, value: u32) -> Option<u32> {
        self.definitions(func, local).at.get(&value).copied()
    }

    /// The number that a value has under a context, if known.
    pub fn value(&self, func: u32, context: ContextId, value: u32) -> Option<u64> {
        let local = self.points_to.local(func)?;
        self.evaluate(func, local, context, value, DEEP)
    }

    fn evaluate(&self, func: u32, local: &Local, context: ContextId, value: u32, deep: u32) -> Option<u64> {
        if let Some(constant) = self.constant(func, Some(value)) {
            return Some(constant);
        }
        let definitions = self.definitions(func, local);
        let first = self.image.code(func).consts.len() as u32;
        if let Some(param) = value.checked_sub(first).filter(|_| !definitions.written.contains(&value)) {
            let contexts = self.specialised.contexts.borrow();
            let (_, known) = contexts.known.get(context.checked_sub(1)? as usize)?;
            return known.get(param as usize).copied().flatten();
        }
        let deep = deep.checked_sub(1)?;
        let op = *definitions.at.get(&value)?;
        let inst = &local.values.insts[op as usize];
        if inst.operator() == Some(Op::Call) {
            return (self.gives(func, local, op)? == Gives::Zero).then_some(0);
        }
        let operand = |value: u32| self.evaluate(func, local, context, value, deep);
        let mask = |bits: u32| if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        if inst.width > 64 {
            return None;
        }
        let ours = mask(inst.width.into());
        let signed = |value: u64| signed(value, inst.width);
        if let Some(holds) = self.sign_tells(func, local, inst) {
            return Some(holds.into());
        }
        match inst.operator()? {
            Op::Copy | Op::Zext if inst.c <= 64 || inst.operator() == Some(Op::Copy) => operand(inst.a),
            Op::Trunc if inst.c <= 64 => Some(operand(inst.a)? & ours),
            Op::And => match (operand(inst.a), operand(inst.b)) {
                (Some(0), _) | (_, Some(0)) => Some(0),
                (a, b) => Some(a? & b?),
            },
            Op::Or => match (operand(inst.a), operand(inst.b)) {
                (Some(all), _) | (_, Some(all)) if all == ours => Some(all),
                (a, b) => Some(a? | b?),
            },
            Op::Xor => Some(operand(inst.a)? ^ operand(inst.b)?),
            Op::Add => Some(operand(inst.a)?.wrapping_add(operand(inst.b)?) & ours),
            Op::Sub => Some(operand(inst.a)?.wrapping_sub(operand(inst.b)?) & ours),
            Op::Eq | Op::Ule | Op::Sle if self.same(func, local, inst.a, inst.b) => Some(1),
            Op::Ne | Op::Ult | Op::Slt if self.same(func, local, inst.a, inst.b) => Some(0),
            Op::Eq => Some(u64::from(operand(inst.a)? == operand(inst.b)?)),
            Op::Ne => Some(u64::from(operand(inst.a)? != operand(inst.b)?)),
            Op::Ult => Some(u64::from(operand(inst.a)? < operand(inst.b)?)),
            Op::Ule => Some(u64::from(operand(inst.a)? <= operand(inst.b)?)),
            Op::Slt => Some(u64::from(signed(operand(inst.a)?) < signed(operand(inst.b)?))),
            Op::Sle => Some(u64::from(signed(operand(inst.a)?) <= signed(operand(inst.b)?))),
            Op::Select => match operand(inst.a) {
                Some(0) => operand(inst.c),
                Some(_) => operand(inst.b),
                None => None,
            },
            _ => None,
        }
    }

    /// The outcome of comparing a non-negative result of a call with a negative number, or with zero.
    fn sign_tells(&self, func: u32, local: &Local, inst: &Inst) -> Option<bool> {
        let op = inst.operator().filter(|op| matches!(op, Op::Slt | Op::Sle | Op::Eq | Op::Ne))?;
        let number = |value: u32| Some(signed(self.constant(func, Some(value))?, inst.width));
        let is_natural = |value: u32| {
            let op = self.definitions(func, local).at.get(&value).copied();
            let call = op.filter(|op| local.values.insts[*op as usize].operator() == Some(Op::Call));
            call.is_some_and(|op| self.gives(func, local, op) == Some(Gives::Natural))
        };
        let left = number(inst.b).filter(|_| is_natural(inst.a));
        let right = || number(inst.a).filter(|_| is_natural(inst.b));
        match (op, left) {
            (Op::Slt, Some(..=0)) | (Op::Sle | Op::Eq, Some(..0)) => Some(false),
            (Op::Ne, Some(..0)) => Some(true),
            (Op::Slt, None) if right()? < 0 => Some(true),
            (Op::Sle, None) if right()? <= 0 => Some(true),
            _ => None,
        }
    }

    /// The assumed result of the call at an operation; of a row about a stream only if that can be none but a standard one.
    pub fn given(&self, func: u32, op: u32) -> Option<Gives> {
        self.gives(func, self.points_to.local(func)?, op)
    }

    /// The assumed result of a call.
    fn gives(&self, func: u32, local: &Local, op: u32) -> Option<Gives> {
        let inst = local.values.insts.get(op as usize).filter(|inst| inst.operator() == Some(Op::Call))?;
        let unit = self.image.program.functions()[func as usize].unit;
        let callee = self.image.callee_of(unit, inst.a)?;
        let summary = self.summary(callee, None)?;
        let gives = summary.gives?;
        let Some(stream) = summary.stream() else { return Some(gives) };
        let args = arguments(self.image.function(func).0, inst, local.values.list(op));
        let stream = *args.get(stream as usize)?;
        if self.is_standard(func, local, stream, false) {
            return Some(gives);
        }
        let is_input = gives == Gives::Zero && self.is_standard(func, local, stream, true);
        self.assumed_input.set(self.assumed_input.get() || is_input);
        is_input.then_some(gives)
    }

    /// Whether two values are equal because a call returns its argument.
    fn same(&self, func: u32, local: &Local, a: u32, b: u32) -> bool {
        let definitions = self.definitions(func, local);
        let root = |mut value: u32| {
            for _ in 0..DEEP {
                let Some(op) = definitions.at.get(&value) else { break };
                let inst = &local.values.insts[*op as usize];
                let list = local.values.list(*op);
                value = match inst.operator() {
                    Some(Op::Copy) => inst.a,
                    Some(Op::Call) => match self.gives(func, local, *op) {
                        Some(Gives::Arg { arg, unless }) => {
                            let constant = |arg: u32| self.constant(func, list.get(arg as usize).copied());
                            let Some(given) = list.get(arg as usize) else { break };
                            if unless.is_some_and(|unless| constant(unless).is_none_or(|value| value == 0)) {
                                break;
                            }
                            *given
                        }
                        Some(Gives::Zero | Gives::Natural) | None => break,
                    },
                    _ => break,
                };
            }
            value
        };
        let (root_a, root_b) = (root(a), root(b));
        root_a == root_b && (definitions.at.contains_key(&root_a) || !definitions.written.contains(&root_a))
    }

    fn definitions(&self, func: u32, local: &Local) -> Rc<Definitions> {
        if let Some(known) = self.specialised.definitions.borrow().get(&func) {
            return known.clone();
        }
        let (module, _) = self.image.function(func);
        let mut found = Definitions { at: FxHashMap::default(), written: FxHashSet::default() };
        let mut twice = FxHashSet::default();
        for (inst, op) in local.values.insts.iter().zip(0..) {
            for value in slots_written(module, inst) {
                if !found.written.insert(value) {
                    twice.insert(value);
                }
                found.at.insert(value, op);
            }
        }
        let copied = local.values.copies.iter().flat_map(|edge| &edge.copies).chain(&local.values.joined).map(|(to, _)| *to);
        for to in copied {
            found.written.insert(to);
            twice.insert(to);
        }
        found.at.retain(|value, _| !twice.contains(value));
        let found = Rc::new(found);
        self.specialised.definitions.borrow_mut().insert(func, found.clone());
        found
    }

    /// The control-flow graph of a function under a context.
    pub fn cfg_in(&self, func: u32, context: ContextId) -> Rc<Cfg> {
        if context == 0 {
            return self.cfg(func).clone();
        }
        if let Some(known) = self.specialised.cfgs.borrow().get(&context) {
            return known.clone();
        }
        let cfg = Rc::new(self.with_known(func, |known, module, function| Cfg::new(module, function, &InContext { known, context })));
        self.specialised.cfgs.borrow_mut().insert(context, cfg.clone());
        cfg
    }

    /// The effects of a call of the function under a context; `None` while they are computed.
    pub fn function_in(&self, func: u32, context: ContextId) -> Option<Rc<Effects>> {
        if let Some(known) = self.specialised.effects.borrow().get(&context) {
            return Some(known.clone());
        }
        if !self.specialised.in_work.borrow_mut().insert(context) {
            return None;
        }
        let cfg = self.cfg_in(func, context);
        let mut all = self.whole(func, &cfg, context, &FxHashSet::default());
        all.forget(self.points_to.objects.of_frame(func));
        let all = Rc::new(all);
        self.specialised.in_work.borrow_mut().remove(&context);
        self.specialised.effects.borrow_mut().insert(context, all.clone());
        Some(all)
    }
}

/// Sign-extends a number of this many bits, at most 64.
fn signed(value: u64, width: u16) -> i64 {
    let above = 64 - u32::from(width);
    (value << above) as i64 >> above
}
