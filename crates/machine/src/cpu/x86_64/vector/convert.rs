//! Numbers of one format as numbers of another. What does not fit an integer gives the least one, as [`Op::FtoS`] does.

use wryneck_ir::build::Slot;
use wryneck_ir::{NONE, Op, Round};

use super::{X, set_lowest};
use crate::cpu::x86_64::encoding::{Mandatory, Rm};

fn to_integer(x: &mut X<'_, '_, '_, '_>, from: u32, to: u32, truncates: bool, value: Slot) -> Slot {
    let mut value = value;
    if !truncates {
        let rounded = x.p.temp(from);
        x.p.emit(Op::Fround, from, rounded, value.raw(), Round::Even as u32, NONE);
        value = rounded;
    }
    x.cast(Op::FtoS, to, from, value)
}

/// 0F 5B: by the prefix, doublewords to singles, or the other way, rounded or truncated.
pub(super) fn doublewords_and_singles(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (width, prefix) = (x.vector_width(), x.e.mandatory);
    let b = x.read_vector(width)?;
    let value = x.build(width, 32, |x, i| {
        let b = x.lane(b, 32, i);
        match prefix {
            Mandatory::None => x.cast(Op::StoF, 32, 32, b),
            _ => to_integer(x, 32, 32, prefix == Mandatory::F3, b),
        }
    });
    x.set_vector(x.e.reg, width, value)
}

/// Each lane of 32 bits of the operand as one of 64.
fn widen(x: &mut X<'_, '_, '_, '_>, op: Op) -> Result<(), String> {
    let width = x.vector_width();
    let b = x.read_vector(width / 2)?;
    let value = x.build(width, 64, |x, i| {
        let b = x.lane(b, 32, i);
        x.cast(op, 64, 32, b)
    });
    x.set_vector(x.e.reg, width, value)
}
/// Each lane of 64 bits of the operand as one of 32; what is above them is cleared.
fn narrow(x: &mut X<'_, '_, '_, '_>, f: fn(&mut X<'_, '_, '_, '_>, Slot) -> Slot) -> Result<(), String> {
    let width = x.vector_width();
    let b = x.read_vector(width)?;
    let value = x.build(128, 32, |x, i| {
        if i >= width / 64 {
            return x.constant(32, 0);
        }
        f(x, b.limb(i))
    });
    x.set_vector(x.e.reg, 128, value)
}
/// 0F E6.
pub(super) fn doublewords_and_doubles(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    match x.e.mandatory {
        Mandatory::F3 => widen(x, Op::StoF),
        Mandatory::F2 => narrow(x, |x, b| to_integer(x, 64, 32, false, b)),
        _ => narrow(x, |x, b| to_integer(x, 64, 32, true, b)),
    }
}
/// 0F 5A.
pub(super) fn singles_and_doubles(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (from, to) = match x.e.mandatory {
        Mandatory::None => return widen(x, Op::Fcast),
        Mandatory::P66 => return narrow(x, |x, b| x.cast(Op::Fcast, 32, 64, b)),
        Mandatory::F3 => (32, 64),
        Mandatory::F2 => (64, 32),
    };
    let (a, b) = (x.first_source()?, x.read_vector(from)?);
    let value = x.cast(Op::Fcast, to, from, b);
    set_lowest(x, to, a, value)
}
/// F3 and F2 0F 2A: a general register to a float.
pub(super) fn from_general(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (lane, width) = (super::float_lane(x.e).0, if x.e.wide { 64 } else { 32 });
    let (a, b) = (x.first_source()?, x.read_general(width)?);
    let value = x.cast(Op::StoF, lane, width, b);
    set_lowest(x, lane, a, value)
}
/// F3 and F2 0F 2C and 2D: the other way, truncated or rounded.
pub(super) fn to_general(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (lane, width) = (super::float_lane(x.e).0, if x.e.wide { 64 } else { 32 });
    let b = x.read_vector(lane)?;
    let value = to_integer(x, lane, width, x.e.opcode == 0x2c, b);
    x.set_general(x.e.reg, width, value)
}

/// 0F 2A: two doublewords of an MMX register or memory to singles, with 66 to doubles.
pub(super) fn from_mmx(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (lane, width) = (super::float_lane(x.e).0, x.vector_width());
    if let (Rm::Register(_), _) | (_, 32) = (x.e.rm, lane) {
        x.enter_mmx()?;
    }
    let b = x.read_vector(64)?;
    x.mmx = false;
    let old = x.vector(x.e.reg)?;
    let value = x.build(width, lane, |x, i| {
        if i >= 2 {
            return x.lane(old, lane, i);
        }
        let b = x.lane(b, 32, i);
        x.cast(Op::StoF, lane, 32, b)
    });
    x.set_vector(x.e.reg, width, value)
}
/// 0F 2C and 2D: the other way, truncated or rounded.
pub(super) fn to_mmx(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (lane, truncates) = (super::float_lane(x.e).0, x.e.opcode == 0x2c);
    let b = x.read_vector(2 * lane)?;
    x.enter_mmx()?;
    let value = x.build(64, 32, |x, i| {
        let b = x.lane(b, lane, i);
        to_integer(x, lane, 32, truncates, b)
    });
    x.set_vector(x.e.reg, 64, value)
}

/// Halves to singles.
pub(super) fn from_halves(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let width = x.vector_width();
    let b = x.read_vector(width / 2)?;
    let value = x.build(width, 32, |x, i| {
        let b = x.lane(b, 16, i);
        x.cast(Op::Fcast, 32, 16, b)
    });
    x.set_vector(x.e.reg, width, value)
}
/// Singles to halves, to a register or memory.
pub(super) fn to_halves(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    if matches!(x.e.immediate.unwrap_or(0) & 7, 1..=3) {
        return Err("halves rounded in another way than to the nearest".to_owned());
    }
    let width = x.vector_width();
    let from = x.vector(x.e.reg)?;
    let value = x.build(128, 16, |x, i| {
        if i >= width / 32 {
            return x.constant(16, 0);
        }
        let b = x.lane(from, 32, i);
        x.cast(Op::Fcast, 16, 32, b)
    });
    match x.e.rm {
        Rm::Register(n) => x.set_vector(n, 128, value),
        Rm::Memory(a) => x.store(&a, width / 2, value),
    }
}

/// 38 20 to 25 (signed) and 30 to 35: lanes of the operand's lowest bits, widened.
pub(super) fn widened(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (from, to) = [(8, 16), (8, 32), (8, 64), (16, 32), (16, 64), (32, 64)][usize::from(x.e.opcode & 7).min(5)];
    let (width, op) = (x.vector_width(), if x.e.opcode < 0x30 { Op::Sext } else { Op::Zext });
    let b = x.read_vector(width / to * from)?;
    let value = x.build(width, to, |x, i| {
        let b = x.lane(b, from, i);
        x.cast(op, to, from, b)
    });
    x.set_vector(x.e.reg, width, value)
}
