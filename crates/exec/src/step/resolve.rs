//! Which objects a symbolic pointer may point to.
//!
//! A pointer that was loaded from a table, or chosen by a condition, is a choice among pointers whose objects are known. Its [`Target`]s
//! are read off the expression, one per object. Each has the condition under which the pointer points to the object (the set of indices),
//! and the offset in it. No solver is asked, and no value is enumerated. Which object is meant is one decision.
//!
//! A pointer without such a form, such as one computed from integers, is resolved by the solver (`pointer::resolve`). The path takes the
//! object at the pointer's smallest address; a flip stands for all larger addresses.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use wryneck_expr::{ExprId, Kind, Pool};

use super::chosen::chosen;
use super::control;
use super::pointer::{Object, Place, What};
use crate::ground::memory::heap;
use crate::ground::memory::{FUNC_BASE, GLOBAL_BASE, NULL_PAGE};
use crate::step::cx::{Cx, address_of_code};
use crate::step::plugin::{LazyInputs, Stop, Value};
use crate::step::{machine, pointer};

/// Nodes of one pointer expression that are looked at; what lies deeper counts as a pointer without a base.
pub(super) const MOST_NODES: usize = 20_000;
/// How deep choices are followed.
pub(super) const MOST_DEPTH: u32 = 2_000;
/// How deep in a pointer the choices lie whose targets are kept for other paths: a field of what the choice points to is one deep.
const DEPTH_KEPT: u32 = 1;

/// What a pointer may point to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    /// Exactly this address: null, a function, or one that belongs to no object.
    Address(u64),
    /// Somewhere from the base of this object.
    Object(u64),
    /// Somewhere in this section of machine code, which also begins where its first variable does.
    Section(u64),
    /// An address without a base.
    Unknown,
}

/// One of the things a pointer may point to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub key: Key,
    /// Holds exactly where the pointer points there.
    pub cond: ExprId,
    /// From the object's base; the address itself without an object.
    pub offset: ExprId,
}

/// One of the places a pointer may lead to, and when it does.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub cond: ExprId,
    pub lead: Lead,
}

/// Where a pointer leads as far as its expression says.
#[derive(Clone, Debug)]
pub(super) enum Lead {
    To(Place),
    /// An address that only the solver can resolve.
    Unknown(ExprId),
}

/// Targets by expression, while one pointer is looked at.
struct Walk {
    known: FxHashMap<ExprId, Vec<Target>>,
    /// In machine code a constant is an address only as `pointer::is_base` says.
    machine_code: bool,
    /// Where inputs are lazily made, what is added to null is an index.
    lazy: Option<Rc<dyn LazyInputs>>,
}

/// Where a pointer may lead, by its expression: at least one, conditions exclusive and together true, in a fixed order.
pub(super) fn candidates(cx: &mut Cx<'_>, e: ExprId) -> Vec<Candidate> {
    let mut walk = Walk { known: FxHashMap::default(), machine_code: cx.core.config.machine_code, lazy: cx.core.lazy.clone() };
    let targets = walk.targets(cx, e, 0);
    let targets = if walk.machine_code { grouped(cx, &targets) } else { targets };
    let targets = targets.into_iter().filter(|target| target.cond != ExprId::FALSE);
    targets.map(|target| Candidate { cond: target.cond, lead: lead(cx, target) }).collect()
}

/// The address that a call goes to: one decision among the functions that the pointer may be, or else one value after another.
pub(super) fn call_address(cx: &mut Cx<'_>, pointer: Value) -> Result<u64, Stop> {
    const WHY: &str = "function pointer";
    let e = match pointer::known(cx, pointer) {
        Value::Bits(addr) => return Ok(addr),
        Value::Sym(e) => e,
    };
    cx.require_written(e, "a call")?;
    let mut candidates = candidates(cx, e);
    let conds: Vec<ExprId> = candidates.iter().map(|candidate| candidate.cond).collect();
    let at = if conds.len() == 1 { 0 } else { cx.choose(&conds, &[])? };
    let rest = match candidates.swap_remove(at).lead {
        Lead::To(Place::At(addr)) => return Ok(addr),
        Lead::To(Place::In(object, offset)) => {
            let base = cx.core.pool.bits(64, object.base);
            cx.core.pool.add(base, offset)
        }
        Lead::Unknown(e) => e,
    };
    // What input chooses is tried value by value.
    if !cx.core.pool.is_chosen(rest) {
        let source = cx.core.code_source.clone();
        let ranges = source.map_or(Vec::new(), |source| source.borrow().executable());
        let (in_machine_code, of_function) = (control::is_within(cx, rest, &ranges), is_of_function(cx, rest));
        let inside = cx.core.pool.or(in_machine_code, of_function);
        control::require_code(cx, rest, inside)?;
    }
    address_of_code(cx, Value::Sym(rest), WHY)
}

