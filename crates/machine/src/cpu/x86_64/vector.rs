//! SSE and AVX instructions on integers in lanes, and moves: what SLEIGH leaves open, or says in many more operations.
//!
//! A result is made lane by lane, since that is how its expressions are read again: a comparison of sixteen bytes followed by
//! a mask of their signs is sixteen comparisons (Intel SDM 2).

use wryneck_ir::Op;
use wryneck_ir::build::Slot;

use super::emit::Emit;
use super::encoding::{Encoding, Mandatory, Map, Rm};

/// What a vector instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Vector {
    /// On each lane of this many bits of both operands.
    Lanes(u32, Lane),
    /// On all bits; the first operand inverted before, or not.
    Bits(Op, Inverted),
    /// The operand into the register.
    Load,
    /// The register into the operand.
    Store,
    /// The lowest bits of the operand into the register, the rest cleared.
    LoadLow(Kind),
    StoreLow(Kind),
    /// The top bits of the lanes into a general register.
    Mask(u32),
    /// The lowest lane into all.
    Broadcast(u32),
    /// Bytes chosen by bytes.
    Shuffle,
    /// In each 64 bits, how far the bytes of both operands are from one another, in all.
    Distances,
    /// Lanes of each 128 bits (or of their low or high half) chosen by the immediate.
    ShuffleBy(u32, u32),
    /// Each lane shifted by the immediate; the operation is in the register field.
    ShiftBy(u32),
    /// One lane into a general register or memory; into a vector.
    LaneOut(Kind),
    LaneIn(Kind),
    /// The upper parts of all registers cleared, or all.
    ClearUpper,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inverted {
    Neither,
    First,
}

/// Width of what is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// 32 bits, or 64 by the prefix that makes operands wide; a general register or memory.
    General,
    /// 64 bits; a vector register or memory.
    Low64,
    Fixed(u32),
}

/// What is done to a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    Plain(Op),
    /// All ones where the comparison holds.
    Equal,
    Greater,
    /// The one of which the comparison with the other holds.
    Least(Op),
    Most(Op),
}

use Inverted::{First, Neither};
use Mandatory::{F2, F3, None as No, P66};
use Map::{Three3A, Three38, Two};

