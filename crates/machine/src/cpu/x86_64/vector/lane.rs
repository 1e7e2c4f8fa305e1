//! What integer instructions do to a lane, or to a few that belong together.

use wryneck_ir::Op;
use wryneck_ir::build::Slot;

use super::X;
use crate::cpu::x86_64::encoding::Map;

pub(super) fn equal(x: &mut X<'_, '_, '_, '_>, lane: u32, a: Slot, b: Slot) -> Slot {
    let bit = x.op(Op::Eq, lane, a, b);
    x.cast(Op::Sext, lane, 1, bit)
}
pub(super) fn greater(x: &mut X<'_, '_, '_, '_>, lane: u32, a: Slot, b: Slot) -> Slot {
    let bit = x.op(Op::Slt, lane, b, a);
    x.cast(Op::Sext, lane, 1, bit)
}
fn least(x: &mut X<'_, '_, '_, '_>, less: Op, lane: u32, a: Slot, b: Slot) -> Slot {
    let bit = x.op(less, lane, a, b);
    x.select(lane, bit, a, b)
}
fn most(x: &mut X<'_, '_, '_, '_>, less: Op, lane: u32, a: Slot, b: Slot) -> Slot {
    let bit = x.op(less, lane, a, b);
    x.select(lane, bit, b, a)
}
pub(super) fn least_signed(x: &mut X<'_, '_, '_, '_>, lane: u32, a: Slot, b: Slot) -> Slot {
    least(x, Op::Slt, lane, a, b)
}
pub(super) fn least_unsigned(x: &mut X<'_, '_, '_, '_>, lane: u32, a: Slot, b: Slot) -> Slot {
    least(x, Op::Ult, lane, a, b)
}
pub(super) fn most_signed(x: &mut X<'_, '_, '_, '_>, lane: u32, a: Slot, b: Slot) -> Slot {
    most(x, Op::Slt, lane, a, b)
}
pub(super) fn most_unsigned(x: &mut X<'_, '_, '_, '_>, lane: u32, a: Slot, b: Slot) -> Slot {
    most(x, Op::Ult, lane, a, b)
}
/// The second, and not the first.
pub(super) fn and_not(x: &mut X<'_, '_, '_, '_>, lane: u32, a: Slot, b: Slot) -> Slot {
    let ones = x.constant(lane, u64::MAX);
    let inverted = x.op(Op::Xor, lane, a, ones);
    x.op(Op::And, lane, inverted, b)
}

/// A signed number of `from` bits as one of `to` bits, the nearest that there is.
fn saturated(x: &mut X<'_, '_, '_, '_>, from: u32, to: u32, signed: bool, value: Slot) -> Slot {
    let (low, high) = if signed { ((u64::MAX) << (to - 1), (1 << (to - 1)) - 1) } else { (0, u64::MAX >> (64 - to)) };
    let (low, high) = (x.constant(from, low), x.constant(from, high));
    let value = most(x, Op::Slt, from, value, low);
    let value = least(x, Op::Slt, from, value, high);
    x.bits(value, from, 0, to)
}
/// Both lanes with the bits to compute in.
fn widened(x: &mut X<'_, '_, '_, '_>, signed: bool, (lane, wide): (u32, u32), a: Slot, b: Slot) -> (Slot, Slot) {
    let extend = if signed { Op::Sext } else { Op::Zext };
    (x.cast(extend, wide, lane, a), x.cast(extend, wide, lane, b))
}
fn saturating(x: &mut X<'_, '_, '_, '_>, op: Op, signed: bool, lane: u32, a: Slot, b: Slot) -> Slot {
    let (a, b) = widened(x, signed, (lane, 2 * lane), a, b);
    let value = x.op(op, 2 * lane, a, b);
    saturated(x, 2 * lane, lane, signed, value)
}
pub(super) fn add_signed(x: &mut X<'_, '_, '_, '_>, lane: u32, a: Slot, b: Slot) -> Slot {
    saturating(x, Op::Add, true, lane, a, b)
}
pub(super) fn add_unsigned(x: &mut X<'_, '_, '_, '_>, lane: u32, a: Slot, b: Slot) -> Slot {
    saturating(x, Op::Add, false, lane, a, b)
}
pub(super) fn subtract_signed(x: &mut X<'_, '_, '_, '_>, lane: u32, a: Slot, b: Slot) -> Slot {
    saturating(x, Op::Sub, true, lane, a, b)
}
pub(super) fn subtract_unsigned(x: &mut X<'_, '_, '_, '_>, lane: u32, a: Slot, b: Slot) -> Slot {
    saturating(x, Op::Sub, false, lane, a, b)
}
/// Rounded up.
pub(super) fn average(x: &mut X<'_, '_, '_, '_>, lane: u32, a: Slot, b: Slot) -> Slot {
    let ((a, b), one) = (widened(x, false, (lane, 32), a, b), x.constant(32, 1));
    let sum = x.op(Op::Add, 32, a, b);
    let sum = x.op(Op::Add, 32, sum, one);
    let half = x.op(Op::Lshr, 32, sum, one);
    x.bits(half, 32, 0, lane)
}