/// The name of the unknown function that an under-constrained function pointer points to. Null is excluded, as at a dereference; a
/// function that the code has compared the pointer with is known. Asks the solver.
pub(super) fn unknown_function(cx: &mut Cx<'_>, pointer: Value) -> Result<Option<String>, Stop> {
    let Some(lazy) = cx.core.lazy.clone() else { return Ok(None) };
    let Value::Sym(e) = pointer::known(cx, pointer) else { return Ok(None) };
    // A choice among known functions may have become arithmetic on their addresses.
    if cx.core.pool.is_chosen(e) || !lazy.is_lazy(e, cx) || !matches!(candidates(cx, e)[..], [Candidate { lead: Lead::Unknown(_), .. }]) {
        return Ok(None);
    }
    let now = cx.core.eval.eval(&cx.core.pool, e, &cx.state.model);
    let value = cx.core.pool.bits(64, now);
    if now == 0 || machine::called_at(cx, now).is_some() {
        let other = cx.core.pool.ne(e, value);
        match cx.ask(other)? {
            None => return Ok(None),
            Some(model) => cx.state.model = model,
        }
    }
    let zero = cx.core.pool.zero(64);
    let some = cx.core.pool.ne(e, zero);
    cx.assume(some)?;
    Ok(Some(format!("*{}", lazy.pointer(e, cx))))
}

/// Whether an address is that of a function of bitcode or of a model.
fn is_of_function(cx: &mut Cx<'_>, e: ExprId) -> ExprId {
    let (end, apart) = cx.core.image.functions_end();
    let inside = control::is_within(cx, e, &[(FUNC_BASE, end - FUNC_BASE)]);
    let pool = &mut cx.core.pool;
    let (mask, zero) = (pool.bits(64, apart - 1), pool.zero(64));
    let rest = pool.and(e, mask);
    let begins = pool.eq(rest, zero);
    pool.and(inside, begins)
}

/// The object of a key: the variable that begins there, unless the whole section is meant.
fn object_of(cx: &Cx<'_>, key: Key, base: u64) -> Option<Object> {
    let variable = matches!(key, Key::Object(_)).then(|| pointer::variable_at(cx, base)).flatten();
    variable.or_else(|| pointer::object_at(cx, base))
}

fn lead(cx: &mut Cx<'_>, target: Target) -> Lead {
    let Target { key, offset, .. } = target;
    match key {
        Key::Address(addr) => Lead::To(Place::At(addr)),
        Key::Unknown => Lead::Unknown(offset),
        Key::Object(base) | Key::Section(base) => match object_of(cx, key, base) {
            Some(object) => {
                let shift = cx.core.pool.bits(64, base.wrapping_sub(object.base));
                let offset = cx.core.pool.add(offset, shift);
                Lead::To(Place::In(object, offset))
            }
            // Null plus an index (`pointer::add`).
            None if base < NULL_PAGE => Lead::To(Place::At(base)),
            None => {
                let base = cx.core.pool.bits(64, base);
                Lead::Unknown(cx.core.pool.add(base, offset))
            }
        },
    }
}

/// Addresses in objects become offsets in those.
fn grouped(cx: &mut Cx<'_>, targets: &[Target]) -> Vec<Target> {
    let zero = cx.core.pool.zero(64);
    let mut all: Vec<Target> = Vec::with_capacity(targets.len());
    let mut moved = Vec::new();
    for &target in targets {
        match target.key {
            Key::Address(addr) => match in_object(cx, addr, zero) {
                Some((key, offset)) => moved.push(Target { key, offset, ..target }),
                None => all.push(target),
            },
            Key::Object(_) | Key::Section(_) | Key::Unknown => all.push(target),
        }
    }
    for target in moved {
        let pool = &mut cx.core.pool;
        match all.iter_mut().find(|other| other.key == target.key) {
            Some(other) => {
                other.offset = pool.ite(target.cond, target.offset, other.offset);
                other.cond = pool.or(other.cond, target.cond);
            }
            None => all.push(target),
        }
    }
    all.sort_by_key(|target| target.key);
    all
}

