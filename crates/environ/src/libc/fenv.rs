//! The floating-point environment: rounding is to the nearest, and which exceptions operations raised is not kept. A program that asks for more
//! ends its path by name. The C library itself asks in a few functions, whose results do not depend on the answer.

use wryneck_exec::{Cx, PathEnd, Reply, Stop, Value};

use crate::Linux;
use crate::sig::Args;

const TO_NEAREST: u64 = 0;
/// `FE_DOWNWARD`, `FE_UPWARD`, `FE_TOWARDZERO`.
const OTHERS: [u64; 3] = [0x400, 0x800, 0xc00];
/// Functions of musl that save the flags and put them back.
const ITSELF: [&str; 10] = ["llrintl", "nearbyint", "nearbyintf", "nearbyintl", "lrint", "lrintf", "lrintl", "fmaf", "fmal", "feupdateenv"];

/// fesetround(rounding).
pub fn fesetround(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    match args.number(cx, 0)? {
        TO_NEAREST => Ok(Reply::Value(Value::Bits(0))),
        other if OTHERS.contains(&other) => Err(PathEnd::Unsupported("`fesetround` to another rounding than to the nearest".into()).into()),
        _ => Ok(Reply::Value(Value::Bits(u64::from(u32::MAX)))),
    }
}

/// fetestexcept(exceptions).
pub fn fetestexcept(_: &Linux, _: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let asks = cx.state.frames.iter().rev().take(2).map(|frame| cx.core.image.name(frame.func()));
    if asks.into_iter().any(|name| ITSELF.contains(&name)) {
        return Ok(Reply::Value(Value::Bits(0)));
    }
    Err(PathEnd::Unsupported("`fetestexcept`: which exceptions floating-point operations raised is not kept".into()).into())
}
