//! Floats in lanes: comparisons, least and greatest, rounding, products added. Rounding is to the nearest unless the instruction
//! says otherwise.

use wryneck_ir::build::Slot;
use wryneck_ir::{FcmpPred, Op, Round};

use super::{Lane, X, on_lanes, pairs};

fn compare(x: &mut X<'_, '_, '_, '_>, lane: u32, a: Slot, b: Slot, predicate: u32) -> Slot {
    let bit = x.p.temp(1);
    x.p.emit(Op::Fcmp, lane, bit, a.raw(), b.raw(), predicate);
    bit
}
/// The second, unless the first is less (greater): so of zeros, and where one is no number.
pub(super) fn least(x: &mut X<'_, '_, '_, '_>, lane: u32, a: Slot, b: Slot) -> Slot {
    let bit = compare(x, lane, a, b, FcmpPred::LT);
    x.select(lane, bit, a, b)
}
pub(super) fn most(x: &mut X<'_, '_, '_, '_>, lane: u32, a: Slot, b: Slot) -> Slot {
    let bit = compare(x, lane, a, b, FcmpPred::GT);
    x.select(lane, bit, a, b)
}
pub(super) fn root(x: &mut X<'_, '_, '_, '_>, lane: u32, b: Slot) -> Slot {
    x.unary(Op::Fsqrt, lane, b)
}

/// Predicates by the low four bits of the immediate; the fifth only says which of them signal.
const PREDICATES: [u32; 16] = {
    use FcmpPred as P;
    [
        P::EQ,
        P::LT,
        P::LT | P::EQ,
        P::UNORDERED,
        P::LT | P::GT | P::UNORDERED,
        P::GT | P::EQ | P::UNORDERED,
        P::GT | P::UNORDERED,
        P::LT | P::GT | P::EQ,
        P::EQ | P::UNORDERED,
        P::LT | P::UNORDERED,
        P::LT | P::EQ | P::UNORDERED,
        0,
        P::LT | P::GT,
        P::GT | P::EQ,
        P::GT,
        P::LT | P::GT | P::EQ | P::UNORDERED,
    ]
};
/// All ones where the immediate's predicate holds. Without VEX there are eight of them.
pub(super) fn compare_by(x: &mut X<'_, '_, '_, '_>, lane: u32, a: Slot, b: Slot) -> Slot {
    let mask = if x.e.vex.is_some() { 15 } else { 7 };
    let predicate = PREDICATES[usize::from(x.e.immediate.unwrap_or(0) & mask)];
    let bit = compare(x, lane, a, b, predicate);
    x.cast(Op::Sext, lane, 1, bit)
}

/// Even lanes subtracted, odd ones added.
pub(super) fn subtract_and_add(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (width, lane) = (x.vector_width(), doubles_or_singles(x));
    let (a, b) = (x.first_source()?, x.read_vector(width)?);
    let value = x.build(width, lane, |x, i| {
        let op = if i % 2 == 0 { Op::Fsub } else { Op::Fadd };
        on_lanes(x, Lane::Op(op), lane, (a, i), (b, i))
    });
    x.set_vector(x.e.reg, width, value)
}
/// Of those instructions that have the prefix F2 for singles.
fn doubles_or_singles(x: &X<'_, '_, '_, '_>) -> u32 {
    if x.e.mandatory == crate::cpu::x86_64::encoding::Mandatory::P66 { 64 } else { 32 }
}

/// Rounded as the immediate says; bit 2: as MXCSR does.
fn rounding(immediate: u8) -> Round {
    match immediate & 7 {
        1 => Round::Floor,
        2 => Round::Ceil,
        3 => Round::Trunc,
        _ => Round::Even,
    }
}
/// An opcode of 0F 3A 08 to 0B: singles, doubles, the lowest single, the lowest double.
pub(super) fn round(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (opcode, mode) = (x.e.opcode, rounding(x.e.immediate.unwrap_or(0)) as u32);
    let (lane, lowest) = (if opcode & 1 == 0 { 32 } else { 64 }, opcode & 2 != 0);
    let width = if lowest { 128 } else { x.vector_width() };
    let (a, b) = (x.first_source()?, x.read_vector(if lowest { lane } else { width })?);
    let value = x.build(width, lane, |x, i| {
        if lowest && i > 0 {
            return x.lane(a, lane, i);
        }
        let (b, dst) = (x.lane(b, lane, i), x.p.temp(lane));
        x.p.emit(Op::Fround, lane, dst, b.raw(), mode, wryneck_ir::NONE);
        dst
    });
    x.set_vector(x.e.reg, width, value)
}

