//! x87: SLEIGH moves the registers of the stack and computes; here is what it leaves out. The status word knows where the top is;
//! integers are rounded as the control word says; arithmetic that it says to round in another way than to the nearest, or to
//! fewer than 64 bits, is unsupported, as are the instructions that need to know which registers are empty. Logarithms, sines and
//! the like are the host's (`function.rs`).

mod function;
mod remainder;

use smallvec::smallvec;

use wryneck_ir::build::Slot;
use wryneck_ir::{self as ir, FcmpPred, NONE, Op, Round};

use super::emit::Emit;
use super::encoding::{Encoding, Map, Rm};
use super::state;
use crate::pcode::{BoolOp, Instruction, IntOp, OpCode, Pcode, Space, Varnode};

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum X87 {
    /// What p-code says, where rounding is to the nearest of 64 bits.
    Nearest,
    /// The top as an integer of these many bits to memory; popped then, or not.
    StoreInteger {
        width: u32,
        pops: bool,
        truncates: bool,
    },
    RoundToInteger,
    /// What kind of number the top is.
    Examine,
    /// The top with another register, or with a float or integer of these many bits in memory; so many are popped.
    Compare {
        with: Compared,
        pops: u32,
    },
    /// The partial remainder of the top by the next; to the nearest, or not.
    Remainder {
        nearest: bool,
    },
    Scale,
    Extract,
    /// A function in the place of the top, or of both numbers that it takes.
    Function(ir::X87),
    /// The tangent, and above it a one.
    Tangent,
    /// The sine, and above it the cosine.
    SineAndCosine,
    /// A constant onto the stack, of which SLEIGH has too few digits.
    Constant(u64, u64),
    /// `fldenv` and `fnstenv`.
    LoadEnvironment,
    StoreEnvironment,
    /// Needs to know which registers are empty.
    Tags,
}

/// What the top is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    Register(usize),
    Float(u32),
    Integer(u32),
    Zero,
}

/// Constants by the register operand of D9 E8 on, as 80 bits: log2(10), log2(e), pi, log10(2), ln(2).
const CONSTANTS: [(usize, u64, u64); 5] = [
    (1, 0xd49a_784b_cd1b_8afe, 0x4000),
    (2, 0xb8aa_3b29_5c17_f0bc, 0x3fff),
    (3, 0xc90f_daa2_2168_c235, 0x4000),
    (4, 0x9a20_9a84_fbcf_f799, 0x3ffd),
    (5, 0xb172_17f7_d1cf_79ac, 0x3ffe),
];

/// Registers of the stack, in SLEIGH's register space: each 16 bytes from the next.
const STACK: u64 = 0x1100;
const STATUS_WORD: Varnode = Varnode { space: Space::Register, offset: 0x10a2, size: 2 };
/// Bits of the status word that say where the top is, and the least of them.
const TOP: u64 = 0x3800;
const TOP_ONE: u64 = 0x800;
/// Bits of the control word: how many bits results have, and how they are rounded.
const PRECISION_AND_ROUNDING: u64 = 0xf00;
const TO_NEAREST: u64 = 0x300;

