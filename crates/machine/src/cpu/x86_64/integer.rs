//! Instructions on general registers that SLEIGH has as loops, leaves open or gets wrong, and those that stop the program.

use wryneck_ir::build::{BlockId, Slot};
use wryneck_ir::{NONE, Op};

use super::emit::{Emit, RAX, RBX, RCX, RDI, RDX, RSI};
use super::encoding::{Encoding, Mandatory, Map, Rm};
use super::state;

/// What an instruction does. Where it is [`Integer::Copy`] or [`Integer::Fill`], p-code follows for the cases they are not for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integer {
    /// Number of the lowest (highest) bit set; nothing where there is none.
    FirstBit,
    LastBit,
    TrailingZeros,
    LeadingZeros,
    DivideUnsigned,
    DivideSigned,
    /// Load or store with the bytes reversed.
    LoadReversed,
    StoreReversed,
    /// Which CPU it is.
    Identify,
    /// A counter that grows.
    TimeStamp,
    /// Which registers the kernel saves.
    SavedState,
    LoadMxcsr,
    /// The flags, of which one is not kept.
    LoadFlags,
    /// The registers of the x87 and of SSE to memory, and back.
    SaveState,
    RestoreState,
    /// `rep movs` and `rep stos`.
    Copy,
    Fill,
    Trap(&'static str),
}

/// Map, opcode, register field of ModRM (if it is part of the opcode), meaning.
const ROWS: &[(Map, u8, Option<usize>, Integer)] = &[
    (Map::One, 0x9f, None, Integer::LoadFlags),
    (Map::One, 0xcc, None, Integer::Trap("int3")),
    (Map::One, 0xf4, None, Integer::Trap("hlt")),
    (Map::One, 0xf6, Some(6), Integer::DivideUnsigned),
    (Map::One, 0xf6, Some(7), Integer::DivideSigned),
    (Map::One, 0xf7, Some(6), Integer::DivideUnsigned),
    (Map::One, 0xf7, Some(7), Integer::DivideSigned),
    (Map::Two, 0x0b, None, Integer::Trap("ud2")),
    (Map::Two, 0x31, None, Integer::TimeStamp),
    (Map::Two, 0xa2, None, Integer::Identify),
    (Map::Two, 0xae, Some(0), Integer::SaveState),
    (Map::Two, 0xae, Some(1), Integer::RestoreState),
    (Map::Two, 0xae, Some(2), Integer::LoadMxcsr),
];

/// Time passes by this much between two looks.
const TICKS: u64 = 1000;
/// A register that programs cannot see keeps the time.
const CLOCK: &str = "DR0";

pub fn meaning(e: &Encoding) -> Option<Integer> {
    if e.vex.is_some() {
        return None;
    }
    let repeated = e.mandatory == Mandatory::F3;
    match (e.map, e.opcode) {
        (Map::Two, 0xbc) => return Some(if repeated { Integer::TrailingZeros } else { Integer::FirstBit }),
        (Map::Two, 0xbd) => return Some(if repeated { Integer::LeadingZeros } else { Integer::LastBit }),
        (Map::Two, 0x01) if e.reg == 2 && e.rm == Rm::Register(0) => return Some(Integer::SavedState),
        (Map::Three38, 0xf0) if e.mandatory != Mandatory::F2 => return Some(Integer::LoadReversed),
        (Map::Three38, 0xf1) if e.mandatory != Mandatory::F2 => return Some(Integer::StoreReversed),
        (Map::One, 0xa4 | 0xa5) if repeated && !e.narrow => return Some(Integer::Copy),
        (Map::One, 0xaa | 0xab) if repeated && !e.narrow => return Some(Integer::Fill),
        _ => {}
    }
    let row = ROWS.iter().find(|r| r.0 == e.map && r.1 == e.opcode && r.2.is_none_or(|reg| reg == e.reg))?;
    let of_memory = [Integer::LoadMxcsr, Integer::SaveState, Integer::RestoreState];
    // With this prefix it is no instruction.
    if row.3 == Integer::LoadMxcsr && e.operand16 {
        return Some(Integer::Trap("ud2"));
    }
    let register = of_memory.contains(&row.3) && matches!(e.rm, Rm::Register(_));
    (!register).then_some(row.3)
}

