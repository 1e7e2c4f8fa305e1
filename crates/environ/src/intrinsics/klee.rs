//! KLEE's intrinsics, as `klee/klee.h` declares them.
//!
//! Intrinsics that only steer KLEE (merging, preferred values, switching forking off) do nothing. What we cannot do is unsupported, by
//! name.

use wryneck_exec::{Cx, FaultKind, LedgerKind, PathEnd, Reply, Stop, Value, inputs, memory, pointer};
use wryneck_expr::ExprId;

use crate::Linux;
use crate::libc::assert::text;
use crate::sig::Args;
use crate::start;

/// klee_make_symbolic(address, size, name).
pub fn make_symbolic(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let size = args.number(cx, 1)?;
    let name = match args.value(2) {
        Value::Bits(0) => "unnamed".to_owned(),
        pointer => text(cx, pointer),
    };
    fill(cx, args.value(0), size, &name)
}

/// Fills a block with a fresh input.
pub(crate) fn fill(cx: &mut Cx<'_>, pointer: Value, size: u64, name: &str) -> Result<Reply, Stop> {
    let addr = memory::writable_block(cx, pointer, size)?;
    inputs::room_for_input(cx, name, size)?;
    let bytes = inputs::new_input(cx, name, size);
    memory::write_bytes(cx, addr, &bytes)?;
    Ok(Reply::Void)
}

/// klee_assume(condition): any bit set means it holds.
pub fn assume(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let condition = args.expr(cx, 0);
    let holds = nonzero(cx, condition);
    cx.assume(holds)?;
    Ok(Reply::Void)
}

pub(crate) fn nonzero(cx: &mut Cx<'_>, e: ExprId) -> ExprId {
    let width = cx.core.pool.width(e);
    let zero = cx.core.pool.zero(width);
    cx.core.pool.ne(e, zero)
}

/// A fresh symbolic `int` under a name.
fn fresh_int(cx: &mut Cx<'_>, pointer: Value) -> ExprId {
    let name = text(cx, pointer);
    let bytes = inputs::new_input(cx, &name, 4);
    memory::joined(cx, &bytes)
}

/// klee_int(name).
pub fn int(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let e = fresh_int(cx, args.value(0));
    Ok(Reply::Value(Value::Sym(e)))
}

/// klee_range(begin, end, name): an `int` from `begin` to before `end`.
pub fn range(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let (begin, end) = (args.number(cx, 0)?, args.number(cx, 1)?);
    if begin as i32 >= end as i32 {
        return Err(PathEnd::fault(FaultKind::Reported, "`klee_range` of an empty range").into());
    }
    let e = fresh_int(cx, args.value(2));
    let (low, high) = (cx.core.pool.bits(32, begin), cx.core.pool.bits(32, end));
    let (above, below) = (cx.core.pool.sle(low, e), cx.core.pool.slt(e, high));
    let within = cx.core.pool.and(above, below);
    cx.assume(within)?;
    Ok(Reply::Value(Value::Sym(e)))
}

/// klee_choose(n): a number below `n`.
pub fn choose(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let limit = args.expr(cx, 0);
    let bytes = inputs::new_input(cx, "klee_choose", 8);
    let e = memory::joined(cx, &bytes);
    let below = cx.core.pool.ult(e, limit);
    cx.assume(below)?;
    Ok(Reply::Value(Value::Sym(e)))
}

/// klee_silent_exit(status): the path is left without a verdict.
pub fn silent_exit(_: &Linux, _: &Args<'_>, _: &mut Cx<'_>) -> Result<Reply, Stop> {
    Err(PathEnd::Assumed.into())
}

/// klee_abort().
pub fn abort(_: &Linux, _: &Args<'_>, _: &mut Cx<'_>) -> Result<Reply, Stop> {
    Err(PathEnd::fault(FaultKind::Abort, "the program aborts").into())
}

/// klee_report_error(file, line, message, suffix).
pub fn report_error(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let message = text(cx, args.value(2));
    Err(PathEnd::fault(FaultKind::Reported, message).into())
}

/// klee_warning(message), klee_warning_once: into the ledger, which counts.
pub fn warning(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let message = text(cx, args.value(0));
    cx.core.ledger.note(LedgerKind::Warning, message);
    Ok(Reply::Void)
}

/// Calls that only steer KLEE's own search.
pub fn nothing(_: &Linux, _: &Args<'_>, _: &mut Cx<'_>) -> Result<Reply, Stop> {
    Ok(Reply::Void)
}

/// klee_is_replay(): this is not a replay.
pub fn is_replay(_: &Linux, _: &Args<'_>, _: &mut Cx<'_>) -> Result<Reply, Stop> {
    Ok(Reply::Value(Value::Bits(0)))
}

/// klee_get_errno(): the libc's, if there is one.
pub fn get_errno(_: &Linux, _: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    Ok(match start::function(cx, "__wryneck_errno") {
        Some(f) => Reply::Tail(f, Vec::new()),
        None => Reply::Value(Value::Bits(0)),
    })
}

/// klee_is_symbolic(value).
pub fn is_symbolic(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let e = args.expr(cx, 0);
    Ok(Reply::Value(Value::Bits(u64::from(!cx.core.pool.is_const(e)))))
}

/// klee_get_value_*(value): one value it can have, the smallest; the path keeps all of them.
pub fn get_value(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let width = args.call.widths.first().copied().unwrap_or(64).min(64);
    let e = cx.expr(args.value(0), width);
    Ok(Reply::Value(Value::Bits(cx.least(e, "klee_get_value")?)))
}

/// klee_get_obj_size(address): of the object it points into, in bytes.
pub fn get_obj_size(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let addr = memory::block_address(cx, args.value(0), 1, false)?;
    match pointer::object_at(cx, addr) {
        Some(object) => Ok(Reply::Value(Value::Bits(object.size))),
        None => Err(pointer::bad_access(cx, addr, 1, false).into()),
    }
}

/// klee_check_memory_access(address, size): faults as reading and writing there would.
pub fn check_memory_access(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let size = args.number(cx, 1)?;
    if size > 0 {
        let addr = memory::block_address(cx, args.value(0), size, false)?;
        memory::read_bytes(cx, addr, size)?;
    }
    Ok(Reply::Void)
}

/// klee_print_expr(message, value), klee_print_range(name, value): into the ledger.
pub fn print_expr(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let message = text(cx, args.value(0));
    let width = args.call.widths.get(1).copied().unwrap_or(64).min(64);
    let shown = match args.call.args.get(1) {
        Some(value) => {
            let e = cx.expr(*value, width);
            let (low, high) = cx.core.pool.interval(e);
            if low == high { format!("{low}") } else { format!("{low} to {high} ({width} bits)") }
        }
        None => String::new(),
    };
    cx.core.ledger.note(LedgerKind::Warning, format!("{message}: {shown}"));
    Ok(Reply::Void)
}
