//! SV-COMP's functions: `__VERIFIER_nondet_*`, `__VERIFIER_assume`, `__VERIFIER_error`, `reach_error`, `__VERIFIER_assert`.

use wryneck_exec::{Cx, FaultKind, PathEnd, Reply, Stop, Value, inputs, memory};

use super::klee::nonzero;
use crate::Linux;
use crate::sig::Args;

/// `__VERIFIER_nondet_T()`: a fresh value of the width the call expects, named after the function.
pub fn nondet(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    if args.call.ret_width == 0 {
        return Ok(Reply::Void);
    }
    let bytes = inputs::new_input(cx, args.call.name, u64::from(args.call.ret_width.div_ceil(8)));
    let values = bytes.chunks(8).map(|limb| Value::Sym(memory::joined(cx, limb))).collect();
    Ok(Reply::Limbs(values))
}

/// The width in bits of the result that code calling a function of this name uses; of one that is not `nondet`, all 64. `None` if it is no
/// integer of one register.
pub fn result(name: &str) -> Option<u32> {
    let Some(of) = name.strip_prefix("__VERIFIER_nondet_") else {
        return if ["klee_get_valued", "klee_get_valuef"].contains(&name) { None } else { Some(64) };
    };
    match of {
        "bool" | "char" | "u8" | "uchar" => Some(8),
        "short" | "u16" | "ushort" => Some(16),
        "int" | "u32" | "uint" | "unsigned" => Some(32),
        "double" | "float" | "int128" | "uint128" => None,
        _ => Some(64),
    }
}

/// `__VERIFIER_nondet_bool()`: a byte that is 0 or 1.
pub fn nondet_bool(_: &Linux, _: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let byte = inputs::new_input(cx, "__VERIFIER_nondet_bool", 1)[0];
    let one = cx.core.pool.bits(8, 1);
    let is_bool = cx.core.pool.ule(byte, one);
    cx.assume(is_bool)?;
    Ok(Reply::Value(Value::Sym(byte)))
}

/// `__VERIFIER_nondet_memory(address, size)`.
pub fn nondet_memory(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let size = args.number(cx, 1)?;
    super::klee::fill(cx, args.value(0), size, args.call.name)
}

/// `__VERIFIER_assume(condition)`.
pub fn assume(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let condition = args.expr(cx, 0);
    let holds = nonzero(cx, condition);
    cx.assume(holds)?;
    Ok(Reply::Void)
}

/// `__VERIFIER_error()`, `reach_error()`.
pub fn error(_: &Linux, args: &Args<'_>, _: &mut Cx<'_>) -> Result<Reply, Stop> {
    Err(PathEnd::fault(FaultKind::AssertionFailed, format!("`{}` is reached", args.call.name)).into())
}

/// `__VERIFIER_assert(condition)`.
pub fn assert(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let condition = args.expr(cx, 0);
    let holds = nonzero(cx, condition);
    let name = args.call.name;
    cx.require(holds, |_, _| PathEnd::fault(FaultKind::AssertionFailed, format!("the condition of `{name}` fails")))?;
    Ok(Reply::Void)
}
