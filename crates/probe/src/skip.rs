//! Calls that are not followed (paper 2, "Skipping code"): the result is under-constrained, and so is all memory that the callee could reach.
//!
//! Reachable is what the arguments and the program's writable variables point to, over any number of pointers. Objects of the C library are
//! left as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use wryneck_exec::memory::Byte;
use wryneck_exec::step::pointer::What;
use wryneck_exec::{Call, Cx, LedgerKind, Stop, Value};
use wryneck_expr::{ExprId, SymId};

use crate::MARK;
use crate::data::{Inputs, Skipped};

/// Bytes of one object that are searched for pointers and forgotten, at most.
const MOST: u64 = 1 << 16;

/// Gives the result of a call that is not followed.
pub(crate) fn skip(call: &Call<'_>, cx: &mut Cx<'_>) -> Result<Vec<Value>, Stop> {
    cx.core.ledger.note(LedgerKind::UndefinedFunction, call.name);
    let number = cx.state.lazy::<Inputs>().skipped.len();
    let forgotten = forget(call.args, cx);
    let name = format!("{MARK}{}()#{number}", call.name);
    let bytes = call.ret_width.div_ceil(8);
    let symbols: Vec<SymId> = (0..bytes).map(|i| cx.core.pool.symbol(&name, i, 8)).collect();
    let mut values = Vec::new();
    for limb in symbols.chunks(8) {
        let mut whole = cx.core.pool.sym(limb[0]);
        for byte in &limb[1..] {
            let byte = cx.core.pool.sym(*byte);
            whole = cx.core.pool.concat(byte, whole);
        }
        values.push(Value::Sym(whole));
    }
    let skipped = Skipped { name: call.name.into(), result: symbols.into(), forgotten: forgotten.into() };
    Rc::make_mut(&mut cx.state.lazy_mut::<Inputs>().skipped).push(skipped);
    cx.state.dirty = true;
    cx.state.approximated = true;
    Ok(values)
}

/// Forgets what a callee could reach: first address and length of each range.
fn forget(args: &[Value], cx: &mut Cx<'_>) -> Vec<(u64, u64)> {
    let mut found: BTreeMap<u64, u64> = BTreeMap::new();
    let mut work: Vec<u64> = Vec::new();
    for arg in args {
        pointed(*arg, cx, &mut work);
    }
    let variables = cx.core.image.written();
    work.extend(variables.iter().map(|v| v.address));
    let own: BTreeSet<u64> = variables.iter().map(|v| v.address).collect();
    while let Some(address) = work.pop() {
        let Some(object) = cx.object_at(address) else { continue };
        let writable = match &object.what {
            What::Global { writable, .. } | What::Variable { writable, .. } => *writable && own.contains(&object.base),
            What::Function { .. } => false,
            What::Heap { freed, .. } => freed.is_none(),
            What::Local { .. } | What::Dynamic { .. } => true,
        };
        let readable = object.size.min(MOST);
        if !writable || found.insert(object.base, readable).is_some() {
            continue;
        }
        words_of(object.base, readable, cx, &mut work);
    }
    for (&base, &size) in &found {
        cx.state.memory.space.make_live(base, size, false, &mut cx.core.pool);
        *Rc::make_mut(&mut cx.state.lazy_mut::<Inputs>().epochs).entry(base).or_default() += 1;
    }
    found.into_iter().collect()
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