/// The base of the object that the address `addr` stands for where `rest` is added to it, and the whole offset there.
fn in_object(cx: &mut Cx<'_>, addr: u64, rest: ExprId) -> Option<(Key, ExprId)> {
    let object = pointer::object_at(cx, addr).filter(|object| pointer::is_base(cx, addr, object, rest))?;
    let shift = cx.core.pool.bits(64, addr.wrapping_sub(object.base));
    if cx.core.config.machine_code && addr != object.base && matches!(object.what, What::Heap { .. }) {
        let offset = cx.core.pool.add(rest, shift);
        if !may_lie_in(cx, &object, offset) {
            return None;
        }
    }
    let section = cx.core.config.machine_code && matches!(object.what, What::Global { .. });
    let key = if section { Key::Section(object.base) } else { Key::Object(object.base) };
    Some((key, cx.core.pool.add(rest, shift)))
}

/// Whether an offset may lie in a heap object, its end included. Where it cannot, the constant that lies there was folded from an address of another
/// object, which may have been made before this one. Asks the solver where neither the bounds of the offset nor the model show it.
fn may_lie_in(cx: &mut Cx<'_>, object: &Object, offset: ExprId) -> bool {
    let (low, high) = cx.core.pool.interval(offset);
    if low <= high && high <= object.size || cx.core.eval.eval(&cx.core.pool, offset, &cx.state.model) <= object.size {
        return true;
    }
    let size = cx.core.pool.bits(64, object.size);
    let inside = cx.core.pool.ule(offset, size);
    // What the solver does not decide may.
    !matches!(cx.ask(inside), Ok(None))
}

/// The addresses around `addr` that are resolved together with it: the object it lies in, if it does, or a gap.
pub(super) fn region_of(cx: &Cx<'_>, addr: u64) -> Region {
    if addr < NULL_PAGE {
        return Region { base: 0, size: NULL_PAGE, object: None };
    }
    let object = pointer::object_at(cx, addr).filter(|o| addr.wrapping_sub(o.base) < o.size);
    match object {
        Some(object) => Region { base: object.base, size: object.size, object: Some(object) },
        None => Region { base: addr, size: gap_end(cx, addr).saturating_sub(addr).max(1), object: None },
    }
}

/// An address up to which no object begins, from one on that lies in none.
fn gap_end(cx: &Cx<'_>, addr: u64) -> u64 {
    if (FUNC_BASE..GLOBAL_BASE).contains(&addr) || cx.state.frames_at(addr).is_some() {
        return addr + 1;
    }
    let statics = &cx.state.memory.statics;
    let next = statics.get(statics.partition_point(|s| s.base <= addr)).map_or(u64::MAX, |s| s.base);
    let next = next.min(if addr < cx.state.sp { cx.state.sp } else { u64::MAX });
    let next = cx.state.parked_stacks().map(|(sp, ..)| sp).filter(|sp| addr < *sp).fold(next, u64::min);
    let next = next.min(if addr < FUNC_BASE { FUNC_BASE } else { u64::MAX });
    match heap::contains(addr) {
        true => {
            let heap = &cx.state.memory.heap;
            let behind = heap.find(addr).map(|object| object.base).filter(|base| addr < *base);
            next.min(behind.unwrap_or(heap.next_slot(addr)))
        }
        false if addr < heap::HEAP_BASE => next.min(heap::HEAP_BASE),
        false => next,
    }
}

/// Addresses that are resolved together.
pub(super) struct Region {
    pub base: u64,
    pub size: u64,
    pub object: Option<Object>,
}

impl Walk {
    /// What a pointer may point to, sorted by key, each key once.
    fn targets(&mut self, cx: &mut Cx<'_>, e: ExprId, depth: u32) -> Vec<Target> {
        if let Some(known) = self.known.get(&e) {
            return known.clone();
        }
        let targets = match self.known.len() < MOST_NODES && depth < MOST_DEPTH {
            true => self.make(cx, e, depth),
            false => vec![unknown(e)],
        };
        self.known.insert(e, targets.clone());
        targets
    }

