//! Lanes moved: where each lane of a result comes from.

use wryneck_ir::Op;
use wryneck_ir::build::Slot;

use super::From::{First, Second, Zero};
use super::{From, Shape, X};
use crate::cpu::x86_64::encoding::{Map, Rm};

/// Bits of the immediate from `at` on.
fn bits(s: &Shape, at: u32, count: u32) -> u32 {
    s.immediate >> at & ((1 << count) - 1)
}
/// The first lane of the block that lane `i` is in, and its number there.
fn within(s: &Shape, i: u32) -> (u32, u32) {
    (i / s.block * s.block, i % s.block)
}

/// Lanes of both sources in turn, from the low half of each block.
pub(super) fn low(s: &Shape, i: u32) -> From {
    let (base, at) = within(s, i);
    if at % 2 == 0 { First(base + at / 2) } else { Second(base + at / 2) }
}
/// From the high half.
pub(super) fn high(s: &Shape, i: u32) -> From {
    let (base, at) = within(s, i);
    if at % 2 == 0 { First(base + (s.block + at) / 2) } else { Second(base + (s.block + at) / 2) }
}
/// Four lanes of each block by two bits of the immediate each.
pub(super) fn four(s: &Shape, i: u32) -> From {
    let (base, at) = within(s, i);
    Second(base + bits(s, 2 * at, 2))
}
/// The low (high) four of eight.
pub(super) fn low_four(s: &Shape, i: u32) -> From {
    let (base, at) = within(s, i);
    if at < 4 { Second(base + bits(s, 2 * at, 2)) } else { Second(i) }
}
pub(super) fn high_four(s: &Shape, i: u32) -> From {
    let (base, at) = within(s, i);
    if at < 4 { Second(i) } else { Second(base + 4 + bits(s, 2 * (at - 4), 2)) }
}
/// The low half of each block from the first source, the other from the operand: of four lanes, of two.
pub(super) fn half_each_four(s: &Shape, i: u32) -> From {
    let (base, at) = within(s, i);
    let n = base + bits(s, 2 * at, 2);
    if at < 2 { First(n) } else { Second(n) }
}
pub(super) fn half_each_two(s: &Shape, i: u32) -> From {
    let (base, at) = within(s, i);
    let n = base + bits(s, i, 1);
    if at == 0 { First(n) } else { Second(n) }
}
/// One of both lanes of each block by a bit of the immediate each.
pub(super) fn two(s: &Shape, i: u32) -> From {
    Second(within(s, i).0 + bits(s, i, 1))
}
pub(super) fn even_twice(_: &Shape, i: u32) -> From {
    Second(i & !1)
}
pub(super) fn odd_twice(_: &Shape, i: u32) -> From {
    Second(i | 1)
}
/// Both sources as one, shifted right by bytes.
pub(super) fn aligned(s: &Shape, i: u32) -> From {
    let (base, at) = within(s, i);
    let n = at + s.immediate;
    if n < s.block {
        Second(base + n)
    } else if n < 2 * s.block {
        First(base + n - s.block)
    } else {
        Zero
    }
}
pub(super) fn blended(s: &Shape, i: u32) -> From {
    if bits(s, i, 1) == 1 { Second(i) } else { First(i) }
}
pub(super) fn blended_words(s: &Shape, i: u32) -> From {
    if bits(s, i % 8, 1) == 1 { Second(i) } else { First(i) }
}
/// Four lanes in all.
pub(super) fn any_four(s: &Shape, i: u32) -> From {
    Second(bits(s, 2 * i, 2))
}
/// Halves of 256 bits by four bits of the immediate each.
pub(super) fn halves(s: &Shape, i: u32) -> From {
    let control = bits(s, 4 * (i / 2), 4);
    let n = 2 * (control & 1) + i % 2;
    match control {
        8.. => Zero,
        _ if control & 2 == 0 => First(n),
        _ => Second(n),
    }
}
pub(super) fn half_in(s: &Shape, i: u32) -> From {
    if i / 2 == bits(s, 0, 1) { Second(i % 2) } else { First(i) }
}
pub(super) fn low_half_twice(_: &Shape, i: u32) -> From {
    Second(i % 2)
}
pub(super) fn lowest(_: &Shape, _: u32) -> From {
    Second(0)
}
/// A lane by the top two bits of the immediate, the only one of a memory operand, to where the next two say; cleared by the rest.
pub(super) fn inserted(s: &Shape, i: u32) -> From {
    if bits(s, i, 1) == 1 {
        Zero
    } else if i == bits(s, 4, 2) {
        Second(if s.memory { 0 } else { bits(s, 6, 2) })
    } else {
        First(i)
    }
}
/// 64 bits from memory, or from the other half of a register.
pub(super) fn low_from_high(s: &Shape, i: u32) -> From {
    if i == 1 { First(1) } else { Second(if s.memory { 0 } else { 1 }) }
}
pub(super) fn low_in(_: &Shape, i: u32) -> From {
    if i == 0 { Second(0) } else { First(i) }
}
pub(super) fn high_in(_: &Shape, i: u32) -> From {
    if i == 0 { First(0) } else { Second(0) }
}
/// The lowest lane: from memory the rest is cleared, of a register it is kept.
pub(super) fn lowest_in(s: &Shape, i: u32) -> From {
    match i {
        0 => Second(0),
        _ if s.memory => Zero,
        _ => First(i),
    }
}

