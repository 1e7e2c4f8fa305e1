//! Moves between vectors, general registers and memory, all lanes or those that a mask says.

use wryneck_ir::build::Slot;
use wryneck_ir::{NONE, Op};

use super::{X, float_lane};
use crate::cpu::x86_64::emit::RDI;
use crate::cpu::x86_64::encoding::{Address, Mandatory, Rm};
use crate::pcode::Reads;

/// The operand into the register.
pub(super) fn load(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let width = x.vector_width();
    let value = x.read_vector(width)?;
    x.set_vector(x.e.reg, width, value)
}
/// The register into the operand.
pub(super) fn store(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let width = x.vector_width();
    let value = x.vector(x.e.reg)?;
    match x.e.rm {
        Rm::Register(n) => x.set_vector(n, width, value),
        Rm::Memory(a) => x.store(&a, width, value),
    }
}
/// The lowest float into memory, or into a register that keeps (VEX: gets from the first source) the rest.
pub(super) fn store_lowest(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let lane = float_lane(x.e).0;
    let from = x.vector(x.e.reg)?;
    let value = x.lane(from, lane, 0);
    match x.e.rm {
        Rm::Memory(a) => x.store(&a, lane, value),
        Rm::Register(n) => {
            let rest = match x.e.vex {
                Some(v) => x.vector(v.source)?,
                None => x.vector(n)?,
            };
            let all = x.build(128, lane, |x, i| if i == 0 { value } else { x.lane(rest, lane, i) });
            x.set_vector(n, 128, all)
        }
    }
}
/// 64 bits of the register into memory: the lower (13) or the upper half (17) of 128.
pub(super) fn store_half(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let from = x.vector(x.e.reg)?;
    let half = from.limb(if x.e.opcode == 0x17 { 1 } else { 0 });
    match x.e.rm {
        Rm::Memory(a) => x.store(&a, 64, half),
        Rm::Register(_) => Err("a register where memory belongs".to_owned()),
    }
}
/// The even double twice; in memory there is only one of 128 bits.
pub(super) fn even_double_twice(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let width = x.vector_width();
    let b = x.read_vector(if width == 128 { 64 } else { width })?;
    let value = x.build(width, 64, |_, i| b.limb(i & !1));
    x.set_vector(x.e.reg, width, value)
}

/// Width of what 6E and 7E move.
fn general_width(x: &X<'_, '_, '_, '_>) -> u32 {
    if x.e.wide { 64 } else { 32 }
}
/// A general register or memory into the lowest bits, the rest cleared.
pub(super) fn general_in(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let width = general_width(x);
    let value = x.read_general(width)?;
    set_low(x, x.e.reg, width, value)
}
pub(super) fn general_out(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let width = general_width(x);
    let from = x.vector(x.e.reg)?;
    let value = x.lane(from, width, 0);
    match x.e.rm {
        Rm::Memory(a) => x.store(&a, width, value),
        Rm::Register(n) => x.set_general(n, width, value),
    }
}
/// 64 bits of a vector or memory, the rest cleared; likewise out.
pub(super) fn low_in(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let value = x.read_vector(64)?;
    set_low(x, x.e.reg, 64, value)
}
pub(super) fn low_out(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let value = x.vector(x.e.reg)?;
    match x.e.rm {
        Rm::Memory(a) => x.store(&a, 64, value),
        Rm::Register(n) => set_low(x, n, 64, value),
    }
}
fn set_low(x: &mut X<'_, '_, '_, '_>, n: usize, width: u32, value: Slot) -> Result<(), String> {
    let all = x.vector_width().min(128);
    let dst = x.p.temp(all);
    match width {
        64 => x.p.copy(64, dst, value),
        _ => x.p.emit(Op::Zext, 64, dst, value.raw(), NONE, width),
    }
    if all == 128 {
        x.p.emit(Op::Imm, 64, dst.limb(1), 0, 0, NONE);
    }
    x.set_vector(n, all, dst)
}
/// F3 0F D6 from an MMX register, F2 0F D6 to one.
pub(super) fn between_mmx(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (Rm::Register(n), from_mmx) = (x.e.rm, x.e.mandatory == Mandatory::F3) else {
        return Err("memory where a register belongs".to_owned());
    };
    x.enter_mmx()?;
    x.mmx = from_mmx;
    let value = x.vector(n)?;
    x.mmx = !from_mmx;
    set_low(x, x.e.reg, 64, value)
}

/// The upper parts of all registers cleared, or all of them.
pub(super) fn clear(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let keep = if x.vector_width() == 256 { 0 } else { 128 };
    (0..16).try_for_each(|n| x.clear_above(n, keep))
}
/// The x87's registers count as empty, which is not kept.
pub(super) fn leave_mmx(_: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    Ok(())
}