fn product(x: &mut X<'_, '_, '_, '_>, signed: bool, (lane, wide): (u32, u32), a: Slot, b: Slot) -> Slot {
    let (a, b) = widened(x, signed, (lane, wide), a, b);
    x.op(Op::Mul, wide, a, b)
}
pub(super) fn high_signed(x: &mut X<'_, '_, '_, '_>, lane: u32, a: Slot, b: Slot) -> Slot {
    let all = product(x, true, (lane, 2 * lane), a, b);
    x.bits(all, 2 * lane, lane, lane)
}
pub(super) fn high_unsigned(x: &mut X<'_, '_, '_, '_>, lane: u32, a: Slot, b: Slot) -> Slot {
    let all = product(x, false, (lane, 2 * lane), a, b);
    x.bits(all, 2 * lane, lane, lane)
}
/// The product without its low 15 bits, rounded.
pub(super) fn high_rounded(x: &mut X<'_, '_, '_, '_>, _: u32, a: Slot, b: Slot) -> Slot {
    let all = product(x, true, (16, 32), a, b);
    let (fourteen, one) = (x.constant(32, 14), x.constant(32, 1));
    let all = x.op(Op::Lshr, 32, all, fourteen);
    let all = x.op(Op::Add, 32, all, one);
    x.bits(all, 32, 1, 16)
}
fn product_of_low(x: &mut X<'_, '_, '_, '_>, signed: bool, a: Slot, b: Slot) -> Slot {
    let (a, b) = (x.bits(a, 64, 0, 32), x.bits(b, 64, 0, 32));
    product(x, signed, (32, 64), a, b)
}
pub(super) fn low_unsigned(x: &mut X<'_, '_, '_, '_>, _: u32, a: Slot, b: Slot) -> Slot {
    product_of_low(x, false, a, b)
}
pub(super) fn low_signed(x: &mut X<'_, '_, '_, '_>, _: u32, a: Slot, b: Slot) -> Slot {
    product_of_low(x, true, a, b)
}
/// Products of both halves, added.
pub(super) fn add_products(x: &mut X<'_, '_, '_, '_>, _: u32, a: Slot, b: Slot) -> Slot {
    let [low, high] = [0, 16].map(|at| {
        let (a, b) = (x.bits(a, 32, at, 16), x.bits(b, 32, at, 16));
        product(x, true, (16, 32), a, b)
    });
    x.op(Op::Add, 32, low, high)
}
/// Products of unsigned and signed bytes, added, saturated.
pub(super) fn add_byte_products(x: &mut X<'_, '_, '_, '_>, _: u32, a: Slot, b: Slot) -> Slot {
    let [low, high] = [0, 8].map(|at| {
        let (a, b) = (x.bits(a, 16, at, 8), x.bits(b, 16, at, 8));
        let (a, b) = (x.cast(Op::Zext, 32, 8, a), x.cast(Op::Sext, 32, 8, b));
        x.op(Op::Mul, 32, a, b)
    });
    let sum = x.op(Op::Add, 32, low, high);
    saturated(x, 32, 16, true, sum)
}
/// The first, negated where the second is negative, 0 where it is 0.
pub(super) fn signed_by(x: &mut X<'_, '_, '_, '_>, lane: u32, a: Slot, b: Slot) -> Slot {
    let zero = x.constant(lane, 0);
    let (negative, nothing, minus) = (x.op(Op::Slt, lane, b, zero), x.op(Op::Eq, lane, b, zero), x.op(Op::Sub, lane, zero, a));
    let value = x.select(lane, negative, minus, a);
    x.select(lane, nothing, zero, value)
}
pub(super) fn magnitude(x: &mut X<'_, '_, '_, '_>, lane: u32, a: Slot) -> Slot {
    let zero = x.constant(lane, 0);
    let (negative, minus) = (x.op(Op::Slt, lane, a, zero), x.op(Op::Sub, lane, zero, a));
    x.select(lane, negative, minus, a)
}