pub fn meaning(e: &Encoding) -> Option<X87> {
    if e.map != Map::One || !(0xd8..=0xdf).contains(&e.opcode) {
        return None;
    }
    let integer = |width, pops, truncates| Some(X87::StoreInteger { width, pops, truncates });
    let compares = |with, pops| Some(X87::Compare { with, pops });
    match (e.opcode, e.reg, e.rm) {
        (0xdb, 1, Rm::Memory(_)) => integer(32, true, true),
        (0xdb, 2 | 3, Rm::Memory(_)) => integer(32, e.reg == 3, false),
        (0xdd, 1, Rm::Memory(_)) => integer(64, true, true),
        (0xdf, 1, Rm::Memory(_)) => integer(16, true, true),
        (0xdf, 2 | 3, Rm::Memory(_)) => integer(16, e.reg == 3, false),
        (0xdf, 7, Rm::Memory(_)) => integer(64, true, false),
        (0xd8, 2 | 3, Rm::Register(n)) => compares(Compared::Register(n), e.reg as u32 - 2),
        (0xd8, 2 | 3, Rm::Memory(_)) => compares(Compared::Float(32), e.reg as u32 - 2),
        (0xdc, 2 | 3, Rm::Memory(_)) => compares(Compared::Float(64), e.reg as u32 - 2),
        (0xda, 2 | 3, Rm::Memory(_)) => compares(Compared::Integer(32), e.reg as u32 - 2),
        (0xde, 2 | 3, Rm::Memory(_)) => compares(Compared::Integer(16), e.reg as u32 - 2),
        (0xdd, 4 | 5, Rm::Register(n)) => compares(Compared::Register(n), e.reg as u32 - 4),
        (0xda, 5, Rm::Register(1)) | (0xde, 3, Rm::Register(1)) => compares(Compared::Register(1), 2),
        (0xd9, 4, Rm::Register(4)) => compares(Compared::Zero, 0),
        (0xd9, 5, Rm::Register(n)) => {
            CONSTANTS.iter().find(|row| row.0 == n).map(|(_, significand, exponent)| X87::Constant(*significand, *exponent))
        }
        (0xd9, 7, Rm::Register(0)) => Some(X87::Remainder { nearest: false }),
        (0xd9, 6, Rm::Register(5)) => Some(X87::Remainder { nearest: true }),
        (0xd9, 7, Rm::Register(5)) => Some(X87::Scale),
        (0xd9, 6, Rm::Register(4)) => Some(X87::Extract),
        (0xd9, 6, Rm::Register(0)) => Some(X87::Function(ir::X87::PowerLessOne)),
        (0xd9, 6, Rm::Register(1)) => Some(X87::Function(ir::X87::Logarithm)),
        (0xd9, 6, Rm::Register(2)) => Some(X87::Tangent),
        (0xd9, 6, Rm::Register(3)) => Some(X87::Function(ir::X87::Angle)),
        (0xd9, 7, Rm::Register(1)) => Some(X87::Function(ir::X87::LogarithmOfOneMore)),
        (0xd9, 7, Rm::Register(3)) => Some(X87::SineAndCosine),
        (0xd9, 7, Rm::Register(6)) => Some(X87::Function(ir::X87::Sine)),
        (0xd9, 7, Rm::Register(7)) => Some(X87::Function(ir::X87::Cosine)),
        (0xd9, 4, Rm::Memory(_)) if !e.operand16 => Some(X87::LoadEnvironment),
        (0xd9, 6, Rm::Memory(_)) if !e.operand16 => Some(X87::StoreEnvironment),
        // The same of 16 bits, frstor, fnsave.
        (0xd9, 4 | 6, Rm::Memory(_)) | (0xdd, 4 | 6, Rm::Memory(_)) => Some(X87::Tags),
        (0xd9, 4, Rm::Register(5)) => Some(X87::Examine),
        (0xd9, 7, Rm::Register(4)) => Some(X87::RoundToInteger),
        // Stores to fewer bits, square root.
        (0xd9, 2 | 3, Rm::Memory(_)) | (0xdd, 2 | 3, Rm::Memory(_)) | (0xd9, 7, Rm::Register(2)) => Some(X87::Nearest),
        // Arithmetic; 2 and 3 compare.
        (0xd8 | 0xdc, 0 | 1 | 4..=7, _) | (0xda, 0 | 1 | 4..=7, Rm::Memory(_)) | (0xde, 0 | 1 | 4..=7, _) => Some(X87::Nearest),
        _ => None,
    }
}