/// Width of the lanes that are moved where the top bit of the mask's is set.
fn masked_lane(x: &X<'_, '_, '_, '_>) -> u32 {
    match x.e.opcode {
        0x2c | 0x2e => 32,
        0x2d | 0x2f => 64,
        _ => general_width(x),
    }
}
/// The address of lane `i` of memory.
fn lane_address(x: &mut X<'_, '_, '_, '_>, start: Slot, lane: u32, i: u32) -> Slot {
    let by = x.constant(64, u64::from(lane / 8 * i));
    x.op(Op::Add, 64, start, by)
}
/// Lanes from memory where the mask, the first source, says so, 0 elsewhere. Lanes that are not loaded do not fault.
pub(super) fn load_masked(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (width, lane, memory) = (x.vector_width(), masked_lane(x), operand(x)?);
    let (mask, start) = (x.first_source()?, x.address(&memory)?);
    let mut loaded = Vec::new();
    for i in 0..width / lane {
        let value = x.p.temp(lane);
        x.p.emit(Op::Imm, lane, value, 0, 0, NONE);
        let (address, moved) = (lane_address(x, start, lane, i), chosen(x, mask, lane, i));
        x.only_if(moved, |x| x.p.load(lane, value, address, Reads::default()));
        loaded.push(value);
    }
    let value = x.build(width, lane, |_, i| loaded[i as usize]);
    x.set_vector(x.e.reg, width, value)
}
pub(super) fn store_masked(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (width, lane, memory) = (x.vector_width(), masked_lane(x), operand(x)?);
    let (mask, start, from) = (x.first_source()?, x.address(&memory)?, x.vector(x.e.reg)?);
    store_chosen(x, (width, lane), mask, start, from)
}
/// Bytes of the register to where `RDI` points.
pub(super) fn store_bytes(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (width, (mask, _), start) = (x.vector_width(), x.rm_vector()?, x.general(RDI)?);
    let from = x.vector(x.e.reg)?;
    store_chosen(x, (width, 8), mask, start, from)
}
fn store_chosen(x: &mut X<'_, '_, '_, '_>, (width, lane): (u32, u32), mask: Slot, start: Slot, from: Slot) -> Result<(), String> {
    for i in 0..width / lane {
        let mark = x.p.mark();
        let (address, moved, value) = (lane_address(x, start, lane, i), chosen(x, mask, lane, i), x.lane(from, lane, i));
        x.only_if(moved, |x| x.p.store(lane, address, value, 0));
        x.p.release(mark);
    }
    Ok(())
}
/// 38 90 to 93: lanes from memory, each at the base plus its own index, where the mask, the first source, says so. The mask is cleared.
pub(super) fn gather(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (width, lane, from) = (x.vector_width(), general_width(x), if x.e.opcode & 1 == 0 { 32 } else { 64 });
    let (count, memory) = (width / lane.max(from), operand(x)?);
    let mask = x.e.vex.map(|v| v.source).ok_or("a gather without VEX")?;
    let (dst, chooses, indices) = (x.vector(x.e.reg)?, x.vector(mask)?, x.vector(x.e.index)?);
    let base = x.address(&Address { index: None, ..memory })?;
    let mut lanes = Vec::new();
    for i in 0..count {
        let value = x.p.temp(lane);
        let (old, index, moved) = (x.lane(dst, lane, i), x.lane(indices, from, i), chosen(x, chooses, lane, i));
        x.p.copy(lane, value, old);
        let (index, by) = (if from == 32 { x.cast(Op::Sext, 64, 32, index) } else { index }, x.constant(64, memory.scale.into()));
        let distance = x.op(Op::Mul, 64, index, by);
        let address = x.op(Op::Add, 64, base, distance);
        x.only_if(moved, |x| x.p.load(lane, value, address, Reads::default()));
        lanes.push(value);
    }
    let all = (count * lane).max(64);
    let value = x.build(all, lane, |x, i| lanes.get(i as usize).copied().unwrap_or_else(|| x.constant(lane, 0)));
    x.clear_above(mask, 0)?;
    x.set_vector(x.e.reg, all, value)
}

/// The top bit of a lane of the mask.
fn chosen(x: &mut X<'_, '_, '_, '_>, mask: Slot, lane: u32, i: u32) -> Slot {
    let at = lane * i + lane - 1;
    x.bits(mask.limb(at / 64), 64, at % 64, 1)
}
fn operand(x: &X<'_, '_, '_, '_>) -> Result<Address, String> {
    match x.e.rm {
        Rm::Memory(a) => Ok(a),
        Rm::Register(_) => Err("a register where memory belongs".to_owned()),
    }
}