/// Prefix, map, first and last opcode, meaning. One more: a row here; `xtask gate lift` compares it.
const ROWS: &[(Mandatory, Map, u8, u8, Vector)] = &[
    (No, Two, 0x10, 0x10, Vector::Load),
    (P66, Two, 0x10, 0x10, Vector::Load),
    (No, Two, 0x11, 0x11, Vector::Store),
    (P66, Two, 0x11, 0x11, Vector::Store),
    (No, Two, 0x28, 0x28, Vector::Load),
    (P66, Two, 0x28, 0x28, Vector::Load),
    (No, Two, 0x29, 0x29, Vector::Store),
    (P66, Two, 0x29, 0x29, Vector::Store),
    (No, Two, 0x2b, 0x2b, Vector::Store),
    (P66, Two, 0x2b, 0x2b, Vector::Store),
    (No, Two, 0x50, 0x50, Vector::Mask(32)),
    (P66, Two, 0x50, 0x50, Vector::Mask(64)),
    (No, Two, 0x54, 0x54, Vector::Bits(Op::And, Neither)),
    (P66, Two, 0x54, 0x54, Vector::Bits(Op::And, Neither)),
    (No, Two, 0x55, 0x55, Vector::Bits(Op::And, First)),
    (P66, Two, 0x55, 0x55, Vector::Bits(Op::And, First)),
    (No, Two, 0x56, 0x56, Vector::Bits(Op::Or, Neither)),
    (P66, Two, 0x56, 0x56, Vector::Bits(Op::Or, Neither)),
    (No, Two, 0x57, 0x57, Vector::Bits(Op::Xor, Neither)),
    (P66, Two, 0x57, 0x57, Vector::Bits(Op::Xor, Neither)),
    (P66, Two, 0x64, 0x64, Vector::Lanes(8, Lane::Greater)),
    (P66, Two, 0x65, 0x65, Vector::Lanes(16, Lane::Greater)),
    (P66, Two, 0x66, 0x66, Vector::Lanes(32, Lane::Greater)),
    (P66, Two, 0x6e, 0x6e, Vector::LoadLow(Kind::General)),
    (P66, Two, 0x6f, 0x6f, Vector::Load),
    (F3, Two, 0x6f, 0x6f, Vector::Load),
    (P66, Two, 0x70, 0x70, Vector::ShuffleBy(32, 0)),
    (F2, Two, 0x70, 0x70, Vector::ShuffleBy(16, 0)),
    (F3, Two, 0x70, 0x70, Vector::ShuffleBy(16, 64)),
    (P66, Two, 0x71, 0x71, Vector::ShiftBy(16)),
    (P66, Two, 0x72, 0x72, Vector::ShiftBy(32)),
    (P66, Two, 0x73, 0x73, Vector::ShiftBy(64)),
    (P66, Two, 0x74, 0x74, Vector::Lanes(8, Lane::Equal)),
    (P66, Two, 0x75, 0x75, Vector::Lanes(16, Lane::Equal)),
    (P66, Two, 0x76, 0x76, Vector::Lanes(32, Lane::Equal)),
    (No, Two, 0x77, 0x77, Vector::ClearUpper),
    (P66, Two, 0x7e, 0x7e, Vector::StoreLow(Kind::General)),
    (F3, Two, 0x7e, 0x7e, Vector::LoadLow(Kind::Low64)),
    (P66, Two, 0x7f, 0x7f, Vector::Store),
    (F3, Two, 0x7f, 0x7f, Vector::Store),
    (P66, Two, 0xc4, 0xc4, Vector::LaneIn(Kind::Fixed(16))),
    (P66, Two, 0xc5, 0xc5, Vector::LaneOut(Kind::Fixed(16))),
    (P66, Two, 0xd4, 0xd4, Vector::Lanes(64, Lane::Plain(Op::Add))),
    (P66, Two, 0xd5, 0xd5, Vector::Lanes(16, Lane::Plain(Op::Mul))),
    (P66, Two, 0xd6, 0xd6, Vector::StoreLow(Kind::Low64)),
    (P66, Two, 0xd7, 0xd7, Vector::Mask(8)),
    (P66, Two, 0xda, 0xda, Vector::Lanes(8, Lane::Least(Op::Ult))),
    (P66, Two, 0xdb, 0xdb, Vector::Bits(Op::And, Neither)),
    (P66, Two, 0xde, 0xde, Vector::Lanes(8, Lane::Most(Op::Ult))),
    (P66, Two, 0xdf, 0xdf, Vector::Bits(Op::And, First)),
    (P66, Two, 0xe7, 0xe7, Vector::Store),
    (P66, Two, 0xea, 0xea, Vector::Lanes(16, Lane::Least(Op::Slt))),
    (P66, Two, 0xeb, 0xeb, Vector::Bits(Op::Or, Neither)),
    (P66, Two, 0xee, 0xee, Vector::Lanes(16, Lane::Most(Op::Slt))),
    (P66, Two, 0xef, 0xef, Vector::Bits(Op::Xor, Neither)),
    (P66, Two, 0xf6, 0xf6, Vector::Distances),
    (P66, Two, 0xf8, 0xf8, Vector::Lanes(8, Lane::Plain(Op::Sub))),
    (P66, Two, 0xf9, 0xf9, Vector::Lanes(16, Lane::Plain(Op::Sub))),
    (P66, Two, 0xfa, 0xfa, Vector::Lanes(32, Lane::Plain(Op::Sub))),
    (P66, Two, 0xfb, 0xfb, Vector::Lanes(64, Lane::Plain(Op::Sub))),
    (P66, Two, 0xfc, 0xfc, Vector::Lanes(8, Lane::Plain(Op::Add))),
    (P66, Two, 0xfd, 0xfd, Vector::Lanes(16, Lane::Plain(Op::Add))),
    (P66, Two, 0xfe, 0xfe, Vector::Lanes(32, Lane::Plain(Op::Add))),
    (P66, Three38, 0x00, 0x00, Vector::Shuffle),
    (P66, Three38, 0x29, 0x29, Vector::Lanes(64, Lane::Equal)),
    (P66, Three38, 0x37, 0x37, Vector::Lanes(64, Lane::Greater)),
    (P66, Three38, 0x38, 0x38, Vector::Lanes(8, Lane::Least(Op::Slt))),
    (P66, Three38, 0x39, 0x39, Vector::Lanes(32, Lane::Least(Op::Slt))),
    (P66, Three38, 0x3a, 0x3a, Vector::Lanes(16, Lane::Least(Op::Ult))),
    (P66, Three38, 0x3b, 0x3b, Vector::Lanes(32, Lane::Least(Op::Ult))),
    (P66, Three38, 0x3c, 0x3c, Vector::Lanes(8, Lane::Most(Op::Slt))),
    (P66, Three38, 0x3d, 0x3d, Vector::Lanes(32, Lane::Most(Op::Slt))),
    (P66, Three38, 0x3e, 0x3e, Vector::Lanes(16, Lane::Most(Op::Ult))),
    (P66, Three38, 0x3f, 0x3f, Vector::Lanes(32, Lane::Most(Op::Ult))),
    (P66, Three38, 0x40, 0x40, Vector::Lanes(32, Lane::Plain(Op::Mul))),
    (P66, Three38, 0x58, 0x58, Vector::Broadcast(32)),
    (P66, Three38, 0x59, 0x59, Vector::Broadcast(64)),
    (P66, Three38, 0x78, 0x78, Vector::Broadcast(8)),
    (P66, Three38, 0x79, 0x79, Vector::Broadcast(16)),
    (P66, Three3A, 0x14, 0x14, Vector::LaneOut(Kind::Fixed(8))),
    (P66, Three3A, 0x15, 0x15, Vector::LaneOut(Kind::Fixed(16))),
    (P66, Three3A, 0x16, 0x16, Vector::LaneOut(Kind::General)),
    (P66, Three3A, 0x20, 0x20, Vector::LaneIn(Kind::Fixed(8))),
    (P66, Three3A, 0x22, 0x22, Vector::LaneIn(Kind::General)),
];

