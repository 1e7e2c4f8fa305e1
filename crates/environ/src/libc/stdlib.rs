//! Functions that end a program, and non-local jumps, of which only `setjmp` is implemented.

use wryneck_exec::{Cx, PathEnd, Reply, Stop, Value};

use crate::Linux;
use crate::sig::Args;
use crate::sys::process::exited;

/// `exit` and `_exit` of a program without libc.
pub fn exit(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let status = args.expr(cx, 0);
    Err(exited(cx, status)?.into())
}

/// `setjmp` and its kin return at once; the jump back is what we cannot do.
pub fn setjmp(_: &Linux, _: &Args<'_>, _: &mut Cx<'_>) -> Result<Reply, Stop> {
    Ok(Reply::Value(Value::Bits(0)))
}

/// Functions we know by name and cannot do.
pub fn unsupported(_: &Linux, args: &Args<'_>, _: &mut Cx<'_>) -> Result<Reply, Stop> {
    Err(PathEnd::Unsupported(format!("call of `{}`", args.call.name)).into())
}