    fn make(&mut self, cx: &mut Cx<'_>, e: ExprId, depth: u32) -> Vec<Target> {
        if let Some((base, offset)) = cx.core.pool.as_ptr(e) {
            return vec![Target { key: Key::Object(base), cond: ExprId::TRUE, offset }];
        }
        if let Some(addr) = cx.core.pool.as_u64(e) {
            return vec![self.address(cx, e, addr)];
        }
        match cx.core.pool.kind(e) {
            Kind::Ite(c, a, b) => {
                if depth <= DEPTH_KEPT
                    && let Some(targets) = chosen(cx, e)
                {
                    return self.settled(cx, &targets);
                }
                let (a, b) = (self.targets(cx, a, depth + 1), self.targets(cx, b, depth + 1));
                either(&mut cx.core.pool, c, &a, &b)
            }
            Kind::Add(a, b) => {
                let known = |targets: &[Target]| targets.iter().any(|t| matches!(t.key, Key::Object(_) | Key::Section(_)));
                let left = self.targets(cx, a, depth + 1);
                if known(&left) || self.machine_code && addresses(cx, &left) {
                    return self.moved(cx, left, b);
                }
                let right = self.targets(cx, b, depth + 1);
                match known(&right) || self.machine_code && addresses(cx, &right) {
                    true => self.moved(cx, right, a),
                    false => vec![unknown(e)],
                }
            }
            Kind::Sub(a, b) => {
                let left = self.targets(cx, a, depth + 1);
                if !left.iter().any(|t| matches!(t.key, Key::Object(_) | Key::Section(_))) {
                    return vec![unknown(e)];
                }
                let by = cx.core.pool.neg(b);
                self.moved(cx, left, by)
            }
            // It may be a choice of two constants, written as bits.
            Kind::Concat(..) | Kind::Zext(_) | Kind::Sext(_) => {
                chosen(cx, e).map_or(vec![unknown(e)], |targets| self.settled(cx, &targets))
            }
            _ => vec![unknown(e)],
        }
    }

    /// Targets whatever the state, in this one.
    fn settled(&self, cx: &mut Cx<'_>, targets: &[Target]) -> Vec<Target> {
        if self.machine_code { targets.to_vec() } else { grouped(cx, targets) }
    }

    fn address(&self, cx: &mut Cx<'_>, e: ExprId, addr: u64) -> Target {
        let zero = cx.core.pool.zero(64);
        let object = if self.machine_code { None } else { in_object(cx, addr, zero) };
        match object {
            Some((key, offset)) => Target { key, cond: ExprId::TRUE, offset },
            None => Target { key: Key::Address(addr), cond: ExprId::TRUE, offset: e },
        }
    }

    /// These targets with `rest` added to the pointer.
    fn moved(&self, cx: &mut Cx<'_>, targets: Vec<Target>, rest: ExprId) -> Vec<Target> {
        let mut all: Vec<Target> = Vec::with_capacity(targets.len());
        for mut target in targets {
            match target.key {
                Key::Object(_) | Key::Section(_) => target.offset = cx.core.pool.add(target.offset, rest),
                Key::Unknown => target.offset = cx.core.pool.add(target.offset, rest),
                Key::Address(addr) => match in_object(cx, addr, rest) {
                    Some(there) => (target.key, target.offset) = there,
                    None if addr < NULL_PAGE && self.lazy.as_ref().is_some_and(|lazy| lazy.is_index(rest, 1, cx)) => {}
                    None => {
                        target.offset = cx.core.pool.add(target.offset, rest);
                        target.key = cx.core.pool.as_u64(target.offset).map_or(Key::Unknown, Key::Address);
                    }
                },
            }
            match all.iter_mut().find(|other| other.key == target.key) {
                Some(other) => {
                    other.offset = cx.core.pool.ite(target.cond, target.offset, other.offset);
                    other.cond = cx.core.pool.or(other.cond, target.cond);
                }
                None => all.push(target),
            }
        }
        all.sort_by_key(|target| target.key);
        all
    }
}

fn unknown(e: ExprId) -> Target {
    Target { key: Key::Unknown, cond: ExprId::TRUE, offset: e }
}

/// Whether some of them are addresses in objects.
fn addresses(cx: &Cx<'_>, targets: &[Target]) -> bool {
    let in_object = |addr| pointer::object_at(cx, addr).is_some_and(|o| !matches!(o.what, What::Function { .. }));
    targets.iter().any(|t| matches!(t.key, Key::Address(addr) if in_object(addr)))
}

/// The targets of a choice: both lists are sorted.
pub(super) fn either(pool: &mut Pool, c: ExprId, a: &[Target], b: &[Target]) -> Vec<Target> {
    let not = pool.not(c);
    let mut all = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    loop {
        let target = match (a.get(i), b.get(j)) {
            (None, None) => return all,
            (Some(x), Some(y)) if x.key == y.key => {
                (i, j) = (i + 1, j + 1);
                Target { key: x.key, cond: pool.ite(c, x.cond, y.cond), offset: pool.ite(c, x.offset, y.offset) }
            }
            (Some(x), y) if y.is_none_or(|y| x.key < y.key) => {
                i += 1;
                Target { cond: pool.and(c, x.cond), ..*x }
            }
            (_, Some(y)) => {
                j += 1;
                Target { cond: pool.and(not, y.cond), ..*y }
            }
            (Some(_), None) => unreachable!("the guard before holds without a second target"),
        };
        all.push(target);
    }
}