fn meaning(e: &Encoding) -> Option<Vector> {
    let row = ROWS.iter().find(|r| r.0 == e.mandatory && r.1 == e.map && (r.2..=r.3).contains(&e.opcode))?;
    let legacy_only = e.vex.is_none() && (row.4 == Vector::ClearUpper || matches!(row.4, Vector::Broadcast(_)));
    // Shifts of all 128 bits are SLEIGH's.
    let whole = row.4 == Vector::ShiftBy(64) && matches!(e.reg, 3 | 7);
    let known = !matches!(row.4, Vector::ShiftBy(_)) || matches!(e.reg, 2 | 4 | 6);
    (!legacy_only && !whole && known).then_some(row.4)
}

/// Do we lift it?
pub fn is_ours(e: &Encoding) -> bool {
    meaning(e).is_some()
}

/// Is it an instruction on vectors at all?
fn is_vector(e: &Encoding) -> bool {
    match e.map {
        Map::One => false,
        Map::Two => matches!(e.opcode, 0x10..=0x17 | 0x28..=0x2f | 0x50..=0x7f | 0xc2 | 0xc4..=0xc6 | 0xd0..=0xfe),
        Map::Three38 => e.opcode < 0xf0,
        Map::Three3A => true,
    }
}

/// Bytes to which memory operands of 16 and more bytes must be aligned. Without VEX all must be, but for the moves that say not.
pub fn alignment(e: &Encoding) -> u32 {
    let moves_dqa = matches!(e.opcode, 0x6f | 0x7f);
    let aligned = e.map == Two && (matches!(e.opcode, 0x28 | 0x29 | 0x2b | 0xe7) || e.mandatory == P66 && moves_dqa);
    let unaligned = match e.map {
        Two => matches!(e.opcode, 0x10 | 0x11 | 0xf0) || e.mandatory == F3 && moves_dqa,
        Three3A => matches!(e.opcode, 0x60..=0x63),
        Map::One | Three38 => false,
    };
    match e.vex {
        _ if !is_vector(e) => 0,
        Some(vex) if aligned => {
            if vex.long {
                32
            } else {
                16
            }
        }
        Some(_) => 0,
        None => {
            if unaligned {
                0
            } else {
                16
            }
        }
    }
}