/// Emits it; `end` is the block behind the instruction, for those with p-code of their own.
pub fn emit(x: &mut Emit<'_, '_, '_, '_>, what: Integer, end: Option<BlockId>) -> Result<(), String> {
    let width = x.width();
    match what {
        Integer::FirstBit | Integer::LastBit => scan(x, width, what == Integer::FirstBit),
        Integer::TrailingZeros | Integer::LeadingZeros => {
            let value = x.read_general(width)?;
            let zero = x.constant(width, 0);
            let none = x.op(Op::Eq, width, value, zero);
            let count = x.unary(if what == Integer::TrailingZeros { Op::Cttz } else { Op::Ctlz }, width, value);
            let at_once = x.op(Op::Eq, width, count, zero);
            x.set_flag("CF", none)?;
            x.set_flag("ZF", at_once)?;
            x.set_general(x.e.reg, width, count)
        }
        Integer::DivideUnsigned | Integer::DivideSigned => {
            let width = if x.e.opcode == 0xf6 { 8 } else { width };
            divide(x, width, what == Integer::DivideSigned)
        }
        Integer::LoadReversed => {
            let value = x.read_general(width)?;
            let reversed = x.unary(Op::Bswap, width, value);
            x.set_general(x.e.reg, width, reversed)
        }
        Integer::StoreReversed => {
            let value = x.low(x.e.reg, width)?;
            let reversed = x.unary(Op::Bswap, width, value);
            match x.e.rm {
                Rm::Memory(a) => x.store(&a, width, reversed),
                Rm::Register(_) => Err("a register where memory belongs".to_owned()),
            }
        }
        Integer::Identify => identify(x),
        Integer::TimeStamp => {
            let (clock, ticks) = (x.named(CLOCK)?, x.constant(64, TICKS));
            x.p.emit(Op::Add, 64, clock, clock.raw(), ticks.raw(), NONE);
            let (low, high) = (x.bits(clock, 64, 0, 32), x.bits(clock, 64, 32, 32));
            x.set_general(RAX, 32, low)?;
            x.set_general(RDX, 32, high)
        }
        Integer::SavedState => {
            let (x87_and_sse, zero) = (x.constant(32, 3), x.constant(32, 0));
            x.set_general(RAX, 32, x87_and_sse)?;
            x.set_general(RDX, 32, zero)
        }
        Integer::LoadMxcsr => {
            let value = x.read_general(32)?;
            set_mxcsr(x, value)
        }
        Integer::LoadFlags => Err("the auxiliary carry flag is not kept".to_owned()),
        Integer::SaveState => state::save(x),
        Integer::RestoreState => state::restore(x),
        Integer::Copy | Integer::Fill => repeat(x, what == Integer::Copy, end.ok_or("a repeated instruction without an end")?),
        Integer::Trap(which) => {
            x.p.builder.trap(which);
            Ok(())
        }
    }
}

fn scan(x: &mut Emit<'_, '_, '_, '_>, width: u32, first: bool) -> Result<(), String> {
    let value = x.read_general(width)?;
    let (zero, top) = (x.constant(width, 0), x.constant(width, u64::from(width) - 1));
    let none = x.op(Op::Eq, width, value, zero);
    let count = x.unary(if first { Op::Cttz } else { Op::Ctlz }, width, value);
    let number = if first { count } else { x.op(Op::Sub, width, top, count) };
    let old = x.general(x.e.reg)?;
    // Without a bit nothing is written, not even the upper half.
    let kept = if width < 64 { x.bits(old, 64, 0, width) } else { old };
    let chosen = x.select(width, none, kept, number);
    match width {
        32 => {
            let chosen = x.cast(Op::Zext, 64, 32, chosen);
            let whole = x.select(64, none, old, chosen);
            x.p.copy(64, old, whole);
        }
        _ => x.set_general(x.e.reg, width, chosen)?,
    }
    x.set_flag("ZF", none)
}