/// Lanes of `from` bits of both sources as lanes of half that, saturated: those of the first source, then the operand's.
fn pack(x: &mut X<'_, '_, '_, '_>, from: u32, signed: bool) -> Result<(), String> {
    let width = x.vector_width();
    let (a, b) = (x.first_source()?, x.read_vector(width)?);
    let half = width.min(128) / from;
    let value = x.build(width, from / 2, |x, i| {
        let (base, at) = (i / (2 * half) * half, i % (2 * half));
        let (source, n) = if at < half { (a, base + at) } else { (b, base + at - half) };
        let lane = x.lane(source, from, n);
        saturated(x, from, from / 2, signed, lane)
    });
    x.set_vector(x.e.reg, width, value)
}
pub(super) fn pack_words_signed(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    pack(x, 16, true)
}
pub(super) fn pack_words_unsigned(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    pack(x, 16, false)
}
pub(super) fn pack_doublewords_signed(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    pack(x, 32, true)
}
pub(super) fn pack_doublewords_unsigned(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    pack(x, 32, false)
}

/// Width of the lanes that a shift's opcode says, and its operation: Dx logical right, Ex arithmetic right, Fx left.
fn shift(opcode: u8) -> (u32, Op) {
    let op = match opcode >> 4 {
        0xd => Op::Lshr,
        0xe => Op::Ashr,
        _ => Op::Shl,
    };
    (8 << (opcode & 3), op)
}
/// All lanes by the low 64 bits of the operand.
pub(super) fn shift_by_operand(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (width, (lane, op)) = (x.vector_width(), shift(x.e.opcode));
    let (a, by) = (x.first_source()?, x.read_vector(width.min(128))?);
    let (limit, most) = (x.constant(64, lane.into()), x.constant(lane, lane.into()));
    let fits = x.op(Op::Ult, 64, by, limit);
    let low = x.bits(by, 64, 0, lane);
    let amount = x.select(lane, fits, low, most);
    let value = x.build(width, lane, |x, i| {
        let a = x.lane(a, lane, i);
        x.op(op, lane, a, amount)
    });
    x.set_vector(x.e.reg, width, value)
}
/// All lanes, or (3 and 7 in the register field) all bytes of each 128 bits, by the immediate.
pub(super) fn shift_by_immediate(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (width, lane) = (x.vector_width(), 8 << (x.e.opcode & 3));
    let by = u32::from(x.e.immediate.unwrap_or(0));
    let (value, n) = x.rm_vector()?;
    let moved = match x.e.reg & 7 {
        3 | 7 => {
            let right = x.e.reg & 7 == 3;
            x.build(width, 8, |x, i| {
                let at = i % 16;
                let source = if right { Some(at + by).filter(|n| *n < 16) } else { at.checked_sub(by) };
                match source {
                    Some(n) => x.lane(value, 8, i - at + n),
                    None => x.constant(8, 0),
                }
            })
        }
        which => {
            let op = [Op::Lshr, Op::Ashr, Op::Shl][which / 2 - 1];
            let amount = x.constant(lane, by.min(lane).into());
            x.build(width, lane, |x, i| {
                let part = x.lane(value, lane, i);
                x.op(op, lane, part, amount)
            })
        }
    };
    // The destination is the extra register of VEX here.
    x.set_vector(x.e.vex.map_or(n, |v| v.source), width, moved)
}
/// Each lane by the operand's.
pub(super) fn shift_each(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (width, lane) = (x.vector_width(), if x.e.wide { 64 } else { 32 });
    let op = match x.e.opcode {
        0x45 => Op::Lshr,
        0x46 => Op::Ashr,
        _ => Op::Shl,
    };
    if op == Op::Ashr && lane == 64 {
        return Err("an arithmetic shift of 64 bits by a vector".to_owned());
    }
    let (a, b) = (x.first_source()?, x.read_vector(width)?);
    let value = x.build(width, lane, |x, i| {
        let (a, b) = (x.lane(a, lane, i), x.lane(b, lane, i));
        x.op(op, lane, a, b)
    });
    x.set_vector(x.e.reg, width, value)
}

