//! The instructions that read and write memory.

use wryneck_ir::Inst;

use super::{bytes_of, load_bytes};
use crate::ground::config::Uninit;
use crate::step::cx::Cx;
use crate::step::plugin::{Stop, Value};
use crate::step::{inputs, memory, survive, unwritten};

pub fn load(cx: &mut Cx<'_>, inst: &Inst) -> Result<(), Stop> {
    let width = u32::from(inst.width);
    let pointer = cx.operand(inst.a, 64);
    let pointer = unwritten::address_inside(cx, pointer)?;
    let loaded = match load_bytes(cx, Some(inst), pointer, bytes_of(width)) {
        Ok(whole) => cx.core.pool.extract(whole, 0, width),
        Err(stop) => {
            survive::survive(cx, stop)?;
            let bytes = inputs::new_input(cx, "memory out of bounds", bytes_of(width));
            let whole = memory::joined(cx, &bytes);
            cx.core.pool.extract(whole, 0, width)
        }
    };
    cx.put_wide(inst.dst, loaded);
    Ok(())
}

pub fn store(cx: &mut Cx<'_>, inst: &Inst) -> Result<(), Stop> {
    let width = u32::from(inst.width);
    let pointer = cx.operand(inst.a, 64);
    let pointer = unwritten::address_inside(cx, pointer)?;
    let value = cx.wide_operand(inst.b, width);
    unwritten::require_inside(cx, pointer, value)?;
    memory::store(cx, pointer, value).or_else(|stop| survive::survive(cx, stop))
}

/// MemCopy and MemMove: the bytes are read before any is written, so every overlap behaves as memmove.
pub fn copy(cx: &mut Cx<'_>, inst: &Inst) -> Result<(), Stop> {
    let (to, from, len) = (cx.operand(inst.a, 64), cx.operand(inst.b, 64), cx.operand(inst.c, 64));
    memory::copy_bytes(cx, to, from, len)
}

pub fn set(cx: &mut Cx<'_>, inst: &Inst) -> Result<(), Stop> {
    let (to, len) = (cx.operand(inst.a, 64), cx.operand(inst.c, 64));
    let byte = cx.operand(inst.b, 8);
    memory::fill_bytes(cx, to, byte, len)
}

pub fn undef(cx: &mut Cx<'_>, inst: &Inst) -> Result<(), Stop> {
    if cx.core.config.uninit == Uninit::Zero {
        return Ok(());
    }
    let (addr, len) = (cx.operand(inst.a, 64), cx.operand(inst.b, 64));
    if let (Value::Bits(addr), Value::Bits(len)) = (addr, len)
        && memory::writable_range(cx, addr, len)
    {
        cx.state.memory.space.make_live(addr, len, false, &mut cx.core.pool);
    }
    Ok(())
}