/// Adds to p-code what it forgets of the status word, and corrects a condition.
pub fn adjust(it: &mut Instruction, e: &Encoding) {
    if e.map != Map::One || !(0xd8..=0xdf).contains(&e.opcode) {
        return;
    }
    if (e.opcode, e.reg) == (0xdb, 2) && matches!(e.rm, Rm::Register(_)) {
        // `fcmovnbe` does nothing if one of both flags is set, not only if both are.
        let both = it.ops.iter_mut().find(|op| op.op == OpCode::Int(IntOp::Bitwise(BoolOp::And)));
        both.into_iter().for_each(|op| op.op = OpCode::Int(IntOp::Bitwise(BoolOp::Or)));
    }
    let stack = |n: u64| Varnode { space: Space::Register, offset: STACK + 16 * n, size: 10 };
    let copies = |to, from| {
        it.ops.iter().filter(|op| op.op == OpCode::Copy && op.output == Some(stack(to)) && op.inputs[0] == stack(from)).count() as u64
    };
    let (pops, pushes) = (copies(6, 7), copies(7, 6));
    if pops == pushes {
        return;
    }
    let by = pops.wrapping_sub(pushes).wrapping_mul(TOP_ONE);
    let constant = |value: u64| Varnode { space: Space::Const, offset: value & 0xffff, size: 2 };
    let temporary = |n: u64| Varnode { space: Space::Unique, offset: 0xfff0_0000 + 16 * n, size: 2 };
    let mut op = |op, output, a, b| it.ops.push(Pcode { op: OpCode::Int(op), output: Some(output), inputs: smallvec![a, b] });
    op(IntOp::Add, temporary(0), STATUS_WORD, constant(by));
    op(IntOp::Bitwise(BoolOp::And), temporary(0), temporary(0), constant(TOP));
    op(IntOp::Bitwise(BoolOp::And), temporary(1), STATUS_WORD, constant(!TOP));
    op(IntOp::Bitwise(BoolOp::Or), STATUS_WORD, temporary(0), temporary(1));
}

/// Emits it, or what comes before its p-code.
pub fn emit(x: &mut Emit<'_, '_, '_, '_>, what: X87) -> Result<(), String> {
    match what {
        X87::Nearest => {
            only_nearest(x)?;
            signalling(x)
        }
        X87::Constant(significand, exponent) => {
            only_nearest(x)?;
            let value = x.p.temp(80);
            x.p.emit(Op::Imm, 64, value, significand as u32, (significand >> 32) as u32, NONE);
            x.p.emit(Op::Imm, 16, value.limb(1), exponent as u32, 0, NONE);
            push(x, value)
        }
        X87::StoreInteger { width, pops, truncates } => store_integer(x, width, pops, truncates),
        X87::RoundToInteger => {
            let top = x.named("ST0")?;
            let rounded = rounded(x, top)?;
            x.p.copy(80, top, rounded);
            Ok(())
        }
        X87::Examine => examine(x),
        X87::Compare { with, pops } => compare_top(x, with, pops),
        X87::Remainder { nearest } => remainder::remainder(x, nearest),
        X87::Scale => remainder::scale(x),
        X87::Extract => remainder::extract(x),
        X87::Function(function) => function::function(x, function),
        X87::Tangent => function::tangent(x),
        X87::SineAndCosine => function::sine_and_cosine(x),
        X87::LoadEnvironment => state::load_environment(x),
        X87::StoreEnvironment => state::store_environment(x),
        X87::Tags => Err("which registers of the x87 are empty is not kept".to_owned()),
    }
}

/// Ends the path where the control word says another rounding.
fn only_nearest(x: &mut Emit<'_, '_, '_, '_>) -> Result<(), String> {
    let (mode, nearest) = (mode(x)?, x.constant(16, TO_NEAREST));
    let other = x.op(Op::Ne, 16, mode, nearest);
    x.unsupported_if(other, "x87 arithmetic with another rounding than to the nearest of 64 bits");
    Ok(())
}