/// How far two bytes are from one another, as 32 bits.
fn distance(x: &mut X<'_, '_, '_, '_>, a: Slot, b: Slot) -> Slot {
    let (less, up, down) = (x.op(Op::Ult, 8, a, b), x.op(Op::Sub, 8, b, a), x.op(Op::Sub, 8, a, b));
    let far = x.select(8, less, up, down);
    x.cast(Op::Zext, 32, 8, far)
}
/// In each 64 bits, how far the bytes of both operands are from one another, in all.
pub(super) fn sum_of_distances(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let width = x.vector_width();
    let (a, b) = (x.first_source()?, x.read_vector(width)?);
    let value = x.build(width, 64, |x, i| {
        let mut sum = x.constant(32, 0);
        for n in 8 * i..8 * i + 8 {
            let (a, b) = (x.lane(a, 8, n), x.lane(b, 8, n));
            let far = distance(x, a, b);
            sum = x.op(Op::Add, 32, sum, far);
        }
        x.cast(Op::Zext, 64, 32, sum)
    });
    x.set_vector(x.e.reg, width, value)
}
/// Distances of four bytes of the operand from eight runs of four bytes; the immediate says where both begin.
pub(super) fn distances_of_runs(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (width, immediate) = (x.vector_width(), u32::from(x.e.immediate.unwrap_or(0)));
    let (a, b) = (x.first_source()?, x.read_vector(width)?);
    let value = x.build(width, 16, |x, i| {
        let (half, at) = (i / 8, i % 8);
        let control = immediate >> (3 * half);
        let (first, second) = (16 * half + (control >> 2 & 1) * 4 + at, 16 * half + (control & 3) * 4);
        let mut sum = x.constant(32, 0);
        for n in 0..4 {
            let (a, b) = (x.lane(a, 8, first + n), x.lane(b, 8, second + n));
            let far = distance(x, a, b);
            sum = x.op(Op::Add, 32, sum, far);
        }
        x.bits(sum, 32, 0, 16)
    });
    x.set_vector(x.e.reg, width, value)
}
/// The least word of the operand, and the number of the first that is it.
pub(super) fn least_word(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let b = x.read_vector(128)?;
    let (mut value, mut number) = (x.lane(b, 16, 0), x.constant(16, 0));
    for n in 1..8 {
        let (next, this) = (x.lane(b, 16, n), x.constant(16, n.into()));
        let less = x.op(Op::Ult, 16, next, value);
        value = x.select(16, less, next, value);
        number = x.select(16, less, this, number);
    }
    let both = x.concat(number, 16, value, 16);
    let dst = x.constant(128, 0);
    x.p.copy(32, dst, both);
    x.set_vector(x.e.reg, 128, dst)
}

/// The top bits of lanes into a general register.
fn mask(x: &mut X<'_, '_, '_, '_>, lane: u32) -> Result<(), String> {
    let (width, (value, _)) = (x.vector_width(), x.rm_vector()?);
    let mut all = x.bits(value, 64, lane - 1, 1);
    for i in 1..width / lane {
        let at = lane * i + lane - 1;
        let bit = x.bits(value.limb(at / 64), 64, at % 64, 1);
        all = x.concat(bit, 1, all, i);
    }
    // Narrow values are zero-extended in their slots.
    x.set_general(x.e.reg, 64, all)
}
pub(super) fn mask_bytes(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    mask(x, 8)
}
pub(super) fn mask_floats(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    mask(x, super::float_lane(x.e).0)
}

/// ZF: no bit in common; CF: no bit of the operand that the first source lacks. Of all bits, or of the lanes' signs.
pub(super) fn test(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let width = x.vector_width();
    let (a, b) = (x.vector(x.e.reg)?, x.read_vector(width)?);
    let signs = match (x.e.map, x.e.opcode) {
        (Map::Three38, 0x0e) => 0x8000_0000_8000_0000,
        (Map::Three38, 0x0f) => 1 << 63,
        _ => u64::MAX,
    };
    let (mut common, mut missing, mask) = (x.constant(64, 0), x.constant(64, 0), x.constant(64, signs));
    for limb in 0..width / 64 {
        let b = x.op(Op::And, 64, b.limb(limb), mask);
        let (both, second) = (x.op(Op::And, 64, a.limb(limb), b), and_not(x, 64, a.limb(limb), b));
        (common, missing) = (x.op(Op::Or, 64, common, both), x.op(Op::Or, 64, missing, second));
    }
    let zero = x.constant(64, 0);
    let (none, all, clear) = (x.op(Op::Eq, 64, common, zero), x.op(Op::Eq, 64, missing, zero), x.constant(8, 0));
    x.set_flag("ZF", none)?;
    x.set_flag("CF", all)?;
    ["OF", "SF", "PF", "AF"].into_iter().try_for_each(|flag| x.set_flag(flag, clear))
}
