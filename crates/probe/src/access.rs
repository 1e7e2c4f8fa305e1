//! Accesses to lazily made objects: their sizes grow, unknown bytes become symbols, and aliasing that would matter is noted.

use std::rc::Rc;

use wryneck_exec::pointer::{self, Object, What};
use wryneck_exec::{Cx, Limit, PathEnd, Stop, Value};
use wryneck_expr::ExprId;

use crate::data::{Initial, Inputs, Written};
use crate::{LEAD, MARK, Probe};

/// Offsets that a symbolic offset into an object of unknown size may have, a power of two.
const WINDOW: u64 = 128;

/// The offset to use for an access of `size` bytes, after the object has grown to it.
pub(crate) fn access(probe: &Probe, object: &Object, offset: ExprId, size: u64, write: bool, cx: &mut Cx<'_>) -> Result<ExprId, Stop> {
    let Some(index) = cx.state.lazy::<Inputs>().index_of(object.base) else { return Ok(offset) };
    let lead = cx.state.lazy::<Inputs>().objects[index].at - object.base;
    if matches!(object.what, What::Heap { freed: Some(_), .. }) {
        // A harness gives the object these bytes, too.
        if let Some(at) = cx.core.pool.as_u64(offset) {
            let end = fixed(at.wrapping_sub(lead), size).1.min(probe.bounds.object_bytes as i64);
            let made = &mut Rc::make_mut(&mut cx.state.lazy_mut::<Inputs>().objects)[index];
            made.high = made.high.max(end);
        }
        return Ok(offset);
    }
    let (offset, range) = match cx.core.pool.as_u64(offset) {
        Some(at) => (offset, fixed(at.wrapping_sub(lead), size)),
        None => window(offset, lead, size, cx)?,
    };
    let room = probe.bounds.object_bytes as i64;
    if range.0 < -(lead.min(LEAD) as i64) || range.1 > room || range.1 < range.0 {
        cx.state.lazy_mut::<Inputs>().note_bound("bytes of an object");
        return Err(PathEnd::Limit(Limit::ObjectSize).into());
    }
    note(index, range, size, write, cx);
    Ok(offset)
}

fn fixed(at: u64, size: u64) -> (i64, i64) {
    let at = at as i64;
    (at, i64::try_from(size).ok().and_then(|size| at.checked_add(size)).unwrap_or(i64::MIN))
}

/// A symbolic offset, assumed to lie in the window from the object's beginning where it can; else fixed to its values one by one.
fn window(offset: ExprId, lead: u64, size: u64, cx: &mut Cx<'_>) -> Result<(ExprId, (i64, i64)), Stop> {
    let pool = &mut cx.core.pool;
    let start = pool.bits(64, lead);
    let inside = pool.sub(offset, start);
    let (low, high) = pool.interval(inside);
    if low <= high && high - low < 2 * WINDOW && high < 1 << 32 {
        return Ok((offset, (low as i64, (high + size) as i64)));
    }
    let limit = pool.bits(64, WINDOW);
    let within = pool.ult(inside, limit);
    if cx.choose_first(&[within], 0..0)?.is_some() {
        let what = format!("an index reaches at most {WINDOW} bytes of an object of unknown size");
        // No error needs it: what lies farther away is as unknown.
        Rc::make_mut(&mut cx.state.lazy_mut::<Inputs>().named).push(within);
        cx.state.lazy_mut::<Inputs>().note_bound(&what);
        let pool = &mut cx.core.pool;
        let low = pool.extract(inside, 0, WINDOW.trailing_zeros());
        let low = pool.zext(low, 64);
        let start = pool.bits(64, lead);
        return Ok((pool.add(low, start), (0, (WINDOW + size) as i64)));
    }
    let at = cx.concretise(Value::Sym(offset), "offset into an object of unknown size")?;
    Ok((cx.core.pool.bits(64, at), fixed(at.wrapping_sub(lead), size)))
}

/// Whether a write and a read of so many bytes may show the same variable: by C's effective types, those of scalars have one size. A byte may be
/// part of anything when it is written, and so may a block; a byte that is read of a larger scalar that was written is not counted.
fn may_meet(written: u64, read: u64) -> bool {
    let is_scalar = |size| matches!(size, 2 | 4 | 8);
    written == read || !is_scalar(written) || read > 8
}

