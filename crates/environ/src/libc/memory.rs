//! Block copies and fills. Pointers or lengths that are symbolic are left to the real code, which decides byte by byte.

use wryneck_exec::{Cx, Reply, Stop, Value};

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

fn copy(args: &Args<'_>, cx: &mut Cx<'_>, beyond: u64) -> Result<Reply, Stop> {
    let (Some(to), Some(_), Some(_)) = (args.concrete(0), args.concrete(1), args.concrete(2)) else { return Ok(Reply::Decline) };
    cx.copy_bytes(args.value(0), args.value(1), args.value(2))?;
    Ok(Reply::Value(Value::Bits(to.wrapping_add(beyond))))
}

/// memset; the byte may be symbolic.
pub fn memset(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let (Some(to), Some(_)) = (args.concrete(0), args.concrete(2)) else { return Ok(Reply::Decline) };
    let byte = cx.expr(args.value(1), 8);
    let byte = cx.value(byte);
    cx.fill_bytes(args.value(0), byte, args.value(2))?;
    Ok(Reply::Value(Value::Bits(to)))
}
