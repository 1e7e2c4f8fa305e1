//! Calls that are not followed (paper 2, "Skipping code"): the result is under-constrained, and so is all memory that the callee could reach.
//!
//! Reachable is what the arguments and the program's writable variables point to, over any number of pointers. Objects of the C library are
//! left as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use wryneck_exec::ground::memory::Byte;
use wryneck_exec::plugin::LoopEffects;
use wryneck_exec::pointer::{self, Object, What};
use wryneck_exec::{Call, Cx, LedgerKind, Stop, Value};
use wryneck_expr::{ExprId, SymId};

use crate::MARK;
use crate::bind;
use crate::data::{Forgotten, Inputs, Skipped, SkippedLoop};

/// Bytes of one object that are searched for pointers and forgotten, at most.
const MOST: u64 = 1 << 16;

/// Gives the result of a call that is not followed.
pub(crate) fn skip(call: &Call<'_>, cx: &mut Cx<'_>) -> Result<Vec<Value>, Stop> {
    cx.core.ledger.note(LedgerKind::UndefinedFunction, call.name);
    let number = cx.state.lazy::<Inputs>().skipped.len();
    let mut roots = Vec::new();
    call.args.iter().for_each(|arg| pointed(*arg, cx, &mut roots));
    let forgotten: Vec<(u64, u64)> = reachable(roots, &[], true, cx).into_iter().collect();
    forgotten.iter().for_each(|range| forget(range.0, *range, false, cx));
    call.args.iter().for_each(|arg| forget_on_stack(*arg, cx));
    let name = format!("{MARK}{}()#{number}", call.name);
    let bytes = call.ret_width.div_ceil(8);
    let symbols: Vec<SymId> = (0..bytes).map(|i| cx.core.pool.symbol(&name, i, 8)).collect();
    let values = symbols.chunks(8).map(|limb| word(limb, cx)).collect();
    let skipped = Skipped { name: call.name.into(), result: symbols.into(), forgotten: forgotten.into() };
    Rc::make_mut(&mut cx.state.lazy_mut::<Inputs>().skipped).push(skipped);
    cx.state.dirty = true;
    cx.state.approximates(format!("`{}` is skipped", call.name));
    Ok(values)
}

/// Forgets the word that an argument points to on the stack of machine code, where no variable is known: a result, most often. A register may hold
/// another value than an argument, so what may be a return address stays.
fn forget_on_stack(arg: Value, cx: &mut Cx<'_>) {
    let Some(source) = cx.core.code_source.clone() else { return };
    let (stack, code) = (source.borrow().stack(), source.borrow().executable());
    let Value::Bits(at) = arg else { return };
    let (first, mut word) = (at & !7, [0; 8]);
    if cx.state.memory.space.read(first, &mut word) && code.iter().any(|(base, size)| u64::from_le_bytes(word).wrapping_sub(*base) < *size)
    {
        return;
    }
    if let Some(stack) = stack
        && at.checked_sub(stack.base).is_some_and(|offset| offset + 8 <= stack.size)
        && pointer::object_at(cx, at).is_some_and(|object| object.base == stack.base)
    {
        forget(stack.base, (at, first + 8 - at), false, cx);
    }
}

/// Eight symbolic bytes, or fewer, as one value.
fn word(bytes: &[SymId], cx: &mut Cx<'_>) -> Value {
    let mut whole = cx.core.pool.sym(bytes[0]);
    for byte in &bytes[1..] {
        let byte = cx.core.pool.sym(*byte);
        whole = cx.core.pool.concat(byte, whole);
    }
    Value::Sym(whole)
}

/// Forgets what a loop may have changed, and gives unknown values for its slots.
pub(crate) fn skip_loop(effects: &LoopEffects, slots: usize, cx: &mut Cx<'_>) -> Vec<Value> {
    cx.core.ledger.note(LedgerKind::Limit, format!("the loop at {} was left out", effects.place));
    let number = cx.state.lazy::<Inputs>().loops.len();
    let own = variables_of(cx);
    for (address, len) in &effects.stores {
        for (base, range) in stored(*address, *len, &own, cx) {
            forget(base, range, true, cx);
        }
    }
    let (mut roots, mut loaded) = (Vec::new(), Vec::new());
    effects.reached.iter().for_each(|value| pointed(*value, cx, &mut roots));
    effects.loaded.iter().for_each(|value| pointed(*value, cx, &mut loaded));
    if effects.calls || !roots.is_empty() {
        for range in reachable(roots, &loaded, effects.calls, cx) {
            forget(range.0, range, true, cx);
        }
    }
    let name = format!("{MARK}loop#{number}");
    let symbols: Vec<SymId> = (0..8 * slots as u32).map(|i| cx.core.pool.symbol(&name, i, 8)).collect();
    let skipped =
        SkippedLoop { place: effects.place.as_str().into(), func: cx.pos().func, depth: cx.state.frames.len(), exit: effects.exit.clone() };
    let inputs = cx.state.lazy_mut::<Inputs>();
    Rc::make_mut(&mut inputs.of_loops).extend(&symbols);
    Rc::make_mut(&mut inputs.loops).push(skipped);
    symbols.chunks(8).map(|limb| word(limb, cx)).collect()
}

