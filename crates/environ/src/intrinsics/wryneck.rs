//! Our own intrinsics of `wryneck.h`, except those that equal another family's.

use wryneck_exec::{Cx, FaultKind, PathEnd, Reply, Stop, Value, float, inputs, memory, pointer};

use crate::Linux;
use crate::libc::assert::text;
use crate::sig::Args;

/// wryneck_report(kind, message): the path ends with a finding.
pub fn report(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let (kind, message) = (text(cx, args.value(0)), text(cx, args.value(1)));
    Err(PathEnd::fault(FaultKind::Reported, format!("{kind}: {message}")).into())
}

/// wryneck_choose_range(low, high, name): an `int64_t`, both bounds included.
pub fn choose_range(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let (low, high) = (args.expr(cx, 0), args.expr(cx, 1));
    let name = text(cx, args.value(2));
    let bytes = inputs::new_input(cx, &name, 8);
    let e = memory::joined(cx, &bytes);
    let (above, below) = (cx.core.pool.sle(low, e), cx.core.pool.sle(e, high));
    let within = cx.core.pool.and(above, below);
    cx.assume(within)?;
    Ok(Reply::Value(Value::Sym(e)))
}

/// wryneck_concretise(value): the smallest it can have, and the path keeps that one; the others are other paths.
pub fn concretise(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    Ok(Reply::Value(Value::Bits(args.number(cx, 0)?)))
}

/// `__wryneck_concretise(value)`: the same, for the library of bitcode, which has a part of a number to print or an exponent to read.
pub fn concretise_number(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let part = args.expr(cx, 0);
    let part = float::taken_apart(cx, part)?;
    let value = cx.concretise(Value::Sym(part), "floating-point number to print, or exponent to read")?;
    Ok(Reply::Value(Value::Bits(value)))
}

/// wryneck_room(address): bytes from it to the end of the object that holds it, 0 if none does.
pub fn room(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let addr = args.number(cx, 0)?;
    let room = pointer::object_at(cx, addr).map_or(0, |o| o.size.saturating_sub(addr.wrapping_sub(o.base)));
    Ok(Reply::Value(Value::Bits(room)))
}

/// `__wryneck_bad_return(to, expected)`: machine code is about to return elsewhere than to its call.
pub fn bad_return(_: &Linux, args: &Args<'_>, _: &mut Cx<'_>) -> Result<Reply, Stop> {
    let words = |i: usize| args.concrete(i).map_or("an address made of input".to_owned(), |address| format!("{address:#x}"));
    let message = format!("the return address on the stack was overwritten: {} in place of {}", words(0), words(1));
    Err(PathEnd::fault(FaultKind::OverwrittenReturn, message).into())
}
