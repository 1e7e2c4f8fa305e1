//! Block copies and fills. Calls with symbolic pointers or lengths are left to the function's own code, which decides byte by byte.

use wryneck_exec::{Cx, Reply, Stop, Value, memory};

use crate::Linux;
use crate::sig::Args;

/// memcpy and memmove: the result is the first argument.
pub fn memcpy(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    copy(args, cx, 0)
}

/// mempcpy: the result is the end of what was written.
pub fn mempcpy(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    copy(args, cx, args.concrete(2).unwrap_or(0))
}

/// The pointer given as the first argument, moved on; it still knows its object.
fn behind(args: &Args<'_>, cx: &mut Cx<'_>, beyond: u64) -> Reply {
    if let Value::Bits(to) = args.value(0) {
        return Reply::Value(Value::Bits(to.wrapping_add(beyond)));
    }
    let (to, beyond) = (args.expr(cx, 0), cx.core.pool.bits(64, beyond));
    let sum = cx.core.pool.add(to, beyond);
    Reply::Value(cx.value(sum))
}

fn copy(args: &Args<'_>, cx: &mut Cx<'_>, beyond: u64) -> Result<Reply, Stop> {
    let (Some(_), Some(_), Some(_)) = (args.fixed(cx, 0), args.fixed(cx, 1), args.concrete(2)) else { return Ok(Reply::Decline) };
    memory::copy_bytes(cx, args.value(0), args.value(1), args.value(2))?;
    Ok(behind(args, cx, beyond))
}

/// memset; the byte may be symbolic.
pub fn memset(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let (Some(_), Some(_)) = (args.fixed(cx, 0), args.concrete(2)) else { return Ok(Reply::Decline) };
    let byte = cx.expr(args.value(1), 8);
    let byte = cx.value(byte);
    memory::fill_bytes(cx, args.value(0), byte, args.value(2))?;
    Ok(behind(args, cx, 0))
}