/// A signalling NaN in memory loses against a quiet one, which p-code cannot know once it has made it quiet.
fn signalling(x: &mut Emit<'_, '_, '_, '_>) -> Result<(), String> {
    let (width, infinity, quiet) = match x.e.opcode {
        0xd8 => (32, 0x7f80_0000, 0x7fc0_0000),
        0xdc => (64, 0x7ff0_0000_0000_0000, 0x7ff8_0000_0000_0000),
        _ => return Ok(()),
    };
    if let Rm::Register(_) = x.e.rm {
        return Ok(());
    }
    let (value, least, most, magnitude) =
        (x.read_general(width)?, x.constant(width, infinity), x.constant(width, quiet), x.constant(width, u64::MAX >> (65 - width)));
    let magnitude = x.op(Op::And, width, value, magnitude);
    let (above, below) = (x.op(Op::Ult, width, least, magnitude), x.op(Op::Ult, width, magnitude, most));
    let signals = x.op(Op::And, 1, above, below);
    x.unsupported_if(signals, "x87 arithmetic on a signalling NaN");
    Ok(())
}

/// How results are rounded, of the control word.
fn mode(x: &mut Emit<'_, '_, '_, '_>) -> Result<Slot, String> {
    let (word, mask) = (x.named("FPUControlWord")?, x.constant(16, PRECISION_AND_ROUNDING));
    Ok(x.op(Op::And, 16, word, mask))
}

/// The value rounded to an integer as the control word says.
fn rounded(x: &mut Emit<'_, '_, '_, '_>, value: Slot) -> Result<Slot, String> {
    let word = x.named("FPUControlWord")?;
    let result = x.p.temp(80);
    let joined = x.block();
    for (mode, round) in (0u64..).zip([Round::Even, Round::Floor, Round::Ceil]) {
        let (bits, this) = (x.bits(word, 16, 10, 2), x.constant(2, mode));
        let is = x.op(Op::Eq, 2, bits, this);
        x.unless(is, |x| {
            x.p.emit(Op::Fround, 80, result, value.raw(), round as u32, NONE);
            x.p.builder.jump_to(joined);
        });
    }
    x.p.emit(Op::Fround, 80, result, value.raw(), Round::Trunc as u32, NONE);
    x.p.builder.jump_to(joined);
    x.p.builder.start(joined);
    Ok(result)
}

fn store_integer(x: &mut Emit<'_, '_, '_, '_>, width: u32, pops: bool, truncates: bool) -> Result<(), String> {
    let top = x.named("ST0")?;
    let value = if truncates { top } else { rounded(x, top)? };
    let wide = width.max(32);
    let mut integer = x.cast(Op::FtoS, wide, 80, value);
    if width == 16 {
        let low = x.bits(integer, 32, 0, 16);
        let (again, worst) = (x.cast(Op::Sext, 32, 16, low), x.constant(16, 0x8000));
        let fits = x.op(Op::Eq, 32, again, integer);
        integer = x.select(16, fits, low, worst);
    }
    let Rm::Memory(address) = x.e.rm else { return Err("a register where memory belongs".to_owned()) };
    x.store(&address, width, integer)?;
    if pops { pop(x) } else { Ok(()) }
}

/// Takes the top off the stack.
fn pop(x: &mut Emit<'_, '_, '_, '_>) -> Result<(), String> {
    for n in 0..7 {
        let (to, from) = (x.named(&format!("ST{n}"))?, x.named(&format!("ST{}", n + 1))?);
        x.p.copy(80, to, from);
    }
    move_top(x, TOP_ONE)
}
/// Puts a value on the stack.
fn push(x: &mut Emit<'_, '_, '_, '_>, value: Slot) -> Result<(), String> {
    for n in (0..7).rev() {
        let (to, from) = (x.named(&format!("ST{}", n + 1))?, x.named(&format!("ST{n}"))?);
        x.p.copy(80, to, from);
    }
    let top = x.named("ST0")?;
    x.p.copy(80, top, value);
    move_top(x, TOP)
}
/// Adds to the bits of the status word that say where the top is.
fn move_top(x: &mut Emit<'_, '_, '_, '_>, by: u64) -> Result<(), String> {
    let (word, by, mask, others) = (x.named("FPUStatusWord")?, x.constant(16, by), x.constant(16, TOP), x.constant(16, !TOP));
    let next = x.op(Op::Add, 16, word, by);
    let next = x.op(Op::And, 16, next, mask);
    let rest = x.op(Op::And, 16, word, others);
    let all = x.op(Op::Or, 16, next, rest);
    x.p.copy(16, word, all);
    Ok(())
}

