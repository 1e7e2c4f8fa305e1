//! How a program reports its own defects: `assert`, `abort`.

use wryneck_exec::{Cx, FaultKind, PathEnd, Reply, Stop, Value, heap_calls};

use crate::Linux;
use crate::sig::Args;
use crate::sys::signals;

/// The text at an address, for a message; something readable if it is symbolic or not there.
pub(crate) fn text(cx: &mut Cx<'_>, pointer: Value) -> String {
    match pointer {
        Value::Bits(addr) if addr != 0 => match heap_calls::concrete_string(cx, pointer) {
            Ok(Some(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
            Ok(None) => "<symbolic text>".into(),
            Err(_) => "<no text>".into(),
        },
        Value::Bits(_) => "<null>".into(),
        Value::Sym(_) => "<symbolic text>".into(),
    }
}

/// `__assert_fail(expression, file, line, function)`.
pub fn assert_fail(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let expression = text(cx, args.value(0));
    Err(PathEnd::fault(FaultKind::AssertionFailed, format!("the assertion `{expression}` fails")).into())
}

/// abort(): the C library's own code, if there is a handler to call.
pub fn abort(_: &Linux, _: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    if signals::handles_abort(cx)? {
        return Ok(Reply::Decline);
    }
    Err(PathEnd::fault(FaultKind::Abort, "the program aborts").into())
}
