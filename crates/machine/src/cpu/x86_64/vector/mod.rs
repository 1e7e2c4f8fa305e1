//! Instructions on vectors, SSE to AVX2 with FMA and F16C, and MMX: each by a row of [`table`].
//!
//! A result is made lane by lane, because its expressions are read lane by lane: a comparison of sixteen bytes followed by a mask
//! of their signs is sixteen comparisons (Intel SDM 2). A row says what happens to a lane; widths, VEX and memory operands are the
//! same for all rows and handled here. Rounding is to the nearest: [`super::integer`] refuses other values of MXCSR.

mod arrange;
mod convert;
mod crypto;
mod float;
mod lane;
mod memory;
mod table;

use wryneck_ir::Op;
use wryneck_ir::build::Slot;

use super::emit::Emit;
use super::encoding::{Encoding, Mandatory, Map, Rm};
use Mandatory::{F2, F3, P66};
use Map::{Three3A, Three38, Two};

/// What emits an instruction.
type X<'a, 'f, 'm, 'r> = Emit<'a, 'f, 'm, 'r>;

/// What is done to a lane of both sources.
#[derive(Clone, Copy, Debug)]
enum Lane {
    Op(Op),
    /// Gets the width of the lane, and both lanes.
    By(fn(&mut X<'_, '_, '_, '_>, u32, Slot, Slot) -> Slot),
}

/// What is done to a lane of the operand: gets its width, and the lane.
type Unary = fn(&mut X<'_, '_, '_, '_>, u32, Slot) -> Slot;

/// Where a lane of the result comes from: the number of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    First(u32),
    Second(u32),
    Zero,
}

/// What decides where lanes come from.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Lanes of each 128 bits (of 64 on MMX registers).
    block: u32,
    immediate: u32,
    /// The operand is in memory.
    memory: bool,
}

/// Gives lane `i` of the result its source.
type Picker = fn(&Shape, u32) -> From;

/// What an instruction does.
#[derive(Clone, Copy, Debug)]
enum What {
    /// Lane by lane on both sources, of this many bits.
    Each(u32, Lane),
    /// Lane by lane on the operand.
    Unary(u32, Unary),
    /// On floats: the prefix says which, and whether on the lowest alone.
    Float(Lane),
    FloatUnary(Unary),
    /// Lanes of this many bits, moved; a memory operand has so many bits, if not all.
    Pick(u32, Option<u32>, Picker),
    /// Lane by lane on neighbours: first those of the first source, then those of the operand, in each 128 bits.
    Pairs(u32, Lane),
    /// All of it.
    Whole(fn(&mut X<'_, '_, '_, '_>) -> Result<(), String>),
}

/// Which encodings a group's rows are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoded {
    Any,
    Legacy,
    Vex,
}

/// Instructions with prefix, map and encoding in common.
struct Group {
    map: Map,
    prefixes: &'static [Mandatory],
    encoded: Encoded,
    /// On MMX registers.
    mmx: bool,
    rows: &'static [(u8, What)],
}

/// The meaning of an instruction, and whether it is on MMX registers.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    what: What,
    mmx: bool,
}

/// Its row, if we lift it.
pub fn meaning(e: &Encoding) -> Option<Row> {
    if e.map == Map::One {
        return None;
    }
    table::GROUPS.iter().find_map(|group| {
        let encoded = match group.encoded {
            Encoded::Any => true,
            Encoded::Legacy => e.vex.is_none(),
            Encoded::Vex => e.vex.is_some(),
        };
        if group.map != e.map || !encoded || !group.prefixes.contains(&e.mandatory) || group.mmx && e.vex.is_some() {
            return None;
        }
        let (_, what) = group.rows.iter().find(|(opcode, _)| *opcode == e.opcode)?;
        // Groups 12 to 14: shifts by an immediate.
        let shifts = e.map == Two && (0x71..=0x73).contains(&e.opcode);
        let known = !shifts
            || matches!(e.rm, Rm::Register(_))
                && (matches!(e.reg & 7, 2 | 4 | 6) || e.opcode == 0x73 && !group.mmx && matches!(e.reg & 7, 3 | 7));
        known.then_some(Row { what: *what, mmx: group.mmx })
    })
}

/// Is it an instruction on vectors at all?
fn is_vector(e: &Encoding) -> bool {
    match e.map {
        Map::One => false,
        Two => matches!(e.opcode, 0x10..=0x17 | 0x28..=0x2f | 0x50..=0x7f | 0xc2 | 0xc4..=0xc6 | 0xd0..=0xfe),
        Three38 => e.opcode < 0xf0,
        Three3A => true,
    }
}