fn compare(x: &mut Emit<'_, '_, '_, '_>, width: u32, a: Slot, b: Slot, predicate: u32) -> Slot {
    let bit = x.p.temp(1);
    x.p.emit(Op::Fcmp, width, bit, a.raw(), b.raw(), predicate);
    bit
}
/// C3, C2, C0: 000 greater, 001 less, 100 equal, 111 unordered.
fn compare_top(x: &mut Emit<'_, '_, '_, '_>, with: Compared, pops: u32) -> Result<(), String> {
    let top = x.named("ST0")?;
    let other = match with {
        Compared::Register(n) => x.named(&format!("ST{n}"))?,
        Compared::Zero => {
            let value = x.p.temp(80);
            x.p.emit(Op::Imm, 64, value, 0, 0, NONE);
            x.p.emit(Op::Imm, 16, value.limb(1), 0, 0, NONE);
            value
        }
        Compared::Float(width) => {
            let value = x.read_general(width)?;
            x.cast(Op::Fcast, 80, width, value)
        }
        Compared::Integer(width) => {
            let value = x.read_general(width)?;
            let value = if width == 16 { x.cast(Op::Sext, 32, 16, value) } else { value };
            x.cast(Op::StoF, 80, 32, value)
        }
    };
    let (word, others) = (x.named("FPUStatusWord")?, x.constant(16, !0x4700));
    let mut all = x.op(Op::And, 16, word, others);
    let conditions = [(8, FcmpPred::LT), (10, 0), (14, FcmpPred::EQ)];
    for (at, predicate) in conditions {
        let bit = compare(x, 80, top, other, predicate | FcmpPred::UNORDERED);
        let (wide, by) = (x.cast(Op::Zext, 16, 1, bit), x.constant(16, at));
        let moved = x.op(Op::Shl, 16, wide, by);
        all = x.op(Op::Or, 16, all, moved);
    }
    x.p.copy(16, word, all);
    (0..pops).try_for_each(|_| pop(x))
}

/// C3, C2, C0: 001 not a number, 010 normal, 011 infinite, 100 zero, 110 denormal, 000 none of these; C1: the sign.
fn examine(x: &mut Emit<'_, '_, '_, '_>) -> Result<(), String> {
    let top = x.named("ST0")?;
    let (significand, exponent, sign) = (top, x.bits(top.limb(1), 16, 0, 15), x.bits(top.limb(1), 16, 15, 1));
    let (zero, infinite, none, all) = (x.constant(64, 0), x.constant(64, 1 << 63), x.constant(15, 0), x.constant(15, 0x7fff));
    let class = |x: &mut Emit<'_, '_, '_, '_>, bits: u64| x.constant(16, (bits & 1) << 8 | (bits & 2) << 9 | (bits & 4) << 12);
    let [unknown, nan, normal, infinity, nothing, denormal] = [0, 1, 2, 3, 4, 6].map(|bits| class(x, bits));
    let integer_bit = x.bits(significand, 64, 63, 1);
    let (is_zero, is_infinite) = (x.op(Op::Eq, 64, significand, zero), x.op(Op::Eq, 64, significand, infinite));
    let (least, most) = (x.op(Op::Eq, 15, exponent, none), x.op(Op::Eq, 15, exponent, all));
    let special = x.select(16, is_infinite, infinity, nan);
    let large = x.select(16, most, special, normal);
    let usual = x.select(16, integer_bit, large, unknown);
    let small = x.select(16, is_zero, nothing, denormal);
    let kind = x.select(16, least, small, usual);
    let (word, others, nine) = (x.named("FPUStatusWord")?, x.constant(16, !0x4700), x.constant(16, 9));
    let sign = x.op(Op::Shl, 16, sign, nine);
    let rest = x.op(Op::And, 16, word, others);
    let rest = x.op(Op::Or, 16, rest, kind);
    x.p.emit(Op::Or, 16, word, rest.raw(), sign.raw(), NONE);
    Ok(())
}
