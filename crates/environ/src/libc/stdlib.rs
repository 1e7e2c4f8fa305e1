//! What ends a program, and what C cannot express: non-local jumps.

use wryneck_exec::{Cx, PathEnd, Reply, Stop};

use crate::Linux;
use crate::sig::Args;
use crate::sys::process::exited;

/// `exit` and `_exit` of a program without libc.
pub fn exit(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let status = args.expr(cx, 0);
    Err(exited(cx, status)?.into())
}

/// Functions we know by name and cannot do.
pub fn unsupported(_: &Linux, args: &Args<'_>, _: &mut Cx<'_>) -> Result<Reply, Stop> {
    Err(PathEnd::Unsupported(format!("call of `{}`", args.call.name)).into())
}
