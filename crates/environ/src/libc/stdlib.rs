//! Functions that end a program, and those that the tool knows by name alone.

use wryneck_exec::{Cx, LedgerKind, PathEnd, Reply, Stop, Value};

use crate::Linux;
use crate::errno::ENOSYS;
use crate::sig::Args;
use crate::sys::process::exited;

/// `exit` and `_exit` of a program without libc.
pub fn exit(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let status = args.expr(cx, 0);
    Err(exited(cx, status)?)
}

/// `pthread_create` of machine code: there is one thread. It fails as in a process that may have no more, which is our lack and not the program's.
pub fn no_thread(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    failed(cx, args.call.name);
    Ok(Reply::Value(Value::Bits(ENOSYS.0 as u64)))
}

/// Notes that a call is answered with an error because the tool lacks what it asks for.
pub fn failed(cx: &mut Cx<'_>, name: &str) {
    let what = format!("`{name}` fails, as wryneck has no model of it");
    cx.state.approximates(what.as_str());
    cx.core.ledger.note(LedgerKind::FailedModel, what);
}

/// Notes what is taken to hold where a call is answered.
pub fn assumed(cx: &mut Cx<'_>, what: &'static str) {
    cx.core.ledger.note(LedgerKind::Assumption, what);
    cx.state.approximates(what);
}

/// Functions we know by name and cannot do.
pub fn unsupported(_: &Linux, args: &Args<'_>, _: &mut Cx<'_>) -> Result<Reply, Stop> {
    Err(PathEnd::Unsupported(format!("call of `{}`", args.call.name)).into())
}