/// The dividend is twice as wide as the divisor; a quotient too large for its register is a fault, as is a division by 0.
fn divide(x: &mut Emit<'_, '_, '_, '_>, width: u32, signed: bool) -> Result<(), String> {
    let divisor = x.read_general(width)?;
    let (low, high) = match width {
        8 => {
            let whole = x.general(RAX)?;
            (x.bits(whole, 64, 0, 8), x.bits(whole, 64, 8, 8))
        }
        _ => (x.low(RAX, width)?, x.low(RDX, width)?),
    };
    let (quotient, remainder) = (x.p.temp(width), x.p.temp(width));
    let (divide, rest) = if signed { (Op::Sdiv, Op::Srem) } else { (Op::Udiv, Op::Urem) };
    // Nearly always the upper half only extends the lower one.
    let extension = match signed {
        true => {
            let by = x.constant(width, u64::from(width) - 1);
            x.op(Op::Ashr, width, low, by)
        }
        false => x.constant(width, 0),
    };
    let wide = x.op(Op::Ne, width, high, extension);
    let joined = x.block();
    x.unless(wide, |x| {
        divide_wide(x, width, signed, (high, low, divisor), (quotient, remainder));
        x.p.builder.jump_to(joined);
    });
    x.p.emit(divide, width, quotient, low.raw(), divisor.raw(), NONE);
    x.p.emit(rest, width, remainder, low.raw(), divisor.raw(), NONE);
    x.p.builder.jump_to(joined);
    x.p.builder.start(joined);
    if width == 8 {
        let both = x.concat(remainder, 8, quotient, 8);
        return x.set_general(RAX, 16, both);
    }
    x.set_general(RAX, width, quotient)?;
    x.set_general(RDX, width, remainder)
}

fn divide_wide(
    x: &mut Emit<'_, '_, '_, '_>,
    width: u32,
    signed: bool,
    (high, low, divisor): (Slot, Slot, Slot),
    (quotient, remainder): (Slot, Slot),
) {
    let double = 2 * width;
    let dividend = x.concat(high, width, low, width);
    let (extend, divide, rest) = if signed { (Op::Sext, Op::Sdiv, Op::Srem) } else { (Op::Zext, Op::Udiv, Op::Urem) };
    let by = x.cast(extend, double, width, divisor);
    let all = x.op(divide, double, dividend, by);
    let fits = x.cast(Op::Trunc, width, double, all);
    let again = x.cast(extend, double, width, fits);
    let too_large = x.op(Op::Ne, double, all, again);
    x.unless(too_large, overflow);
    x.p.copy(width, quotient, fits);
    let left = x.op(rest, double, dividend, by);
    let left = x.cast(Op::Trunc, width, double, left);
    x.p.copy(width, remainder, left);
}

/// The fault of a quotient that does not fit, raised by a division whose quotient does not.
fn overflow(x: &mut Emit<'_, '_, '_, '_>) {
    let (least, minus_one) = (x.constant(64, 1 << 63), x.constant(64, u64::MAX));
    x.op(Op::Sdiv, 64, least, minus_one);
    x.p.builder.unreachable();
}