/// Emits it.
pub fn emit(x: &mut Emit<'_, '_, '_, '_>) -> Result<(), String> {
    let what = meaning(x.e).ok_or("a vector instruction without a row")?;
    let width = x.vector_width();
    match what {
        Vector::Lanes(lane, f) => {
            let (a, b) = (x.first_source()?, x.read_vector(width)?);
            let dst = x.p.temp(width);
            for limb in 0..width / 64 {
                let (a, b) = (a.limb(limb), b.limb(limb));
                let mark = x.p.mark();
                let value = x.lanes(lane, |x, i| {
                    let (a, b) = (x.bits(a, 64, lane * i, lane), x.bits(b, 64, lane * i, lane));
                    on_lane(x, f, lane, a, b)
                });
                x.p.copy(64, dst.limb(limb), value);
                x.p.release(mark);
            }
            x.set_vector(x.e.reg, width, dst)
        }
        Vector::Bits(op, inverted) => {
            let (a, b) = (x.first_source()?, x.read_vector(width)?);
            let dst = x.p.temp(width);
            for limb in 0..width / 64 {
                let mut a = a.limb(limb);
                if inverted == First {
                    let ones = x.constant(64, u64::MAX);
                    a = x.op(Op::Xor, 64, a, ones);
                }
                let value = x.op(op, 64, a, b.limb(limb));
                x.p.copy(64, dst.limb(limb), value);
            }
            x.set_vector(x.e.reg, width, dst)
        }
        Vector::Load => {
            let value = x.read_vector(width)?;
            x.set_vector(x.e.reg, width, value)
        }
        Vector::Store => {
            let value = x.vector(x.e.reg)?;
            match x.e.rm {
                Rm::Register(n) => x.set_vector(n, width, value),
                Rm::Memory(a) => x.store(&a, width, value),
            }
        }
        Vector::LoadLow(kind) => load_low(x, kind),
        Vector::StoreLow(kind) => store_low(x, kind),
        Vector::Mask(lane) => mask(x, lane, width),
        Vector::Broadcast(lane) => {
            let value = x.read_vector(lane)?;
            let limb = x.lanes(lane, |_, _| value);
            let dst = x.p.temp(width);
            (0..width / 64).for_each(|i| x.p.copy(64, dst.limb(i), limb));
            x.set_vector(x.e.reg, width, dst)
        }
        Vector::Shuffle => shuffle(x, width),
        Vector::Distances => distances(x, width),
        Vector::ShuffleBy(lane, from) => shuffle_by(x, width, lane, from),
        Vector::ShiftBy(lane) => shift_by(x, width, lane),
        Vector::LaneOut(kind) => lane_out(x, kind),
        Vector::LaneIn(kind) => lane_in(x, kind),
        Vector::ClearUpper => {
            let keep = if width == 256 { 0 } else { 128 };
            (0..16).try_for_each(|n| x.clear_above(n, keep))
        }
    }
}

fn on_lane(x: &mut Emit<'_, '_, '_, '_>, f: Lane, lane: u32, a: Slot, b: Slot) -> Slot {
    match f {
        Lane::Plain(op) => x.op(op, lane, a, b),
        Lane::Equal => {
            let bit = x.op(Op::Eq, lane, a, b);
            x.cast(Op::Sext, lane, 1, bit)
        }
        Lane::Greater => {
            let bit = x.op(Op::Slt, lane, b, a);
            x.cast(Op::Sext, lane, 1, bit)
        }
        Lane::Least(less) => {
            let bit = x.op(less, lane, a, b);
            x.select(lane, bit, a, b)
        }
        Lane::Most(less) => {
            let bit = x.op(less, lane, a, b);
            x.select(lane, bit, b, a)
        }
    }
}