/// The choice among lanes by an index, whose number of bits says how many there are.
fn choose(x: &mut X<'_, '_, '_, '_>, lane: u32, index: &[Slot], from: &[Slot]) -> Slot {
    let Some((top, rest)) = index.split_last() else { return from[0] };
    let (low, high) = from.split_at(from.len() / 2);
    let (low, high) = (choose(x, lane, rest, low), choose(x, lane, rest, high));
    x.select(lane, *top, high, low)
}

/// Bytes of each 128 bits by the low four bits of the operand's, or 0 where the top bit is set. On 64 bits, by three.
pub(super) fn shuffle_bytes(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let width = x.vector_width();
    let (from, by) = (x.first_source()?, x.read_vector(width)?);
    let block = width.min(128);
    let value = x.build(width, 8, |x, i| {
        let table = from.limb(8 * i / block * block / 64);
        let control = x.lane(by, 8, i);
        let (low, three) = (x.constant(8, u64::from(block / 8 - 1)), x.constant(8, 3));
        let index = x.op(Op::And, 8, control, low);
        let bits = x.op(Op::Shl, 8, index, three);
        let wide = x.cast(Op::Zext, block, 8, bits);
        let moved = x.op(Op::Lshr, block, table, wide);
        let (byte, clear, zero) = (x.bits(moved, 64, 0, 8), x.bits(control, 8, 7, 1), x.constant(8, 0));
        x.select(8, clear, zero, byte)
    });
    x.set_vector(x.e.reg, width, value)
}

/// Floats of each 128 bits by the operand's low bits (of doubles by bit 1).
pub(super) fn permute_floats(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (width, lane) = (x.vector_width(), if x.e.opcode == 0x0c { 32 } else { 64 });
    let (from, by) = (x.first_source()?, x.read_vector(width)?);
    let (block, first) = (128 / lane, if lane == 32 { 0 } else { 1 });
    let value = x.build(width, lane, |x, i| {
        let base = i / block * block;
        let lanes: Vec<Slot> = (base..base + block).map(|n| x.lane(from, lane, n)).collect();
        let control = x.lane(by, lane, i);
        let index: Vec<Slot> = (0..block.trailing_zeros()).map(|bit| x.bits(control, lane, first + bit, 1)).collect();
        choose(x, lane, &index, &lanes)
    });
    x.set_vector(x.e.reg, width, value)
}