fn identify(x: &mut Emit<'_, '_, '_, '_>) -> Result<(), String> {
    let leaf = x.low(RAX, 32)?;
    let mut results = [x.constant(32, 0); 4];
    for (number, values) in wryneck_ir::PROCESSOR {
        let number = x.constant(32, *number);
        let this = x.op(Op::Eq, 32, leaf, number);
        for (result, value) in results.iter_mut().zip(values) {
            let value = x.constant(32, *value);
            *result = x.select(32, this, value, *result);
        }
    }
    [RAX, RBX, RCX, RDX].into_iter().zip(results).try_for_each(|(n, value)| x.set_general(n, 32, value))
}

/// Only rounding to nearest with all exceptions masked is what our floats do.
pub fn set_mxcsr(x: &mut Emit<'_, '_, '_, '_>, value: Slot) -> Result<(), String> {
    let (reserved, zero) = (x.constant(32, 0xffff_0000), x.constant(32, 0));
    let wrong = x.op(Op::And, 32, value, reserved);
    let wrong = x.op(Op::Ne, 32, wrong, zero);
    x.unless(wrong, |x| x.p.builder.trap("reserved bits of MXCSR"));
    let (control, usual) = (x.constant(32, 0xffc0), x.constant(32, 0x1f80));
    let asked = x.op(Op::And, 32, value, control);
    let other = x.op(Op::Ne, 32, asked, usual);
    x.unsupported_if(other, "MXCSR with another rounding, or exceptions that are not masked");
    let mxcsr = x.named("MXCSR")?;
    x.p.copy(32, mxcsr, value);
    Ok(())
}

/// A copy or fill upwards as one operation; downwards, onto itself, or of a pattern: what follows.
fn repeat(x: &mut Emit<'_, '_, '_, '_>, copies: bool, end: BlockId) -> Result<(), String> {
    let unit = if x.e.opcode & 1 == 0 { 8 } else { x.width() };
    let (count, to, from) = (x.general(RCX)?, x.general(RDI)?, x.general(RSI)?);
    let (shift, direction) = (x.constant(64, u64::from(unit.trailing_zeros() - 3)), x.named("DF")?);
    let bytes = x.op(Op::Shl, 64, count, shift);
    let (zero, back) = (x.constant(8, 0), x.p.temp(1));
    x.p.emit(Op::Ne, 8, back, direction.raw(), zero.raw(), NONE);
    // More than an address has room for is left to what follows, too.
    let limit = x.constant(64, 1 << 40);
    let long = x.op(Op::Ult, 64, limit, count);
    let mut slow = x.op(Op::Or, 1, back, long);
    let value = x.general(RAX)?;
    if copies {
        let distance = x.op(Op::Sub, 64, to, from);
        let overlaps = x.op(Op::Ult, 64, distance, bytes);
        slow = x.op(Op::Or, 1, slow, overlaps);
    } else if unit > 8 {
        let low = x.bits(value, 64, 0, unit);
        let byte = x.bits(value, 64, 0, 8);
        let same = x.lanes(8, |_, _| byte);
        let same = x.bits(same, 64, 0, unit);
        let pattern = x.op(Op::Ne, unit, low, same);
        slow = x.op(Op::Or, 1, slow, pattern);
    }
    let (fast, other) = (x.block(), x.block());
    let (then, on) = (x.p.builder.edge(other), x.p.builder.edge(fast));
    x.p.builder.cond_br(slow, then, on);
    x.p.builder.start(fast);
    match copies {
        true => x.p.builder.emit(Op::MemMove, 0, NONE, to.raw(), from.raw(), bytes.raw()),
        false => {
            let byte = x.bits(value, 64, 0, 8);
            x.p.builder.emit(Op::MemSet, 0, NONE, to.raw(), byte.raw(), bytes.raw());
        }
    }
    x.p.emit(Op::Add, 64, to, to.raw(), bytes.raw(), NONE);
    if copies {
        x.p.emit(Op::Add, 64, from, from.raw(), bytes.raw(), NONE);
    }
    x.p.emit(Op::Imm, 64, count, 0, 0, NONE);
    x.p.builder.jump_to(end);
    x.p.builder.start(other);
    Ok(())
}