/// Width of a low part.
fn low_width(x: &Emit<'_, '_, '_, '_>, kind: Kind) -> u32 {
    match kind {
        Kind::General if !x.e.wide => 32,
        Kind::General | Kind::Low64 => 64,
        Kind::Fixed(width) => width,
    }
}

fn load_low(x: &mut Emit<'_, '_, '_, '_>, kind: Kind) -> Result<(), String> {
    let width = low_width(x, kind);
    let value = if kind == Kind::Low64 { x.read_vector(64)? } else { x.read_general(width)? };
    let dst = x.p.constant(128, 0);
    x.p.copy(width, dst, value);
    x.set_vector(x.e.reg, 128, dst)
}

fn store_low(x: &mut Emit<'_, '_, '_, '_>, kind: Kind) -> Result<(), String> {
    let width = low_width(x, kind);
    let whole = x.vector(x.e.reg)?;
    let value = if width < 64 { x.bits(whole, 64, 0, width) } else { whole };
    match x.e.rm {
        Rm::Memory(a) => x.store(&a, width, value),
        Rm::Register(n) if kind == Kind::Low64 => {
            let dst = x.p.constant(128, 0);
            x.p.copy(64, dst, value);
            x.set_vector(n, 128, dst)
        }
        Rm::Register(n) => x.set_general(n, width, value),
    }
}

fn mask(x: &mut Emit<'_, '_, '_, '_>, lane: u32, width: u32) -> Result<(), String> {
    let value = x.read_vector(width)?;
    let each = 64 / lane;
    let mut all = x.bits(value, 64, lane - 1, 1);
    for i in 1..width / lane {
        let bit = x.bits(value.limb(i / each), 64, lane * (i % each) + lane - 1, 1);
        all = x.concat(bit, 1, all, i);
    }
    // Narrow values are zero-extended in their slots.
    x.set_general(x.e.reg, 64, all)
}

/// A byte of the source by the low four bits of each byte, in the same 128 bits, or 0 where its top bit is set.
fn shuffle(x: &mut Emit<'_, '_, '_, '_>, width: u32) -> Result<(), String> {
    let (from, by) = (x.first_source()?, x.read_vector(width)?);
    let dst = x.p.temp(width);
    for limb in 0..width / 64 {
        let (table, control) = (from.limb(limb & !1), by.limb(limb));
        let mark = x.p.mark();
        let value = x.lanes(8, |x, i| {
            let control = x.bits(control, 64, 8 * i, 8);
            let (low, three) = (x.constant(8, 15), x.constant(8, 3));
            let index = x.op(Op::And, 8, control, low);
            let bits = x.op(Op::Shl, 8, index, three);
            let wide = x.cast(Op::Zext, 128, 8, bits);
            let moved = x.op(Op::Lshr, 128, table, wide);
            let (byte, clear, zero) = (x.bits(moved, 64, 0, 8), x.bits(control, 8, 7, 1), x.constant(8, 0));
            x.select(8, clear, zero, byte)
        });
        x.p.copy(64, dst.limb(limb), value);
        x.p.release(mark);
    }
    x.set_vector(x.e.reg, width, dst)
}

fn distances(x: &mut Emit<'_, '_, '_, '_>, width: u32) -> Result<(), String> {
    let (a, b) = (x.first_source()?, x.read_vector(width)?);
    let dst = x.p.temp(width);
    for limb in 0..width / 64 {
        let mark = x.p.mark();
        let mut sum = x.constant(64, 0);
        for i in 0..8 {
            let (a, b) = (x.bits(a.limb(limb), 64, 8 * i, 8), x.bits(b.limb(limb), 64, 8 * i, 8));
            let (less, up, down) = (x.op(Op::Ult, 8, a, b), x.op(Op::Sub, 8, b, a), x.op(Op::Sub, 8, a, b));
            let far = x.select(8, less, up, down);
            let far = x.cast(Op::Zext, 64, 8, far);
            sum = x.op(Op::Add, 64, sum, far);
        }
        x.p.copy(64, dst.limb(limb), sum);
        x.p.release(mark);
    }
    x.set_vector(x.e.reg, width, dst)
}