/// Bytes to which memory operands of 16 and more bytes must be aligned. Without VEX all must be, but for the moves that say not.
pub fn alignment(e: &Encoding) -> u32 {
    let moves_dqa = matches!(e.opcode, 0x6f | 0x7f);
    let aligned = match e.map {
        Two => matches!(e.opcode, 0x28 | 0x29 | 0x2b | 0xe7) || e.mandatory == P66 && moves_dqa,
        Three38 => e.opcode == 0x2a,
        Map::One | Three3A => false,
    };
    let unaligned = match e.map {
        Two => matches!(e.opcode, 0x10 | 0x11 | 0xf0) || e.mandatory == F3 && moves_dqa,
        // Of strings; and of SHA, where processors disagree, so nothing stops the program.
        Three3A => matches!(e.opcode, 0x60..=0x63 | 0xcc),
        Three38 => matches!(e.opcode, 0xc8..=0xcd),
        Map::One => false,
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
pub fn emit(x: &mut X<'_, '_, '_, '_>, row: Row) -> Result<(), String> {
    if row.mmx {
        x.enter_mmx()?;
    }
    let width = x.vector_width();
    match row.what {
        What::Each(lane, f) => {
            let (a, b) = (x.first_source()?, x.read_vector(width)?);
            let value = x.build(width, lane, |x, i| on_lanes(x, f, lane, (a, i), (b, i)));
            x.set_vector(x.e.reg, width, value)
        }
        What::Unary(lane, f) => {
            let b = x.read_vector(width)?;
            let value = x.build(width, lane, |x, i| {
                let b = x.lane(b, lane, i);
                f(x, lane, b)
            });
            x.set_vector(x.e.reg, width, value)
        }
        What::Float(f) => floats(x, width, &mut |x, lane, a, b, i| on_lanes(x, f, lane, (a, i), (b, i))),
        What::FloatUnary(f) => floats(x, width, &mut |x, lane, _, b, i| {
            let b = x.lane(b, lane, i);
            f(x, lane, b)
        }),
        What::Pick(lane, memory, from) => {
            // Moves of the lowest lane look at no width of VEX.
            let lowest = x.e.map == Two && x.e.opcode == 0x10;
            let width = if lowest { 128 } else { width };
            let b = match x.e.rm {
                Rm::Register(n) => x.vector(n)?,
                Rm::Memory(_) => x.read_vector(memory.unwrap_or(width))?,
            };
            let a = x.first_source()?;
            let shape = Shape {
                block: width.min(128) / lane,
                immediate: x.e.immediate.unwrap_or(0).into(),
                memory: matches!(x.e.rm, Rm::Memory(_)),
            };
            let value = x.build(width, lane, |x, i| match from(&shape, i) {
                From::First(n) => x.lane(a, lane, n),
                From::Second(n) => x.lane(b, lane, n),
                From::Zero => x.constant(lane, 0),
            });
            x.set_vector(x.e.reg, width, value)
        }
        What::Pairs(lane, f) => pairs(x, width, lane, f),
        What::Whole(f) => f(x),
    }
}

/// An operation on the numbered lanes of two vectors.
fn on_lanes(x: &mut X<'_, '_, '_, '_>, f: Lane, lane: u32, (a, m): (Slot, u32), (b, n): (Slot, u32)) -> Slot {
    let (a, b) = (x.lane(a, lane, m), x.lane(b, lane, n));
    match f {
        Lane::Op(op) => x.op(op, lane, a, b),
        Lane::By(f) => f(x, lane, a, b),
    }
}

/// Neighbours of the first source, then of the operand, in each 128 bits.
fn pairs(x: &mut X<'_, '_, '_, '_>, width: u32, lane: u32, f: Lane) -> Result<(), String> {
    let (a, b) = (x.first_source()?, x.read_vector(width)?);
    let block = width.min(128) / lane;
    let value = x.build(width, lane, |x, i| {
        let (base, at) = (i / block * block, i % block);
        let (source, n) = if at < block / 2 { (a, base + 2 * at) } else { (b, base + 2 * at - block) };
        on_lanes(x, f, lane, (source, n), (source, n + 1))
    });
    x.set_vector(x.e.reg, width, value)
}

/// Lanes of floats, all of them or the lowest, as the prefix says. The rest is the first source's.
fn floats(
    x: &mut X<'_, '_, '_, '_>,
    width: u32,
    f: &mut dyn FnMut(&mut X<'_, '_, '_, '_>, u32, Slot, Slot, u32) -> Slot,
) -> Result<(), String> {
    let (lane, lowest) = float_lane(x.e);
    let (width, read) = if lowest { (128, lane) } else { (width, width) };
    let (a, b) = (x.first_source()?, x.read_vector(read)?);
    if !lowest {
        let value = x.build(width, lane, |x, i| f(x, lane, a, b, i));
        return x.set_vector(x.e.reg, width, value);
    }
    let value = f(x, lane, a, b, 0);
    set_lowest(x, lane, a, value)
}

/// Width of the floats that the prefix says, and whether only the lowest is computed.
fn float_lane(e: &Encoding) -> (u32, bool) {
    (if matches!(e.mandatory, P66 | F2) { 64 } else { 32 }, matches!(e.mandatory, F2 | F3))
}

/// Gives the destination the lowest lane, and the rest of 128 bits of `rest`.
fn set_lowest(x: &mut X<'_, '_, '_, '_>, lane: u32, rest: Slot, value: Slot) -> Result<(), String> {
    let dst = x.p.temp(128);
    x.p.copy(64, dst.limb(1), rest.limb(1));
    let low = match lane {
        64 => value,
        _ => {
            let high = x.bits(rest, 64, lane, 64 - lane);
            x.concat(high, 64 - lane, value, lane)
        }
    };
    x.p.copy(64, dst, low);
    x.set_vector(x.e.reg, 128, dst)
}
