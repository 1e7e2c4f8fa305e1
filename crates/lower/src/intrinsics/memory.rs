//! Intrinsics about memory: block operations, variable lifetimes, the dynamic stack, variable arguments.

use wryneck_ir::build::{CallDef, Callee, Slot};
use wryneck_ir::{NONE, Op, va_list};

use crate::body::Body;
use crate::error::Unsupported;
use crate::ffi::{Opcode, Value};
use crate::inst::Lowered;

pub fn copy<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    block(s, v, Op::MemCopy)
}

pub fn shift<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    block(s, v, Op::MemMove)
}

pub fn set<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    block(s, v, Op::MemSet)
}

/// Destination, source or filling byte, size.
fn block<'m>(s: &mut Body<'_, 'm>, v: Value<'m>, op: Op) -> Lowered {
    let (to, from) = (s.scalar(v.operand(0))?, s.scalar(v.operand(1))?);
    let size = size(s, v.operand(2))?;
    if s.number(v.operand(2)) != Some(0) {
        s.b.emit(op, 0, NONE, to, from, size);
    }
    Ok(None)
}

/// A byte count as a word.
fn size<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Result<Slot, Unsupported> {
    if let Some(n) = s.number(v) {
        return Ok(s.word(n));
    }
    let (slot, width) = (s.scalar(v)?, s.element_width(v)?);
    let op = if width > 64 { Op::Trunc } else { Op::Zext };
    Ok(s.integer_cast(op, 64, width, slot))
}

/// The variable becomes uninitialised. Only of allocas, whose size is known.
pub fn lifetime_start<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let place = v.operand(v.args() - 1);
    if !place.is_instruction() || place.opcode() != Opcode::LLVMAlloca {
        return Ok(None);
    }
    let element = s.cx.llvm.alloc_size(place.allocated_type());
    let Some(count) = s.number(place.operand(0)) else { return Ok(None) };
    let (address, size) = (s.scalar(place)?, s.word(element.saturating_mul(count)));
    s.b.emit(Op::MemUndef, 0, NONE, address, size, NONE);
    Ok(None)
}

/// "Unknown" as the asked kind says it: 0 for a minimum, -1 for a maximum.
pub fn object_size<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let width = s.element_width(v)?;
    let minimum = s.number(v.operand(1)) == Some(1);
    Ok(Some(if minimum { s.b.int(width, 0) } else { s.ones(width) }.into()))
}

/// Clears bits of an address. The base keeps its bounds: the address moves down by the cleared bits.
pub fn pointer_mask<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let width = s.element_width(v.operand(1))?;
    s.each2(v, |s, address, mask| {
        let mask = s.integer_cast(Op::Zext, 64, width, mask);
        let cleared = s.b.binary(Op::And, 64, address, mask);
        let moved = s.b.binary(Op::Sub, 64, cleared, address);
        s.b.value(Op::PtrAdd, 64, address, moved, 1)
    })
}

/// The table's address plus the difference stored at an offset in it; of a table kept as addresses, the address itself.
pub fn load_relative<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let (table, width) = (s.scalar(v.operand(0))?, s.element_width(v.operand(1))?);
    let offset = s.scalar(v.operand(1))?;
    let offset = s.integer_cast(Op::Sext, 64, width, offset);
    if s.cx.relative_tables.contains_key(&v.operand(0)) {
        let place = s.b.value(Op::PtrAdd, 64, table, offset, 2);
        return Ok(Some(s.b.load(64, place, 0).into()));
    }
    let place = s.b.value(Op::PtrAdd, 64, table, offset, 1);
    let difference = s.b.load(32, place, 0);
    let difference = s.b.cast(Op::Sext, 64, 32, difference);
    Ok(Some(s.b.value(Op::PtrAdd, 64, table, difference, 1).into()))
}

pub fn stack_save<'m>(s: &mut Body<'_, 'm>, _: Value<'m>) -> Lowered {
    Ok(Some(s.b.value(Op::StackSave, 64, NONE, NONE, NONE).into()))
}

/// Of the running function: where its variables end. Of callers, the environment knows it.
pub fn frame_address<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    match s.number(v.operand(0)) {
        Some(0) => stack_save(s, v),
        Some(_) | None => of_caller(s, v, "__wryneck_frame_address"),
    }
}

pub fn return_address<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    of_caller(s, v, "__wryneck_return_address")
}

/// What the environment knows of the call so many calls up.
fn of_caller<'m>(s: &mut Body<'_, 'm>, v: Value<'m>, function: &str) -> Lowered {
    let level = s.scalar(v.operand(0))?;
    let symbol = s.b.names.symbol(s.b.module, function);
    Ok(Some(s.b.call(Callee::Symbol(symbol), CallDef { args: &[(level, 32)], ret_width: 64, flags: 0, named: 1 }).into()))
}

pub fn stack_restore<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let mark = s.scalar(v.operand(0))?;
    s.b.emit(Op::StackRestore, 0, NONE, mark, NONE, NONE);
    Ok(None)
}

pub fn va_start<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let list = s.scalar(v.operand(0))?;
    s.va_start(list);
    Ok(None)
}

pub fn va_copy<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let (to, from, size) = (s.scalar(v.operand(0))?, s.scalar(v.operand(1))?, s.word(va_list::SIZE));
    s.b.emit(Op::MemMove, 0, NONE, to, from, size);
    Ok(None)
}