/// Eight lanes of the operand by the first source.
pub(super) fn permute(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let (by, from) = (x.first_source()?, x.read_vector(256)?);
    let value = x.build(256, 32, |x, i| {
        let lanes: Vec<Slot> = (0..8).map(|n| x.lane(from, 32, n)).collect();
        let control = x.lane(by, 32, i);
        let index: Vec<Slot> = (0..3).map(|bit| x.bits(control, 32, bit, 1)).collect();
        choose(x, 32, &index, &lanes)
    });
    x.set_vector(x.e.reg, 256, value)
}

/// The operand's lanes where the top bits of a mask are set: register 0, or the one of the immediate with VEX.
fn blend_by(x: &mut X<'_, '_, '_, '_>, lane: u32) -> Result<(), String> {
    let width = x.vector_width();
    let mask = if x.e.vex.is_some() { usize::from(x.e.immediate.unwrap_or(0) >> 4) } else { 0 };
    let (a, b, mask) = (x.first_source()?, x.read_vector(width)?, x.vector(mask)?);
    let value = x.build(width, lane, |x, i| {
        let (a, b, mask) = (x.lane(a, lane, i), x.lane(b, lane, i), x.lane(mask, lane, i));
        let chosen = x.bits(mask, lane, lane - 1, 1);
        x.select(lane, chosen, b, a)
    });
    x.set_vector(x.e.reg, width, value)
}
pub(super) fn blend_bytes(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    blend_by(x, 8)
}
pub(super) fn blend_singles(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    blend_by(x, 32)
}
pub(super) fn blend_doubles(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    blend_by(x, 64)
}

/// A half of 256 bits into a register of 128 bits, or memory.
pub(super) fn half_out(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let half = u32::from(x.e.immediate.unwrap_or(0) & 1);
    let value = x.vector(x.e.reg)?.limb(2 * half);
    match x.e.rm {
        Rm::Register(n) => {
            let kept = x.p.temp(128);
            x.p.copy(128, kept, value);
            x.set_vector(n, 128, kept)
        }
        Rm::Memory(a) => x.store(&a, 128, value),
    }
}

/// Width of the lane that an instruction's opcode moves from or to a general register, and whether the older form it is.
fn lane_width(x: &X<'_, '_, '_, '_>) -> (u32, bool) {
    match (x.e.map, x.e.opcode) {
        (Map::Two, _) => (16, true),
        (_, 0x14 | 0x20) => (8, false),
        (_, 0x15) => (16, false),
        (_, 0x17) => (32, false),
        _ => (if x.e.wide { 64 } else { 32 }, false),
    }
}
/// One lane into a general register or memory.
pub(super) fn lane_out(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let ((width, swapped), by) = (lane_width(x), u32::from(x.e.immediate.unwrap_or(0)));
    // The older form has the operands the other way round.
    let whole = if swapped { x.rm_vector()?.0 } else { x.vector(x.e.reg)? };
    let lane = by % (x.vector_width().min(128) / width);
    let value = x.lane(whole, width, lane);
    match x.e.rm {
        Rm::Memory(a) => x.store(&a, width, value),
        Rm::Register(n) => x.set_general(if swapped { x.e.reg } else { n }, 64, value),
    }
}
/// A general register or memory into one lane.
pub(super) fn lane_in(x: &mut X<'_, '_, '_, '_>) -> Result<(), String> {
    let ((width, _), by) = (lane_width(x), u32::from(x.e.immediate.unwrap_or(0)));
    let value = match x.e.rm {
        // Only the low byte of a register is meant, never its second.
        Rm::Register(n) => x.low(n, width)?,
        Rm::Memory(_) => x.read_general(width)?,
    };
    let all = x.vector_width().min(128);
    let (from, lane) = (x.first_source()?, by % (all / width));
    let joined = x.build(all, width, |x, i| if i == lane { value } else { x.lane(from, width, i) });
    x.set_vector(x.e.reg, all, joined)
}