/// Notes a test of what a loop may have changed. Only a loop's own end is sure to come; other values it may never give.
pub(crate) fn note_test_of_loop(cond: ExprId, cx: &mut Cx<'_>) {
    let inputs = cx.state.lazy::<Inputs>();
    let Some(last) = inputs.loops.last() else { return };
    if !cx.core.pool.support(cond).iter().any(|s| inputs.of_loops.contains(s)) {
        return;
    }
    let here = cx.pos();
    let is_exit =
        here.func == last.func && cx.state.frames.len() == last.depth && last.exit.as_ref().is_some_and(|ops| ops.contains(&here.op));
    if !is_exit {
        let doubt = format!("the code tests what the loop at {}, which was left out, may have changed", last.place);
        let inputs = cx.state.lazy_mut::<Inputs>();
        Rc::make_mut(&mut inputs.doubts).insert(doubt.into());
    }
}

/// The bytes that a store to an address changes: the object's first address, and the range. Of an address that is not fixed, the whole object.
fn stored(address: Value, len: u64, own: &BTreeSet<u64>, cx: &mut Cx<'_>) -> Vec<(u64, (u64, u64))> {
    let at = match address {
        Value::Bits(at) => Some(at),
        Value::Sym(e) => {
            let resolved = bind::replaced(e, cx);
            cx.core.pool.as_u64(resolved)
        }
    };
    if let Some(at) = at {
        let object = pointer::object_at(cx, at).filter(|object| is_writable(object, own) && at.wrapping_sub(object.base) < object.size);
        return object.map(|o| (o.base, (at, len.min(o.size - (at - o.base))))).into_iter().collect();
    }
    let mut objects = Vec::new();
    pointed(address, cx, &mut objects);
    let objects = objects.into_iter().filter_map(|at| pointer::object_at(cx, at)).filter(|object| is_writable(object, own));
    objects.map(|o| (o.base, (o.base, o.size.min(MOST)))).collect()
}

/// First addresses of the program's own variables that are written.
fn variables_of(cx: &Cx<'_>) -> BTreeSet<u64> {
    // Where a library is stripped, several variables are one object.
    cx.state.lazy::<Inputs>().variables.iter().map(|at| pointer::object_at(cx, *at).map_or(*at, |object| object.base)).collect()
}

fn is_writable(object: &Object, own: &BTreeSet<u64>) -> bool {
    match &object.what {
        What::Global { writable, .. } | What::Variable { writable, .. } => *writable && own.contains(&object.base),
        What::Function { .. } => false,
        What::Heap { freed, .. } => freed.is_none(),
        What::Local { .. } | What::Dynamic { .. } => true,
    }
}

fn forget(base: u64, range: (u64, u64), by_loop: bool, cx: &mut Cx<'_>) {
    cx.state.memory.space.make_live(range.0, range.1, false, &mut cx.core.pool);
    cx.state.lazy_mut::<Inputs>().forget(base, Forgotten { address: range.0, len: range.1, by_loop });
}

/// The objects that these pointers lead to, and if asked, the program's variables: first address and length. Those of `loaded` are looked
/// into, too, but they are no part of it.
fn reachable(roots: Vec<u64>, loaded: &[u64], variables: bool, cx: &Cx<'_>) -> BTreeMap<u64, u64> {
    let mut found: BTreeMap<u64, u64> = BTreeMap::new();
    let mut work = roots;
    let own = variables_of(cx);
    if variables {
        work.extend(&own);
    }
    for object in loaded.iter().filter_map(|address| pointer::object_at(cx, *address)) {
        words_of(object.base, object.size.min(MOST), cx, &mut work);
    }
    while let Some(address) = work.pop() {
        let Some(object) = pointer::object_at(cx, address) else { continue };
        let readable = object.size.min(MOST);
        if !is_writable(&object, &own) || found.insert(object.base, readable).is_some() {
            continue;
        }
        words_of(object.base, readable, cx, &mut work);
    }
    found
}

/// The objects that a value may point to.
fn pointed(value: Value, cx: &Cx<'_>, work: &mut Vec<u64>) {
    match value {
        Value::Bits(address) => work.push(address),
        Value::Sym(e) => symbolic(e, cx, work),
    }
}

fn symbolic(e: ExprId, cx: &Cx<'_>, work: &mut Vec<u64>) {
    if let Some((base, _)) = cx.core.pool.as_ptr(e) {
        return work.push(base);
    }
    if let Some(address) = cx.core.pool.as_u64(e) {
        return work.push(address);
    }
    let inputs = cx.state.lazy::<Inputs>();
    let support = cx.core.pool.support(e);
    let within = |word: ExprId| cx.core.pool.support(word).iter().all(|s| support.contains(s));
    work.extend(inputs.bound.iter().filter(|b| within(b.word)).map(|b| b.object));
}

/// The pointers that an object holds.
fn words_of(base: u64, size: u64, cx: &Cx<'_>, work: &mut Vec<u64>) {
    let space = &cx.state.memory.space;
    let mut word = [0; 8];
    let mut seen: Option<ExprId> = None;
    for at in (base..base + size.saturating_sub(7)).step_by(8) {
        if space.read(at, &mut word) {
            work.push(u64::from_le_bytes(word));
        } else if let Some(e) = space.whole_cell(at, 8) {
            symbolic(e, cx, work);
        } else if let Byte::Symbolic { expr, .. } = space.byte(at)
            && seen != Some(expr)
        {
            seen = Some(expr);
            let inputs = cx.state.lazy::<Inputs>();
            let first = cx.core.pool.support(expr).first();
            let holds = |word: ExprId| first.is_some_and(|s| cx.core.pool.support(word).contains(s));
            work.extend(inputs.bound.iter().filter(|b| holds(b.word)).map(|b| b.object));
        }
    }
}