/// Sum of the products that the high half of the immediate says, to the lanes that the low half says.
pub(super) fn dot(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (width, lane) = (x.vector_width(), if x.e.opcode == 0x40 { 32 } else { 64 });
    let (count, immediate) = (128 / lane, x.e.immediate.unwrap_or(0));
    let (a, b) = (x.first_source()?, x.read_vector(width)?);
    let mut sums = Vec::new();
    for block in 0..width / 128 {
        let products: Vec<Slot> = (0..count)
            .map(|n| match immediate >> (4 + n) & 1 {
                0 => x.constant(lane, 0),
                _ => on_lanes(x, Lane::Op(Op::Fmul), lane, (a, block * count + n), (b, block * count + n)),
            })
            .collect();
        let halves: Vec<Slot> = products.chunks(2).map(|two| x.op(Op::Fadd, lane, two[0], two[1])).collect();
        sums.push(match halves[..] {
            [low, high] => x.op(Op::Fadd, lane, low, high),
            _ => halves[0],
        });
    }
    let value = x.build(width, lane, |x, i| match immediate >> (i % count) & 1 {
        0 => x.constant(lane, 0),
        _ => sums[(i / count) as usize],
    });
    x.set_vector(x.e.reg, width, value)
}

/// Products added to, or subtracted from, a third operand and rounded once. The high half of the opcode says which operands
/// are multiplied, the low half what happens to their product.
pub(super) fn fused(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (lane, opcode) = (if x.e.wide { 64 } else { 32 }, x.e.opcode);
    let lowest = opcode & 15 >= 8 && opcode & 1 == 1;
    let width = if lowest { 128 } else { x.vector_width() };
    let (first, second, third) = (x.vector(x.e.reg)?, x.first_source()?, x.read_vector(if lowest { lane } else { width })?);
    let value = x.build(width, lane, |x, i| {
        let one = x.lane(first, lane, i);
        if lowest && i > 0 {
            return one;
        }
        let (two, three) = (x.lane(second, lane, i), x.lane(third, lane, i));
        let (a, b, c) = match opcode >> 4 {
            9 => (one, three, two),
            0xa => (two, one, three),
            _ => (two, three, one),
        };
        let subtracts = match opcode & 15 {
            6 => i % 2 == 0,
            7 => i % 2 == 1,
            low => low & 2 != 0,
        };
        let negates = opcode & 15 >= 0xc;
        fused_lane(x, lane, (a, b, c), negates, subtracts)
    });
    x.set_vector(x.e.reg, width, value)
}
fn fused_lane(x: &mut X<'_, '_, '_, '_>, lane: u32, (a, b, c): (Slot, Slot, Slot), negates: bool, subtracts: bool) -> Slot {
    let factor = if negates { x.unary(Op::Fneg, lane, a) } else { a };
    let addend = if subtracts { x.unary(Op::Fneg, lane, c) } else { c };
    let mut value = x.p.temp(lane);
    x.p.emit(Op::Fma, lane, value, factor.raw(), b.raw(), addend.raw());
    // What is no number stays as it is, with its sign: the first of them.
    let quiet = x.constant(lane, if lane == 32 { 1 << 22 } else { 1 << 51 });
    for operand in [c, b, a] {
        let (no_number, made_quiet) = (compare(x, lane, operand, operand, FcmpPred::UNORDERED), x.op(Op::Or, lane, operand, quiet));
        value = x.select(lane, no_number, made_quiet, value);
    }
    value
}

/// Neighbours added (7C) or subtracted (7D): of the first source, then of the operand, in each 128 bits.
pub(super) fn neighbours(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (width, lane) = (x.vector_width(), doubles_or_singles(x));
    let op = if x.e.opcode == 0x7c { Op::Fadd } else { Op::Fsub };
    pairs(x, width, lane, Lane::Op(op))
}