/// Notes an access: how far the object reaches, what was written, and which other object would have shown it if it were the same one. What this
/// object itself has written since hides what another one has written before.
fn note(index: usize, range: (i64, i64), size: u64, write: bool, cx: &mut Cx<'_>) {
    let inputs = cx.state.lazy::<Inputs>();
    let made = &inputs.objects[index];
    let grows = range.0 < made.low || range.1 > made.high;
    let own = made.written.iter().position(|w| w.low <= range.0 && range.1 <= w.high && w.size == size);
    let over = |w: &Written| w.low < range.1 && range.0 < w.high;
    let others = || inputs.objects.iter().enumerate().filter(|(other, _)| *other != index);
    let since = match write {
        // Only where another object was written, too, does it matter when.
        true => others().any(|(_, made)| made.written.iter().any(over)),
        false => false,
    };
    // Of a symbolic offset, not all of the range was written.
    let whole = |w: &&Written| w.low <= range.0 && range.1 <= w.high && w.high - w.low == w.size as i64;
    let hides = made.written.iter().filter(whole).map(|w| w.latest).max();
    let shows = |w: &Written| over(w) && may_meet(w.size, size) && hides.is_none_or(|own| own < w.latest);
    let met: Vec<(usize, usize)> = match write {
        true => Vec::new(),
        false => others()
            .filter(|(_, made)| made.written.iter().any(shows))
            .map(|(other, _)| (index.min(other), index.max(other)))
            .filter(|pair| !inputs.interfering.contains(pair))
            .collect(),
    };
    if !grows && met.is_empty() && !(write && (own.is_none() || since)) {
        return;
    }
    let inputs = cx.state.lazy_mut::<Inputs>();
    if !met.is_empty() {
        Rc::make_mut(&mut inputs.interfering).extend(met);
    }
    let made = &mut Rc::make_mut(&mut inputs.objects)[index];
    (made.low, made.high) = (made.low.min(range.0), made.high.max(range.1));
    if write {
        inputs.writes += 1;
        let written = Rc::make_mut(&mut made.written);
        match own {
            Some(own) => written[own].latest = inputs.writes,
            None => written.push(Written { low: range.0, high: range.1, size, latest: inputs.writes }),
        }
    }
}

/// The symbol of a byte that was never written: of a lazily made object, of a variable, of uninitialised memory.
pub(crate) fn unwritten(address: u64, cx: &mut Cx<'_>) -> ExprId {
    let (name, base, start) = described(address, cx);
    let (epoch, by_loop) = cx.state.lazy::<Inputs>().epoch(base, address);
    let name = if epoch == 0 { format!("{MARK}{name}") } else { format!("{MARK}{name}#{epoch}") };
    let symbol = cx.core.pool.symbol(&name, address.wrapping_sub(start) as u32, 8);
    let inputs = cx.state.lazy_mut::<Inputs>();
    if by_loop {
        Rc::make_mut(&mut inputs.of_loops).insert(symbol);
    }
    inputs.initial.push(Initial { address, symbol });
    if let Some(index) = inputs.index_of(base) {
        // Models read some bytes without an access of the code.
        let end = address.wrapping_sub(start) as i64 + 1;
        if inputs.objects[index].high < end {
            Rc::make_mut(&mut inputs.objects)[index].high = end;
        }
    }
    cx.core.pool.sym(symbol)
}

/// The name of the object that an address belongs to, its first address, and the address that its offsets count from.
fn described(address: u64, cx: &Cx<'_>) -> (String, u64, u64) {
    let Some(object) = pointer::object_at(cx, address) else { return (format!("memory@{address:#x}"), address, address) };
    let base = object.base;
    let inputs = cx.state.lazy::<Inputs>();
    if let Some(made) = inputs.made(base) {
        return (format!("*{}", made.pointer), base, made.at);
    }
    let name = match &object.what {
        What::Global { name, .. } | What::Function { name } => name.clone(),
        What::Local { name, .. } => format!("{name}@{base:x}"),
        What::Dynamic { .. } => format!("stack@{base:x}"),
        What::Variable { number, .. } => format!("variable{number}@{base:x}"),
        What::Heap { .. } => format!("heap@{base:x}"),
    };
    (name, base, base)
}