/// Four lanes from bit `from` of each 128 bits on are chosen among themselves by two bits of the immediate each.
fn shuffle_by(x: &mut Emit<'_, '_, '_, '_>, width: u32, lane: u32, from: u32) -> Result<(), String> {
    let (value, by) = (x.read_vector(width)?, u32::from(x.e.immediate.unwrap_or(0)));
    let dst = x.p.temp(width);
    let each = 64 / lane;
    for half in 0..width / 128 {
        let base = value.limb(2 * half);
        for limb in 0..2 {
            if lane == 16 && 64 * limb != from {
                x.p.copy(64, dst.limb(2 * half + limb), base.limb(limb));
                continue;
            }
            let chosen = x.lanes(lane, |x, i| {
                let n = if lane == 16 { i } else { i + each * limb };
                let source = from / lane + (by >> (2 * n) & 3);
                x.bits(base.limb(source / each), 64, lane * (source % each), lane)
            });
            x.p.copy(64, dst.limb(2 * half + limb), chosen);
        }
    }
    x.set_vector(x.e.reg, width, dst)
}

fn shift_by(x: &mut Emit<'_, '_, '_, '_>, width: u32, lane: u32) -> Result<(), String> {
    let (value, by) = (x.read_vector(width)?, x.e.immediate.unwrap_or(0));
    let op = match x.e.reg {
        2 => Op::Lshr,
        4 => Op::Ashr,
        _ => Op::Shl,
    };
    let amount = x.constant(lane, u64::from(by).min(lane.into()));
    let dst = x.p.temp(width);
    for limb in 0..width / 64 {
        let from = value.limb(limb);
        let moved = x.lanes(lane, |x, i| {
            let part = x.bits(from, 64, lane * i, lane);
            x.op(op, lane, part, amount)
        });
        x.p.copy(64, dst.limb(limb), moved);
    }
    // The destination is the extra register of VEX here.
    x.set_vector(x.e.vex.map_or_else(|| register(x.e.rm), |v| v.source), width, dst)
}

fn register(rm: Rm) -> usize {
    match rm {
        Rm::Register(n) => n,
        Rm::Memory(_) => 0,
    }
}

fn lane_out(x: &mut Emit<'_, '_, '_, '_>, kind: Kind) -> Result<(), String> {
    let (width, by) = (low_width(x, kind), u32::from(x.e.immediate.unwrap_or(0)));
    // The old form of 16 bits has the operands the other way round.
    let swapped = x.e.map == Two;
    let source = if swapped { register(x.e.rm) } else { x.e.reg };
    let lane = by % (128 / width);
    let whole = x.vector(source)?;
    let value = x.bits(whole.limb(lane * width / 64), 64, lane * width % 64, width);
    match x.e.rm {
        Rm::Memory(a) => x.store(&a, width, value),
        Rm::Register(n) => x.set_general(if swapped { x.e.reg } else { n }, 64, value),
    }
}

fn lane_in(x: &mut Emit<'_, '_, '_, '_>, kind: Kind) -> Result<(), String> {
    let (width, by) = (low_width(x, kind), u32::from(x.e.immediate.unwrap_or(0)));
    let value = match x.e.rm {
        // Only the low byte of a register is meant, never its second.
        Rm::Register(n) => x.low(n, width)?,
        Rm::Memory(_) => x.read_general(width)?,
    };
    let (from, dst, lane) = (x.first_source()?, x.p.temp(128), by % (128 / width));
    x.p.copy(128, dst, from);
    let limb = dst.limb(lane * width / 64);
    let joined = x.lanes(width, |x, i| if i == lane % (64 / width) { value } else { x.bits(limb, 64, width * i, width) });
    x.p.copy(64, limb, joined);
    x.set_vector(x.e.reg, 128, dst)
}
